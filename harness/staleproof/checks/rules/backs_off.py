"""backs-off: retry failed calls with growing delay, never give up, and not hammer.

Put to the test: requests of the controller were rejected without being executed. Three things are findings:

1. it hammered: rejected for 3 s or longer, it tried again in the last third of that time more than three times a second for each
   object (what it was shown meanwhile, each a reason to try, taken off), and not clearly less often than in the first third;
2. it gave up: the state is not the references', and after its last rejected attempt it never asked for anything of the kind again,
   for longer than ten times the span of all its attempts, than client-go's rate limiter waits after so many, and 10 s at least.
   After a single attempt nobody knows its pace: then it takes 90 s, because retrying once a minute is common;
3. an end that is not the references', after a time that any client can do with, when nothing was done to it but rejections.

How many objects a create without a name may be about is taken from the references: all that they ever had of that resource.
"""

from collections.abc import Iterator, Sequence

from staleproof.checks.facts.liveness import Suspicion, converged, differences, ending_of, other_workload, verdict_on
from staleproof.checks.facts.recovery_budget import fired, retry_wait
from staleproof.checks.facts.retries import Rejections, rejections
from staleproof.checks.facts.stimuli import moments
from staleproof.checks.story.phrases import plural
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, inconclusive, not_exercised
from staleproof.core.entry import Committed, Delivered, Stopped
from staleproof.core.fault import AnyFault, Reject

SLUG = "backs-off"
LONG_SECONDS, MOST_PER_SECOND, FALLS_BY = 3.0, 3.0, 0.5
SILENT_SECONDS, SILENT_FACTOR, PACE_UNKNOWN_SECONDS = 10.0, 10.0, 90.0


def check(evidence: Evidence) -> Verdict:
    ending = ending_of(evidence)
    if ending is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    groups = rejections(evidence, ending[1])
    if not groups:
        return not_exercised(SLUG, "no request of the controller was rejected")
    if any(isinstance(entry, Stopped) for entry in evidence.history.entries):
        return not_exercised(SLUG, "the controller's process was stopped, so what it would have tried again is not known")
    findings = [finding for group in groups for finding in _hammered(evidence, group)] or list(
        _gave_up(evidence, groups, ending[1])
    )
    if findings:
        return failed(SLUG, findings)
    if converged(evidence):
        doubt = _untested(evidence, groups)
        if doubt:
            return not_exercised(SLUG, doubt)
    elif silent := next((group for group in groups if group.later is None), None):
        return inconclusive(SLUG, f"it did not try the {silent.target.words} again, and may yet do so")
    acts = (groups[0].rejected[0], groups[0].rejected[-1])
    return verdict_on(SLUG, evidence, Suspicion(acts, _is_ours, f"after its {groups[0].target.words} had been rejected"))


def _is_ours(fault: AnyFault) -> bool:
    return isinstance(fault, Reject)


def _hammered(evidence: Evidence, group: Rejections) -> Iterator[Finding]:
    entries = evidence.history.entries
    began, ended = entries[group.rejected[0]].at, entries[group.until].at
    third = (ended - began) / 3
    if ended - began < LONG_SECONDS:
        return
    first = _between(evidence, group.rejected, began, began + third)
    last = _between(evidence, group.rejected, ended - third, ended)
    shown = [i for i, entry in enumerate(entries) if isinstance(entry, Delivered) and entry.uid]
    objects = 1 if group.target.name else _objects(evidence, group.target.resource)
    rate = (last - _between(evidence, shown, ended - third, ended)) / third / objects
    if rate > MOST_PER_SECOND and last > FALLS_BY * first:
        because = (
            f"its {group.target.words} was rejected {len(group.rejected)} times in {ended - began:.1f} s, "
            f"{first} times in the first third of that time and {last} times in the last"
        )
        yield Finding(SLUG, because, (group.rejected[0], group.rejected[len(group.rejected) // 2], group.rejected[-1]))


def _between(evidence: Evidence, positions: Sequence[int], since: float, until: float) -> int:
    return sum(since <= evidence.history.entries[index].at <= until for index in positions)


def _objects(evidence: Evidence, resource: str) -> int:
    """The most incarnations of a resource that any reference had."""
    incarnations = [
        {entry.uid for entry in reference.entries if isinstance(entry, Committed) and entry.resource == resource}
        for reference in evidence.references
    ]
    return max([1, *(len(uids) for uids in incarnations)])


def _gave_up(evidence: Evidence, groups: Sequence[Rejections], settled: int) -> Iterator[Finding]:
    """It fell silent, and nothing but rejections was done to it."""
    entries = evidence.history.entries
    last_rejected = max(group.rejected[-1] for group in groups)
    wrote = any(moment.kind == "write" and moment.index > last_rejected for moment in moments(entries[:settled]))
    if wrote or converged(evidence) or other_workload(evidence) or not all(_is_ours(fault) for fault in fired(evidence).values()):
        return
    certain = next((found.text for found in differences(evidence, settled) if not found.unstable), "")
    for group in groups:
        first, last, tries = entries[group.rejected[0]].at, entries[group.rejected[-1]].at, len(group.rejected)
        silent = entries[settled].at - last
        needed = max(SILENT_SECONDS, SILENT_FACTOR * (last - first), retry_wait(tries)) if tries > 1 else PACE_UNKNOWN_SECONDS
        if certain and group.later is None and silent > needed:
            because = (
                f"after {plural(tries, 'rejected attempt')} within {last - first:.1f} s "
                f"it did not try the {group.target.words} again for {silent:.1f} s: {certain}"
            )
            yield Finding(SLUG, because, (group.rejected[0], group.rejected[-1], settled))
            return


def _untested(evidence: Evidence, groups: Sequence[Rejections]) -> str:
    entries = evidence.history.entries
    if all(len(group.rejected) == 1 and group.later is None for group in groups):
        return "it never tried again what was rejected, and did not need to"
    longest = max(entries[group.until].at - entries[group.rejected[0]].at for group in groups)
    return f"it was rejected for {longest:.1f} s only" if longest < LONG_SECONDS else ""
