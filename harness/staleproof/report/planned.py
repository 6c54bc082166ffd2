"""What a dry run prints: a line for each plan that would be run, and what they come to."""

from collections.abc import Sequence

from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.plan import Plan
from staleproof.core.wording import plural


def line(plan: Plan, seconds: float) -> str:
    """Its digest, the seconds that it is expected to take, and what it is."""
    return f"{fingerprint(plan)} {seconds:7.1f} s  {name_of(plan)}"


def name_of(plan: Plan) -> str:
    """What people call it: its scenario, and its title."""
    scenario = f"{plan.scenario}: "
    return f"{scenario}{plan.title.removeprefix(scenario)}"


def sum_up(seconds: Sequence[float]) -> str:
    """`seconds`: those of each plan."""
    took = f"{plural(len(seconds), 'plan')}, about {sum(seconds) / 60:.1f} min one after the other"
    return f"dry run: {took}; fault-free runs, and running findings again, come on top"


def unwatched(primaries: str, remedy: str) -> str:
    """Why plans are not known, and what to do about that."""
    return f"dry run: no run has watched this controller with {primaries} yet, and its plans follow from that: {remedy}"
