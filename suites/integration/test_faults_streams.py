"""Legal faults about open streams, on the wire: what comes late, what is cut and where, and what is added."""

import asyncio
import itertools
from typing import Literal, cast

import pytest

from staleproof.core.fault import AddBookmarks, HoldStream, SeverStream, Skew, SlowStart
from staleproof.core.history.entry import Closed, Delivered, FaultClosed, FaultRefused, Withheld

from .proxy_client import JSON, WATCH_LIST, Watching, is_reset, until
from .proxy_stage import ProxyStage, numbered
from .stage import text

BOOKMARKS = "&allowWatchBookmarks=true"


def waited(stage: ProxyStage) -> list[float]:
    """How long each frame that was withheld waited."""
    came = {(entry.type, entry.revision): entry.at for entry in stage.of(Withheld)}  # a bookmark may have an event's revision
    shown = [(entry.at, (entry.type, entry.revision)) for entry in stage.of(Delivered)]
    return [at - came[frame] for at, frame in shown if frame in came]


# --- late ----------------------------------------------------------------------------------------------------------------------


async def test_each_skewed_resource_lags_by_its_own_time(stage: ProxyStage) -> None:
    leases = "leases.coordination.k8s.io"
    start = await stage.revision()
    late = await stage.watch(start)
    paths = [(await stage.kind(resource)).path(stage.namespace) for resource in ("secrets", leases)]
    later, prompt = [await stage.watch_at(f"{path}?watch=1&resourceVersion={start}") for path in paths]
    await stage.play(Skew(by_seconds={"configmaps": 2.0, "*": 4.0}))
    for resource in ("secrets", "configmaps", leases):  # the opposite of the order in which the first two arrive
        for name in ("a", "b"):
            await stage.create(name, resource)
    for watch in (prompt, late, later):
        await watch.until(2)
        assert watch.names == ["a", "b"]
    assert await stage.healed() == ["0 fired"]
    streams = {stream["resource"]: stream["stream"] for stream in await stage.streams()}
    order = [entry.stream for entry in stage.of(Delivered)]
    assert order == [streams[name] for name in (leases, "configmaps", "secrets") for _ in "ab"]
    assert min(waited(stage)) >= 2.0


@pytest.mark.parametrize("query", ["&resourceVersion=0", WATCH_LIST])
async def test_initial_events_come_late_and_live_ones_behind_them(query: str, stage: ProxyStage) -> None:
    await stage.create("first")
    await stage.play(SlowStart(resource="configmaps", by_seconds=0.4))
    watch = await stage.watch_at(f"{stage.path}?watch=1{query}")
    await until(lambda: len(stage.of(Withheld)) >= 1)
    await stage.create("live")
    await until(lambda: len(watch.changes) == 2)
    ends = [("BOOKMARK", "")] if "sendInitial" in query else []
    assert watch.certain == [("ADDED", "first"), *ends, ("ADDED", "live")]
    assert await stage.healed() == ["0 fired"]
    assert waited(stage)[0] >= 0.4


async def test_a_watch_list_that_ends_before_its_bookmark(stage: ProxyStage) -> None:
    await stage.create_each("a", "b")
    await stage.play(SlowStart(resource="configmaps", by_seconds=0.2, then="closes"))
    watch = await stage.watch_at(f"{stage.path}?watch=1{WATCH_LIST}")
    assert await watch.ended() == "clean"
    assert watch.events == [("ADDED", "a"), ("ADDED", "b")]
    assert await stage.healed() == ["0 fired"]
    assert [(entry.how, entry.fault) for entry in stage.of(Closed)] == [("clean", 0)]
    again = await stage.watch_at(f"{stage.path}?watch=1{WATCH_LIST}", on=watch.connection)
    await again.until(3)
    assert again.events[-1][0] == "BOOKMARK"


async def test_the_answer_to_a_list_comes_late_or_is_cut_the_first_time(stage: ProxyStage) -> None:
    await stage.create("sample")
    await stage.play(SlowStart(resource="configmaps", by_seconds=0.3, then="closes"))
    assert await is_reset((await stage.connection()).ask("GET", f"{stage.path}?resourceVersion=0"))
    client = await stage.connection()
    status, found = await client.call("GET", f"{stage.path}?resourceVersion=0")
    assert (status, len(found["items"])) == (200, 1)
    # The fault leaves a list of a given revision alone: it is no first look.
    await client.call("GET", f"{stage.path}?resourceVersion={found['metadata']['resourceVersion']}")
    assert await stage.healed() == ["0 fired"]


async def test_a_trickle_releases_frames_one_by_one(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(HoldStream(resource="configmaps", release="trickle"))
    names = numbered("held", 8)
    await stage.create_each(*names)
    await until(lambda: len(stage.of(Withheld)) == 8)
    async with stage.control() as session, session.delete("/v1/faults/0") as response:
        assert response.status == 200
    await stage.create("behind")  # while the trickle goes on: it waits for its turn
    await watch.until(9)
    assert watch.names == [*names, "behind"]
    assert await stage.healed() == ["0 fired"]
    (closed,) = stage.of(FaultClosed)
    for number, entry in enumerate(stage.of(Delivered)[:8]):
        assert entry.at - closed.at >= 0.049 * number  # one each twentieth of a second, or later


# --- cut -----------------------------------------------------------------------------------------------------------------------


async def test_a_truncated_stream_breaks_off_in_the_middle_of_a_frame(stage: ProxyStage) -> None:
    start = await stage.revision()
    watch, direct = await stage.watch(start), await stage.watch(start, direct=True)
    await stage.play(SeverStream(resource="configmaps", how="truncated", nth=2))
    await stage.create("whole")
    await stage.create("half")
    assert await watch.ended() == "cut"
    await direct.until(2)
    assert watch.lines == direct.lines[:1]
    assert watch.rest == direct.lines[1][: (len(direct.lines[1]) + 1) // 2]
    assert await stage.healed() == ["0 fired"]
    assert [(entry.how, entry.fault, entry.discarded) for entry in stage.of(Closed)] == [("truncated", 0, 0)]
    assert [entry.name for entry in stage.of(Delivered)] == ["whole"]
    again = await stage.watch(watch.revisions[0])
    await again.until(1)
    assert again.events == [("ADDED", "half")]


@pytest.mark.parametrize(("how", "ending"), [("clean", "clean"), ("truncated", "cut"), ("reset", "reset")])
async def test_what_was_delivered_before_the_end_has_arrived(
    how: Literal["clean", "truncated", "reset"], ending: str, stage: ProxyStage
) -> None:
    """All in one burst: the end must not overtake what the history calls delivered."""
    await stage.create_each(*numbered("large", 30), data=text(30_000))
    await stage.play(SeverStream(resource="configmaps", how=how, nth=25))
    watch = await stage.watch("0")
    assert await watch.ended() == ending
    assert await stage.healed() == ["0 fired"]
    assert watch.names == [entry.name for entry in stage.of(Delivered)]
    assert len(watch.events) == 24


async def test_a_reset_waits_for_a_slow_reader(stage: ProxyStage) -> None:
    """More than the sockets on the way take: it is sent behind what the history calls delivered, however long that takes."""
    await stage.create_each(*numbered("large", 30), data=text(500_000))
    await stage.play(SeverStream(resource="configmaps", how="reset", nth=25))
    client = await stage.connection()
    await client.ask("GET", f"{stage.path}?watch=1&resourceVersion=0")
    transport = cast(asyncio.ReadTransport, client.writer.transport)
    transport.pause_reading()
    await until(lambda: stage.of(Closed) != [])
    await asyncio.sleep(1.0)
    transport.resume_reading()
    watch = Watching(client, stage.group)
    assert await watch.ended() == "reset"
    assert await stage.healed() == ["0 fired"]
    assert watch.names == [entry.name for entry in stage.of(Delivered)]
    assert len(watch.events) == 24


@pytest.mark.parametrize(("how", "ending"), [("clean", "clean"), ("truncated", "cut"), ("reset", "reset")])
async def test_every_open_stream_ends_at_once(how: Literal["clean", "truncated", "reset"], ending: str, stage: ProxyStage) -> None:
    start = await stage.revision()
    watches, idle = [await stage.watch(start) for _ in range(3)], await stage.connection()
    other = await stage.watch_at(f"/api/v1/namespaces/{stage.namespace}/secrets?watch=1&resourceVersion={start}")
    await stage.play(SeverStream(resource="configmaps", how=how))
    assert [await watch.ended() for watch in watches] == [ending] * 3
    again = await stage.watch(start)  # one that is opened later is left alone
    await stage.create("sample")
    await again.until(1)
    assert other.ending == ""
    assert (await idle.call("GET", stage.path))[0] == 200
    assert await stage.healed() == ["0 fired"]
    assert [(entry.how, entry.fault) for entry in stage.of(Closed)] == [(how, 0)] * 3


# --- bookmarks -----------------------------------------------------------------------------------------------------------------


async def test_a_bookmark_follows_every_event_if_the_client_wants_bookmarks(stage: ProxyStage) -> None:
    await stage.create("before")
    await stage.play(AddBookmarks(resource="configmaps"))
    watch = await stage.watch_at(f"{stage.path}?watch=1{WATCH_LIST}")
    await watch.until(2)
    await stage.create_each("a", "b")
    await stage.delete("a")
    await until(lambda: len(without_api_servers_bookmarks(watch)) == 8)
    frames = without_api_servers_bookmarks(watch)
    kinds, revisions = zip(*((each["type"], each["object"]["metadata"]["resourceVersion"]) for each in frames), strict=True)
    assert kinds == ("ADDED", "BOOKMARK", "ADDED", "BOOKMARK", "ADDED", "BOOKMARK", "DELETED", "BOOKMARK")
    assert revisions[3::2] == revisions[2::2]
    ends = frames[1]["object"]
    for bookmark in frames[3::2]:
        assert bookmark["object"].keys() == ends.keys()
        assert (bookmark["object"]["kind"], bookmark["object"]["apiVersion"]) == (ends["kind"], ends["apiVersion"])
        assert "annotations" not in bookmark["object"]["metadata"]
    assert await stage.healed() == ["0 fired"]
    again = await stage.watch(revisions[5], query=BOOKMARKS)  # a client may resume at such a bookmark
    await again.until(1)
    assert again.events == [("DELETED", "a")]


def without_api_servers_bookmarks(watch: Watching) -> list[JSON]:
    """Without those that the API server sends about once a minute: each comes right behind another, as there is one behind each
    event."""
    frames = watch.frames
    return [
        each for before, each in itertools.pairwise([{"type": ""}, *frames]) if not before["type"] == each["type"] == "BOOKMARK"
    ]


async def test_no_bookmark_for_a_client_that_did_not_ask(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(AddBookmarks(resource="configmaps"))
    await stage.create_each("a", "b")
    await watch.until(2)
    assert [kind for kind, _ in watch.events] == ["ADDED", "ADDED"]
    assert await stage.healed() == ["0 refused 18"]
    assert "allowWatchBookmarks" in stage.of(FaultRefused)[0].why
