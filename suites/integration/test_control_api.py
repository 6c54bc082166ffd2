"""Every call of the OpenAPI document, made as it says: each answer is a documented one, and a refused call changes nothing.

The proxy is real; there is no API server behind it, because the control API needs none.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import jsonschema
import pytest
import pytest_asyncio

from staleproof.core.engine.routes import openapi
from staleproof.core.fault.suggest import FAULTS
from staleproof.drive.cluster.access import Access
from staleproof.drive.process.address import Address
from staleproof.drive.proxy.serve import StandAlone, StandAloneOptions, stand_alone

from .proxy_client import LIMIT_SECONDS

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
    b'{"faults": [{"fault": "Nonsense"}]}',
    b'{"fault": []}',
    b'{"step": "one"}',
]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call."""

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
        """`values`: for the parameters in the path and in the query."""
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
        """All that a call could change: the faults, and the number of entries."""
        faults = await self.call("get", "/v1/faults")
        health = await self.call("get", "/v1/healthz")
        return faults.body, health.body


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def caller(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Caller]:
    wanted, upstream = (
        StandAloneOptions(listen=LOOPBACK, control=LOOPBACK, on_disconnect="heal"),
        Access(server="https://127.0.0.1:1"),
    )
    async with stand_alone(wanted, upstream, tmp_path_factory.mktemp("proxy"), control_token=TOKEN) as running:
        yield Caller(running)
        assert running.process.running, running.process.account()


def values_for(path: str) -> dict[str, str]:
    return {"fault": "0"} if "{fault}" in path else {}


@pytest.mark.parametrize(("method", "path", "example"), EXAMPLES)
async def test_the_examples_are_answered_as_documented(caller: Caller, method: str, path: str, example: object) -> None:
    await caller.put()
    answer = await caller.call(method, path, json.dumps(example).encode())
    assert answer.status == 200, answer.body
    answer.is_documented()


@pytest.mark.parametrize(("method", "path"), [call for call in CALLS if call not in WITH_BODY])
async def test_calls_without_a_body_are_answered_as_documented(caller: Caller, method: str, path: str) -> None:
    await caller.put({"fault": "Hold", "resource": "pods"})
    await caller.call("post", "/v1/step", b'{"step": 1}')
    answer = await caller.call(method, path, None, values_for(path))
    assert answer.status == 200, answer.body
    answer.is_documented()


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "x", "\u00fc"])
@pytest.mark.parametrize(("method", "path"), CALLS)
async def test_a_wrong_token_changes_nothing(caller: Caller, method: str, path: str, token: str | None) -> None:
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


@pytest.mark.parametrize(
    ("method", "path", "data"), [("post", "/v1/sever", b"{}"), *((*call, data) for call in WITH_BODY for data in BAD_BODIES)]
)
async def test_a_body_that_makes_no_sense_changes_nothing(caller: Caller, method: str, path: str, data: bytes) -> None:
    await caller.put({"fault": "Hold", "resource": "pods"})
    before = await caller.state()
    answer = await caller.call(method, path, data)
    assert answer.status == 400
    assert answer.body["error"].startswith("body: ")
    answer.is_documented()
    assert await caller.state() == before


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
async def test_a_parameter_that_makes_no_sense_changes_nothing(
    caller: Caller, method: str, path: str, values: dict[str, str], status: int, said: str
) -> None:
    await caller.put({"fault": "Hold", "resource": "pods"})
    before = await caller.state()
    answer = await caller.call(method, path, None, values)
    assert answer.status == status
    assert said in answer.body["error"]
    answer.is_documented()
    assert await caller.state() == before


@pytest.mark.parametrize(
    ("method", "path"), [("get", "/v1/nowhere"), ("get", "/"), ("post", "/v1/plan"), ("delete", "/v1/healthz")]
)
async def test_an_unknown_call_is_refused_with_a_hint(caller: Caller, method: str, path: str) -> None:
    answer = await caller.call(method, path)
    assert answer.status in (404, 405)
    assert "GET /v1/openapi.json lists what there is" in answer.body["error"]


@pytest.mark.parametrize("kind", sorted(FAULTS))
async def test_every_kind_of_fault_can_be_added_and_closed(caller: Caller, kind: str) -> None:
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
    if FAULTS[kind].needs_runner:  # there is none that could do it
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


async def test_entries_come_as_they_happen(caller: Caller) -> None:
    _, health = await caller.state()
    async with asyncio.timeout(LIMIT_SECONDS), asyncio.TaskGroup() as group:
        waiting = group.create_task(caller.call("get", "/v1/entries", None, {"after": str(health["entries"])}))
        await caller.put()
        await caller.call("post", "/v1/faults", b'{"fault": {"fault": "Hold", "resource": "pods"}}')
    answer = waiting.result()
    answer.is_documented()
    assert answer.fields["X-Staleproof-First"] == str(health["entries"])
    assert json.loads(answer.body.splitlines()[0])["entry"] == "faultopened"
