"""How long a trial is waited for: until each step, and at last the trial, has brought what it brought in the references; but not
longer than a controller may need."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import msgspec

from staleproof.checks.ends.convergence import certain_difference, unneeded
from staleproof.checks.ends.hull import baseline, step_baselines
from staleproof.checks.ends.leftovers import leftovers
from staleproof.checks.facts.recovery_budget import awaits_election, budget
from staleproof.checks.facts.retries import last_lost_create
from staleproof.checks.facts.step_work import kinds_between
from staleproof.checks.programs import by_program
from staleproof.checks.rules.reports import lagging
from staleproof.checks.trial import Trial, indexed
from staleproof.core.history.change import WriteKind
from staleproof.core.history.entry import Settled
from staleproof.core.history.history import History, UnstableField
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, in_parts, is_workload
from staleproof.core.times import (
    DEADLINE_FACTOR,
    DEADLINE_SECONDS,
    ELECTION_SECONDS,
    IMPATIENT_DEADLINE_SECONDS,
    OUTAGE_DEADLINE_SECONDS,
    PROBE_FACTOR,
    PROBE_SECONDS,
    RETRY_FACTOR,
)
from staleproof.drive.trial.probe import Probe
from staleproof.drive.trial.spec import Live


class Goals:
    """What the references came to, at the end of each step and at the end of all. `plan`: that of the trial, whose resyncs the
    references do not have; `unstable`: what the run has shown so far to be unstable, and is not waited for; `until`: the last step
    that the references have in common with the plan."""

    def __init__(
        self, references: Sequence[History], plan: Plan, unstable: Sequence[UnstableField] = (), until: float = math.inf
    ) -> None:
        self.until = until
        header = msgspec.structs.replace(references[0].header, unstable=tuple(unstable))
        self._trial = indexed(replace(references[0], header=header), references)
        self._plan = plan

    def missing(self, live: Live) -> str:
        """What is not as in the references' end; empty when nothing is missing."""
        return baseline(self._trial).difference(_objects(live), _namespace(live))

    def is_reached(self, step: int, live: Live, done: Collection[WriteKind]) -> bool:
        """Whether a step has brought the state that it brought in the references, by writes of the same kinds."""
        steps = self._plan.steps[:step]
        index = sum(map(is_workload, steps)) - 1
        if not 0 <= index < len(self._kinds) or len(steps) < step:
            return False
        kinds = self._kinds[index] if is_workload(steps[-1]) else frozenset[WriteKind]()
        return kinds <= set(done) and not step_baselines(self._trial)[index].difference(_objects(live), _namespace(live))

    @cached_property
    def _kinds(self) -> Sequence[frozenset[WriteKind]]:
        """By step, the kinds of writes that changed something in that step of every reference."""
        found = ([kinds_between(each, step.began, step.ended) for step in each.workload] for each in self._trial.calm)
        return [frozenset.intersection(*each) for each in zip(*found, strict=False)]


def _objects(live: Live) -> list[tuple[str, Manifest]]:
    return [(resource, obj) for (resource, _, _), obj in live.items()]


def _namespace(live: Live) -> str:
    return next((namespace for _, namespace, _ in live), "")


def may_need(history: History) -> float:
    """The seconds after the release that a correct controller may need after what was done to it."""
    trial = indexed(history, history.references)
    if trial.released is None or unneeded(trial):
        return 0.0
    given = budget(trial, len(history.entries))
    needs = trial.at(given.since) + given.seconds
    return max(needs, _elected_by(trial, len(history.entries) - 1)) - trial.at(trial.released)


def _elected_by(trial: Trial, until: int) -> float:
    """When a life that may be waiting for the lease of the one before has waited long enough, on the trial's clock; 0: none is."""
    return trial.at(trial.starts[-1]) + ELECTION_SECONDS if awaits_election(trial, until) else 0.0


def may_come(history: History, retry_seconds: float) -> float:
    """The seconds after the release by which the controller tries again a create whose answer was lost, if it waits as long as it
    was seen to wait after a rejected one. What it then makes twice, nothing that is missing announces. 0 if there is no such
    create, or the controller has worked since."""
    trial = indexed(history, history.references)
    lost = last_lost_create(trial) if retry_seconds and trial.released is not None else None
    if lost is None or trial.released is None:
        return 0.0
    earliest = trial.at(lost) + retry_seconds / RETRY_FACTOR
    if any(trial.at(request.index) > earliest for request in trial.work):
        return 0.0
    return trial.at(lost) + RETRY_FACTOR * retry_seconds - trial.at(trial.released)


def lacks(history: History, unstable: Sequence[UnstableField] = ()) -> str:
    """What is missing, or left over, as a verdict would have it if the trial had settled now, in words; empty when nothing is."""
    header = msgspec.structs.replace(history.header, unstable=tuple(unstable))
    over = (*history.entries, Settled(at=history.entries[-1].at, ok=False))
    ended = replace(history, header=header, entries=over)
    trial = indexed(ended, history.harmless)
    certain = certain_difference(trial, len(history.entries))
    left = (f"{each.children[0].resource} left over" for each in leftovers(trial) if not each.unstable)
    return certain or next(left, "") or next(_lags(ended, trial), "")


def _lags(ended: History, trial: Trial) -> Iterator[str]:
    """What each program left behind in a status, in words."""
    for view in by_program(ended, ended.harmless).values() or [trial]:
        yield from (f"{lapse.about} of generation {lapse.generation}" for lapse in lagging(view))


def deadline(plan: Plan, references: Sequence[History], patience: float = 0.0) -> float:
    """Seconds: the plan's own, and no more than the user's `patience`, if there is one; but a plan that has more than others, for
    an outage or for a controller that pauses, keeps what others have. If it is longer, a multiple of what the slowest reference
    took. What a correct controller may need is waited for besides (`may_need`)."""
    slowest = max((_settle_seconds(indexed(reference)) for reference in references), default=0.0)
    own = plan.settle.deadline_seconds
    least = DEADLINE_SECONDS if own > DEADLINE_SECONDS else IMPATIENT_DEADLINE_SECONDS
    most = max(patience, least) if patience and own <= OUTAGE_DEADLINE_SECONDS else own
    return max(min(own, most), DEADLINE_FACTOR * slowest)


def _settle_seconds(trial: Trial) -> float:
    if trial.released is None or trial.settled is None:
        return 0.0
    return trial.at(trial.settled) - trial.at(trial.released)


def probe(plan: Plan, references: Sequence[History]) -> Probe | None:
    """How to see whether the controller works: by what the workload applies until the controller first writes in each reference,
    and much more time than it takes for that. None when it does not write after an apply."""
    firsts = [_first_write(indexed(reference)) for reference in references]
    found = [each for each in firsts if each is not None]
    first = max((step for step, _ in found), default=0)
    steps = tuple(step for step in in_parts(plan.reference.steps[:first]) if isinstance(step, Apply))
    if not steps or len(found) < len(firsts):
        return None
    return Probe(steps, max(PROBE_SECONDS, *(PROBE_FACTOR * seconds for _, seconds in found)), plan.before)


def _first_write(reference: Trial) -> tuple[int, float] | None:
    """The step in which the controller first wrote, and so many seconds after it began; None if it never wrote in any."""
    first = next((request.index for request in reference.work), None)
    step = next((step for step in reversed(reference.steps) if first is not None and step.began < first), None)
    return None if first is None or step is None else (step.number, reference.at(first) - reference.at(step.began))
