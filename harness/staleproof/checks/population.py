"""Children over time: who created and deleted them, and how many of a role were alive after each commit.

A role groups children that can stand in for one another: same owner incarnation, same resource, same name (where every reference
used that name) or else same stem (generateName, or the name without its last segment). "Live" means not deleted, and deleted means
deletionTimestamp set.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from staleproof.core.entry import Answered, Committed
from staleproof.core.history import BOOKKEEPING, History, Request, is_work, requests
from staleproof.core.plan import Manifest


class Role(NamedTuple):
    """`owner` is like `Widget/sample`, with `#2` for a second incarnation; empty for an object without a controller owner."""

    owner: str
    resource: str
    stem: str


class Named(NamedTuple):
    """A child by its exact name, as it may be stable across references."""

    owner: str
    resource: str
    name: str


@dataclass(slots=True)
class Child:
    """One incarnation of an object. Indexes are positions in the history; None where it did not happen or was not the controller."""

    named: Named
    role: Role
    uid: str
    owner_uid: str
    created: int
    create_revision: int
    creator: Request | None = None
    deleted: int | None = None
    delete_revision: int | None = None
    deleter: Request | None = None


@dataclass(slots=True)
class Population:
    """The children of one history. `counts` has, per role, (index of the commit, live children after it), in commit order."""

    children: dict[str, Child] = field(default_factory=dict)
    counts: dict[Role, list[tuple[int, int]]] = field(default_factory=dict)

    def peak(self, role: Role) -> int:
        return max((count for _, count in self.counts.get(role, ())), default=0)

    def trough(self, role: Role) -> int:
        """The fewest alive from the first time that the peak was reached; 0 for a role that never was."""
        counts = [count for _, count in self.counts.get(role, ())]
        return min(counts[counts.index(max(counts)) :]) if counts else 0

    def live_after(self, role: Role, index: int) -> int:
        """How many were alive after the commit at this position."""
        return next(count for at, count in self.counts[role] if at == index)


def population(history: History, stable: Collection[Named] = ()) -> Population:
    """Fold the commits of a history. `stable` are the names that every reference used."""
    owners = _incarnations(history)
    made = Population()
    by_resource: dict[str, list[tuple[int, Committed]]] = defaultdict(list)
    for index, entry in enumerate(history.entries):
        if isinstance(entry, Committed) and entry.namespace == history.header.namespace and entry.resource not in BOOKKEEPING:
            by_resource[entry.resource].append((index, entry))
    for commits in by_resource.values():
        for index, commit in sorted(commits, key=lambda pair: pair[1].revision):
            _commit(made, index, commit, owners, stable)
    _attribute(made, history)
    _count(made)
    return made


def names_of(history: History) -> set[Named]:
    """Every child's name in a history."""
    return {child.named for child in population(history).children.values()}


def stem_of(manifest: Manifest) -> str:
    """What is left of a name without the part that was generated."""
    metadata = manifest["metadata"]
    head, dash, _ = metadata["name"].rpartition("-")
    return metadata.get("generateName") or head + dash or metadata["name"]


def controller_of(manifest: Manifest) -> Mapping[str, str] | None:
    """The ownerReference with controller: true, if there is one."""
    references = manifest["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def _incarnations(history: History) -> dict[str, str]:
    """uid → label of every object that is an owner, told apart by incarnation."""
    seen: dict[str, list[str]] = defaultdict(list)
    labels: dict[str, str] = {}

    def label(kind: str, name: str, uid: str) -> None:
        if uid not in labels:
            seen[f"{kind}/{name}"].append(uid)
            nth = len(seen[f"{kind}/{name}"])
            labels[uid] = f"{kind}/{name}" + (f"#{nth}" if nth > 1 else "")

    for entry in history.entries:
        if isinstance(entry, Committed):
            owner = controller_of(entry.object)
            if owner is not None:
                label(owner["kind"], owner["name"], owner["uid"])
            label(entry.object.get("kind", entry.resource), entry.name, entry.uid)
    return labels


def _commit(made: Population, index: int, commit: Committed, owners: Mapping[str, str], stable: Collection[Named]) -> None:
    child = made.children.get(commit.uid)
    deleted = commit.type == "DELETED" or "deletionTimestamp" in commit.object["metadata"]
    if child is None:
        owner = controller_of(commit.object)
        owner_uid = owner["uid"] if owner else ""
        named = Named(owners.get(owner_uid, ""), commit.resource, commit.name)
        role = Role(named.owner, named.resource, commit.name if named in stable else stem_of(commit.object))
        child = made.children[commit.uid] = Child(named, role, commit.uid, owner_uid, index, commit.revision)
    if deleted and child.deleted is None:
        child.deleted, child.delete_revision = index, commit.revision


def _attribute(made: Population, history: History) -> None:
    """Who created and deleted what, by the uids in the answers."""
    for request in requests(history.entries):
        if not is_work(request.asked) or not request.succeeded or request.asked.subresource:
            continue
        answer = request.answer
        for uid in _uids(answer) if isinstance(answer, Answered) else ():
            child = made.children.get(uid)
            if child is not None and request.asked.verb == "create":
                child.creator = request
            elif child is not None and request.asked.verb in ("delete", "deletecollection") and child.deleter is None:
                child.deleter = request


def _uids(answer: Answered) -> list[str]:
    return [answer.uid] if answer.uid else [item.uid for item in answer.items]


def _count(made: Population) -> None:
    changes: dict[Role, list[tuple[int, int, int]]] = defaultdict(list)
    for child in made.children.values():
        changes[child.role].append((child.create_revision, child.created, 1))
        if child.deleted is not None and child.delete_revision is not None:
            changes[child.role].append((child.delete_revision, child.deleted, -1))
    for role, moves in changes.items():
        count, made.counts[role] = 0, []
        for _, index, change in sorted(moves):
            count += change
            made.counts[role].append((index, count))
