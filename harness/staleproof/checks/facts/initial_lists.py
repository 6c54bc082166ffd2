"""Whether a fault keeps the first list of a resource from the controller."""

from staleproof.checks.trial import Trial
from staleproof.checks.view.life import view
from staleproof.core.fault import Effect
from staleproof.core.history.entry import FaultFired

_SLOWING: frozenset[Effect] = frozenset({"hides", "disconnects", "rejects", "slows", "slows-start"})


def is_held_up(trial: Trial, resource: str, *, before: int) -> bool:
    """Whether the first list of a resource is under way while a fault that has fired in this life keeps it from the controller."""
    if not view(trial, before).awaits_first_list(resource):
        return False
    fired = trial.every(FaultFired, since=trial.life_began(before - 1), until=before)
    faults = (trial.plan.faults[entry.fault] for _, entry in fired)
    return any(fault.concerns(resource) and not _SLOWING.isdisjoint(fault.effects) for fault in faults)
