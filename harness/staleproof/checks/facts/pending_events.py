"""What had been committed and not shown to the controller, at every moment; and which states it was never shown: a fold.

Only of what it follows: resources that this life of it watches without a selector, and objects that it has been shown. A new life
begins with nothing to catch up with, because it lists everything. In doubt a change was shown (`Frontier`).

Two things can become of a change. It is shown: itself, or by a later state of the object, or by a list. If not itself, that state
was *skipped*: the controller can never know of it. An end that a list shows (terminating is part of it) is not skipped, unless
another object has the name by then. Or it is *missed*: the controller was shown what was committed later, or it no longer watches;
then it will not see it, unless it lists again.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.object_history import is_bookkeeping
from staleproof.checks.story.phrases import short_name
from staleproof.core.entry import Answered, Asked, Closed, Committed, Delivered, Entry, Listed, Opened, Started


@dataclass(frozen=True, slots=True)
class Change:
    """A commit, and its position in the history."""

    index: int
    commit: Committed

    @property
    def words(self) -> str:
        """As a part of a sentence: `pod/w-a was deleted`."""
        return f"{short_name(self.commit)} was {_PARTICIPLES[self.commit.type]}"


_PARTICIPLES = {"ADDED": "created", "MODIFIED": "changed", "DELETED": "deleted"}
_Pending = dict[str, dict[str, list[Change]]]
"""name to uid to changes."""


@dataclass(slots=True)
class Unshown:
    """Call `advance` with each entry in order; ask in between. `namespace` is the trial's."""

    namespace: str
    skipped: list[Change] = field(default_factory=list)
    _frontier: Frontier = field(default_factory=Frontier)
    _watched: set[str] = field(default_factory=set)
    _open: dict[int, str] = field(default_factory=dict)
    _gets: dict[int, Asked] = field(default_factory=dict)
    _versions: set[tuple[str, int]] = field(default_factory=set)
    _pending: dict[str, _Pending] = field(default_factory=lambda: defaultdict(lambda: defaultdict(dict)))

    def advance(self, index: int, entry: Entry) -> None:
        self._frontier.advance(entry)
        step = _STEPS.get(type(entry))
        if step is not None:
            step(self, index, entry)

    def changes(self) -> Iterator[Change]:
        """Committed and not shown."""
        for pending in self._pending.values():
            yield from (change for uids in pending.values() for changes in uids.values() for change in changes)

    def is_behind(self, resource: str) -> bool:
        """Whether anything of it is not shown."""
        return bool(self._pending.get(resource))

    @property
    def watched(self) -> set[str]:
        """Resources that have an open stream."""
        return set(self._open.values())

    @property
    def is_whole(self) -> bool:
        """Whether nothing at all is left to be shown."""
        return not any(self._pending.values())

    def missed(self) -> list[Change]:
        """Those that only a list can show, in the order in which they were recorded."""
        watched, newest = self.watched, self._frontier.newest
        lost = [
            change
            for change in self.changes()
            if change.commit.resource not in watched or newest.get(change.commit.resource, 0) >= change.commit.revision
        ]
        return sorted(lost, key=lambda change: change.index)

    def _started(self, index: int, entry: Started) -> None:
        for memory in (self._watched, self._open, self._versions, self._pending):
            memory.clear()

    def _opened(self, index: int, entry: Opened) -> None:
        self._open[entry.stream] = entry.resource
        if not entry.selector and entry.namespace in ("", self.namespace):
            self._watched.add(entry.resource)

    def _closed(self, index: int, entry: Closed) -> None:
        self._open.pop(entry.stream, None)

    def _committed(self, index: int, entry: Committed) -> None:
        followed = entry.resource in self._watched or entry.uid in self._frontier.shown
        if entry.namespace == self.namespace and followed and not is_bookkeeping(entry.resource, entry.object):
            self._pending[entry.resource][entry.name].setdefault(entry.uid, []).append(Change(index, entry))
            self._sort_out(entry.resource, [entry.name])

    def _delivered(self, index: int, entry: Delivered) -> None:
        resource = self._open.get(entry.stream, "")
        if entry.initial_end:
            self._sort_out(resource, list(self._pending[resource]))
        elif entry.uid:
            self._versions.add((entry.uid, entry.revision or 0))
            self._sort_out(resource, [entry.name])

    def _listed(self, index: int, entry: Listed) -> None:
        self._versions.update((item.uid, item.revision or 0) for item in entry.items)
        self._sort_out(entry.resource, list(self._pending[entry.resource]))

    def _asked(self, index: int, entry: Asked) -> None:
        if entry.verb == "get":
            self._gets[entry.request] = entry

    def _answered(self, index: int, entry: Answered) -> None:
        asked = self._gets.pop(entry.request, None)
        if asked is not None:
            self._versions.add((entry.uid, entry.revision or 0))
            self._sort_out(asked.resource, [asked.name])

    def _sort_out(self, resource: str, names: Iterable[str]) -> None:
        """Take off what has been shown by now, and note what of it was skipped."""
        pending = self._pending[resource]
        for name in names:
            for uid, changes in list(pending.get(name, {}).items()):
                rest = [change for change in changes if not self._is_shown(change)]
                kept = {change.index for change in rest}
                self.skipped += [change for change in changes if change.index not in kept and self._is_skipped(change)]
                pending[name][uid] = rest
                if not rest:
                    del pending[name][uid]
            if not pending.get(name, True):
                del pending[name]

    def _is_shown(self, change: Change) -> bool:
        commit, frontier = change.commit, self._frontier
        shown = frontier.has_seen(commit.uid, commit.revision)
        return shown or frontier.has_listed(commit.resource, self.namespace, commit.revision)

    def _is_skipped(self, change: Change) -> bool:
        commit = change.commit
        if (commit.uid, commit.revision) in self._versions:
            return False
        successor = self._frontier.present(commit.resource, self.namespace, commit.name)
        ends = commit.type == "DELETED" or "deletionTimestamp" in commit.object["metadata"]
        return not (ends and commit.uid in self._frontier.shown and successor in ("", commit.uid))


def unshown_at(entries: Iterable[Entry], namespace: str) -> Unshown:
    """After these entries."""
    unshown = Unshown(namespace)
    for index, entry in enumerate(entries):
        unshown.advance(index, entry)
    return unshown


_STEPS: dict[type, Callable[[Unshown, int, Any], None]] = {
    Started: Unshown._started,
    Opened: Unshown._opened,
    Closed: Unshown._closed,
    Committed: Unshown._committed,
    Delivered: Unshown._delivered,
    Listed: Unshown._listed,
    Asked: Unshown._asked,
    Answered: Unshown._answered,
}
