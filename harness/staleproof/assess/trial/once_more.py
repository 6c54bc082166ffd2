"""Whether a plan is run once more, and as what: no requirement hangs on a single trial, unless it has a finding.

A trial that could not be carried out says nothing, and neither does one whose faults found no occasion; a doubt may be one trial's
own. The second run counts, whatever it shows.
"""

from collections import Counter
from dataclasses import dataclass

from staleproof.assess.trial.result import Result
from staleproof.checks.catalog import is_scored
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.usability import interruption, is_superfluous, undone
from staleproof.checks.trial import Trial, indexed
from staleproof.checks.verdict import Outcome
from staleproof.core.history.change import is_unmoved
from staleproof.core.history.history import History
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import is_workload
from staleproof.draw.replacement import Happened, aimed_anew, with_object
from staleproof.draw.scenarios import DRAWN, FAMILIES
from staleproof.errors import UsageError

_DRAWN = frozenset(family.scenario for family in DRAWN)
_OURS = _DRAWN | {family.scenario for family in FAMILIES}
"""Scenarios of plans that were invented, and may be invented otherwise; what a user wrote is done as it is written."""
BROKEN_OFF, NO_OCCASION, IN_DOUBT = "broken-off", "no-occasion", "in-doubt"


@dataclass(frozen=True, slots=True)
class Again:
    """The plan that is run in place of another, and why, which is also what the files of the first are kept as."""

    plan: Plan
    reason: str


class Undoable(UsageError):
    """A step of a workload cannot be done, even without faults; in whichever way."""


def undone_without_faults(result: Result) -> bool:
    """Whether a step of the workload could not be done in a fault-free run, either."""
    return any(undone(trial) for trial in _trials(result.history)[1:])


def interrupted(history: History) -> str:
    """Why a trial, or the first of its references that was not, could not be carried out, in words; empty when all were."""
    return next((interruption(trial) for trial in _trials(history) if interruption(trial)), "")


def once_more(first: Result, *, is_doubted: bool = True) -> Again | None:
    """What to run in place of a plan of which this came; None: it may stand as it is. `is_doubted`: a doubt is this trial's own,
    and not about the one before."""
    if first.interrupted:
        return Again(_with_object(first), BROKEN_OFF)
    if first.failures or any(first.reproduced) or first.hostile:
        return None
    if is_doubted and any(each.outcome is Outcome.INCONCLUSIVE and is_scored(each.requirement) for each in first.verdicts):
        return Again(first.plan, IN_DOUBT)
    silent = _without_occasion(first)
    if not silent or first.plan.scenario not in _DRAWN or not first.history.entries:
        return None
    aimed = aimed_anew(first.plan, silent, _happened(first))
    return Again(aimed, NO_OCCASION) if aimed is not None else None


def _without_occasion(first: Result) -> list[int]:
    """The numbers of the faults that did nothing and would have mattered."""
    silent = [number for number, fault in enumerate(first.faults) if fault.outcome == "not fired"]
    trial = indexed(first.history)
    return [number for number in silent if not is_superfluous(trial, trial.plan.faults[number])]


def _trials(history: History) -> list[Trial]:
    return [indexed(each) for each in (history, *history.harmless)]


def _with_object(first: Result) -> Plan:
    """With another step in place of the one that could not be done, if there was anything to do it to; else as it is."""
    trial = next((trial for trial in _trials(first.history) if undone(trial)), None)
    if trial is None or first.plan.scenario not in _OURS:
        return first.plan
    number = undone(trial)
    if trial.role != "trial":  # which has no other steps than those of the workload
        number = [each for each, step in enumerate(first.plan.steps, 1) if is_workload(step)][number - 1]
    return with_object(first.plan, number, _there(trial, undone(trial))) or first.plan


def _there(trial: Trial, number: int) -> Counter[str]:
    """How many children of each resource were there when a step began, and when it was over."""
    step = next(each for each in trial.steps if each.number == number)
    ends = step.began, len(trial.entries) if step.ended is None else step.ended
    owned = [each for each in object_history(trial).objects.values() if each.owner_uid]
    return Counter(each.resource for each in owned if all(each.is_live(before=end) for end in ends))


def _happened(first: Result) -> Happened:
    """What the controller wrote, and what changed, by step; of each kind the least in any fault-free run of the same workload."""
    trial = indexed(first.history, first.history.references)
    runs = list(zip(*map(_happened_in, trial.calm), strict=False))
    steps = zip((step.number for step in trial.workload), runs, strict=False)
    return {number: {kind: min(run[kind] for run in each) for kind in set().union(*each)} for number, each in steps}


def _happened_in(reference: Trial) -> list[Counter[tuple[str, str]]]:
    """For each step of the workload."""
    moves, found = reference.plan.settle.moves, []
    for step in reference.workload:
        end = len(reference.entries) if step.ended is None else step.ended
        writes = Counter((each.asked.resource, each.asked.verb) for each in reference.work if step.began < each.index < end)
        mine = (commit for commit in reference.commits if step.began < commit.index < end)
        changes = Counter((each.entry.resource, "") for each in mine if not is_unmoved(each.entry, each.before, moves))
        found.append(writes + changes)
    return found
