"""410 on the wire: only clients that resume are answered so, and only until they have begun again."""

from pathlib import Path

from staleproof.core.fault import AnyFault, Coalesce, DelayStream, Expire, HoldStream, SlowAnswer, SlowStart
from staleproof.core.history.entry import Closed, FaultFired, Refused, Withheld

from .planted_proxy import planted_proxy
from .proxy_client import WATCH_LIST, until
from .proxy_stage import ProxyStage
from .stage import revision_of


def types(frames: list[dict[str, str]]) -> list[str]:
    return [frame["type"] for frame in frames]


async def test_a_client_that_asks_for_the_state_is_never_told_that_history_is_gone(stage: ProxyStage) -> None:
    await stage.create("a")
    await stage.play(Expire(resource="configmaps", nth=1))
    for start, query in (("", WATCH_LIST), ("", ""), ("0", "")):
        watch = await stage.watch(start, query=query)
        await watch.until(1)
        assert types(watch.frames)[:1] == ["ADDED"]
        watch.connection.abort()
    assert await stage.healed() == ["0 refused 12"]


async def test_initial_events_are_let_through_and_what_follows_them_is_held(stage: ProxyStage) -> None:
    await stage.create("a")
    await stage.play(HoldStream(resource="configmaps", release="relist"))
    watch = await stage.watch("", query=WATCH_LIST)
    await watch.until(1)
    await stage.create("b")
    await until(lambda: bool(stage.of(Withheld)))
    assert "0 fired" in await stage.healed()
    assert await watch.ended() == "clean"
    assert watch.events == [("ADDED", "a"), ("BOOKMARK", ""), ("ERROR", "")]


async def test_a_client_that_begins_again_without_a_list_may_resume(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(Expire(resource="configmaps"))
    assert await watch.ended() == "clean"
    await stage.create("a")
    fresh = await stage.watch("")
    await fresh.until(1)
    again = await stage.watch(fresh.revisions[0])
    await stage.create("b")
    await again.until(1)
    assert again.events == [("ADDED", "b")]
    assert await stage.healed() == ["0 fired"]


def ended_by_event(stage: ProxyStage) -> list[Closed]:
    return [entry for entry in stage.of(Closed) if entry.how == "expired"]


async def test_a_fault_at_the_resumption_fires_only_then(stage: ProxyStage) -> None:
    """The 410 also names its fault."""
    by_http, by_event = Expire(resource="configmaps", at="watch"), Expire(resource="configmaps", at="resume")
    faults: tuple[AnyFault, ...] = by_http, by_event, Coalesce(resource="configmaps")
    for number, fault in enumerate(faults, 1):
        start = revision_of(await stage.create(f"x{number}"))  # newer than what the fault before made expire
        watch = await stage.watch(start)
        await stage.play(fault)
        assert await watch.ended() == "clean"
        await stage.all_recorded()
        assert len(stage.of(FaultFired)) == number - 1
        await stage.proxy.release()
        connection = await stage.connection()
        code = await connection.ask("GET", f"{stage.path}?watch=1&resourceVersion={start}")
        assert code == (410 if fault is by_http else 200)
        await until(lambda n=number: len(stage.of(Refused)) + len(ended_by_event(stage)) == n)  # type: ignore[misc]  # of this round
        ended: list[Refused | Closed] = [*stage.of(Refused), *ended_by_event(stage)]
        assert {entry.fault for entry in ended} == {0}
        await stage.all_recorded()
        assert len(stage.of(FaultFired)) == number


async def test_a_slow_request_is_answered_410_as_well(stage: ProxyStage) -> None:
    start = await stage.revision()
    watch = await stage.watch(start)
    slow = SlowAnswer(resource="configmaps", verb="watch", by_seconds=0.05, moment="before", times=None)
    await stage.play(slow, Expire(resource="configmaps", at="watch"))
    assert await watch.ended() == "clean"
    connection = await stage.connection()
    assert await connection.ask("GET", f"{stage.path}?watch=1&resourceVersion={start}") == 410
    assert await stage.healed() == ["0 fired", "1 fired"]


SAYS_THAT_IT_ENDS = """
from pathlib import Path
from staleproof.core.engine.gate import Gate

sever = Gate.sever

def severs(self, *how, **more):
    sever(self, *how, **more)
    Path({path!r}).touch()

Gate.sever = severs
"""


async def test_a_stream_that_ends_for_a_finished_plan_blames_no_fault_of_the_next(stage: ProxyStage, tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    async with planted_proxy(stage, tmp_path, SAYS_THAT_IT_ENDS.format(path=str(ends))) as other:
        await other.create("a")
        late = DelayStream(resource="secrets", by_seconds=1.0)
        await other.play(late, SlowStart(resource="configmaps", by_seconds=60.0, then="closes"))
        watch = await other.watch("", query=WATCH_LIST)
        await until(lambda: bool(other.of(Withheld)) and ends.exists())  # the bookmark in whose place it ends has come, too
        await other.all_recorded()
        fired = len(other.of(FaultFired))
        await other.proxy.install((HoldStream(resource="secrets"),), "")
        await watch.ended()
        await until(lambda: bool(other.of(Closed)))
        assert [entry.fault for entry in other.of(Closed)] == [None]
        await other.all_recorded()
        assert len(other.of(FaultFired)) == fired
        assert other.proxy.process.running
