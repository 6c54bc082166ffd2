"""Objects over time: every incarnation with its commits, its creator and its deleter, and how many of a role were alive at a time.

"Live" means not deleted, and deleted means deletionTimestamp set. Commits are ordered by their revision. Whose they are is the
trial's to say (`Trial.commits`); a delete of what another user had deleted before is not the controller's.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from staleproof.checks.facts.roles import Named, Names, Role, learn_names, named, owner_labels
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import Commit, is_create, is_removal
from staleproof.core.operator.ownership import owner_of

OwnVerb = Literal["create", "delete"]
"""What begins an object, and what ends it."""
_Counts = dict[Role, dict[int, int]]
"""By role and position."""
BEYOND = 2**63 - 1
"""More than any generation: for what was shown at a revision that we have no commit of."""


@dataclass(frozen=True, slots=True)
class Incarnation:
    """One object by its uid, with its commits in the order of their revisions.

    Attributes:
        named: what it is called, and what owns it; `role`: what it stands for in any run of the workload.
        label: what roles call it as an owner: `Widget/w`, with `#2` for a second incarnation.
        owner_uid: the uid of the object whose child it was when it was made (`owner_of`); empty for none.
        end: the commit by which it was deleted; None if it never was.
    """

    named: Named
    role: Role
    label: str
    owner_uid: str
    commits: Sequence[Commit]
    end: Commit | None

    @property
    def first(self) -> Commit:
        return self.commits[0]

    @property
    def last(self) -> Commit:
        return self.commits[-1]

    @property
    def uid(self) -> str:
        return self.first.entry.uid

    @property
    def resource(self) -> str:
        return self.named.resource

    @property
    def name(self) -> str:
        return self.named.name

    @property
    def created(self) -> int:
        """The position of its first commit."""
        return self.first.index

    @property
    def create_revision(self) -> int:
        return self.first.entry.revision

    @property
    def creator(self) -> Request | None:
        """The controller's request that created it; None if another user did."""
        by = self.first.by
        return by if by is not None and is_create(by) else None

    @property
    def deleted(self) -> int | None:
        """The position of the commit by which it was deleted; None if it never was."""
        return self.end.index if self.end is not None else None

    @property
    def deleter(self) -> Request | None:
        """The controller's request that deleted it; None if another user did, or if it was never deleted."""
        by = self.end.by if self.end is not None else None
        return by if by is not None and is_removal(by.asked) else None

    @property
    def delete_revision(self) -> int:
        """0 for what was never deleted."""
        return self.end.entry.revision if self.end is not None else 0

    def is_gone(self, *, before: int) -> bool:
        """Whether it had been deleted before a position."""
        return self.deleted is not None and self.deleted < before

    def is_live(self, *, before: int) -> bool:
        """Whether it had been created, and not deleted, before a position."""
        return self.created < before and not self.is_gone(before=before)

    def is_terminating(self, *, before: int) -> bool:
        """Whether it had been asked to go before a position, and was still there."""
        newest = next((commit.entry for commit in reversed(self.commits) if commit.index < before), None)
        return newest is not None and newest.type != "DELETED" and "deletionTimestamp" in newest.object["metadata"]

    def generation_at(self, revision: int) -> int:
        """The newest generation that a client that was shown this revision can have seen."""
        return next((commit.generation for commit in self.commits if commit.entry.revision >= revision), BEYOND)

    def reaching(self, generation: int) -> Commit | None:
        """The commit that brought this generation."""
        return next((commit for commit in self.commits if commit.generation >= generation), None)


class ObjectHistory:
    """The objects of a trial. `counts` has, per role, position of a commit → live objects after it, in commit order; `peaks`
    the most that there had been by then."""

    def __init__(self, objects: dict[str, Incarnation]) -> None:
        self.objects = objects
        self.counts, self.peaks = _counted(objects.values())
        self._labelled = {(each.resource, each.label): each for each in reversed(objects.values())}
        self._named = grouped(((each.resource, each.name), each) for each in objects.values())

    def named(self, resource: str, name: str) -> Sequence[Incarnation]:
        """All incarnations of a name, in the order of their creation."""
        return self._named.get((resource, name), ())

    def labelled(self, resource: str, label: str) -> Incarnation | None:
        """The first object that roles call so as an owner: in any run of a workload it is the same one."""
        return self._labelled.get((resource, label))

    def roles_of(self, owner: str) -> Sequence[Role]:
        """Those of the objects of an owner, by its label."""
        return [role for role in self.counts if role.owner == owner]

    def peak(self, role: Role) -> int:
        """The most that were ever alive."""
        return max(self.counts.get(role, {}).values(), default=0)

    def trough(self, role: Role) -> int:
        """The fewest alive from the first time that the peak was reached; 0 for a role that never was."""
        counts = list(self.counts.get(role, {}).values())
        return min(counts[counts.index(max(counts)) :]) if counts else 0

    def live_at(self, role: Role, index: int) -> int:
        """How many were alive after the entry at this position, a commit of theirs or not."""
        counts = [count for at, count in self.counts.get(role, {}).items() if at <= index]
        return counts[-1] if counts else 0

    def peak_between(self, role: Role, since: int, until: int) -> int:
        """The most that were alive at any time between two positions, what was alive at the first of them included."""
        during = [count for at, count in self.counts.get(role, {}).items() if since < at <= until]
        return max([self.live_at(role, since), *during])

    def root_of(self, uid: str) -> str:
        """The uid of the owner at the top; the object's own when it has none that is known."""
        seen: set[str] = set()
        while uid not in seen and (each := self.objects.get(uid)) is not None and each.owner_uid in self.objects:
            seen.add(uid)
            uid = each.owner_uid
        return uid


@fact
def names(trial: Trial) -> Names:
    """What the names of objects have in common in the references: those of the trial that this one is, or is a reference of. What
    was made for another owner may be any of that one's, so a name that it has under a later owner is no role of its own."""
    if trial.beside is not trial:
        return names(trial.beside)
    made = learn_names([_called(reference).values() for reference in trial.alike])
    ever = learn_names([_ever_called(reference) for reference in trial.alike])
    return Names(made.stable, made.stems | ever.stems)


@fact
def object_history(trial: Trial) -> ObjectHistory:
    """Of everything in the trial's namespace but bookkeeping, by uid, in the order of the trial's commits."""
    by_uid = grouped((commit.entry.uid, commit) for commit in trial.commits)
    labels, called, known = _labels(trial), _called(trial), names(trial)
    objects = {}
    for uid, commits in by_uid.items():
        first = commits[0].entry.object
        owner, role = owner_of(first), known.role(called[uid], first)
        end = next((commit for commit in commits if commit.deletes), None)
        objects[uid] = Incarnation(called[uid], role, labels.get(uid, ""), owner["uid"] if owner else "", commits, end)
    return ObjectHistory(objects)


def of_resource(trial: Trial, resource: str) -> list[Incarnation]:
    """All objects of a resource that were ever there."""
    return [each for each in object_history(trial).objects.values() if each.resource == resource]


@fact
def creations(trial: Trial) -> Sequence[tuple[Request, Incarnation]]:
    """What the controller created, with the request, in the order of the requests."""
    return _in_order((child.creator, child) for child in object_history(trial).objects.values())


@fact
def deletions(trial: Trial) -> Sequence[tuple[Request, Incarnation]]:
    """What the controller deleted, with the request, in the order of the requests."""
    return _in_order((child.deleter, child) for child in object_history(trial).objects.values())


def _counted(objects: Iterable[Incarnation]) -> tuple[_Counts, _Counts]:
    """How many were alive after each commit, and the most that had been by then."""
    live, most = _Counts(), _Counts()
    for role, alike in grouped((each.role, each) for each in objects).items():
        count, peak = 0, 0
        live[role], most[role] = {}, {}
        begun = [(each.create_revision, -1, each.created, 1) for each in alike]
        ended = [(each.end.entry.revision, 1, each.end.index, -1) for each in alike if each.end is not None]
        for _, _, index, change in sorted([*begun, *ended]):
            count += change
            peak = max(peak, count)
            live[role][index], most[role][index] = count, peak
    return live, most


@fact
def is_bare(trial: Trial) -> bool:
    """Whether the controller creates nothing in any run of the workload: what it writes to others' objects is its work."""
    return not any(creations(run) for run in (trial, *trial.references))


@fact
def _labels(trial: Trial) -> Mapping[str, str]:
    """By uid, what to call each object as an owner."""
    return owner_labels(commit.entry.object for commit in trial.commits)


def _in_order(written: Iterable[tuple[Request | None, Incarnation]]) -> list[tuple[Request, Incarnation]]:
    return sorted(((request, child) for request, child in written if request is not None), key=lambda pair: pair[0].index)


@fact
def _called(trial: Trial) -> Mapping[str, Named]:
    """By uid, what each object is called by its first commit."""
    labels, begun = _labels(trial), (commit.entry for commit in trial.commits if commit.before is None)
    return {entry.uid: named(entry.object, entry.resource, entry.name, labels) for entry in begun}


@fact
def _ever_called(trial: Trial) -> Collection[Named]:
    """What each object is called by any of its commits: what was made for one owner may have been taken over by another."""
    labels = _labels(trial)
    return {named(each.entry.object, each.entry.resource, each.entry.name, labels): None for each in trial.commits}
