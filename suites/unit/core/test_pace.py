"""How long a controller pauses is read off its writes; the windows follow."""

import pytest

from staleproof.core.entry import Answered, Asked, Committed, Delivered, Ended, Entry, Released, Settled, StepBegan, StepEnded
from staleproof.core.history import Header, History
from staleproof.core.pace import lasted, longest_pause, paced
from staleproof.core.plan import Plan, Rest, Resync, Settle

HEADER = Header(plan=Plan(scenario="x", steps=(Rest(seconds=1.0),)), namespace="ns")
STEP = StepBegan(at=1.0, step=1, does="apply")
STEP_LATER = StepBegan(at=9.0, step=2, does="patch")


def write(at: float, resource: str = "pods") -> Asked:
    return Asked(at=at, request=int(at * 10), client="controller", verb="create", resource=resource, namespace="ns")


def answer(at: float, to: Asked | None = None) -> Answered:
    return Answered(at=at, request=to.request if to else 99, outcome="ok", code=201)


def shown(at: float) -> Delivered:
    return Delivered(at=at, stream=1, type="ADDED", namespace="ns", name="w", uid="u", revision=1)


def committed(at: float, resource: str = "pods", namespace: str = "ns") -> Committed:
    return Committed(at=at, resource=resource, type="ADDED", namespace=namespace, name="x", uid="u", revision=1, object={})


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], 0.0),
        ([STEP, shown(1.1)], 0.0),
        ([STEP, write(1.5)], 0.5),
        ([STEP, shown(1.25), write(1.5)], 0.5),
        ([STEP, write(1.25), shown(1.5), shown(2.0), shown(2.25), write(2.5)], 1.0),  # they were taken together
        ([STEP, write(1.25), shown(1.5), committed(2.0), shown(2.0), write(2.25)], 0.75),
        ([STEP, write(1.5), answer(1.75, write(1.5)), write(3.0)], 1.25),
        ([STEP, write(1.5), answer(2.75), write(3.0)], 1.5),
        ([STEP, write(1.5), answer(1.75), write(9.0, "leases.coordination.k8s.io")], 0.5),
        ([STEP, write(1.5), committed(1.75), committed(4.0)], 2.25),
        ([STEP, committed(1.5), write(1.75)], 0.75),
        ([STEP, write(1.5), committed(9.0, "events")], 0.5),
        ([STEP, write(1.5), committed(9.0, namespace="other"), committed(9.5, "nodes", namespace="")], 0.5),
        ([STEP, write(1.5), Settled(at=2.0, ok=True), write(9.0)], 0.5),
        ([STEP, write(1.5), shown(1.75), STEP_LATER, write(9.5)], 0.5),  # it had been at rest until the step
        ([STEP, write(1.5), shown(8.0), STEP_LATER, write(9.5)], 1.5),  # it had not
    ],
)
def test_the_longest_pause(entries: list[Entry], expected: float) -> None:
    assert longest_pause(History(HEADER, tuple(entries))) == pytest.approx(expected)


def test_a_brisk_controller_is_waited_for_as_usual() -> None:
    assert paced(0.02, resync=False) == Settle()
    assert paced(0.02, resync=True) == Settle(resync=True)


def test_a_slow_one_is_given_more_than_its_pause() -> None:
    settle = paced(1.2, resync=False)
    assert settle.idle_seconds > 1.2
    assert settle.quiet_seconds > settle.idle_seconds
    assert settle.limit_seconds >= 12.0
    assert settle.deadline_seconds >= 12.0


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

    assert lasted(History(Header(plan=plan, namespace="ns"), entries)) == (4.0, 1.5, 4.0)
