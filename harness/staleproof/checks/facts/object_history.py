"""Children over time: who created and deleted them, and how many of a role were alive after each commit.

"Live" means not deleted, and deleted means deletionTimestamp set. Commits are ordered by their revision. A child is the
controller's creation or deletion only if an answer says so by its uid, be it one that the controller never heard because a fault
lost it (then `creator.succeeded` is false); a delete of what somebody else had deleted before is not the controller's.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from staleproof.checks.facts.roles import Named, Names, Role, controller_of, gone, owner_labels
from staleproof.core.entry import Answered, Committed
from staleproof.core.history import History, Request, is_work, requests
from staleproof.core.plan import Manifest
from staleproof.core.request import BOOKKEEPING

_MADE = 201
LEADER = "control-plane.alpha.kubernetes.io/leader"
"""The annotation of a ConfigMap or Endpoints that is only there to elect a leader."""


@dataclass(slots=True)
class Child:
    """One incarnation of an object. Indexes are positions in the history; None: it did not happen, or not by the controller."""

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
    """The objects of one history by uid. `counts` has, per role, index of a commit → live objects after it, in commit order."""

    children: dict[str, Child] = field(default_factory=dict)
    counts: dict[Role, dict[int, int]] = field(default_factory=dict)
    _peaks: dict[Role, dict[int, int]] = field(default_factory=dict)

    def peak(self, role: Role) -> int:
        return max(self.counts.get(role, {}).values(), default=0)

    def trough(self, role: Role) -> int:
        """The fewest alive from the first time that the peak was reached; 0 for a role that never was."""
        counts = list(self.counts.get(role, {}).values())
        return min(counts[counts.index(max(counts)) :]) if counts else 0

    def live_after(self, role: Role, index: int) -> int:
        """How many were alive after the commit at this position."""
        return self.counts[role][index]

    def peak_until(self, role: Role, index: int) -> int:
        """The most that had been alive at any time up to the commit at this position."""
        return self._peaks[role][index]


def population(history: History, names: Names | None = None) -> Population:
    """Fold the commits of a history. `names` are what the references' names have in common; empty: nothing is known of them."""
    made = _objects(history, names or Names())
    _attribute(made, history)
    _count(made)
    return made


def names_of(history: History) -> set[Named]:
    """Every object's name in a history."""
    return {child.named for child in _objects(history, Names()).children.values()}


def is_executed(request: Request) -> bool:
    """A write of the controller to an object that is known to have been executed, whatever the controller was told."""
    answer = request.answer
    if not isinstance(answer, Answered) or not is_work(request.asked) or request.asked.subresource:
        return False
    return answer.outcome == "ok" or answer.executed is True


def is_create(request: Request) -> bool:
    """Whether a write that was executed made the object: a create, or a server-side apply that found nothing there."""
    answer = request.answer
    if request.asked.verb != "patch":
        return request.asked.verb == "create"
    return isinstance(answer, Answered) and answer.code == _MADE


def is_bookkeeping(resource: str, manifest: Manifest) -> bool:
    """Whether an object is there only for the controller's own running."""
    return resource in BOOKKEEPING or LEADER in (manifest["metadata"].get("annotations") or ())


def _objects(history: History, names: Names) -> Population:
    commits = _commits(history)
    labels = owner_labels(commit.object for _, commit in commits)
    made = Population()
    for index, commit in commits:
        _commit(made, index, commit, labels, names)
    return made


def _commits(history: History) -> list[tuple[int, Committed]]:
    """Commits that count, by revision within a resource."""
    found: dict[str, list[tuple[int, Committed]]] = defaultdict(list)
    for index, entry in enumerate(history.entries):
        if not isinstance(entry, Committed) or entry.namespace != history.header.namespace:
            continue
        if not is_bookkeeping(entry.resource, entry.object):
            found[entry.resource].append((index, entry))
    return [pair for pairs in found.values() for pair in sorted(pairs, key=lambda pair: pair[1].revision)]


def _commit(made: Population, index: int, commit: Committed, labels: dict[str, str], names: Names) -> None:
    child = made.children.get(commit.uid)
    deleted = commit.type == "DELETED" or "deletionTimestamp" in commit.object["metadata"]
    if child is None:
        owner = controller_of(commit.object)
        label = (labels.get(owner["uid"]) or gone(owner)) if owner else ""
        named = Named(label, commit.resource, commit.name)
        role = names.role(named, commit.object)
        child = Child(named, role, commit.uid, owner["uid"] if owner else "", index, commit.revision)
        made.children[commit.uid] = child
    if deleted and child.deleted is None:
        child.deleted, child.delete_revision = index, commit.revision


def _attribute(made: Population, history: History) -> None:
    """Who created and deleted what, by the uids in the answers."""
    for request in requests(history.entries):
        if not is_executed(request):
            continue
        for uid in _uids(request):
            child = made.children.get(uid)
            if child is None:
                continue
            if is_create(request) and child.created > request.index:
                child.creator = request
            elif request.asked.verb in ("delete", "deletecollection") and child.deleter is None and _is_cause(request, child):
                child.deleter = request


def _is_cause(request: Request, child: Child) -> bool:
    return child.deleted is not None and child.deleted > request.index


def _uids(request: Request) -> Sequence[str]:
    answer = request.answer
    if not isinstance(answer, Answered):
        return ()
    return [answer.uid] if answer.uid else [item.uid for item in answer.items]


def _count(made: Population) -> None:
    changes: dict[Role, list[tuple[int, int, int]]] = defaultdict(list)
    for child in made.children.values():
        changes[child.role].append((child.create_revision, child.created, 1))
        if child.deleted is not None and child.delete_revision is not None:
            changes[child.role].append((child.delete_revision, child.deleted, -1))
    for role, moves in changes.items():
        count, peak = 0, 0
        counts, peaks = made.counts.setdefault(role, {}), made._peaks.setdefault(role, {})
        for _, index, change in sorted(moves, key=lambda move: (move[0], -move[2])):
            count += change
            peak = max(peak, count)
            counts[index], peaks[index] = count, peak
