"""How long a step of a trial is waited for, as far as its plan says: for the end of a predecessor, and for what is late."""

from staleproof.core.fault.effects import MOMENTARY
from staleproof.core.plan.plan import Plan
from staleproof.core.times import DEPARTURE_SECONDS, KEPT_SECONDS, SURE_SECONDS


def departure_seconds(plan: Plan, number: int, *, has_begun: bool = True, is_known_to_stay: bool = False) -> float:
    """How long the predecessor of what a step makes anew may take to go, before the step begins and then in it; 0: the trial
    does not wait.

    It does not where the plan wants the predecessor on its way out; nor before the step while a fault is open that may keep it,
    because that may close with the step. It is not long while one is open in the step, or if a predecessor has stayed for all that
    time before.
    """
    is_wanted = any(fault.holds is not None and fault.holds.at_step == number for fault in plan.faults)
    is_kept = _is_under_fault(plan, number if has_begun else number - 1)
    if is_wanted or (is_kept and not has_begun):
        return 0.0
    return KEPT_SECONDS if is_kept or is_known_to_stay else DEPARTURE_SECONDS


def _is_under_fault(plan: Plan, number: int) -> bool:
    """Whether a fault that is more than a moment is open in this step."""
    windows = (fault.window for fault in plan.faults if fault.effects - MOMENTARY)
    return any(window.from_step <= number < (window.until_step or number + 1) for window in windows)


def pause_seconds(plan: Plan, number: int) -> float:
    """How long the controller may do nothing before a step is over that lacks what the references came to."""
    is_calm = all(fault.window.from_step > number for fault in plan.faults)
    return max(plan.settle.idle_seconds, SURE_SECONDS) if is_calm else plan.settle.idle_seconds


def closes_with(plan: Plan, number: int) -> bool:
    """Whether a fault is open at the end of a step and closes there, and was more than a moment: at the last step, whatever is open
    is released."""
    last = len(plan.steps)
    lasting = [fault.window for fault in plan.faults if fault.effects - MOMENTARY]
    ends = ((window.from_step, min(window.until_step or last + 1, last + 1) - 1) for window in lasting)
    return any(began <= number == ended for began, ended in ends)
