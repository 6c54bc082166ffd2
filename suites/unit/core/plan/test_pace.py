"""How long a controller pauses is read off its writes; the windows follow."""

import pytest

from staleproof.core.history.entry import Ended, Entry, Probed, Released, Settled, StepBegan, StepEnded
from staleproof.core.history.history import Header, History
from staleproof.core.plan.pace import lasted, longest_pause, longest_period, overdue_seconds, paced, restless_fields, writes_at_rest
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Rest, Resync

from ..entries import NAMESPACE, answered, asked, changed, committed, delivered, wrote

HEADER = Header(plan=Plan(scenario="x", steps=(Rest(seconds=1.0),)), namespace=NAMESPACE)
STEP = StepBegan(at=1.0, step=1, does="apply")
STEP_LATER = StepBegan(at=9.0, step=2, does="patch")


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], 0.0),
        ([STEP, delivered(1.1)], 0.0),
        ([STEP, asked(1.5)], 0.5),
        ([STEP, delivered(1.25), asked(1.5)], 0.5),
        ([STEP, asked(1.25), delivered(1.5), delivered(2.0), delivered(2.25), asked(2.5)], 1.0),  # they were taken together
        ([STEP, asked(1.25), delivered(1.5), committed(2.0), delivered(2.0), asked(2.25)], 0.75),
        ([STEP, asked(1.5), answered(1.75, 1), asked(3.0)], 1.25),
        ([STEP, asked(1.5), answered(2.75, 99), asked(3.0)], 1.5),
        ([STEP, asked(1.5), answered(1.75, 99), asked(9.0, resource="leases.coordination.k8s.io")], 0.5),
        ([STEP, asked(1.5), committed(1.75), committed(4.0)], 2.25),
        ([STEP, committed(1.5), asked(1.75)], 0.75),
        ([STEP, asked(1.5), committed(9.0, resource="events")], 0.5),
        ([STEP, asked(1.5), committed(9.0, namespace="other"), committed(9.5, namespace="", resource="nodes")], 0.5),
        ([STEP, asked(1.5), Settled(at=2.0, ok=True), asked(9.0)], 0.5),
        ([STEP, asked(1.5), delivered(1.75), STEP_LATER, asked(9.5)], 0.5),  # it had been at rest until the step
        ([STEP, asked(1.5), delivered(8.0), STEP_LATER, asked(9.5)], 1.5),  # it had not
    ],
)
def test_the_longest_pause(entries: list[Entry], expected: float) -> None:
    assert longest_pause(History(HEADER, tuple(entries))) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([STEP, committed(1.1, 1), *wrote(1.5, 1), *wrote(9.0, 1)], 0.1),  # it polls and writes what is there
        ([STEP, committed(1.1, 1), *wrote(3.0, 1, outcome="fail", code=409)], 0.1),
        ([STEP, committed(1.1, 1), changed(5.0, 2, beats=1), changed(9.0, 3, beats=2)], 0.1),
        ([STEP, committed(1.1, 1), changed(5.0, 2, ready=1)], 3.9),
    ],
)
def test_what_changes_nothing_is_no_second_thing(entries: list[Entry], expected: float) -> None:
    assert longest_pause(History(HEADER, tuple(entries)), ["pods status.beats"]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("statuses", "ok", "expected"),
    [
        ([{"beats": n} for n in range(9)], False, ("pods status.beats",)),
        ([{"beats": n, "ready": n > 5} for n in range(9)], False, ("pods status.beats",)),
        ([{"beats": min(n, 4)} for n in range(9)], False, ()),  # it came to an end in the first half
        ([{"seen": f"2026-01-01T00:00:0{n}Z"} for n in range(9)], False, ()),
        ([{"beats": n} for n in range(9)], True, ()),  # it came to rest in between
    ],
)
def test_what_moves_by_itself(statuses: list[dict[str, object]], expected: tuple[str, ...], *, ok: bool) -> None:
    moving = [changed(1.0 + n, 1 + n, **status) for n, status in enumerate(statuses)]
    assert restless_fields(History(HEADER, (STEP, *moving, Settled(at=10.0, ok=ok)))) == expected


RESTS = [STEP, committed(1.1, 1)]


@pytest.mark.parametrize(
    ("entries", "an_hour"),
    [
        ([*RESTS, *wrote(1.5, 1), Settled(at=6.1, ok=True)], 0),  # right after the change
        ([*RESTS, *wrote(3.0, 1), *wrote(5.0, 1), Settled(at=6.1, ok=True), *wrote(7.0, 1)], 1800),
        ([*RESTS, changed(4.0, 2, ready=1), *wrote(4.5, 2), Settled(at=6.0, ok=True)], 0),
        ([*RESTS, *wrote(3.0, 1)], 0),  # broken off
        ([], 0),
    ],
)
def test_what_a_controller_writes_at_rest(entries: list[Entry], an_hour: int) -> None:
    assert writes_at_rest(History(HEADER, tuple(entries))) == pytest.approx(an_hour)


def test_what_moves_is_unknown_in_a_run_that_was_broken_off() -> None:
    assert restless_fields(History(HEADER, (STEP,))) == ()


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], 0.0),
        ([STEP, asked(1.5)], 0.5),
        ([STEP, asked(1.5, verb="list"), answered(1.75, 1), asked(31.75, verb="get")], 30.0),  # a poll counts
        ([STEP, asked(1.5), asked(16.5, resource="leases.coordination.k8s.io")], 15.0),  # and a lease
        ([STEP, asked(1.5), delivered(11.5), asked(12.0)], 0.5),  # it was shown something
        ([STEP, asked(1.5), STEP_LATER, asked(9.5)], 0.5),  # it was given something to do
        ([STEP, asked(1.5), Settled(at=2.0, ok=True), asked(99.0)], 0.5),  # the runner made it look
    ],
)
def test_the_longest_period(entries: list[Entry], expected: float) -> None:
    assert longest_period(History(HEADER, tuple(entries))) == expected


def test_a_brisk_controller_is_waited_for_as_usual() -> None:
    assert paced(0.02, resync=False) == Settle()
    assert paced(0.02, resync=True) == Settle(resync=True)


def test_a_slow_one_is_given_more_than_its_pause() -> None:
    settle = paced(1.2, resync=False)
    assert settle.idle_seconds > 1.2
    assert settle.quiet_seconds > settle.idle_seconds
    assert settle.limit_seconds >= 12.0
    assert settle.deadline_seconds >= 12.0


def test_a_life_that_begins_its_work_late_is_given_more_than_it_took() -> None:
    settle = paced(0.0, resync=False, begins=4.0)
    assert settle.begins_seconds > 4.0
    assert settle.limit_seconds > settle.begins_seconds
    assert settle.idle_seconds == Settle().idle_seconds


def test_how_long_a_trial_took_step_by_step() -> None:
    plan = Plan(scenario="x", steps=(Rest(seconds=1.0), Resync(resource="pods"), Rest(seconds=1.0)))
    entries = (
        StepBegan(at=1.0, step=1, does="apply"),
        StepEnded(at=2.0, step=1, idle=True),
        StepBegan(at=2.0, step=2, does="resync"),
        StepEnded(at=5.0, step=2, idle=True),
        StepBegan(at=5.5, step=3, does="rest"),
        StepEnded(at=7.0, step=3, idle=False),
        Released(at=7.5),
        Settled(at=9.0, ok=True),
        Ended(at=11.5),
    )

    assert lasted(History(Header(plan=plan, namespace=NAMESPACE), entries)) == (4.0, 1.5, 4.0)


def test_what_was_waited_beyond_the_usual_time_is_left_out() -> None:
    probed = Probed(at=110.0, works=False, waited=42.0, overdue=32.0)
    history = History(HEADER, (Released(at=7.5), Settled(at=68.0, ok=True, overdue=55.0), probed, Ended(at=112.5)))
    assert lasted(history) == (18.0,)
    assert overdue_seconds(history) == 87.0
