"""Faults under load and with clients, plans and proxies that go away in the middle: memory is bounded, nothing stays behind."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from staleproof.core.entry import Answered, Asked, Broke, Closed, Delivered, FaultFired, Opened, Resumed, Stalled, Withheld
from staleproof.core.fault import AnyFault, Coalesce, DelayStream, Hang, HoldStream, Kill, SlowAnswer

from .fault_play import healed, health, is_reset, play, stored
from .planted_proxy import planted_proxy
from .proxy_client import Connection, Watching, until
from .proxy_stage import Stage, Theatre
from .proxy_stage import theatre as theatre

BOUND = 1 << 20
SMALL_BOUND = f"""
import functools
import staleproof.proxy_addons.proxy_state as proxy_state
import staleproof.proxy_addons.stream as stream
from staleproof.core.engine.gate import Gate
stream._MOST_UNREAD_BYTES = {BOUND}
proxy_state.WatchStream = functools.partial(proxy_state.WatchStream, gate=functools.partial(Gate, most_bytes={BOUND}))
"""


def sockets(stage: Stage) -> int:
    """How many the proxy has open."""
    folder, count = f"/proc/{stage.proxy.process.pid}/fd", 0
    for name in os.listdir(folder):
        try:
            count += os.readlink(f"{folder}/{name}").startswith("socket:")
        except FileNotFoundError:
            continue  # closed meanwhile
    return count


async def many(stage: Stage, count: int, *, size: int = 0) -> list[str]:
    """So many objects, made as fast as it goes; their names."""
    names = [f"many-{number:04}" for number in range(count)]
    for begin in range(0, count, 50):
        await asyncio.gather(*(stage.create(name, size=size) for name in names[begin : begin + 50]))
    return names


async def resumed(stage: Stage, watch: Watching) -> Watching:
    """The same watch from what it has got, as a client goes on."""
    newest = str(max(int(frame["object"]["metadata"]["resourceVersion"]) for frame in watch.frames))
    return await stage.watch(newest, on=watch.connection)


# --- how much may wait -----------------------------------------------------------------------------------------------------------


def test_ten_thousand_held_frames(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        names = await many(stage, 500)
        await play(stage, HoldStream(resource="configmaps"))
        watches = [await stage.watch("0") for _ in range(20)]
        async with asyncio.timeout(30):
            while sum(stream["held"] for stream in await health(stage)) < 10_000:
                await asyncio.sleep(0.01)
        assert all(0 < stream["heldBytes"] < 64 << 20 for stream in await health(stage))
        assert [watch.lines for watch in watches] == [[]] * 20
        assert await healed(stage) == ["0 fired"]
        for watch in watches:
            await watch.until(500)
            assert [name for _, name in watch.events] == names
        assert {(stream["held"], stream["heldBytes"]) for stream in await health(stage)} == {(0, 0)}

    theatre.play(body)


def test_a_hold_at_its_bound_forgets_and_sends_the_client_back(theatre: Theatre, tmp_path: Path) -> None:
    async def body(stage: Stage) -> None:
        async with planted_proxy(stage, tmp_path, SMALL_BOUND) as other:
            watch = await other.watch(await other.revision())
            await other.create("before")
            await watch.until(1)
            await play(other, HoldStream(resource="configmaps"))
            most = 0
            for number in range(30):
                await other.create(f"large-{number}", size=100_000)
                most = max(most, *(stream["heldBytes"] for stream in await health(other)))
            assert BOUND // 2 < most <= BOUND
            async with asyncio.timeout(30):
                while len(other.of(Withheld)) < 30:  # a write is answered before its event comes
                    await other.told()
            assert [(stream["held"], stream["heldBytes"]) for stream in await health(other)] == [(0, 0)]
            assert (watch.ending, len(watch.lines)) == ("", 1)  # a hold is a hold: no byte, and no end either
            await other.proxy.release()
            assert (await watch.ended(), len(watch.lines)) == ("clean", 1)
            await other.told()
            assert [(entry.how, entry.discarded) for entry in other.of(Closed)] == [("clean", 30)]
            again = await resumed(other, watch)
            await again.until(30)
            assert [name for _, name in again.events] == [f"large-{number}" for number in range(30)]
            assert other.of(Broke) == []

    theatre.play(body)


def test_a_delay_at_its_bound_ends_the_stream(theatre: Theatre, tmp_path: Path) -> None:
    async def body(stage: Stage) -> None:
        async with planted_proxy(stage, tmp_path, SMALL_BOUND) as other:
            watch = await other.watch(await other.revision())
            await other.create("before")
            await watch.until(1)
            await play(other, DelayStream(resource="configmaps", by_seconds=3600))
            for number in range(12):
                await other.create(f"large-{number}", size=100_000)
            assert (await watch.ended(), len(watch.lines)) == ("clean", 1)
            await other.proxy.release()
            again = await resumed(other, watch)
            await again.until(12)
            await other.told()
            assert other.of(Broke) == []

    theatre.play(body)


def test_a_client_that_does_not_read_costs_so_much_and_no_more(theatre: Theatre, tmp_path: Path) -> None:
    count, size = 60, 500_000  # several times what the sockets on the way take

    async def body(stage: Stage) -> None:
        async with planted_proxy(stage, tmp_path, SMALL_BOUND) as other:
            start = await other.revision()
            watch, prompt = await other.watch(start), await other.watch(start)
            watch.connection.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a stream's transport reads, too
            for number in range(count):
                await other.create(f"large-{number}", size=size)
            await prompt.until(count)
            await other.told()
            assert len(other.of(Delivered)) < 2 * count  # the rest has not been taken from the API server
            watch.connection.writer.transport.resume_reading()  # type: ignore[attr-defined]
            await watch.until(count)
            assert watch.lines == prompt.lines
            assert await healed(other) == []
            assert other.of(Closed) == []

    theatre.play(body)


# --- who goes away in the middle -------------------------------------------------------------------------------------------------


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
def test_clients_that_leave_leave_nothing_behind(fault: AnyFault, leaves: str, theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        start = await stage.revision()
        before = sockets(stage)
        await play(stage, fault)
        requests = [
            ("GET", stage.path, None),
            ("GET", f"{stage.path}?watch=1&resourceVersion={start}", None),
            ("POST", stage.path, {"metadata": {"name": "sample"}}),
        ]
        clients: list[Connection] = []
        for method, path, content in requests * 3:
            clients.append(await stage.connection())
            await clients[-1].send(method, path, content)
        stalls = {"Hang": 9, "Coalesce": 6, "Kill": 1}.get(fault.tag, 0)
        await until(lambda: len(stage.of(Asked)) == 6 and len(stage.of(Stalled)) == stalls)
        for client in clients:
            client.writer.close() if leaves == "close" else client.abort()
        await until(lambda: len(stage.of(Resumed)) == stalls)
        async with asyncio.timeout(30):
            while sockets(stage) > before or await health(stage):
                await asyncio.sleep(0.01)
        assert (await (await stage.connection()).call("GET", "/version"))[0] == 200
        assert await healed(stage) in (["0 fired"], ["0 missed"])
        assert stage.of(FaultFired) != [] or fault.tag == "Hold"  # a hold of nothing holds nothing
        told = [entry for entry in stage.of(Answered) if entry.fault == 0]
        expected = {"Hang": 6, "Coalesce": 3, "Kill": 1}.get(fault.tag)
        assert expected in (None, len(told))
        assert {entry.outcome for entry in told} <= {"unknown"}

    theatre.play(body)


def test_a_write_whose_client_left_before_it_was_sent_is_not_sent(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await play(stage, SlowAnswer(resource="configmaps", by_seconds=3600, moment="before"))
        client = await stage.connection()
        await client.send("POST", stage.path, {"metadata": {"name": "sample"}})
        await until(lambda: len(stage.of(FaultFired)) == 1)
        client.abort()
        await until(lambda: len(stage.of(Answered)) == 1)
        assert await healed(stage) == ["0 fired"]
        assert await stored(stage, "sample") is None
        assert [entry.outcome for entry in stage.of(Answered)] == ["unknown"]

    theatre.play(body)


# --- plans and proxies that go away in the middle ------------------------------------------------------------------------------


def test_a_plan_that_is_replaced_lets_go_of_who_waits(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        start = await stage.revision()
        other = HoldStream(resource="secrets")
        for fault, refused in ((Hang(resource="configmaps"), True), (Coalesce(resource="configmaps"), False)):
            await play(stage, other, other, fault)
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
        await play(stage, other, other, SlowAnswer(resource="configmaps", by_seconds=3600))
        client = await stage.connection()
        await client.send("POST", stage.path, {"metadata": {"name": "sample"}})
        await until(lambda: len(stage.of(Asked)) == 3)
        await stage.proxy.install((), "")
        assert await client.status() == 201
        await stage.told()
        assert stage.of(Broke) == []
        assert {entry.fault for entry in stage.of(Answered)} == {None}

    theatre.play(body)


def test_a_plan_that_is_replaced_ends_a_stream_once(theatre: Theatre, tmp_path: Path) -> None:
    """A stream that ends because its plan does is not announced under the next."""

    async def body(stage: Stage) -> None:
        async with planted_proxy(stage, tmp_path, SMALL_BOUND) as other:
            watch = await other.watch(await other.revision())
            await play(other, HoldStream(resource="configmaps"))
            for number in range(12):
                await other.create(f"large-{number}", size=100_000)
            async with asyncio.timeout(30):
                while any(stream["held"] for stream in await health(other)):
                    await asyncio.sleep(0.01)
            await other.proxy.install((), "")
            assert await watch.ended() == "clean"
            assert await health(other) == []
            number = other.of(Closed)[0].stream
            mine = [entry for entry in other.entries if isinstance(entry, Opened | Closed) and entry.stream == number]
            assert isinstance(mine[-1], Closed)

    theatre.play(body)


def test_a_proxy_that_is_stopped_while_requests_wait_ends(theatre: Theatre, tmp_path: Path) -> None:
    async def body(stage: Stage) -> None:
        async with planted_proxy(stage, tmp_path) as other:
            start = await other.revision()
            watch = await other.watch(start)
            await play(other, Hang(resource="configmaps"), SlowAnswer(resource="secrets", by_seconds=3600))
            clients = [await other.connection() for _ in range(3)]
            await clients[0].send("GET", other.path)
            await clients[1].send("GET", f"{other.path}?watch=1&resourceVersion={start}")
            await clients[2].send("GET", other.path.replace("configmaps", "secrets"))
            await until(lambda: len(other.of(Stalled)) == 2 and len(other.of(FaultFired)) == 2)
            await other.proxy.process.stop(grace_seconds=30.0)
            assert other.proxy.process.exit_code in (0, 128 + signal.SIGTERM)  # not by SIGKILL: nothing that waits keeps it
            assert await watch.ended() in ("cut", "reset")
            for client in clients:
                with pytest.raises((OSError, asyncio.IncompleteReadError)):
                    await client.status()
            await until(lambda: len(other.of(Broke)) == 1)
            assert "the proxy ended with code" in other.of(Broke)[0].why
        assert json.loads((tmp_path / "ready.json").read_bytes())["port"]

    theatre.play(body)
