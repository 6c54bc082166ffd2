"""What no API server does, on the wire: done only when it is asked for as such, told apart, and over when its plan is."""

from pathlib import Path

import pytest

from staleproof.core.entry import Broke, Closed, Delivered, Dropped
from staleproof.core.fault import AnyFault, DropFrame, NoEndBookmark, Reorder, RepeatFrame, StaleRead

from .fault_play import healed, play
from .planted_proxy import planted_proxy
from .proxy_client import Watching, until
from .proxy_stage import Stage, Theatre
from .proxy_stage import theatre as theatre

WATCH_LIST = "&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
CONFIG_MAPS = "configmaps"
HOSTILE: list[tuple[AnyFault, str, str]] = [
    (DropFrame(resource=CONFIG_MAPS, nth=2), "13", "a c"),
    (RepeatFrame(resource=CONFIG_MAPS, nth=2), "19", "a b b c"),
    (Reorder(resource=CONFIG_MAPS, nth=2, by_seconds=0.3), "20", "a c b"),
]
IDS = [fault.tag for fault, _, _ in HOSTILE]


async def three(stage: Stage, fault: AnyFault, shown: str) -> Watching:
    """A watch that the fault acts on while a, b and c are made."""
    watch = await stage.watch(await stage.revision())
    await play(stage, fault, contract="hostile")
    for name in ("a", "b", "c"):
        await stage.create(name)
    await watch.until(len(shown.split()))
    return watch


async def without_end(stage: Stage) -> Watching:
    """A WatchList that the fault takes its end from."""
    await stage.create("first")
    await play(stage, NoEndBookmark(resource=CONFIG_MAPS), contract="hostile")
    watch = await stage.watch_at(f"{stage.path}?watch=1{WATCH_LIST}")
    await until(lambda: "BOOKMARK" in [entry.type for entry in stage.of(Dropped)])
    await stage.create("live")
    await watch.until(2)
    return watch


@pytest.mark.parametrize(("fault", "row", "shown"), HOSTILE, ids=IDS)
def test_the_client_sees_what_no_client_sees(fault: AnyFault, row: str, shown: str, theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await three(stage, fault, shown)
        assert [name for _, name in watch.events] == shown.split()
        assert await healed(stage) == ["0 fired"]  # and nothing of ours broke: it was asked for
        assert [entry.name for entry in stage.of(Delivered)] == shown.split()

    theatre.play(body)


def test_initial_events_that_never_end(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await without_end(stage)
        assert watch.events == [("ADDED", "first"), ("ADDED", "live")]
        assert await healed(stage) == ["0 fired"]

    theatre.play(body)


@pytest.mark.parametrize(
    ("fault", "row"),
    [
        *[(fault, row) for fault, row, _ in HOSTILE],
        (NoEndBookmark(resource=CONFIG_MAPS), "15"),
        (StaleRead(resource=CONFIG_MAPS), "25"),
    ],
    ids=[*IDS, "NoEndBookmark", "StaleRead"],
)
def test_a_plan_has_to_say_that_it_is_hostile(fault: AnyFault, row: str, theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        plan = {"faults": [{"fault": fault.tag, "resource": CONFIG_MAPS}]}
        async with stage.control() as session, session.put("/v1/plan", json=plan) as response:
            assert response.status == 400
            error = (await response.json())["error"]
            assert f"legality row {row}," in error
            assert '"contract": "hostile"' in error

    theatre.play(body)


@pytest.mark.parametrize(("fault", "row", "shown"), HOSTILE, ids=IDS)
def test_a_stream_that_was_spoiled_does_not_outlive_its_plan(fault: AnyFault, row: str, shown: str, theatre: Theatre) -> None:
    """Its client believes something that never was; the next trial must not find that and call it the controller's fault."""

    async def body(stage: Stage) -> None:
        other = await stage.watch_at(
            f"{stage.path.replace('configmaps', 'secrets')}?watch=1&resourceVersion={await stage.revision()}"
        )
        watch = await three(stage, fault, shown)
        await stage.proxy.release()
        await stage.proxy.install((), "")
        assert await watch.ended() == "clean"
        assert (watch.frames[-1]["type"], watch.frames[-1]["object"]["code"]) == ("ERROR", 410)
        assert other.ending == ""
        assert [entry.how for entry in stage.of(Closed)] == ["expired"]
        again = await stage.watch(watch.frames[0]["object"]["metadata"]["resourceVersion"])
        assert (await again.ended(), again.frames[0]["object"]["code"]) == ("clean", 410)  # until it lists
        await stage.told()
        assert stage.of(Broke) == []

    theatre.play(body)


def test_the_self_check_names_what_is_broken(theatre: Theatre, tmp_path: Path) -> None:
    """The same, in a proxy to which nobody has said that it is wanted."""

    async def body(stage: Stage) -> None:
        planted = "from staleproof.core.engine.schedule import Schedule\nSchedule.may_break = lambda *_: False"
        async with planted_proxy(stage, tmp_path, planted) as other:
            broken = ["Reliable", "Unique", "Ordered"]
            for (fault, _, shown), named in zip(HOSTILE, broken, strict=True):
                before = len(other.of(Broke))
                watch = await three(other, fault, shown)
                await until(lambda before=before: len(other.of(Broke)) > before)  # type: ignore[misc]  # a default binds it
                told = other.of(Broke)[before]
                assert told.where == "self-check"
                assert f": {named}: " in told.why
                await other.proxy.install((), "")
                assert await watch.ended() == "clean"
                await watch.connection.call("GET", other.path)
                for name in ("a", "b", "c"):
                    await other.api.call("DELETE", f"{other.path}/{name}")
            before = len(other.of(Broke))
            await without_end(other)
            await until(lambda: len(other.of(Broke)) > before)
            assert ": Atomic: " in other.of(Broke)[before].why

    theatre.play(body)
