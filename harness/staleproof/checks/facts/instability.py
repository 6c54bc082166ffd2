"""Which fields no two runs need to agree on: pooled over all fault-free runs of a run of plans.

A value that a program makes of a map or a set comes out differently from time to time; that two ends agree on it may be chance. So
a field that ever differed between the ends of one workload, or between objects of one role, is unstable in all trials.
"""

from collections.abc import Iterable, Sequence

from staleproof.checks.ends.hull import baseline
from staleproof.checks.facts.usability import ended_well
from staleproof.checks.trial import indexed
from staleproof.core.history.history import History, UnstableField
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Lull


def is_harmless(plan: Plan) -> bool:
    """Whether nothing is hidden, lost or turned away in it: what is done to the controller is done when it is at rest."""
    return all(isinstance(plan.steps[fault.window.from_step - 1], Lull) for fault in plan.faults)


def unstable_fields(runs: Sequence[History]) -> frozenset[UnstableField]:
    """Of these runs of one plan, in which nothing was hidden, lost or turned away. One run alone does not show the roles, and one
    that was disturbed or did not settle shows nothing."""
    sound = [run for run in runs if ended_well(indexed(run))]
    masks = baseline(indexed(sound[0], sound)).masks if len(sound) > 1 else {}
    return frozenset(UnstableField(*role, path) for role, paths in masks.items() for path in paths if path)


def pooled(found: Iterable[Iterable[UnstableField]]) -> tuple[UnstableField, ...]:
    """As a header has them."""
    return tuple(sorted({each for fields in found for each in fields}))
