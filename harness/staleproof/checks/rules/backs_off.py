"""backs-off: retry failed calls with growing delay, never give up, and not hammer.

Put to the test: requests of the controller were rejected without being executed. Three things are findings:

1. it hammered: it was rejected for 3 s or longer, and in the last third of that time it still tried more than three times a second
   for each object, and not clearly less often than in the first third (`pace_of`);
2. it gave up: the state is not the references', and after its last rejected attempt it never asked for anything of the kind again,
   for longer than a controller that had tried again by itself is silent (`recovery_budget.silence`). Of one that was only ever
   woken (by a step of the workload, by something shown) nobody knows how long it waits, and nothing is found;
3. an end that is not the references', after a time that suffices for any client, when nothing was done to it but rejections.
"""

from collections.abc import Iterator, Sequence

from staleproof.checks.ends.convergence import certain_difference, converged
from staleproof.checks.facts.recovery_budget import silence
from staleproof.checks.facts.retries import Rejections, pace_of, rejections
from staleproof.checks.facts.stimuli import stimuli
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Said, Suspicion
from staleproof.core.history.entry import Stopped
from staleproof.core.wording import plural

LONG_SECONDS, MOST_PER_SECOND, FALLS_BY = 3.0, 3.0, 0.5


def check(trial: Trial) -> Iterator[Said]:
    groups = rejections(trial)
    if not groups:
        yield NotExercised("no request of the controller was rejected")
    elif trial.positions(Stopped):
        yield NotExercised("the controller's process was stopped, so what it would have tried again is not known")
    else:
        findings = [finding for group in groups for finding in _hammered(trial, group)]
        yield from findings
        if not findings:
            yield _judge_end(trial, groups)


def _hammered(trial: Trial, group: Rejections) -> Iterator[Finding]:
    pace = pace_of(trial, group)
    if pace.seconds >= LONG_SECONDS and pace.rate > MOST_PER_SECOND and pace.last > FALLS_BY * pace.first:
        because = (
            f"its {group.target.words} was rejected {len(group.rejected)} times in {pace.seconds:.1f} s, "
            f"{pace.first} times in the first third of that time and {pace.last} times in the last"
        )
        yield Finding(because, (group.rejected[0], group.rejected[len(group.rejected) // 2], group.rejected[-1]))


def _judge_end(trial: Trial, groups: Sequence[Rejections]) -> Said:
    silent = [group for group in groups if group.later is None]
    if silent and not converged(trial):
        doubt = Inconclusive(f"it did not try the {silent[0].target.words} again, and may yet do so")
        return next(_gave_up(trial, groups), doubt)
    acts = (groups[0].rejected[0], groups[0].rejected[-1])
    charge = f"after its {groups[0].target.words} had been rejected"
    return Suspicion(acts, charge, untested=_untested(trial, groups))


def _gave_up(trial: Trial, groups: Sequence[Rejections]) -> Iterator[Finding]:
    """It fell silent before the end was right, and nothing but rejections was done to it."""
    _, settled = trial.ending
    last_rejected = max(group.rejected[-1] for group in groups)
    wrote = any(each.kind == "write" and last_rejected < each.index < settled for each in stimuli(trial))
    if wrote or not all("rejects" in fault.effects for fault in trial.fired.values()):
        return
    certain = certain_difference(trial, settled)
    for group in groups:
        first, last = trial.at(group.rejected[0]), trial.at(group.rejected[-1])
        silent = trial.at(settled) - last
        if certain and group.later is None and group.is_paced and silent > silence(trial, group):
            because = (
                f"after {plural(len(group.rejected), 'rejected attempt')} within {last - first:.1f} s "
                f"it did not try the {group.target.words} again for {silent:.1f} s: {certain}"
            )
            yield Finding(because, (group.rejected[0], group.rejected[-1], settled), basis="silence")


def _untested(trial: Trial, groups: Sequence[Rejections]) -> str:
    if all(len(group.rejected) == 1 and group.later is None for group in groups):
        return "it never tried again what was rejected, and did not need to"
    longest = max(pace_of(trial, group).seconds for group in groups)
    return f"it was rejected for {longest:.1f} s only" if longest < LONG_SECONDS else ""


REQUIREMENT = Requirement(
    slug="backs-off",
    must="The controller MUST retry failed calls with growing delay, never give up, and not hammer.",
    level="core",
    source="client-go util/workqueue (rate-limited queue); API concepts, Retry-After of 429 responses",
    faults=("Reject",),
    remedy="put the object back into a rate-limited queue after every failure, honour Retry-After, and set no limit of tries",
    severity="stuck",
    kind="pace",
    wrong="requests without a pause, silence, or another end than without faults",
    effects=frozenset({"rejects"}),
    check=check,
    outlives=frozenset({"rejects", "competes"}),
    needs_end=True,
    waits=True,
)
