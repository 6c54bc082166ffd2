"""What changes anything: rest is a fixed point of the state, however busy a controller is.

A write whose answer has a revision that the object had before committed nothing: the API server does not store an update that
leaves an object as it is (apiserver pkg/storage/etcd3/store.go, GuaranteedUpdate). A commit changes nothing when `flatten` sees
no difference (it leaves out times, attempts, messages, and the reasons of conditions), or only in fields that were seen to move by
themselves although nothing happened (`Settle.moves`).
"""

from collections.abc import Collection, Iterable, Iterator

from staleproof.core.history.entry import Answered, Asked, Committed
from staleproof.core.history.flatten import Flat, apart, flatten
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import Commit
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.manifest import Manifest

LOOKS = 3
"""A controller that changes something when it is made to look again, and again so often, goes on changing things."""
WriteKind = tuple[str, str, str]
"""Verb, resource and subresource of a write."""
_At = tuple[str, Revision]


def write_kind(asked: Asked) -> WriteKind:
    return (asked.verb, asked.resource, asked.subresource)


def changed_paths(before: Flat, after: Flat) -> frozenset[str]:
    """The fields, as `flatten` calls them, whose values differ, or that are in one only."""
    missing = object()
    return frozenset(path for path in before.keys() | after.keys() if before.get(path, missing) != after.get(path, missing))


def moved(resource: str, path: str) -> str:
    """A field of a resource, as `Settle.moves` spells it: `widgets.staleproof.dev status.beats`."""
    return f"{resource} {path}"


def essential(resource: str, before: Manifest, after: Manifest, moves: Collection[str] = ()) -> frozenset[str]:
    """The fields in which one state of an object differs from another, without those that move by themselves."""
    paths = changed_paths(*(dict(flatten(each, {})) for each in apart(before, after)))
    return frozenset(path for path in paths if moved(resource, path) not in moves)


def is_unmoved(entry: Committed, before: Manifest | None, moves: Collection[str] = ()) -> bool:
    """Whether a commit left its object as it was. `before`: the object until then; None: it was not known."""
    return before is not None and entry.type == "MODIFIED" and not essential(entry.resource, before, entry.object, moves)


def void_writes(work: Iterable[Request], commits: Iterable[Commit], moves: Collection[str] = ()) -> Iterator[Request]:
    """The writes among `work` that changed nothing: they failed, or the object had been so before. `commits`: all of the trial."""
    every = list(commits)
    made, known = {commit.by.index: commit for commit in every if commit.by is not None}, {commit.entry.uid for commit in every}
    for request in work:
        answer, commit = request.answer, made.get(request.index)
        if commit is not None:
            void = is_unmoved(commit.entry, commit.before, moves)
        else:
            is_unchanged = (
                isinstance(answer, Answered) and answer.outcome == "ok" and answer.revision is not None and answer.uid in known
            )
            void = is_unchanged or (isinstance(answer, Answered) and answer.outcome == "fail")
        if void:
            yield request


class Changes:
    """A fold over the commits of a trial, and others, and the answers to the controller's writes, in the order in which they
    came: either may be first. `moves`: the fields that move by themselves.

    Attributes:
        done: the kinds of writes by which the controller has changed anything since `done` was cleared.
    """

    def __init__(self, moves: Collection[str] = ()) -> None:
        self.done: set[WriteKind] = set()
        self._moves = frozenset(moves)
        self._objects: dict[str, Manifest] = {}
        self._changed: dict[_At, bool] = {}
        self._claimed: set[_At] = set()
        self._foreign: set[_At] = set()
        self._awaited: dict[_At, tuple[WriteKind, float]] = {}

    def expect(self, resource: str, revision: Revision) -> None:
        """This commit is another user's: it counts whatever it changes, and no write of the controller made it."""
        self._foreign.add((resource, revision))
        self._changed[resource, revision] = True

    def committed(self, entry: Committed) -> bool:
        """Whether the commit changes anything; that of an object that was not known does."""
        at, before = (entry.resource, entry.revision), self._objects.get(entry.uid)
        self._objects[entry.uid] = entry.object
        changed = self._changed[at] = at in self._foreign or not is_unmoved(entry, before, self._moves)
        kind, _ = self._awaited.pop(at, (None, 0.0))
        if kind is not None and changed:
            self.done.add(kind)
        return changed

    def answered(self, asked: Asked, answer: Answered) -> bool | None:
        """Whether a write changed anything; None if its commit, which has not come yet, will show it."""
        kind = write_kind(asked)
        if asked.dry_run or answer.outcome == "fail" or answer.executed is False:
            return False
        if answer.outcome == "unknown" or answer.revision is None or not asked.namespace:
            self.done.add(kind)
            return True
        at = (asked.resource, answer.revision)
        if at not in self._changed:
            self._awaited[at] = (kind, answer.at)
            return None
        changed = self._changed[at] and at not in self._claimed | self._foreign
        self._claimed.add(at)  # the first write that is answered with a revision made it
        if changed:
            self.done.add(kind)
        return changed

    def awaits(self, since: float) -> bool:
        """Whether the commit of a write that was answered after this time has not come yet."""
        return any(at > since for _, at in self._awaited.values())

    def shown(self, resource: str, revision: Revision) -> bool | None:
        """Whether the commit of this revision changed anything; None if it has not come yet."""
        return self._changed.get((resource, revision))
