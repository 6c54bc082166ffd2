"""What else is asked when a trial differs from its references, before that is held against the controller.

Two fault-free runs show only part of what a controller may honestly do. One thing after the other is asked, as long as a difference
remains: does it do the same when it takes as long as the trial did? When it is woken as often, and nothing is hidden from it? When
it sees only the last state, or nothing of what came and went while a fault lasted, or a competitor's edit at once? Do so many
fault-free ends agree that chance is no explanation? And do the other faults of the plan alone bring it about?
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import msgspec

from staleproof.assess.trial.result import failures
from staleproof.checks.catalog import BY_SLUG, is_scored
from staleproof.checks.ends.convergence import converged
from staleproof.checks.facts.ablation import ABLATIONS
from staleproof.checks.facts.step_work import stopped_half_way
from staleproof.checks.facts.usability import reference_trouble, trouble
from staleproof.checks.judge import judge
from staleproof.checks.trial import Trial, indexed
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history.entry import Settled
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.plan import but_for
from staleproof.core.plan.pace import lasted, overdue_seconds
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import is_workload
from staleproof.core.times import SIMILAR_LONG_SECONDS, SIMILAR_QUICK_SECONDS, SIMILAR_SECONDS
from staleproof.draw.copies import copies_in

AGREEING = 6
"""So many fault-free ends must agree before a value or a count is held against a controller."""
RERUNS, CONTROLS = 6, 12
"""A finding that comes back in some re-runs only is looked for so often with the faults, and in so many runs without them."""
LONG_QUESTIONS = 3
"""So many of the first questions about a trial ask for what takes as long as it."""
_LONG = 4


class Asks(Protocol):
    """Runs a plan so often, each time in a life of its own, and judges nothing; once for all workers of a run. `lasts`: see
    `Worker.watch`."""

    def __call__(self, plan: Plan, role: HistoryRole, times: int = 1, *, lasts: Sequence[float] = ()) -> tuple[History, ...]: ...


def questions(asks: Asks, plan: Plan) -> Iterator[Callable[[History], tuple[History, ...]]]:
    """In the order in which they are asked: each answers with all references that the trial is then to be compared with. The first
    asks for no run: what the run has shown by now to be unstable may be all that differs. Of a sweep only one short run is asked
    for, because what is suspected in it is run alone, and then compared with the rest."""
    yield lambda history: history.references
    if copies_in(plan):
        yield lambda history: _more(history, _final(asks, plan))
        return
    yield lambda history: paced(asks, plan, history)
    yield lambda history: _more(history, _woken(asks, plan, history))
    yield lambda history: _more(history, _final(asks, plan))
    yield lambda history: _more(history, _slept(asks, plan, history))
    yield lambda history: without_faults(asks, plan, history, AGREEING)
    yield lambda history: _ablated(asks, plan, history, ABLATIONS)
    yield lambda history: _ablated(asks, plan, history, AGREEING)


def differs(history: History, verdicts: Sequence[Verdict]) -> bool:
    """Whether one of these verdicts hangs on a difference from the references: a finding, or a doubt about an end that is not
    theirs; or whether the trial never came to be reconciled again because of one."""
    if any(_hangs_on_references(verdict) for verdict in failures(verdicts)):
        return True
    trial = indexed(history, history.references)
    doubts = any(verdict.outcome is Outcome.INCONCLUSIVE and is_scored(verdict.requirement) for verdict in verdicts)
    is_open = doubts or _never_looked_again(trial)
    return is_open and not (trouble(trial) or reference_trouble(trial) or trial.settled is None or converged(trial))


def hasty(history: History, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The findings about an end of which nothing is scored, while no fault-free run took as long as the trial: what a controller
    reports by the clock, one that is over sooner never does."""
    if any(each.header.role == "paced" for each in history.references):
        return []
    found = (each for each in verdicts if each.outcome is Outcome.FAIL and not is_scored(each.requirement))
    return [each for each in found if BY_SLUG[each.requirement].kind == "end"]


def paced(asks: Asks, plan: Plan, history: History) -> tuple[History, ...]:
    """The references, and the workload without faults for as long as the trial took."""
    return _more(history, asks(fresh(plan), "paced", lasts=_paced(history)))


def _hangs_on_references(verdict: Verdict) -> bool:
    needs = BY_SLUG[verdict.requirement].needs_references
    return needs or any(finding.basis == "surplus" for finding in verdict.findings)


def waited_in_vain(history: History) -> bool:
    """Whether the trial was to let everything be reconciled again, and never did because it waited for another end than its own,
    which is as good as any, as its references tell by now."""
    trial = indexed(history, history.references)
    return _never_looked_again(trial) and converged(trial)


def _never_looked_again(trial: Trial) -> bool:
    settled = trial.entries[trial.settled] if trial.settled is not None else None
    return trial.plan.settle.resync and isinstance(settled, Settled) and not settled.ok


def fresh(plan: Plan) -> Plan:
    """The workload without faults, in a life of its own: the controller may still suffer from what was done to it in the trial."""
    return msgspec.structs.replace(plan.reference, fresh=True)


def _woken(asks: Asks, plan: Plan, history: History) -> tuple[History, ...]:
    """One at its own pace, and one as slow as the trial; but not if the controller fails already in the first."""
    woken = but_for.woken(plan)
    if woken is None:
        return ()
    own = asks(woken, "woken")
    is_fit = not own or len(_more(history, own)) > len(history.references)  # nothing comes back where it is only announced
    return (*own, *asks(woken, "woken", lasts=_as_slow(woken, history))) if is_fit else ()


def _final(asks: Asks, plan: Plan) -> tuple[History, ...]:
    final = but_for.final_only(plan)
    return asks(final, "final") if final is not None else ()


def _slept(asks: Asks, plan: Plan, history: History) -> list[History]:
    return [found for each in but_for.slept(plan, history.header.primaries) for found in asks(each, "slept")]


def _ablated(asks: Asks, plan: Plan, history: History, times: int) -> tuple[History, ...]:
    """The references, and so many runs without the faults that a requirement is about, where other faults may explain as well why
    the controller did not end as it should. They last as long as the trial, so that none ends badly for want of time."""
    doubts = dict.fromkeys(each.without for each in judge(history) if each.without and is_scored(each.requirement))
    plans = [each for each in (but_for.ablated(plan, without) for without in doubts) if each is not None]
    known = {each.digest for each in history.references if each.digest}
    found = [run for each in plans for run in asks(each, "ablated", times, lasts=_as_slow(each, history))]
    return (*history.references, *(run for run in found if run.digest not in known))


def without_faults(asks: Asks, plan: Plan, history: History, wanted: int) -> tuple[History, ...]:
    """The references of a trial, and so many more fault-free runs that there are as many as wanted."""
    missing = wanted - sum(each.header.role != "slept" for each in history.harmless)  # which often end otherwise
    fresh_count = sum(each.header.role == "reference" and each.header.plan.fresh for each in history.references)
    return _more(history, asks(fresh(plan), "reference", fresh_count + missing)) if missing > 0 else history.references


def as_long(asks: Asks, plan: Plan, history: History) -> tuple[History, ...]:
    """The references of a trial that was waited for long, and the same workload without faults for as long: what a controller does
    after minutes by itself is there, too."""
    *steps, settling = lasted(history)
    return _more(history, asks(fresh(plan), "paced", lasts=(*steps, math.ceil(settling + overdue_seconds(history)))))


def _more(history: History, found: Sequence[History]) -> tuple[History, ...]:
    """The references of a trial, and those among what was found that can be compared with, too.

    A run in which the controller was woken, or some of the faults were left, is no excuse for having ceased to work if it ceased to
    work there. One in which nothing was done to it is: then the faults are not to blame.
    """
    known = {each.digest for each in history.references if each.digest}
    trial = indexed(history, (*history.references, *(each for each in found if each.digest not in known)))
    references = [each for each in trial.calm if each.role == "reference"]
    usable = [each for each in trial.references[len(history.harmless) :] if _is_usable(each.history, history)]
    return (
        *history.references,
        *(each.history for each in usable if not (_is_woken(each) and stopped_half_way(each, references))),
    )


def _is_woken(run: Trial) -> bool:
    return run.role == "woken" or bool(run.plan.faults)


def _is_usable(reference: History, history: History) -> bool:
    """It must have ended well, whatever is wrong with the others."""
    return not reference_trouble(indexed(replace(history, references=()), (*history.references, reference)))


def _paced(history: History) -> tuple[float, ...]:
    """How long the trial's steps and its settling lasted, rounded up, so that trials that lasted about as long share the answer."""
    return tuple(map(_rounded, lasted(history)))


def _as_slow(plan: Plan, history: History) -> tuple[float, ...]:
    """How long the steps of a plan with the trial's workload, and its settling, have to last to be as slow as the trial."""
    *steps, settling = _paced(history)
    took = iter(steps)
    return (*(next(took, 0.0) if is_workload(step) else 0.0 for step in plan.steps), settling)


def _rounded(seconds: float) -> float:
    """Up to a multiple of the unit; below that to its half, a quarter of it, and so on, as a quick controller is asked often."""
    unit = SIMILAR_LONG_SECONDS if seconds > _LONG * SIMILAR_LONG_SECONDS else SIMILAR_SECONDS
    if seconds > unit:
        return math.ceil(seconds / unit) * unit
    return math.ldexp(unit, -math.floor(math.log2(unit / max(seconds, SIMILAR_QUICK_SECONDS))))
