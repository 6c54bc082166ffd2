"""Legal faults about open streams, on the wire: what comes late, what is cut where, what is added, and whom it concerns."""

import asyncio
import itertools
import json
from typing import Any, Literal, cast

import pytest

from staleproof.core.entry import Closed, Delivered, FaultRefused, Withheld
from staleproof.core.fault import AddBookmarks, HoldStream, SeverStream, Skew, SlowStart

from .fault_play import healed, health, is_reset, play
from .proxy_client import Watching, until
from .proxy_stage import Stage, Theatre
from .proxy_stage import theatre as theatre

BOOKMARKS = "&allowWatchBookmarks=true"
WATCH_LIST = f"{BOOKMARKS}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"


def revision(frame: dict[str, Any]) -> str:
    return str(frame["object"]["metadata"]["resourceVersion"])


def waited(stage: Stage) -> list[float]:
    """How long each frame that was withheld waited."""
    came = {entry.revision: entry.at for entry in stage.of(Withheld)}
    return [entry.at - came[entry.revision] for entry in stage.of(Delivered) if entry.revision in came]


# --- late ----------------------------------------------------------------------------------------------------------------------


def test_skewed_resources_lag_each_by_its_own_time(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        secrets, leases = (
            f"/api/v1/namespaces/{stage.namespace}/secrets",
            f"/apis/coordination.k8s.io/v1/namespaces/{stage.namespace}/leases",
        )
        start = await stage.revision()
        late = await stage.watch(start)
        later, prompt = [await stage.watch_at(f"{path}?watch=1&resourceVersion={start}") for path in (secrets, leases)]
        await play(stage, Skew(by_seconds={"configmaps": 0.3, "*": 0.6}))
        for path in (secrets, stage.path, leases):  # the opposite of the order in which the first two arrive
            for name in ("a", "b"):
                await stage.api.call("POST", path, {"metadata": {"name": name}})
        for watch in (prompt, late, later):
            await watch.until(2)
            assert [name for _, name in watch.events] == ["a", "b"]
        assert await healed(stage) == ["0 fired"]
        streams = {stream["resource"]: stream["stream"] for stream in await health(stage)}
        order = [entry.stream for entry in stage.of(Delivered)]
        assert order == [streams[name] for name in ("leases.coordination.k8s.io", "configmaps", "secrets") for _ in "ab"]
        assert min(waited(stage)) >= 0.3

    theatre.play(body)


@pytest.mark.parametrize("query", ["&resourceVersion=0", WATCH_LIST])
def test_initial_events_come_late_and_live_ones_behind_them(query: str, theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.create("first")
        await play(stage, SlowStart(resource="configmaps", by_seconds=0.4))
        watch = await stage.watch_at(f"{stage.path}?watch=1{query}")
        await until(lambda: len(stage.of(Withheld)) >= 1)
        await stage.create("live")
        count = 3 if "sendInitial" in query else 2
        await watch.until(count)
        kinds = [kind for kind, _ in watch.events[:count]]  # the API server may add bookmarks behind them
        assert kinds == (["ADDED", "BOOKMARK", "ADDED"] if count == 3 else ["ADDED", "ADDED"])
        assert [watch.events[0][1], watch.events[count - 1][1]] == ["first", "live"]
        assert await healed(stage) == ["0 fired"]
        assert waited(stage)[0] >= 0.4

    theatre.play(body)


def test_a_watch_list_that_ends_before_its_bookmark(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        for name in ("a", "b"):
            await stage.create(name)
        await play(stage, SlowStart(resource="configmaps", by_seconds=0.2, then="closes"))
        watch = await stage.watch_at(f"{stage.path}?watch=1{WATCH_LIST}")
        assert await watch.ended() == "clean"
        assert watch.events == [("ADDED", "a"), ("ADDED", "b")]
        assert await healed(stage) == ["0 fired"]
        assert [(entry.how, entry.fault) for entry in stage.of(Closed)] == [("clean", 0)]
        again = await stage.watch_at(f"{stage.path}?watch=1{WATCH_LIST}", on=watch.connection)
        await again.until(3)
        assert again.events[-1][0] == "BOOKMARK"

    theatre.play(body)


def test_the_answer_to_a_list_comes_late_or_is_cut_the_first_time(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.create("sample")
        await play(stage, SlowStart(resource="configmaps", by_seconds=0.3, then="closes"))
        assert await is_reset((await stage.connection()).ask("GET", f"{stage.path}?resourceVersion=0"))
        client = await stage.connection()
        status, found = await client.call("GET", f"{stage.path}?resourceVersion=0")
        assert (status, len(found["items"])) == (200, 1)
        # A page that goes on, and a list of a given revision, are no first look.
        await client.call("GET", f"{stage.path}?resourceVersion={found['metadata']['resourceVersion']}")
        assert await healed(stage) == ["0 fired"]

    theatre.play(body)


def test_a_trickle_lets_frames_go_one_after_the_other(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        await play(stage, HoldStream(resource="configmaps", release="trickle"))
        names = [f"held-{number}" for number in range(8)]
        for name in names:
            await stage.create(name)
        await until(lambda: len(stage.of(Withheld)) == 8)
        async with stage.control() as session, session.delete("/v1/faults/0") as response:
            assert response.status == 200
        await stage.create("behind")  # live while it trickles: it waits for its turn
        await watch.until(9)
        assert [name for _, name in watch.events] == [*names, "behind"]
        assert await healed(stage) == ["0 fired"]
        times = [entry.at for entry in stage.of(Delivered)][:8]
        assert min(later - earlier for earlier, later in itertools.pairwise(times)) > 0

    theatre.play(body)


# --- cut -----------------------------------------------------------------------------------------------------------------------


def test_a_truncated_stream_breaks_off_in_the_middle_of_a_frame(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        start = await stage.revision()
        watch, direct = await stage.watch(start), await stage.watch(start, direct=True)
        await play(stage, SeverStream(resource="configmaps", how="truncated", nth=2))
        await stage.create("whole")
        await stage.create("half")
        assert await watch.ended() == "cut"
        await direct.until(2)
        assert watch.lines == direct.lines[:1]
        assert watch.rest == direct.lines[1][: (len(direct.lines[1]) + 1) // 2]
        assert await healed(stage) == ["0 fired"]
        assert [(entry.how, entry.fault, entry.discarded) for entry in stage.of(Closed)] == [("truncated", 0, 0)]
        assert [entry.name for entry in stage.of(Delivered)] == ["whole"]
        again = await stage.watch(revision(watch.frames[0]))
        await again.until(1)
        assert again.events == [("ADDED", "half")]

    theatre.play(body)


@pytest.mark.parametrize(("how", "ending"), [("clean", "clean"), ("truncated", "cut"), ("reset", "reset")])
def test_what_was_delivered_before_the_end_has_arrived(
    how: Literal["clean", "truncated", "reset"], ending: str, theatre: Theatre
) -> None:
    """All in one burst: the end must not overtake what the history calls delivered."""

    async def body(stage: Stage) -> None:
        for number in range(30):
            await stage.create(f"large-{number}", size=30_000)
        await play(stage, SeverStream(resource="configmaps", how=how, nth=25))
        watch = await stage.watch("0")
        assert await watch.ended() == ending
        assert await healed(stage) == ["0 fired"]
        assert [name for _, name in watch.events] == [entry.name for entry in stage.of(Delivered)]
        assert len(watch.events) == 24

    theatre.play(body)


def test_a_reset_waits_for_a_slow_reader(theatre: Theatre) -> None:
    """More than the sockets on the way take: it is sent behind what the history calls delivered, however long that takes."""

    async def body(stage: Stage) -> None:
        for number in range(30):
            await stage.create(f"large-{number}", size=500_000)
        await play(stage, SeverStream(resource="configmaps", how="reset", nth=25))
        client = await stage.connection()
        await client.ask("GET", f"{stage.path}?watch=1&resourceVersion=0")
        transport = cast(asyncio.ReadTransport, client.writer.transport)
        transport.pause_reading()
        await until(lambda: stage.of(Closed) != [])
        await asyncio.sleep(1.0)
        transport.resume_reading()
        watch = Watching(client, stage.group)
        assert await watch.ended() == "reset"
        assert await healed(stage) == ["0 fired"]
        assert [name for _, name in watch.events] == [entry.name for entry in stage.of(Delivered)]
        assert len(watch.events) == 24

    theatre.play(body)


@pytest.mark.parametrize(("how", "ending"), [("clean", "clean"), ("truncated", "cut"), ("reset", "reset")])
def test_every_open_stream_ends_at_once(how: Literal["clean", "truncated", "reset"], ending: str, theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        start = await stage.revision()
        watches = [await stage.watch(start) for _ in range(3)]
        other = await stage.watch_at(f"/api/v1/namespaces/{stage.namespace}/secrets?watch=1&resourceVersion={start}")
        await play(stage, SeverStream(resource="configmaps", how=how))
        assert [await watch.ended() for watch in watches] == [ending] * 3
        again = await stage.watch(start)  # one that is opened later is left alone
        await stage.create("sample")
        await again.until(1)
        assert other.ending == ""
        assert await healed(stage) == ["0 fired"]
        assert [(entry.how, entry.fault) for entry in stage.of(Closed)] == [(how, 0)] * 3

    theatre.play(body)


# --- bookmarks -----------------------------------------------------------------------------------------------------------------


def test_a_bookmark_behind_every_event_for_those_who_want_them(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.create("before")
        await play(stage, AddBookmarks(resource="configmaps"))
        watch = await stage.watch_at(f"{stage.path}?watch=1{WATCH_LIST}")
        await watch.until(2)
        for name in ("a", "b"):
            await stage.create(name)
        await stage.api.call("DELETE", f"{stage.path}/a")
        await watch.until(8)
        kinds = [kind for kind, _ in watch.events]
        assert kinds == ["ADDED", "BOOKMARK", "ADDED", "BOOKMARK", "ADDED", "BOOKMARK", "DELETED", "BOOKMARK"]
        live = watch.frames[2:]
        for event, bookmark in zip(live[::2], live[1::2], strict=True):
            assert revision(bookmark) == revision(event)
            ends = json.loads(watch.lines[1])["object"]
            assert bookmark["object"].keys() == ends.keys()
            assert (bookmark["object"]["kind"], bookmark["object"]["apiVersion"]) == (ends["kind"], ends["apiVersion"])
            assert "annotations" not in bookmark["object"]["metadata"]
        assert await healed(stage) == ["0 fired"]
        again = await stage.watch(revision(live[3]), query=BOOKMARKS)  # a client may go on from such a bookmark
        await again.until(1)
        assert again.events == [("DELETED", "a")]

    theatre.play(body)


def test_no_bookmark_for_a_client_that_did_not_ask(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        await play(stage, AddBookmarks(resource="configmaps"))
        for name in ("a", "b"):
            await stage.create(name)
        await watch.until(2)
        assert [kind for kind, _ in watch.events] == ["ADDED", "ADDED"]
        assert await healed(stage) == ["0 refused 18"]
        assert "allowWatchBookmarks" in stage.of(FaultRefused)[0].why

    theatre.play(body)
