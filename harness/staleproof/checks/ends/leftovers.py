"""What a trial left over at the end of its settling phase, and still had at the end of all, beyond what any reference left.

What is being deleted and has no finalizer counts as gone: what is missing then (the grace period of a pod) is not the controller's.
Nor is what a garbage collector would take (`garbage`): children of an owner that is gone stay only if nobody would collect them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from staleproof.checks.ends.hull import final_objects
from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.garbage import namespaced_kinds, without_garbage
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.provenance import uid_of
from staleproof.core.operator.ownership import owner_of

LeftoverKind = Literal["unfinished", "orphaned", "leaked"]
"""Primaries that were deleted and are there; children of an owner that was; what the controller made and nobody owns."""
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


@fact
def leftovers(trial: Trial) -> Sequence[Leftover]:
    """What is unfinished first, then what is orphaned, then what is leaked. What a reference never deleted is not leaked."""
    found, objects = [], object_history(trial).objects
    for kind, roles in _left(trial).items():
        for role, children in roles.items():
            usual = {reference: len(_left(reference)[kind].get(role, ())) for reference in trial.references}
            if kind == "leaked" and not all(_deletes(each, usual[each], role) for each in trial.alike):
                continue
            most = max(usual.values())
            if len(children) > most:
                first = children[most]
                owner = objects.get(first.owner_uid) or primary_of(trial, first.uid) or first
                found.append(Leftover(kind, owner, children[most:], most, len({usual[each] for each in trial.calm}) > 1))
    return found


def let_go_at(trial: Trial, left: Leftover) -> int | None:
    """Where the controller last asked to update the owner of what is left after its deletion: to remove its finalizer, if any."""
    deleted = left.owner.deleted if left.kind != "unfinished" else None
    found = [
        request.index
        for request in trial.requests
        if request.asked.verb in ("update", "patch") and request.succeeded and not request.asked.subresource
        if deleted is not None and request.index > deleted and uid_of(request) == left.owner.uid
    ]
    return found[-1] if found else None


def _deletes(reference: Trial, left: int, role: Role) -> bool:
    """Whether a reference made more objects of this role than it left, and the controller itself deleted some."""
    made = [each for each in object_history(reference).objects.values() if each.role == role]
    return len(made) > left and any(each.deleter is not None for each in made)


@fact
def _left(trial: Trial) -> _Left:
    """The oldest of each role first."""
    there = _lasting(trial, trial.settled) & _lasting(trial, None)
    left: dict[LeftoverKind, dict[Role, list[Incarnation]]] = {
        "unfinished": defaultdict(list),
        "orphaned": defaultdict(list),
        "leaked": defaultdict(list),
    }
    for uid, child in object_history(trial).objects.items():
        kind = _kind(trial, child) if uid in there else None
        if kind is not None:
            left[kind][child.role].append(child)
    return left


def _kind(trial: Trial, child: Incarnation) -> LeftoverKind | None:
    if child.deleted is not None and child.resource in trial.beside.primaries and not child.owner_uid:
        return "unfinished"
    last = owner_of(child.last.entry.object)  # a successor of its first owner may have taken it over
    # an owner that was never seen was not of this trial: nobody's fault
    owner = object_history(trial).objects.get(last["uid"] if last is not None else child.owner_uid)
    if owner is not None and owner.deleted is not None:
        return "orphaned"
    is_own = child.creator is not None and child.creator.succeeded
    return "leaked" if is_own and not child.owner_uid and not child.role.owner else None


def _lasting(trial: Trial, until: int | None) -> set[str]:
    """uids of what was there before a position and would not go by itself."""
    there = without_garbage(final_objects(trial, until=until), namespaced_kinds(trial))
    metadata = [obj["metadata"] for _, obj in there]
    return {str(each["uid"]) for each in metadata if "deletionTimestamp" not in each or each.get("finalizers")}
