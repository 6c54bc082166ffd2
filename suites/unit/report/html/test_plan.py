"""When faults are open, in words."""

from staleproof.core.fault import HoldStream, Window
from staleproof.core.plan.plan import Plan
from staleproof.report.html.plan import faults


def test_a_fault_says_from_when_to_when() -> None:
    windows = (Window(2, 3), Window(1, seconds=1.0))
    plan = Plan(scenario="x", steps=(), faults=tuple(HoldStream(resource="pods", window=window) for window in windows))

    assert faults(plan) == (
        "its pods stream was held (Hold, from step 2 to step 3)",
        "its pods stream was held (Hold, from step 1 to the release, at most 1 second)",
    )
