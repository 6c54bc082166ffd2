"""Every call of the OpenAPI document, made as it says: each answer is one that is documented, and what is refused changes nothing.

The proxy is real; its API server is not there, which the control API does not need.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import jsonschema
import pytest

from staleproof.core.engine.routes import openapi
from staleproof.core.fault.suggest import FAULTS
from staleproof.drive.cluster.access import Access
from staleproof.drive.process.address import Address
from staleproof.drive.proxy.serve import StandAlone, StandAloneOptions, stand_alone

from .proxy_client import LIMIT_SECONDS
from .proxy_stage import Lasting

TOKEN = "control-token"
LOOPBACK = Address("127.0.0.1", 0)
DOCUMENT = openapi()
CALLS = [(method, path) for path, calls in DOCUMENT["paths"].items() for method in calls]
WITH_BODY = [(method, path) for method, path in CALLS if "requestBody" in DOCUMENT["paths"][path][method]]
EXAMPLES = [
    pytest.param(method, path, example["value"], id=f"{method} {path} {name}")
    for method, path in WITH_BODY
    for name, example in DOCUMENT["paths"][path][method]["requestBody"]["content"]["application/json"]["examples"].items()
]
BAD_BODIES = [
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"nonsense": 1}',
    b'{"faults": 3, "fault": 3, "step": {}, "resource": []}',
]
NEEDED = {"bySeconds": 0.5}  # fields without a default, beside the resource


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said to a call."""

    method: str
    path: str
    status: int
    content_type: str
    fields: dict[str, str]
    body: Any

    def is_documented(self) -> None:
        documented = DOCUMENT["paths"][self.path][self.method]["responses"][str(self.status)]["content"]
        assert list(documented) == [self.content_type]
        jsonschema.Draft202012Validator(DOCUMENT | documented[self.content_type]["schema"]).validate(self.body)


class Caller:
    """Makes calls as the document describes them."""

    def __init__(self, running: StandAlone) -> None:
        self._control = running.control

    async def call(
        self, method: str, path: str, data: bytes | None = None, values: dict[str, str] | None = None, *, token: str | None = TOKEN
    ) -> Answer:
        """`values`: for the parameters in the path and behind it."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        filled = path.format(**values or {})
        query = {name: value for name, value in (values or {}).items() if f"{{{name}}}" not in path}
        async with (
            aiohttp.ClientSession(self._control, headers=headers) as session,
            session.request(method, filled, data=data, params=query) as answer,
        ):
            endless = answer.content_type == "application/x-ndjson"
            body = (await answer.content.readany()).decode() if endless else await answer.json()
            return Answer(method, path, answer.status, answer.content_type, dict(answer.headers), body)

    async def put(self, *faults: dict[str, Any], contract: str = "legal") -> None:
        body = json.dumps({"faults": faults, "contract": contract}).encode()
        assert (await self.call("put", "/v1/plan", body)).status == 200

    async def state(self) -> tuple[Any, Any]:
        """All that a call could change: the faults, and how much has happened."""
        faults = await self.call("get", "/v1/faults")
        health = await self.call("get", "/v1/healthz")
        return faults.body, health.body


@asynccontextmanager
async def alone(folder: Path) -> AsyncIterator[Caller]:
    wanted = StandAloneOptions(
        upstream=Access(server="https://127.0.0.1:1"),
        listen=LOOPBACK,
        control=LOOPBACK,
        control_token=TOKEN,
        on_disconnect="heal",
    )
    async with stand_alone(wanted, folder) as running:
        yield Caller(running)
        assert running.process.running, running.process.account()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lasting[Caller]]:
    with Lasting(alone(tmp_path_factory.mktemp("proxy"))) as found:
        yield found


def values_for(path: str) -> dict[str, str]:
    return {"fault": "0"} if "{fault}" in path else {}


@pytest.mark.parametrize(("method", "path", "example"), EXAMPLES)
def test_the_examples_are_answered_as_documented(lasting: Lasting[Caller], method: str, path: str, example: object) -> None:
    async def body(caller: Caller, _: asyncio.TaskGroup) -> None:
        await caller.put()
        answer = await caller.call(method, path, json.dumps(example).encode())
        assert answer.status == 200, answer.body
        answer.is_documented()

    lasting.play(body)


@pytest.mark.parametrize(("method", "path"), [call for call in CALLS if call not in WITH_BODY])
def test_calls_without_a_body_are_answered_as_documented(lasting: Lasting[Caller], method: str, path: str) -> None:
    async def body(caller: Caller, _: asyncio.TaskGroup) -> None:
        await caller.put({"fault": "Hold", "resource": "pods"})
        await caller.call("post", "/v1/step", b'{"step": 1}')
        answer = await caller.call(method, path, None, values_for(path))
        assert answer.status == 200, answer.body
        answer.is_documented()

    lasting.play(body)


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "x", "\u00fc"])
@pytest.mark.parametrize(("method", "path"), CALLS)
def test_a_wrong_token_changes_nothing(lasting: Lasting[Caller], method: str, path: str, token: str | None) -> None:
    async def body(caller: Caller, _: asyncio.TaskGroup) -> None:
        await caller.put({"fault": "Hold", "resource": "pods"})
        before = await caller.state()
        example = next((each.values[2] for each in EXAMPLES if each.values[:2] == (method, path)), None)
        data = None if example is None else json.dumps(example).encode()
        answer = await caller.call(method, path, data, values_for(path), token=token)
        assert answer.status == 401
        assert answer.fields["WWW-Authenticate"] == "Bearer"
        assert "token" in answer.body["error"]
        answer.is_documented()
        assert await caller.state() == before

    lasting.play(body)


@pytest.mark.parametrize("data", BAD_BODIES)
@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_a_body_that_makes_no_sense_changes_nothing(lasting: Lasting[Caller], method: str, path: str, data: bytes) -> None:
    async def body(caller: Caller, _: asyncio.TaskGroup) -> None:
        await caller.put({"fault": "Hold", "resource": "pods"})
        before = await caller.state()
        answer = await caller.call(method, path, data)
        assert answer.status == 400
        assert answer.body["error"].startswith("body: ")
        answer.is_documented()
        assert await caller.state() == before

    lasting.play(body)


@pytest.mark.parametrize(
    ("method", "path", "values", "status", "said"),
    [
        ("delete", "/v1/faults/{fault}", {"fault": "1"}, 404, "there is no fault 1; faults are numbered from 0, and there are 1"),
        ("delete", "/v1/faults/{fault}", {"fault": "x"}, 404, "GET /v1/openapi.json lists what there is"),
        ("get", "/v1/entries", {"after": "x"}, 400, "after: expected the number of an entry, found 'x'"),
        ("get", "/v1/entries", {"after": "-1"}, 400, "after: expected the number of an entry, found '-1'"),
        ("get", "/v1/entries", {"runner": "perhaps"}, 400, "runner: expected true or false, found 'perhaps'"),
    ],
)
def test_a_parameter_that_makes_no_sense_changes_nothing(
    lasting: Lasting[Caller], method: str, path: str, values: dict[str, str], status: int, said: str
) -> None:
    async def body(caller: Caller, _: asyncio.TaskGroup) -> None:
        await caller.put({"fault": "Hold", "resource": "pods"})
        before = await caller.state()
        answer = await caller.call(method, path, None, values)
        assert answer.status == status
        assert said in answer.body["error"]
        answer.is_documented()
        assert await caller.state() == before

    lasting.play(body)


@pytest.mark.parametrize(
    ("method", "path"), [("get", "/v1/nowhere"), ("get", "/"), ("post", "/v1/plan"), ("delete", "/v1/healthz")]
)
def test_what_there_is_not_is_told(lasting: Lasting[Caller], method: str, path: str) -> None:
    async def body(caller: Caller, _: asyncio.TaskGroup) -> None:
        answer = await caller.call(method, path)
        assert answer.status in (404, 405)
        assert "GET /v1/openapi.json lists what there is" in answer.body["error"]

    lasting.play(body)


@pytest.mark.parametrize("kind", sorted(FAULTS))
def test_every_kind_of_fault_can_be_added_and_closed(lasting: Lasting[Caller], kind: str) -> None:
    async def body(caller: Caller, _: asyncio.TaskGroup) -> None:
        await caller.put()
        schema = next(
            found
            for found in DOCUMENT["components"]["schemas"].values()
            if found.get("properties", {}).get("fault", {}).get("enum") == [kind]
        )
        given = {"fault": kind, "resource": "configmaps", "bySeconds": {"pods": 0.5} if kind == "Skew" else 0.5}
        fault = {name: given[name] for name in schema["required"]}
        contract = FAULTS[kind].contract
        added = await caller.call("post", "/v1/faults", json.dumps({"fault": fault, "contract": contract}).encode())
        if FAULTS[kind].needs_runner:  # nobody would do it
            assert (added.status, "controller's process" in added.body["error"]) == (400, True), added.body
            return
        assert (added.status, added.body.get("fault")) == (200, 0), added.body
        found = await caller.call("get", "/v1/faults")
        found.is_documented()
        assert [state["phase"] for state in found.body["faults"]] in (["open"], ["armed"])
        closed = await caller.call("delete", "/v1/faults/{fault}", None, {"fault": "0"})
        closed.is_documented()
        again = await caller.call("get", "/v1/faults")
        again.is_documented()
        assert [state["phase"] for state in again.body["faults"]] == ["closed"]

    lasting.play(body)


def test_entries_come_as_they_happen(lasting: Lasting[Caller]) -> None:
    async def body(caller: Caller, group: asyncio.TaskGroup) -> None:
        _, health = await caller.state()
        waiting = group.create_task(caller.call("get", "/v1/entries", None, {"after": str(health["entries"])}))
        await caller.put()
        await caller.call("post", "/v1/faults", b'{"fault": {"fault": "Hold", "resource": "pods"}}')
        async with asyncio.timeout(LIMIT_SECONDS):
            answer = await waiting
        answer.is_documented()
        assert answer.fields["X-Staleproof-First"] == str(health["entries"])
        assert json.loads(answer.body.splitlines()[0])["entry"] == "faultopened"

    lasting.play(body)
