"""What a trial left over at the end of its settling phase, and still had at the end of all, beyond what any reference left.

What is being deleted and has no finalizer counts as gone: what is missing then (the grace period of a pod) is not the controller's.
Nor is what a garbage collector would take (`garbage`): children of an owner that is gone stay only if no collector would take them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from staleproof.checks.but_for import in_alike, in_calm, in_references
from staleproof.checks.ends.states import lasting_objects
from staleproof.checks.facts.belongings import is_unowned, primary_of
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.wording import full_name, listing, owner_name, span
from staleproof.checks.trial import Trial, fact
from staleproof.checks.verdict import Basis, Finding, Severity
from staleproof.checks.view.life import view
from staleproof.core.grouping import grouped
from staleproof.core.history.provenance import uid_of
from staleproof.core.operator.ownership import owner_of

LeftoverKind = Literal["unfinished", "orphaned", "leaked"]
"""Primaries that were deleted and are there; children of an owner that was; what the controller made with no owner in the trial."""
_Left = Mapping[LeftoverKind, Mapping[Role, Sequence[Incarnation]]]


@dataclass(frozen=True, slots=True)
class Leftover:
    """Objects of one role, without the oldest `usual` ones: that many were left by a reference. `unstable`: fault-free runs of the
    workload did not agree.

    `owner` is the first one's owner, or the primary that it belongs to; the object itself when it has none that is known.
    """

    kind: LeftoverKind
    owner: Incarnation
    children: Sequence[Incarnation]
    usual: int
    unstable: bool

    @property
    def names(self) -> str:
        return listing([full_name(child.first.entry) for child in self.children])

    @property
    def are(self) -> str:
        return "are" if len(self.children) > 1 else "is"


@fact
def leftovers(trial: Trial) -> Sequence[Leftover]:
    """What is unfinished first, then what is orphaned, then what is leaked. What a reference never deleted is not leaked."""
    return [left for kind, roles in _left(trial).items() for role in roles for left in _beyond(trial, kind, role)]


def _beyond(trial: Trial, kind: LeftoverKind, role: Role) -> Iterator[Leftover]:
    """Of one role, what is more than any reference left."""
    children, most = _left(trial)[kind][role], max(in_references(trial, lambda run: _count(run, kind, role)))
    if len(children) > most and (kind != "leaked" or all(in_alike(trial, lambda run: _deletes(run, role)))):
        first = children[most]
        owner = object_history(trial).objects.get(first.owner_uid) or primary_of(trial, first.uid) or first
        usual = set(in_calm(trial, lambda run: _count(run, kind, role)))
        yield Leftover(kind, owner, children[most:], most, len(usual) > 1)


def _count(run: Trial, kind: LeftoverKind, role: Role) -> int:
    return len(_left(run)[kind].get(role, ()))


def found_left(trial: Trial, left: Leftover, fired: int) -> Finding:
    """That it was left over, with what had not been shown when the controller removed the owner's finalizer, if it did."""
    let_go, witnesses = let_go_at(trial, left), {fired, *trial.ending, *(child.created for child in left.children)}
    witnesses |= {left.owner.deleted} if left.owner.deleted is not None else set()
    born = [child for child in left.children if let_go is not None and child.created < let_go]
    unseen = [child for child in born if not view(trial, let_go or 0).of(child.uid).has_seen(child.create_revision)]
    though = ""
    if let_go is not None and unseen:
        witnesses.add(let_go)
        revisions = span([child.create_revision for child in unseen])
        though = f"though it had not been shown {listing([child.name for child in unseen])} (resourceVersion {revisions})"
    severity: Severity = "stuck" if left.kind == "unfinished" else "leaked"
    basis: Basis = "unfinished" if left.kind == "unfinished" else "end"
    return Finding(_because(trial, left), tuple(sorted(witnesses)), though, severity=severity, basis=basis)


def let_go_at(trial: Trial, left: Leftover) -> int | None:
    """Where the controller last asked to update the owner of what is left after its deletion: to remove its finalizer, if any."""
    deleted = left.owner.deleted
    if deleted is None or left.kind == "unfinished":
        return None
    updates = [
        request.index
        for request in trial.requests
        if request.asked.verb in ("update", "patch") and request.succeeded and not request.asked.subresource
        if request.index > deleted and uid_of(request) == left.owner.uid
    ]
    return max(updates, default=None)


def _because(trial: Trial, left: Leftover) -> str:
    released, settled = trial.ending
    names, were, usual = left.names, "were" if left.are == "are" else "was", f"fault-free runs left {left.usual or 'none'}"
    if left.kind == "unfinished":
        held = listing(left.owner.last.entry.object["metadata"].get("finalizers") or [])
        there = f"{left.are} still there {trial.at(settled) - trial.at(released):.1f} s after it could catch up"
        return f"{names} {were} deleted and {there}, held by {held}; {usual}"
    if left.kind == "orphaned":
        late = left.owner.deleted is not None and left.owner.deleted < left.children[0].created
        when = "created and left over after" if late else "left over when"
        return f"{names} {were} {when} {owner_name(left.children[0].role.owner)} was deleted; {usual}"
    owner = f", owned by {owner_name(label)}" if (label := left.children[0].role.owner) else " without an owner"
    return f"{names} {were} left over{owner}; {usual}"


def _deletes(run: Trial, role: Role) -> bool:
    """Whether it made more objects of this role than it left, and the controller itself deleted some."""
    made = [each for each in object_history(run).objects.values() if each.role == role]
    return len(made) > _count(run, "leaked", role) and any(each.deleter is not None for each in made)


@fact
def _left(trial: Trial) -> _Left:
    """The oldest of each role first."""
    there = _lasting(trial, trial.settled) & _lasting(trial, None)
    left = grouped((_kind(trial, child), child) for uid, child in object_history(trial).objects.items() if uid in there)
    kinds: tuple[LeftoverKind, ...] = get_args(LeftoverKind)
    return {kind: grouped((child.role, child) for child in left.get(kind, ())) for kind in kinds}


def _kind(trial: Trial, child: Incarnation) -> LeftoverKind | None:
    if child.deleted is not None and child.resource in trial.beside.primaries and not child.owner_uid:
        return "unfinished"
    last = owner_of(child.last.entry.object)  # a successor of its first owner may have taken it over
    # an owner that was never seen was not of this trial: no fault of the controller's
    objects = object_history(trial).objects
    owner = objects.get(last["uid"] if last is not None else child.owner_uid)
    several = [str(each["uid"]) for each in child.last.entry.object["metadata"].get("ownerReferences") or () if last is None]
    is_shared = any(uid not in objects or objects[uid].deleted is None for uid in several)  # none says whose child it is
    if owner is not None and owner.deleted is not None and not is_shared:
        return "orphaned"
    is_own = child.creator is not None and child.creator.succeeded
    return "leaked" if is_own and is_unowned(trial, child) else None


def _lasting(trial: Trial, until: int | None) -> set[str]:
    """uids of what was there before a position and would not go by itself."""
    metadata = [obj["metadata"] for _, obj in lasting_objects(trial, until=until)]
    return {str(each["uid"]) for each in metadata if "deletionTimestamp" not in each or each.get("finalizers")}
