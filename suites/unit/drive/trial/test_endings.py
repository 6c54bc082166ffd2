"""When a step is over and when a trial is: by a clock of the test's own, and a bus on which nothing happens but time."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import structs

from staleproof.core.fault import HoldStream
from staleproof.core.history.entry import Committed, Settled
from staleproof.core.history.history import Header, History
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest
from staleproof.core.times import ASKED_AGAIN_SECONDS, CIRCLES_SECONDS, SURE_SECONDS
from staleproof.drive.trial.endings import Endings
from staleproof.drive.trial.event_bus import EventBus
from staleproof.drive.trial.process_faults import ProcessFaults
from staleproof.drive.trial.readings import Readings
from staleproof.drive.trial.spec import Patience, TrialSpec

PLAN = Plan(scenario="x", title="t", steps=(Rest(seconds=1.0),), faults=(HoldStream(resource="pods"),))
NOTHING = History(Header(plan=PLAN, namespace="ns"), ())


class Clock:
    """The time, which only a wait moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


class Bus(EventBus):
    """Whose waits take a tenth of a second each."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    async def until(self, condition: Callable[[float], bool | float], *, limit_seconds: float) -> bool:
        end = self._clock.now + limit_seconds
        while self._clock.now < end:
            if condition(self._clock.now) is True:
                return True
            self._clock.now += 0.1
        return False


def endings(clock: Clock, spec: TrialSpec) -> tuple[Endings, Bus]:
    bus = Bus(clock)
    faults = cast("ProcessFaults", _Nothing())
    return Endings(spec, bus, faults, cast("Readings", _Nothing()), live=dict, so_far=lambda: NOTHING), bus


class _Nothing:
    """A process to which nothing is done, and metrics that say nothing."""

    is_looping = is_busy = False

    async def settled(self) -> bool:
        return False

    async def says_working(self) -> bool:
        return False


def spec(**fields: Any) -> TrialSpec:  # noqa: ANN401  # those of a specification
    return TrialSpec(plan=PLAN, folder=Path("unused"), references=(NOTHING,), deadline_seconds=10.0, **fields)


def removed(number: int, name: str = "w-0") -> Committed:
    return Committed(
        at=0.0,
        resource="pods",
        type="DELETED",
        namespace="ns",
        name=name,
        uid=f"u-{number}",
        revision=Revision(number),
        object={"metadata": {"name": name}},
    )


# --- a step


@pytest.mark.parametrize(
    ("rounds", "usual", "is_soon"),
    [(25, [0], True), (20, [0], False), (25, [5], False), (25, [], False)],
    ids=["many rounds", "not that many", "as in the references, give or take", "nothing to compare with"],
)
def test_a_step_in_which_it_goes_round_and_round_is_over_soon(
    rounds: int, usual: list[int], clock: Clock, *, is_soon: bool
) -> None:
    runs = tuple(replace(NOTHING, entries=tuple(map(removed, range(count)))) for count in usual)
    ending, bus = endings(clock, replace(spec(), references=runs))
    activity = bus.activity
    activity.begin("ns", clock.now)
    for number in range(rounds):
        activity.see(structs.replace(removed(number), at=clock.now))

    async def until_over() -> bool:
        activity.touch(clock.now + 60.0)  # it never rests
        return await ending.until_over(1)

    assert asyncio.run(until_over()) is False
    assert (clock.now < CIRCLES_SECONDS + 1.0) is is_soon


# --- the end


def settled(clock: Clock, retries_at: float, is_there_at: float) -> Settled:
    """A write was rejected. It needs 65 s before it is tried again, and two once it was; then there is something to do."""

    def needs(_: History) -> float:
        return 65.0 if clock.now < retries_at else 2.0

    lacking = "" if is_there_at < 0 else "2 of 3 pods"
    ending, _ = endings(clock, spec(may_need=needs, converged=lambda _: "" if clock.now >= is_there_at else lacking))
    return asyncio.run(ending.until_settled(0.0))


@pytest.mark.parametrize("retries_at", [21.0, 24.5, 29.9])
def test_what_a_retry_makes_is_waited_for_whenever_it_comes(retries_at: float, clock: Clock) -> None:
    end = settled(clock, retries_at, retries_at + 1.5)
    assert end.ok
    assert clock.now < retries_at + 2.5


def test_once_it_was_tried_again_no_more_is_waited_for_than_it_may_need(clock: Clock) -> None:
    end = settled(clock, 21.0, 1000.0)
    assert not end.ok
    assert 25.0 <= clock.now <= 25.5 + 2 * ASKED_AGAIN_SECONDS


@pytest.mark.parametrize(("comes_at", "until"), [(20.0, 20.0), (1000.0, 30.0)], ids=["it comes", "it does not"])
def test_a_retry_that_may_come_is_waited_for_though_nothing_is_missing(comes_at: float, until: float, clock: Clock) -> None:
    def may_come(_: History) -> float:
        return 30.0 if clock.now < comes_at else 0.0

    ending, _ = endings(clock, spec(may_come=may_come, converged=lambda _: ""))
    end = asyncio.run(ending.until_settled(0.0))
    assert end.ok
    assert until <= clock.now < until + 2.0


@pytest.mark.parametrize(
    ("missing", "is_well", "until"),
    [("", True, SURE_SECONDS), ("2 of 3 pods", False, 10.0)],
    ids=["no verdict is about it", "what a verdict is about"],
)
def test_what_no_verdict_is_about_is_not_waited_for(missing: str, until: float, clock: Clock, *, is_well: bool) -> None:
    patience = Patience(0.0, lambda _: missing)
    ending, _ = endings(clock, spec(patience=patience, converged=lambda _: "an annotation of another user's"))
    end = asyncio.run(ending.until_settled(0.0))
    assert end.ok is is_well
    assert until <= clock.now < until + 2.0
