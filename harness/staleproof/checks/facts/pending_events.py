"""What had been committed and not shown to the controller, at every moment; and which states it was never shown.

Only of what it follows: resources that this life of it watches without a selector, and objects that it has been shown, or that a
frame which is kept proves to pass the selector of a stream; until they leave that selection. A new life begins with nothing to
catch up with, because it lists everything. In doubt a change was shown (`frontier`). What it does not watch and has only read, it
learns of by its answers as well: own writes that it heard of are no news, nor is the end of what it deleted.

Two things can become of a change. It is shown: itself, or by a later state of the object, or by a list. If not itself, that state
was *skipped*: the controller can never know of it. An end that a list shows (terminating is part of it) is not skipped, unless
another object has the name by then. Or it is *missed*: the controller was shown what was committed later, or it no longer watches;
then it will not see it, unless it lists again.

A list or stream with a selector skips nothing of a resource that is watched without one, and nothing of what may only have left its
selection.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from staleproof.checks.facts.frontier import frontier
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Answered, Committed, Delivered, Entry, Listed, Opened, Started, StreamId, Withheld
from staleproof.core.history.provenance import is_bookkeeping
from staleproof.core.history.request import BOOKKEEPING


@dataclass(slots=True)
class PendingEvent:
    """A commit, from its position until it was taken off: shown, or no longer owed; None if it never was.

    `is_due`: a watch has to show it. Of an object that was only read, where all watches have a selector, none has.
    """

    index: int
    commit: Committed
    until: int | None = None
    is_due: bool = True


class PendingEvents:
    """Every question names a position and is about what had happened before it."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._frontier = frontier(trial)
        self._all: list[PendingEvent] = []
        self._skipped: list[PendingEvent] = []

    def before(self, index: int, resource: str = "") -> list[PendingEvent]:
        """Committed and not shown, in the order recorded; of one resource, or of all."""
        newest_first = (self._all[place] for place in reversed(range(self._begun(index))))
        open_then = (event for event in newest_first if event.until is None or event.until >= index)
        found = [*islice(open_then, self._open(index))]
        return [event for event in reversed(found) if not resource or event.commit.resource == resource]

    def _begun(self, index: int) -> int:
        """How many were committed before a position."""
        return bisect_left(self._all, index, key=lambda event: event.index)

    def _open(self, index: int) -> int:
        """How many of them had not been taken off."""
        return self._begun(index) - bisect_left(self._ends, index)

    @cached_property
    def _ends(self) -> list[int]:
        """Where events were taken off, in order."""
        return sorted(event.until for event in self._all if event.until is not None)

    def skipped(self, *, before: int) -> list[PendingEvent]:
        """States that the controller can never know of, in the order in which it skipped them."""
        return [event for event in self._skipped if event.until is not None and event.until < before]

    def watched(self, *, before: int) -> set[str]:
        """Resources of which a stream is open."""
        born = max((start for start in self._trial.starts if start < before), default=-1)
        streams = (s for s in self._trial.streams.values() if born < s.opened < before)
        return {stream.entry.resource for stream in streams if stream.closed is None or stream.closed >= before}

    def missed(self, *, before: int) -> list[PendingEvent]:
        """Those that only a list can show, in the order in which they were recorded."""
        watched = self.watched(before=before)
        return [
            event
            for event in self.before(before)
            if event.is_due
            and (
                event.commit.resource not in watched
                or self._frontier.passed(event.commit.resource, before=before) >= event.commit.revision
            )
        ]

    def caught_up(self, *, since: int, until: int) -> int | None:
        """The first position from `since` on by which everything had been shown and all that was ever watched was watched again.

        None if there is none before `until`. Bookkeeping need not be watched again.
        """
        opened = (stream.entry.resource for stream in self._trial.streams.values() if stream.opened < since)
        wanted = set(opened) - BOOKKEEPING
        everything = (index for index in range(since, until) if not self._open(index + 1))
        return next((index for index in everything if wanted <= self.watched(before=index + 1)), None)


@fact
def pending_events(trial: Trial) -> PendingEvents:
    """Of the controller under test."""
    found = PendingEvents(trial)
    fold = _Fold(trial, found)
    for index, entry in enumerate(trial.entries):
        step = _STEPS.get(type(entry))
        if step is not None:
            step(fold, index, entry)
    found._all.sort(key=lambda event: event.index)
    return found


class _Fold:
    def __init__(self, trial: Trial, found: PendingEvents) -> None:
        self._trial, self._frontier, self._found = trial, found._frontier, found
        self._followed: set[str] = set()
        self._selected: set[str] = set()
        self._heard = {int(commit.index) for commit in trial.commits if commit.heard is not None}
        self._deleted: set[str] = set()
        self._aside: dict[tuple[str, int], PendingEvent] = {}
        self._versions: set[tuple[str, int]] = set()
        self._pending: dict[str, dict[str, list[PendingEvent]]] = defaultdict(lambda: defaultdict(list))

    def started(self, index: int, entry: Started) -> None:
        for memory in (self._followed, self._selected, self._aside, self._versions):
            memory.clear()
        for names in self._pending.values():
            for events in names.values():
                self._take_off(index, events)
        self._pending.clear()

    def opened(self, index: int, entry: Opened) -> None:
        if entry.namespace in ("", self._trial.namespace):
            (self._selected if entry.selector else self._followed).add(entry.resource)

    def committed(self, index: int, entry: Committed) -> None:
        if entry.namespace != self._trial.namespace or is_bookkeeping(entry.resource, entry.object):
            return
        chosen = self._frontier.is_chosen(entry.uid, before=index + 1)
        was_shown = self._frontier.shown(entry.uid, before=index + 1) is not None
        event = PendingEvent(index, entry)
        is_told = self._is_told(index, entry)
        if entry.resource in self._followed or chosen or (chosen is None and was_shown and not is_told):
            event.is_due = bool(chosen) or entry.resource in self._followed or entry.resource not in self._selected
            self._add(event)
            self._sort_out(index, entry.resource, [entry.name])
        elif entry.resource in self._selected:
            self._aside[entry.uid, entry.revision] = event

    def _is_told(self, index: int, entry: Committed) -> bool:
        """Whether the controller, which does not watch this resource, knows of a commit by the answer to a write of its own."""
        ends = entry.type == "DELETED" or "deletionTimestamp" in entry.object["metadata"]
        if ends and index in self._heard:
            self._deleted.add(entry.uid)
        return entry.resource not in self._selected and (index in self._heard or (ends and entry.uid in self._deleted))

    def withheld(self, index: int, entry: Withheld) -> None:
        event = self._aside.pop((entry.uid, entry.revision or 0), None) if self._selector(entry.stream) else None
        if event is not None and not self._is_shown(event.commit, index + 1):
            self._add(event)

    def delivered(self, index: int, entry: Delivered) -> None:
        resource, selector = self._trial.resource_of(entry.stream), self._selector(entry.stream)
        if entry.initial_end:
            self._sort_out(index, resource, list(self._pending[resource]), selector)
        elif entry.uid:
            self._versions.add((entry.uid, entry.revision or 0))
            self._sort_out(index, resource, [entry.name], selector)

    def listed(self, index: int, entry: Listed) -> None:
        self._versions.update((item.uid, item.revision or 0) for item in entry.items)
        self._sort_out(index, entry.resource, list(self._pending[entry.resource]), entry.selector)

    def answered(self, index: int, entry: Answered) -> None:
        request = self._trial.request_of.get(entry.request)
        if request is not None and request.asked.verb == "get" and request.index < index:
            self._versions.add((entry.uid, entry.revision or 0))
            self._sort_out(index, request.asked.resource, [request.asked.name])

    def _add(self, event: PendingEvent) -> None:
        self._found._all.append(event)
        self._pending[event.commit.resource][event.commit.name].append(event)

    def _selector(self, stream: StreamId) -> str:
        return self._trial.streams[stream].entry.selector if stream in self._trial.streams else ""

    def _sort_out(self, index: int, resource: str, names: Iterable[str], selector: str = "") -> None:
        """Take off what has been shown by now, and note what of it was skipped."""
        pending = self._pending[resource]
        for name in names:
            shown = [event for event in pending.get(name, ()) if self._is_shown(event.commit, index + 1)]
            self._found._skipped += [event for event in shown if self._is_skipped(event.commit, index + 1, selector)]
            self._take_off(index, shown)
            pending[name] = [event for event in pending.get(name, ()) if event.until is None]
            if not pending[name]:
                del pending[name]

    def _take_off(self, index: int, events: Iterable[PendingEvent]) -> None:
        for event in events:
            event.until = index

    def _is_shown(self, commit: Committed, before: int) -> bool:
        shown = self._frontier.has_seen(commit.uid, commit.revision, before=before)
        return shown or self._frontier.has_listed(commit.resource, self._trial.namespace, commit.revision, before=before)

    def _is_skipped(self, commit: Committed, before: int, selector: str) -> bool:
        if (commit.uid, commit.revision) in self._versions:
            return False
        if selector and (commit.resource in self._followed or self._frontier.is_chosen(commit.uid, before=before) is False):
            return False
        if self._frontier.is_presumed(commit.uid, commit.revision, before=before):
            return False
        successor = self._frontier.present(commit.resource, self._trial.namespace, commit.name, before=before)
        ends = commit.type == "DELETED" or "deletionTimestamp" in commit.object["metadata"]
        was_shown = self._frontier.shown(commit.uid, before=before) is not None
        return not (ends and was_shown and successor in ("", commit.uid))


_STEPS: dict[type[Entry], Callable[[_Fold, int, Any], None]] = {
    Started: _Fold.started,
    Opened: _Fold.opened,
    Committed: _Fold.committed,
    Withheld: _Fold.withheld,
    Delivered: _Fold.delivered,
    Listed: _Fold.listed,
    Answered: _Fold.answered,
}
