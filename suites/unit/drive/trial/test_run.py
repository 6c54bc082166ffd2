"""How long a step is waited for."""

import pytest

from staleproof.core.fault import HoldStream, Window
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Lull
from staleproof.drive.trial.run import pause_seconds


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
