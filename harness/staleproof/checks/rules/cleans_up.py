"""cleans-up: finish a deletion under staleness: finalizers removed, owned things gone, nothing leaked.

A differential check of what is left when something of the workload has been deleted, at the end of the settling phase and still at
the end of the trial:

1. *unfinished*: a deleted object of the workload is still there, held by its finalizers;
2. *orphaned*: children of an incarnation that is gone, or going, are left over, and no garbage collector would take them (they have
   another owner that lives, or a finalizer);
3. *leaked*: objects without an owner are left over that the controller had made and that it deleted in every reference.

Each counts only beyond what any reference left (`leftovers`). Where the references do not agree how much is left, a leftover proves
nothing. What is unfinished counts whatever else the user's steps came to: that may be why.
"""

from collections.abc import Iterator, Sequence

from staleproof.checks.ends.convergence import unneeded
from staleproof.checks.ends.leftovers import Leftover, leftovers, let_go_at
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.wording import full_name, listing, owner_name, span
from staleproof.checks.requirement import LATE, RESTARTS, STREAMS, Requirement
from staleproof.checks.trial import Span, Trial
from staleproof.checks.verdict import Basis, Finding, Inconclusive, NotExercised, Said, Severity
from staleproof.checks.view.life import view
from staleproof.core.history.entry import FaultFired
from staleproof.core.history.history import Position


def check(trial: Trial) -> Iterator[Said]:
    _, settled = trial.ending
    deletions = list(_deletions(trial))
    fired = next((index for index, _ in trial.every(FaultFired, until=settled)), None)
    if not deletions:
        yield NotExercised("nothing of the workload was deleted")
    elif fired is None:
        yield NotExercised("no fault touched the controller, so there was nothing that could disturb the deletion")
    elif unneeded(trial) or (trial.idle and not leftovers(trial)):
        yield NotExercised(trial.idle)
    elif leftovers(trial):
        yield from _judge(trial, leftovers(trial), fired)
    elif not any(_is_disturbed(trial, index) for index in deletions):
        yield NotExercised("nothing was done to the controller during or after the deletion")


def _deletions(trial: Trial) -> Iterator[int]:
    """Where something of the workload was deleted."""
    for each in object_history(trial).objects.values():
        if each.deleted is not None and not each.owner_uid and f"{each.resource}/{each.name}" in trial.applied:
            yield each.deleted


def _is_disturbed(trial: Trial, deleted: int) -> bool:
    """Whether a fault that fired was open at or after the deletion, or the controller was started again after it."""
    _, settled = trial.ending
    spans = [trial.spans.get(fault, Span(Position(0))) for fault in trial.fired]
    started = any(deleted < start < settled for start in trial.starts)
    return started or any(each.opened < settled and (each.closed is None or each.closed > deleted) for each in spans)


def _judge(trial: Trial, found: Sequence[Leftover], fired: int) -> Iterator[Said]:
    certain = [left for left in found if not left.unstable]
    yield from (_finding(trial, left, fired) for left in certain)
    if not certain:
        yield Inconclusive(f"{_names(found[0])} {_are(found[0])} left over, but the references do not agree how much is left")


def _finding(trial: Trial, left: Leftover, fired: int) -> Finding:
    witnesses = {fired, *trial.ending, *(child.created for child in left.children)}
    witnesses |= {left.owner.deleted} if left.owner.deleted is not None else set()
    let_go = let_go_at(trial, left)
    unseen = [child for child in left.children if let_go is not None and _is_unseen(trial, child, let_go)]
    though = ""
    if let_go is not None and unseen:
        witnesses.add(let_go)
        revisions = span([child.create_revision for child in unseen])
        though = f"though it had not been shown {listing([child.name for child in unseen])} (resourceVersion {revisions})"
    severity: Severity = "stuck" if left.kind == "unfinished" else "leaked"
    basis: Basis = "unfinished" if left.kind == "unfinished" else "end"
    return Finding(_because(trial, left), tuple(sorted(witnesses)), though, severity=severity, basis=basis)


def _because(trial: Trial, left: Leftover) -> str:
    released, settled = trial.ending
    names, were = _names(left), "were" if len(left.children) > 1 else "was"
    usual = f"fault-free runs left {left.usual or 'none'}"
    if left.kind == "unfinished":
        held = listing(left.owner.last.entry.object["metadata"].get("finalizers") or [])
        there = f"{_are(left)} still there {trial.at(settled) - trial.at(released):.1f} s after it could catch up"
        return f"{names} {were} deleted and {there}, held by {held}; {usual}"
    if left.kind == "orphaned":
        late = left.owner.deleted is not None and left.owner.deleted < left.children[0].created
        when = "created and left over after" if late else "left over when"
        return f"{names} {were} {when} {owner_name(left.children[0].role.owner)} was deleted; {usual}"
    return f"{names}, which nobody owns, {were} left over; {usual}"


def _names(left: Leftover) -> str:
    return listing([full_name(child.first.entry) for child in left.children])


def _are(left: Leftover) -> str:
    return "are" if len(left.children) > 1 else "is"


def _is_unseen(trial: Trial, child: Incarnation, index: int) -> bool:
    """Whether it was there and had not been shown."""
    return child.created < index and not view(trial, index).of(child.uid).has_seen(child.create_revision)


REQUIREMENT = Requirement(
    slug="cleans-up",
    must="The controller MUST finish deletions also when its view is old: finalizers removed, owned objects gone, nothing leaked.",
    level="core",
    source="Kubernetes documentation, Finalizers; kubernetes/kubernetes#59848",
    faults=(*LATE, "Coalesce", *STREAMS, *RESTARTS),
    remedy="before a finalizer is removed, list what is owned live (a cache may not show the youngest children yet); "
    "set owner references where you can, so that the garbage collector finds what is left",
    kind="end",
    wrong="something left over that no fault-free run left",
    check=check,
    needs_end=True,
)
