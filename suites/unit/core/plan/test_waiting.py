"""How long a step is waited for."""

import pytest

from staleproof.core.fault import AnyFault, HoldStream, Reject, Window
from staleproof.core.fault.model import HeldState
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Lull
from staleproof.core.plan.waiting import departure_seconds, pause_seconds
from staleproof.core.times import DEPARTURE_SECONDS, KEPT_SECONDS


@pytest.mark.parametrize(
    ("opens", "learnt", "expected"),
    [
        ([3], 0.25, 2.0),  # what comes without faults will come
        ([2], 0.25, 0.25),
        ([3, 1], 0.25, 0.25),
        ([], 0.25, 2.0),
        ([3], 5.0, 5.0),
    ],
)
def test_before_any_fault_what_is_sure_to_come_is_waited_for(opens: list[int], learnt: float, expected: float) -> None:
    faults = tuple(HoldStream(resource="pods", window=Window(step)) for step in opens)
    plan = Plan(scenario="s", steps=(Lull(),) * 3, faults=faults, settle=Settle(idle_seconds=learnt))
    assert pause_seconds(plan, 2) == expected


def held(since: int, until: int | None) -> AnyFault:
    return HoldStream(resource="widgets.staleproof.dev", window=Window(since, until))


def wanted(at: int) -> AnyFault:
    return Reject(resource="widgets.staleproof.dev", verb="write", window=Window(1, 2), holds=HeldState("terminating", at))


@pytest.mark.parametrize(
    ("faults", "stays", "expected"),
    [
        ([], False, DEPARTURE_SECONDS),
        ([], True, KEPT_SECONDS),  # it was waited for long enough once
        ([held(1, 2)], False, DEPARTURE_SECONDS),
        ([held(1, 3)], False, KEPT_SECONDS),
        ([held(2, None)], False, KEPT_SECONDS),
        ([held(3, None)], False, DEPARTURE_SECONDS),
        ([wanted(2)], False, 0.0),  # the plan is about just that
        ([wanted(3)], False, DEPARTURE_SECONDS),
    ],
)
def test_a_predecessor_is_waited_for_unless_the_plan_wants_it_there(
    faults: list[AnyFault],
    stays: bool,  # noqa: FBT001
    expected: float,
) -> None:
    plan = Plan(scenario="s", steps=(Lull(),) * 3, faults=tuple(faults))
    assert departure_seconds(plan, 2, is_known_to_stay=stays) == expected


@pytest.mark.parametrize(
    ("faults", "stays", "expected"),
    [
        ([], False, DEPARTURE_SECONDS),
        ([], True, KEPT_SECONDS),
        ([held(2, None)], False, DEPARTURE_SECONDS),  # it opens with the step
        ([held(1, 2)], False, 0.0),  # it closes with the step
        ([held(1, 3)], False, 0.0),
        ([wanted(2)], False, 0.0),
    ],
)
def test_a_predecessor_is_waited_for_before_the_faults_of_the_step_open(
    faults: list[AnyFault],
    stays: bool,  # noqa: FBT001
    expected: float,
) -> None:
    plan = Plan(scenario="s", steps=(Lull(),) * 3, faults=tuple(faults))
    assert departure_seconds(plan, 2, has_begun=False, is_known_to_stay=stays) == expected
