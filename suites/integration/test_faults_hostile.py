"""What no API server does, on the wire: only a plan that says so may do it, and it ends with that plan."""

from pathlib import Path

import pytest

from staleproof.core.fault import AnyFault, DropFrame, NoEndBookmark, Reorder, RepeatFrame, StaleRead
from staleproof.core.history.entry import Broke, Closed, Delivered, Dropped

from .planted_proxy import planted_proxy
from .proxy_client import WATCH_LIST, Watching, until
from .proxy_stage import ProxyStage

CONFIG_MAPS = "configmaps"
HOSTILE: list[tuple[AnyFault, str, str]] = [
    (DropFrame(resource=CONFIG_MAPS, nth=2), "13", "a c"),
    (RepeatFrame(resource=CONFIG_MAPS, nth=2), "19", "a b b c"),
    (Reorder(resource=CONFIG_MAPS, nth=2, by_seconds=3600), "20", "a c b"),
]
IDS = [fault.tag for fault, _, _ in HOSTILE]


async def three(stage: ProxyStage, fault: AnyFault, shown: str) -> Watching:
    """A watch on which the fault acts while a, b and c are made; what is late leaves when the fault closes."""
    watch = await stage.watch()
    await stage.play(fault, contract="hostile")
    await stage.create_each("a", "b", "c")
    await watch.until(2)
    await stage.proxy.release()
    await watch.until(len(shown.split()))
    return watch


async def without_end(stage: ProxyStage) -> Watching:
    """A WatchList whose final bookmark the fault takes away."""
    await stage.create("first")
    await stage.play(NoEndBookmark(resource=CONFIG_MAPS), contract="hostile")
    watch = await stage.watch_at(f"{stage.path}?watch=1{WATCH_LIST}")
    await until(lambda: "BOOKMARK" in [entry.type for entry in stage.of(Dropped)])
    await stage.create("live")
    await until(lambda: len(watch.changes) >= 2)
    return watch


@pytest.mark.parametrize(("fault", "row", "shown"), HOSTILE, ids=IDS)
async def test_the_client_is_shown_what_no_api_server_shows(fault: AnyFault, row: str, shown: str, stage: ProxyStage) -> None:
    watch = await three(stage, fault, shown)
    assert watch.names == shown.split()
    assert await stage.healed() == ["0 fired"]  # and the self-check accepts it, because the plan asked for it
    assert [entry.name for entry in stage.of(Delivered)] == shown.split()


async def test_initial_events_that_never_end(stage: ProxyStage) -> None:
    watch = await without_end(stage)
    assert watch.certain == [("ADDED", "first"), ("ADDED", "live")]
    assert await stage.healed() == ["0 fired"]


@pytest.mark.parametrize(
    ("fault", "row"),
    [
        *[(fault, row) for fault, row, _ in HOSTILE],
        (NoEndBookmark(resource=CONFIG_MAPS), "15"),
        (StaleRead(resource=CONFIG_MAPS), "25"),
    ],
    ids=[*IDS, "NoEndBookmark", "StaleRead"],
)
async def test_a_plan_has_to_say_that_it_is_hostile(fault: AnyFault, row: str, stage: ProxyStage) -> None:
    plan = {"faults": [{"fault": fault.tag, "resource": CONFIG_MAPS}]}
    async with stage.control() as session, session.put("/v1/plan", json=plan) as response:
        assert response.status == 400
        error = (await response.json())["error"]
        assert f"legality row {row}," in error
        assert '"contract": "hostile"' in error


@pytest.mark.parametrize(("fault", "row", "shown"), HOSTILE, ids=IDS)
async def test_a_spoiled_stream_does_not_outlive_its_plan(fault: AnyFault, row: str, shown: str, stage: ProxyStage) -> None:
    """Its client believes something that was never true. The next trial must not blame the controller for that."""
    other = await stage.watch_at(f"{stage.path.replace('configmaps', 'secrets')}?watch=1&resourceVersion={await stage.revision()}")
    watch = await three(stage, fault, shown)
    await stage.proxy.release()
    await stage.proxy.install((), "")
    assert await watch.ended() == "clean"
    assert (watch.frames[-1]["type"], watch.frames[-1]["object"]["code"]) == ("ERROR", 410)
    assert other.ending == ""
    assert [entry.how for entry in stage.of(Closed)] == ["expired"]
    again = await stage.watch(watch.revisions[0])
    assert (await again.ended(), again.frames[0]["object"]["code"]) == ("clean", 410)  # until it lists
    await stage.all_recorded()
    assert stage.of(Broke) == []


async def test_the_self_check_names_what_is_broken(stage: ProxyStage, tmp_path: Path) -> None:
    """The same faults, in a proxy that believes them to be forbidden."""
    planted = "from staleproof.core.engine.schedule import Schedule\nSchedule.may_break = lambda *_: False"
    async with planted_proxy(stage, tmp_path, planted) as other:
        broken = ["Reliable", "Unique", "Ordered"]
        for (fault, _, shown), named in zip(HOSTILE, broken, strict=True):
            before = len(other.of(Broke))
            watch = await three(other, fault, shown)
            await until(lambda before=before: len(other.of(Broke)) > before)  # type: ignore[misc]  # a default binds it
            broke = other.of(Broke)[before]
            assert broke.where == "self-check"
            assert f": {named}: " in broke.why
            await other.proxy.install((), "")
            assert await watch.ended() == "clean"
            await watch.connection.call("GET", other.path)
            for name in ("a", "b", "c"):
                await other.delete(name)
        before = len(other.of(Broke))
        await without_end(other)
        await until(lambda: len(other.of(Broke)) > before)
        assert ": Atomic: " in other.of(Broke)[before].why
