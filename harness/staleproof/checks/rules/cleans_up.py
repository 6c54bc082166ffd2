"""cleans-up: finish a deletion under staleness: finalizers removed, owned things gone, nothing leaked.

A differential check of what is left when something of the workload has been deleted, at the end of the settling phase and still at
the end of the trial:

1. *unfinished*: a deleted object of the workload is still there, held by its finalizers;
2. *orphaned*: children of an incarnation that is gone, or going, are left over;
3. *leaked*: objects without an owner are left over that the controller had made and that it deleted in every reference.

Each only after a time that any client can do with (`too_soon`), and beyond what any reference left: without a garbage collector,
many a controller rightly leaves its children to it, however many it had by then. Where the references do not agree how much that
is, a leftover proves nothing. What is being deleted and has no finalizer counts as gone: what is missing then (the grace period of
a pod) is not the controller's.
Where the user's steps came to something else than in the references, only what is unfinished proves something.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from staleproof.checks.facts.baseline import final_objects
from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.liveness import other_workload, too_soon
from staleproof.checks.facts.object_history import Child, Population
from staleproof.checks.facts.roles import Role
from staleproof.checks.story.phrases import full_name, listing, owner_name, span
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, inconclusive, not_exercised, passed
from staleproof.core.entry import Answered, FaultClosed, FaultFired, FaultOpened, Released, Settled, Started
from staleproof.core.history import History, Request, requests
from staleproof.core.plan import Manifest

SLUG = "cleans-up"


def check(evidence: Evidence) -> Verdict:
    entries = evidence.history.entries
    settled = next((i for i, entry in enumerate(entries) if isinstance(entry, Settled)), None)
    if settled is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    deleted = [child for child in evidence.population.children.values() if _is_deleted_primary(child, evidence)]
    if not deleted:
        return not_exercised(SLUG, "nothing of the workload was deleted")
    fired = [i for i, entry in enumerate(entries[:settled]) if isinstance(entry, FaultFired)]
    if not fired:
        return not_exercised(SLUG, "no fault touched the controller, so there was nothing that could disturb the deletion")
    if evidence.idle:
        return not_exercised(SLUG, evidence.idle)
    found = _excess(evidence, settled)
    hasty, other = too_soon(evidence, settled), other_workload(evidence)
    certain = [left for left in found if not left.unstable and (left.what == "unfinished" or not other)]
    if certain and not hasty:
        return failed(SLUG, [_finding(evidence, left, fired[0], settled) for left in certain[:MOST_FINDINGS]])
    if found:
        doubt = hasty or other or "the references do not agree how much is left"
        return inconclusive(SLUG, f"{_names(evidence, found[0].children)} {_are(found[0].children)} left over, but {doubt}")
    if not any(_is_disturbed(evidence, child.deleted or 0, settled) for child in deleted):
        return not_exercised(SLUG, "nothing was done to the controller during or after the deletion")
    return passed(SLUG)


@dataclass(frozen=True, slots=True)
class _Left:
    """Objects of one role that are left over beyond what any reference left. `what` is wrong with them."""

    children: Sequence[Child]
    what: str
    usual: int
    unstable: bool


@dataclass(slots=True)
class _Leftovers:
    """Of one history: what is left, by what is wrong with it and the role."""

    unfinished: dict[Role, list[Child]] = field(default_factory=lambda: defaultdict(list))
    orphaned: dict[Role, list[Child]] = field(default_factory=lambda: defaultdict(list))
    leaked: dict[Role, list[Child]] = field(default_factory=lambda: defaultdict(list))

    def of(self, what: str) -> Mapping[Role, Sequence[Child]]:
        return {"unfinished": self.unfinished, "orphaned": self.orphaned, "leaked": self.leaked}[what]


def _excess(evidence: Evidence, settled: int) -> list[_Left]:
    here = _leftovers(evidence.history, evidence.population, evidence.primaries, settled)
    there = [
        _leftovers(reference, made, evidence.primaries, _settled(reference))
        for reference, made in zip(evidence.references, evidence.reference_populations, strict=True)
    ]
    found = []
    for what in ("unfinished", "orphaned", "leaked"):
        for role, children in here.of(what).items():
            usual = [len(each.of(what).get(role, ())) for each in there]
            if what == "leaked" and not all(
                _cleaned(made, role, n) for made, n in zip(evidence.reference_populations, usual, strict=True)
            ):
                continue
            if what == "orphaned" and min(usual, default=0):
                continue  # a garbage collector would take them, however many there are
            if len(children) > max(usual):
                found.append(_Left(children[max(usual) :], what, max(usual), min(usual) != max(usual)))
    return found


def _settled(history: History) -> int:
    return next((i for i, entry in enumerate(history.entries) if isinstance(entry, Settled)), len(history.entries))


def _cleaned(made: Population, role: Role, left: int) -> bool:
    """Whether a reference had more objects of this role than it left, and the controller itself deleted some."""
    children = [child for child in made.children.values() if child.role == role]
    return made.peak(role) > left and any(child.deleter is not None for child in children)


def _leftovers(history: History, made: Population, primaries: frozenset[str], settled: int) -> _Leftovers:
    """What was there at the end of the settling phase and still at the end of the trial, oldest first."""
    then = _there(final_objects(history, until=settled))
    now = _there(final_objects(history))
    left = _Leftovers()
    for uid, child in made.children.items():
        if uid not in then or uid not in now:
            continue
        if child.deleted is not None and child.named.resource in primaries and not child.owner_uid:
            left.unfinished[child.role].append(child)
        elif child.owner_uid and _is_gone(child.owner_uid, made):
            left.orphaned[child.role].append(child)
        elif not child.owner_uid and not child.role.owner and child.creator is not None and child.creator.succeeded:
            left.leaked[child.role].append(child)
    return left


def _there(objects: Iterable[tuple[str, Manifest]]) -> set[str]:
    """uids of what is there and will not go by itself."""
    metadata = [obj["metadata"] for _, obj in objects]
    return {str(each["uid"]) for each in metadata if "deletionTimestamp" not in each or each.get("finalizers")}


def _is_gone(uid: str, made: Population) -> bool:
    """Whether an incarnation was deleted. One that was never seen was not of this trial: nobody's fault."""
    owner = made.children.get(uid)
    return owner is not None and owner.deleted is not None


def _is_deleted_primary(child: Child, evidence: Evidence) -> bool:
    return (
        child.deleted is not None
        and not child.owner_uid
        and f"{child.named.resource}/{child.named.name}" in evidence.history.header.primaries
    )


def _is_disturbed(evidence: Evidence, deleted: int, settled: int) -> bool:
    """Whether a fault that fired was open at or after the deletion, or the controller was started again after it."""
    entries = evidence.history.entries
    fired = {entry.fault for entry in entries if isinstance(entry, FaultFired)}
    opened = {entry.fault: i for i, entry in enumerate(entries) if isinstance(entry, FaultOpened)}
    closed = {entry.fault: i for i, entry in enumerate(entries) if isinstance(entry, FaultClosed)}
    spans = [(opened.get(fault, 0), closed.get(fault, len(entries))) for fault in fired]
    started = any(isinstance(entry, Started) for entry in entries[deleted:settled])
    return started or any(since < settled and until > deleted for since, until in spans)


def _finding(evidence: Evidence, left: _Left, fired: int, settled: int) -> Finding:
    entries = evidence.history.entries
    released = next((i for i, entry in enumerate(entries) if isinstance(entry, Released)), settled)
    owner = evidence.population.children.get(left.children[0].owner_uid, left.children[0])
    witnesses = {fired, released, settled, *(child.created for child in left.children)}
    witnesses |= {owner.deleted} if owner.deleted is not None else set()
    let_go = _let_go(evidence, owner) if left.what == "orphaned" else None
    before = [child for child in left.children if let_go is not None and child.created < let_go.index]
    unseen = [child for child in before if let_go is not None and not _was_shown(evidence, child, let_go.index)]
    though = ""
    if let_go is not None and unseen:
        witnesses.add(let_go.index)
        revisions = span([child.create_revision for child in unseen])
        though = f"though it had not been shown {listing([child.named.name for child in unseen])} (resourceVersion {revisions})"
    because = _because(evidence, left, entries[settled].at - entries[released].at)
    return Finding(SLUG, because, tuple(sorted(witnesses)), though)


def _because(evidence: Evidence, left: _Left, waited: float) -> str:
    names, were = _names(evidence, left.children), "were" if len(left.children) > 1 else "was"
    usual = f"fault-free runs left {left.usual or 'none'}"
    if left.what == "unfinished":
        held = _finalizers(evidence, left.children[0])
        there = f"{_are(left.children)} still there {waited:.1f} s after it could catch up"
        return f"{names} {were} deleted and {there}, held by {held}; {usual}"
    if left.what == "orphaned":
        owner = evidence.population.children.get(left.children[0].owner_uid)
        late = owner is not None and owner.deleted is not None and owner.deleted < left.children[0].created
        when = "created and left over after" if late else "left over when"
        return f"{names} {were} {when} {owner_name(left.children[0].role.owner)} was deleted; {usual}"
    return f"{names}, which nobody owns, {were} left over; {usual}"


def _names(evidence: Evidence, children: Sequence[Child]) -> str:
    return listing([full_name(evidence.commit_of(child.uid)) for child in children])


def _are(children: Sequence[Child]) -> str:
    return "are" if len(children) > 1 else "is"


def _finalizers(evidence: Evidence, child: Child) -> str:
    last = next(obj for _, obj in reversed(final_objects(evidence.history)) if obj["metadata"]["uid"] == child.uid)
    return listing(last["metadata"].get("finalizers") or [])


def _let_go(evidence: Evidence, owner: Child) -> Request | None:
    """The controller's last write to an owner that was being deleted: the one that removed its finalizer, if it has one."""
    found = [
        request
        for request in requests(evidence.history.entries)
        if request.asked.verb in ("update", "patch") and request.succeeded and not request.asked.subresource
        if isinstance(request.answer, Answered) and request.answer.uid == owner.uid and request.index > (owner.deleted or 0)
    ]
    return found[-1] if found else None


def _was_shown(evidence: Evidence, child: Child, index: int) -> bool:
    frontier = Frontier()
    for entry in evidence.history.entries[:index]:
        frontier.advance(entry)
    return frontier.has_seen(child.uid, child.create_revision)
