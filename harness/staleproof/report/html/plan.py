"""A plan as steps that one can read."""

from staleproof.core.fault import AnyFault
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import describe
from staleproof.core.wording import plural


def steps(plan: Plan) -> tuple[str, ...]:
    """What the user does, in order."""
    return tuple(describe(step) for step in plan.steps)


def faults(plan: Plan) -> tuple[str, ...]:
    """What happens to the controller meanwhile, and when."""
    return tuple(f"{fault.whose}{fault.phrase} ({fault.tag}, {_when(fault)})" for fault in plan.faults)


def _when(fault: AnyFault) -> str:
    window = fault.window
    since = f"from step {window.from_step}"
    until = f" to step {window.until_step}" if window.until_step else " to the release"
    limit = f", at most {plural(round(window.seconds), 'second')}" if window.seconds is not None else ""
    return f"{since}{until}{limit}"
