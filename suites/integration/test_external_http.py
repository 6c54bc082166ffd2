"""A real relay before a real bucket server: requests pass, are counted and go wrong, and buckets drift behind the client's back."""

import asyncio
import http.client
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from staleproof.core.external import AnswerSeen, CallFault, Change, Create, Delete, ExternalObject, Seen
from staleproof.core.history.entry import CallEffect
from staleproof.drive.external.http_service import HTTPService
from staleproof.drive.external.relay import relay
from staleproof.drive.external.relayed import Relayed, behind
from staleproof.drive.external.s3 import S3
from staleproof.drive.external.system import NotImplementedByAdapter
from staleproof.drive.process.address import free_port
from staleproof.drive.process.process import Command
from staleproof.errors import SetupError, UsageError

LATE_SECONDS = 0.4
TAGS = {"tags": {"team": "a & b"}}


class Stage:
    """A client of a bucket server behind a relay, and what the relay has reported."""

    def __init__(self, system: Relayed, seen: list[Seen]) -> None:
        self.system, self.seen = system, seen

    async def ask(self, method: str, path: str, body: str = "") -> int:
        return await asyncio.to_thread(self._ask, method, path, body)

    def _ask(self, method: str, path: str, body: str) -> int:
        """With a client that never repeats by itself what failed."""
        connection = http.client.HTTPConnection(self.system.url.removeprefix("http://"), timeout=60)
        try:
            connection.request(method, path, body)
            return connection.getresponse().status
        finally:
            connection.close()

    async def buckets(self) -> list[str]:
        return [each.name for each in await self.system.read_state()]

    async def last_answer(self) -> AnswerSeen:
        await self.system.count_calls()
        return [each for each in self.seen if isinstance(each, AnswerSeen)][-1]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder: Path = tmp_path_factory.mktemp("buckets")
    port, seen, ends = free_port(), list[Seen](), list[str]()
    argv = (sys.executable, "-m", "staleproof.fixtures.external.buckets", f"--port={port}", f"--folder={folder}")
    server = S3("store", f"http://127.0.0.1:{port}", Command(name="buckets", argv=argv, log=folder / "buckets.log"))
    await server.start()
    try:
        async with relay([behind(server)], folder / "private", seen.append, ends.append, log=folder / "relay.log") as before:
            yield Stage(Relayed(server, before), seen)
    finally:
        await server.stop()
    assert ends == []


@pytest_asyncio.fixture(loop_scope="module")
async def stage(running: Stage) -> AsyncIterator[Stage]:
    yield running
    await running.system.install([])
    for name in await running.buckets():
        await running.system.drift(Delete(kind="buckets", name=name))


async def test_buckets_drift(stage: Stage) -> None:
    await stage.system.drift(Create(object=ExternalObject(kind="buckets", name="b", fields=TAGS)))
    assert await stage.system.read_state() == (ExternalObject(kind="buckets", name="b", fields=TAGS),)
    await stage.system.drift(Change(kind="buckets", name="b", fields={"tags": {}}))
    assert await stage.system.read_state() == (ExternalObject(kind="buckets", name="b", fields={"tags": {}}),)
    await stage.system.drift(Delete(kind="buckets", name="b"))
    assert await stage.system.read_state() == ()


@pytest.mark.parametrize(
    ("drift", "why"),
    [
        (Delete(kind="buckets", name="b"), "external system store: DELETE /b was refused with 404: .*NoSuchBucket"),
        (Delete(kind="roles", name="b"), "has no 'roles'; what can drift there is buckets"),
        (Change(kind="buckets", name="b", fields={"size": 1}), "size of a bucket cannot be changed; tags can"),
    ],
)
async def test_what_cannot_be_is_said(stage: Stage, drift: Delete | Change, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        await stage.system.drift(drift)


async def test_calls_pass_and_are_counted_and_those_of_the_harness_are_not(stage: Stage) -> None:
    before = await stage.system.count_calls()
    assert [await stage.ask("PUT", "/b"), await stage.ask("PUT", "/b"), await stage.ask("HEAD", "/b")] == [200, 409, 200]
    assert await stage.buckets() == ["b"]
    assert await stage.system.count_calls() - before == {"PUT": 2, "HEAD": 1}


@pytest.mark.parametrize(("effect", "executed"), [("cut", False), ("lose-answer", True)])
async def test_a_connection_ends_before_the_call_or_before_its_answer(stage: Stage, effect: CallEffect, *, executed: bool) -> None:
    await stage.system.install([CallFault(effect=effect, mentions="/b", count=1)])
    with pytest.raises((OSError, http.client.HTTPException)):
        await stage.ask("PUT", "/b")
    assert await stage.buckets() == (["b"] if executed else [])
    last = await stage.last_answer()
    assert (last.outcome, last.executed, last.effect) == ("unknown", executed, effect)
    assert await stage.ask("PUT", "/b") == (409 if executed else 200)


async def test_a_call_is_executed_and_never_answered_while_the_connection_stays(stage: Stage) -> None:
    await stage.system.install([CallFault(effect="stall", changes=True, count=1, of=3)])
    reader, writer = await asyncio.open_connection(*stage.system.url.removeprefix("http://").split(":"))
    writer.write(b"PUT /b HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.read(1), LATE_SECONDS)
    assert await stage.buckets() == ["b"]
    last = await stage.last_answer()
    assert (last.outcome, last.executed, last.effect, last.of) == ("unknown", True, "stall", 3)
    writer.close()
    assert await stage.ask("PUT", "/b") == 409


async def test_a_call_is_rejected(stage: Stage) -> None:
    await stage.system.install([CallFault(effect="reject", mentions="special", count=1)])
    assert await stage.ask("PUT", "/b") == 200
    assert await stage.ask("PUT", "/b/key", "a special body") == 503
    assert await stage.ask("GET", "/b/key") == 404


async def test_a_slow_system_answers_late(stage: Stage) -> None:
    await stage.system.slow(LATE_SECONDS)
    began = time.monotonic()
    assert await stage.ask("GET", "/") == 200
    assert time.monotonic() - began >= LATE_SECONDS
    await stage.system.slow(0)


async def test_a_system_that_is_down_answers_nothing_and_has_its_state_when_it_is_up(stage: Stage) -> None:
    assert await stage.ask("PUT", "/stays") == 200
    await stage.system.stop()
    with pytest.raises((OSError, http.client.HTTPException)):
        await stage.ask("GET", "/")
    with pytest.raises(SetupError, match=r"external system store: .* does not answer"):
        await stage.system.read_state()
    await stage.system.start()
    assert await stage.buckets() == ["stays"]
    assert await stage.ask("HEAD", "/stays") == 200


async def test_another_users_service_cannot_be_stopped() -> None:
    service = HTTPService("theirs", "http://127.0.0.1:1/api/")
    assert service.url_at("127.0.0.1", 2) == "http://127.0.0.1:2/api"
    with pytest.raises(NotImplementedByAdapter, match="HTTPService does not implement stop"):
        service.require(["stop"])
    with pytest.raises(NotImplementedByAdapter, match="HTTPService does not implement stop"):
        await service.stop()


def test_a_url_that_no_relay_can_stand_before_is_refused() -> None:
    with pytest.raises(UsageError, match=r"external system theirs: expected http://HOST:PORT/PATH, found http://x"):
        HTTPService("theirs", "http://user:secret@x/")
    with pytest.raises(UsageError, match=r"external system theirs: the relay .* cannot stand before TLS .*Have the service"):
        HTTPService("theirs", "https://x:8443/")
