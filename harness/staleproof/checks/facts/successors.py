"""Whether a primary that the workload makes anew came to what its predecessor was: else a run without faults is no measure of that.

It did not if it is not there, because the predecessor was still terminating when it was applied; or if the controller made none of
the children for it that it had made for the predecessor, and wrote nothing to it either. A controller that wrote to it has worked
on it, and may have found that what it needs is still there. A primary that the controller deletes itself, or that goes by itself
each time, may be gone.
"""

from collections.abc import Iterator, Sequence

from staleproof.checks.facts.object_history import Incarnation, creations, object_history
from staleproof.checks.trial import StepRun, Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.plan.manifest import target_of
from staleproof.core.plan.step import Apply, Delete, parts


@fact
def unsucceeded(trial: Trial) -> str:
    """What a recreated primary lacks in the end, as the end of a sentence; empty when nothing is lacking."""
    return next((lack for each in _recreated(trial) if (lack := _lack(trial, *each))), "")


def _recreated(trial: Trial) -> Iterator[tuple[str, StepRun, StepRun]]:
    """Each primary, as `widgets.staleproof.dev/sample`, that is deleted and then applied for good: with those two steps."""
    runs = {step.number: step for step in trial.steps}
    done = [(number, part) for number, step in enumerate(trial.plan.steps, 1) for part in parts(step)]
    applied = grouped((target_of(part.object), number) for number, part in done if isinstance(part, Apply))
    deleted = grouped((part.target, number) for number, part in done if isinstance(part, Delete))
    for primary, (target, numbers) in zip(trial.history.header.primaries, applied.items(), strict=False):
        ends = deleted.get(target, [])
        after = [number for number in numbers if ends and number > ends[-1]]
        if after and after[0] in runs and ends[-1] in runs:
            yield primary, runs[ends[-1]], runs[after[0]]


def _lack(trial: Trial, primary: str, deletes: StepRun, applies: StepRun) -> str:
    resource, _, name = primary.rpartition("/")
    ordered = [each for each in object_history(trial).named(resource, name) if not each.owner_uid]
    before = [each for each in ordered if each.is_live(before=deletes.began)]
    if not before:
        return ""  # it goes by itself, or was never there
    last = ordered[-1]
    if last.is_gone(before=len(trial.entries)) and (last.deleter is None or last.uid == before[-1].uid):
        return f"ended without {primary}, which step {applies.number} had made anew"
    was_worked_on = _children(trial, ordered[-1:]) or any(commit.by is not None for commit in last.commits)
    if last.uid != before[-1].uid and _children(trial, before) and not was_worked_on:
        return f"ended without a child of the {primary} that step {applies.number} had made anew, and the one before it had some"
    return ""


def _children(trial: Trial, owners: Sequence[Incarnation]) -> bool:
    """Whether the controller made any."""
    uids = {each.uid for each in owners}
    return any(child.owner_uid in uids for _, child in creations(trial))
