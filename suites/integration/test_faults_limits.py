"""Faults under load, and clients, plans and proxies that go away in the middle: memory is bounded, and nothing stays behind."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from staleproof.core.fault import AnyFault, Coalesce, DelayStream, Hang, HoldStream, Kill, SlowAnswer
from staleproof.core.history.entry import Answered, Asked, Broke, Closed, Delivered, FaultFired, Opened, Resumed, Stalled, Withheld

from .planted_proxy import planted_proxy
from .proxy_client import Connection, Watching, is_reset, limited, until
from .proxy_stage import ProxyStage, named, numbered
from .stage import text

BOUND = 1 << 20
SMALL_BOUND = f"""
import functools
import staleproof.proxy_addons.proxy_state as proxy_state
import staleproof.proxy_addons.stream as stream
from staleproof.core.engine.gate import Gate
stream._MOST_UNREAD_BYTES = {BOUND}
proxy_state.WatchStream = functools.partial(proxy_state.WatchStream, gate=functools.partial(Gate, most_bytes={BOUND}))
"""


def sockets(stage: ProxyStage) -> int:
    """How many sockets the proxy has open."""
    folder, count = f"/proc/{stage.proxy.process.pid}/fd", 0
    for name in os.listdir(folder):
        try:
            count += os.readlink(f"{folder}/{name}").startswith("socket:")
        except FileNotFoundError:
            continue  # closed in the meantime
    return count


@asynccontextmanager
async def bounded(stage: ProxyStage, folder: Path, *, makes: str = "") -> AsyncIterator[tuple[ProxyStage, Watching]]:
    """A stage whose proxy keeps little, and a watch on it, which has been shown `makes` if that is named."""
    async with planted_proxy(stage, folder, SMALL_BOUND) as other:
        watch = await other.watch()
        if makes:
            await other.create(makes)
            await watch.until(1)
        yield other, watch


async def all_withheld(stage: ProxyStage, count: int) -> None:
    """Return once so many frames have come to a stream that is held: a write is answered before its event comes."""
    await until(lambda: len(stage.of(Withheld)) >= count)
    assert len(stage.of(Withheld)) == count


async def resumed(stage: ProxyStage, watch: Watching) -> Watching:
    """The same watch from the newest revision that it was shown, as a client resumes it."""
    return await stage.watch(max(watch.revisions, key=int), on=watch.connection)


# --- how much may wait -----------------------------------------------------------------------------------------------------------


async def test_ten_thousand_held_frames(stage: ProxyStage) -> None:
    names = numbered("many", 500)
    for begin in range(0, len(names), 50):
        await asyncio.gather(*(stage.create(name) for name in names[begin : begin + 50]))
    await stage.play(HoldStream(resource="configmaps"))
    watches = [await stage.watch("0") for _ in range(20)]
    async with limited():
        while sum(stream["held"] for stream in await stage.streams()) < 10_000:
            await asyncio.sleep(0.01)
    assert all(0 < stream["heldBytes"] < 64 << 20 for stream in await stage.streams())
    assert [watch.lines for watch in watches] == [[]] * 20
    assert await stage.healed() == ["0 fired"]
    for watch in watches:
        await watch.until(500)
        assert watch.names == names
    assert {(stream["held"], stream["heldBytes"]) for stream in await stage.streams()} == {(0, 0)}


async def test_a_hold_at_its_bound_forgets_and_sends_the_client_back(stage: ProxyStage, tmp_path: Path) -> None:
    async with bounded(stage, tmp_path, makes="before") as (other, watch):
        await other.play(HoldStream(resource="configmaps"))
        most = 0
        for number, name in enumerate(numbered("large", 30), 1):
            await other.create(name, data=text(100_000))
            await all_withheld(other, number)
            most = max(most, *(stream["heldBytes"] for stream in await other.streams()))
        assert BOUND // 2 < most <= BOUND
        assert [(stream["held"], stream["heldBytes"]) for stream in await other.streams()] == [(0, 0)]
        assert (watch.ending, len(watch.lines)) == ("", 1)  # a hold is a hold: no byte, and no end either
        await other.proxy.release()
        assert (await watch.ended(), len(watch.lines)) == ("clean", 1)
        await other.all_recorded()
        assert [(entry.how, entry.discarded) for entry in other.of(Closed)] == [("clean", 30)]
        again = await resumed(other, watch)
        await again.until(30)
        assert again.names == numbered("large", 30)
        assert other.of(Broke) == []


async def test_a_delay_at_its_bound_ends_the_stream(stage: ProxyStage, tmp_path: Path) -> None:
    async with bounded(stage, tmp_path, makes="before") as (other, watch):
        await other.play(DelayStream(resource="configmaps", by_seconds=3600))
        await other.create_each(*numbered("large", 12), data=text(100_000))
        assert (await watch.ended(), len(watch.lines)) == ("clean", 1)
        await other.proxy.release()
        again = await resumed(other, watch)
        await again.until(12)
        await other.all_recorded()
        assert other.of(Broke) == []


async def test_a_client_that_does_not_read_costs_a_bounded_amount(stage: ProxyStage, tmp_path: Path) -> None:
    count, size = 60, 500_000  # several times what the sockets on the way take
    async with bounded(stage, tmp_path) as (other, watch):
        prompt = await other.watch()
        watch.connection.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a stream's transport reads, too
        await other.create_each(*numbered("large", count), data=text(size))
        await prompt.until(count)
        await other.all_recorded()
        assert len(other.of(Delivered)) < 2 * count  # the rest is still with the API server
        watch.connection.writer.transport.resume_reading()  # type: ignore[attr-defined]
        await watch.until(count)
        assert watch.lines == prompt.lines
        assert await other.healed() == []
        assert other.of(Closed) == []


# --- clients that go away in the middle -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaves", ["abort", "close"])
@pytest.mark.parametrize(
    "fault",
    [
        Hang(resource="configmaps"),
        Coalesce(resource="configmaps"),
        Kill(resource="configmaps", moment="before"),
        Kill(resource="configmaps"),
        SlowAnswer(resource="configmaps", by_seconds=3600, times=None),
        SlowAnswer(resource="configmaps", by_seconds=3600, times=None, moment="before"),
        HoldStream(resource="configmaps"),
    ],
    ids=["Hang", "Coalesce", "Kill-before", "Kill", "SlowAnswer", "SlowAnswer-before", "Hold"],
)
async def test_clients_that_leave_leave_nothing_behind(fault: AnyFault, leaves: str, stage: ProxyStage) -> None:
    start = await stage.revision()
    before = sockets(stage)
    await stage.play(fault)
    requests = [
        ("GET", stage.path, None),
        ("GET", f"{stage.path}?watch=1&resourceVersion={start}", None),
        ("POST", stage.path, named("sample")),
    ]
    clients: list[Connection] = []
    for method, path, content in requests * 3:
        clients.append(await stage.connection())
        # The short way keeps connections to the API server for the next request; a request with this field takes the long one.
        await clients[-1].send(method, path, content, TE="trailers")
    stalls = {"Hang": 9, "Coalesce": 6, "Kill": 1}.get(fault.tag, 0)
    await until(lambda: len(stage.of(Asked)) == 6 and len(stage.of(Stalled)) == stalls)
    if fault.tag == "SlowAnswer":
        await until(lambda: stage.of(FaultFired) != [])  # an answer has come that can wait
    for client in clients:
        client.writer.close() if leaves == "close" else client.abort()
    await until(lambda: len(stage.of(Resumed)) == stalls)
    async with limited():
        while sockets(stage) > before or await stage.streams():
            await asyncio.sleep(0.01)
    assert (await (await stage.connection()).call("GET", "/version"))[0] == 200
    assert await stage.healed() in (["0 fired"], ["0 missed"])
    assert stage.of(FaultFired) != [] or fault.tag == "Hold"  # a hold of nothing holds nothing
    expected = {"Hang": 6, "Coalesce": 3, "Kill": 1}.get(fault.tag)
    await until(lambda: len(answered_by_fault(stage)) >= (expected or 0))  # what became of a request is recorded after its end
    answers = answered_by_fault(stage)
    assert expected in (None, len(answers))
    assert {entry.outcome for entry in answers} <= {"unknown"}


def answered_by_fault(stage: ProxyStage) -> list[Answered]:
    return [entry for entry in stage.of(Answered) if entry.fault == 0]


HEADS_WAIT = """
from staleproof.proxy_addons.traffic import Traffic

passes = Traffic.responseheaders

async def waits(self, flow):
    passes(self, flow)
    await self._state.conditions.until(lambda: not flow.client_conn.connected)

Traffic.responseheaders = waits
"""


async def test_clients_that_leave_while_a_watch_is_answered(stage: ProxyStage, tmp_path: Path) -> None:
    """The stream is open, and its head is on the way; no event comes that could end it."""
    async with planted_proxy(stage, tmp_path, HEADS_WAIT) as other:
        start = await other.revision()
        before = sockets(other)
        clients = [await other.connection() for _ in range(2)]
        for client in clients:
            await client.send("GET", f"{other.path}?watch=1&resourceVersion={start}")
        await until(lambda: len(other.of(Opened)) == 2)
        clients[0].abort()
        clients[1].writer.close()
        await until(lambda: len(other.of(Closed)) == 2 and sockets(other) <= before)
        assert [entry.how for entry in other.of(Closed)] == ["client", "client"]
        assert await other.streams() == []


async def test_a_write_whose_client_left_before_it_was_sent_is_not_sent(stage: ProxyStage) -> None:
    await stage.play(SlowAnswer(resource="configmaps", by_seconds=3600, moment="before"))
    client = await stage.connection()
    await client.send("POST", stage.path, named("sample"))
    await until(lambda: len(stage.of(FaultFired)) == 1)
    client.abort()
    await until(lambda: len(stage.of(Answered)) == 1)
    assert await stage.healed() == ["0 fired"]
    assert await stage.stored("sample") is None
    assert [entry.outcome for entry in stage.of(Answered)] == ["unknown"]


# --- plans and proxies that go away in the middle ------------------------------------------------------------------------------


async def test_replacing_a_plan_releases_waiting_requests(stage: ProxyStage) -> None:
    start = await stage.revision()
    other = HoldStream(resource="secrets")
    for fault, refused in ((Hang(resource="configmaps"), True), (Coalesce(resource="configmaps"), False)):
        await stage.play(other, other, fault)
        listing, watching = await stage.connection(), await stage.connection()
        await listing.send("GET", stage.path)
        await watching.send("GET", f"{stage.path}?watch=1&resourceVersion={start}")
        await until(lambda: len(stage.of(Stalled)) - len(stage.of(Resumed)) == 2)
        await stage.proxy.install((), "")  # its faults have other numbers, or none
        assert len(stage.of(Resumed)) == len(stage.of(Stalled))  # before the command is answered
        if refused:
            assert [await is_reset(client.status()) for client in (listing, watching)] == [True, True]
        else:
            assert [await client.status() for client in (listing, watching)] == [200, 200]
    await stage.play(other, other, SlowAnswer(resource="configmaps", by_seconds=3600))
    client = await stage.connection()
    await client.send("POST", stage.path, named("sample"))
    await until(lambda: len(stage.of(Asked)) == 3)
    await stage.proxy.install((), "")
    assert await client.status() == 201
    await stage.all_recorded()
    assert stage.of(Broke) == []
    assert {entry.fault for entry in stage.of(Answered)} == {None}


async def test_replacing_a_plan_ends_a_stream_once(stage: ProxyStage, tmp_path: Path) -> None:
    """A stream that ends together with its plan is not announced again under the next one."""
    async with bounded(stage, tmp_path) as (other, watch):
        await other.play(HoldStream(resource="configmaps"))
        await other.create_each(*numbered("large", 12), data=text(100_000))
        await all_withheld(other, 12)
        assert [stream["held"] for stream in await other.streams()] == [0]
        await other.proxy.install((), "")
        assert await watch.ended() == "clean"
        assert await other.streams() == []
        number = other.of(Closed)[0].stream
        mine = [entry for entry in other.entries if isinstance(entry, Opened | Closed) and entry.stream == number]
        assert isinstance(mine[-1], Closed)


async def test_a_proxy_stops_although_requests_wait(stage: ProxyStage, tmp_path: Path) -> None:
    async with planted_proxy(stage, tmp_path) as other:
        start = await other.revision()
        watch = await other.watch(start)
        await other.play(Hang(resource="configmaps"), SlowAnswer(resource="secrets", by_seconds=3600))
        clients = [await other.connection() for _ in range(3)]
        await clients[0].send("GET", other.path)
        await clients[1].send("GET", f"{other.path}?watch=1&resourceVersion={start}")
        await clients[2].send("GET", other.path.replace("configmaps", "secrets"))
        await until(lambda: len(other.of(Stalled)) == 2 and len(other.of(FaultFired)) == 2)
        await other.proxy.process.stop(grace_seconds=30.0)
        assert other.proxy.process.exit_code in (0, 128 + signal.SIGTERM)  # not by SIGKILL: no waiting request keeps it alive
        assert await watch.ended() in ("cut", "reset")
        for client in clients:
            with pytest.raises((OSError, asyncio.IncompleteReadError)):
                await client.status()
        await until(lambda: len(other.of(Broke)) == 1)
        assert "the proxy ended with code" in other.of(Broke)[0].why
    assert json.loads((tmp_path / "ready.json").read_bytes())["port"]
