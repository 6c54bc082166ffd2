"""How long a trial is waited for: until its objects are like the references' end, and no longer than a correct controller may
need."""

from collections.abc import Sequence

from staleproof.checks.facts.baseline import baseline
from staleproof.checks.facts.liveness import time_needed
from staleproof.checks.trial import Trial
from staleproof.core.history import History
from staleproof.core.plan import Manifest, Plan
from staleproof.drive.trial.run import Converged

_DEADLINE_FACTOR = 5.0


def converged(references: Sequence[History]) -> Converged:
    """When the runner may stop waiting."""
    wanted = baseline(Trial(references[0], references))

    def missing(objects: dict[tuple[str, str, str], Manifest]) -> str:
        namespace = next((key[1] for key in objects), "")
        return wanted.difference(((key[0], obj) for key, obj in objects.items()), namespace)

    return missing


def may_need(history: History) -> float:
    """The seconds after the release that a correct controller may need after what was done to it."""
    trial = Trial(history, history.references)
    if trial.released is None or trial.idle:
        return 0.0
    needed, since = time_needed(trial, len(history.entries))
    return trial.at(since) - trial.at(trial.released) + needed


def deadline(plan: Plan, references: Sequence[History]) -> float:
    """Seconds: the plan's own, or if that is longer, a multiple of what the slowest reference took."""
    return max([plan.settle.deadline_seconds, *(_DEADLINE_FACTOR * _settle_seconds(reference) for reference in references)])


def _settle_seconds(history: History) -> float:
    trial = Trial(history)
    if trial.released is None or trial.settled is None:
        return 0.0
    return trial.at(trial.settled) - trial.at(trial.released)
