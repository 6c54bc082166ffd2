"""What had been committed and not shown to the controller, at every moment; and which states it was never shown.

Only of what it follows: resources that this life of it watches without a selector, and objects that it has been shown, or that a
frame which is kept proves to pass the selector of a stream; until they leave that selection. A new life begins with nothing to
catch up with, because it lists everything. In doubt a change was shown (`view`). What it does not watch and has only read, it
learns of by its answers as well: own writes that it heard of are no news, nor is the end of what it deleted.

Two things can become of a change. It is shown: itself, or by a later state of the object, or by a list. If not itself, that state
was *skipped*: the controller can never know of it. An end that a list shows (terminating is part of it) is not skipped, unless
another object has the name by then. Or it is *missed*: the controller was shown what was committed later, or it no longer watches;
then it will not see it, unless it lists again.

A list or stream with a selector skips nothing of a resource that is watched without one, and nothing of what may only have left its
selection.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from staleproof.checks.facts.object_history import object_history
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import View, view
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Committed, Delivered, Listed
from staleproof.core.history.provenance import Commit
from staleproof.core.history.request import BOOKKEEPING


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """A commit, from its position until it was taken off: shown, or no longer owed; None if it never was.

    `is_due`: a watch has to show it. Of an object that was only read, where all watches have a selector, none has. `is_skipped`:
    the controller can never know of it.
    """

    index: int
    commit: Committed
    until: int | None
    is_due: bool
    is_skipped: bool


class PendingEvents:
    """Every question names a position and is about what had happened before it."""

    def __init__(self, trial: Trial, events: Iterable[PendingEvent]) -> None:
        self._trial = trial
        self._all = sorted(events, key=lambda event: event.index)
        self._ends = sorted(event.until for event in self._all if event.until is not None)

    def __iter__(self) -> Iterator[PendingEvent]:
        """All of the trial, in the order recorded."""
        return iter(self._all)

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

    def skipped(self, *, before: int) -> list[PendingEvent]:
        """States that the controller can never know of, in the order in which it skipped them; of several at once, name by name."""
        over = ((event.until, event) for event in self._all if event.until is not None and event.until < before)
        named = grouped(((until, event.commit.name), event) for until, event in over)
        in_order = sorted(named.items(), key=lambda each: each[0][0])
        return [event for _, events in in_order for event in events if event.is_skipped]

    def watched(self, *, before: int) -> set[str]:
        """Resources of which a stream is open."""
        born = max((start for start in self._trial.starts if start < before), default=-1)
        streams = self._trial.streams.values()
        return {stream.entry.resource for stream in streams if born < stream.opened and stream.lasted(before - 1, before)}

    def missed(self, *, before: int) -> list[PendingEvent]:
        """Those that only a list can show, in the order in which they were recorded."""
        watched, seen = self.watched(before=before), view(self._trial, before)
        due = (event for event in self.before(before) if event.is_due)
        return [e for e in due if e.commit.resource not in watched or seen.passed(e.commit.resource) >= e.commit.revision]

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
    return PendingEvents(trial, _events(trial))


def _events(trial: Trial) -> Iterator[PendingEvent]:
    for commit in trial.commits:
        seen = view(trial, commit.index + 1)
        chosen, selectors = seen.of(commit.entry.uid).chosen, seen.streamed(commit.entry.resource)
        has_it = chosen is not None and chosen[1]
        is_read = chosen is None and seen.of(commit.entry.uid).shown is not None
        if "" in selectors or has_it or (is_read and (selectors or not _is_known_by_answer(trial, commit))):
            yield _event(trial, commit, commit.index, is_due=has_it or "" in selectors or not selectors)
        elif selectors:
            kept = seen.life.selected.get((commit.entry.uid, commit.entry.revision), -1)
            if kept > commit.index and not _is_shown(view(trial, kept + 1), commit.entry):
                yield _event(trial, commit, kept)


def _event(trial: Trial, commit: Commit, since: int, *, is_due: bool = True) -> PendingEvent:
    """A commit that the controller was to be shown from a position on."""
    shown = _shown_at(view(trial, since + 1), commit.entry)
    is_skipped = shown is not None and _is_skipped(trial, commit, view(trial, shown + 1))
    until = shown if shown is not None else next((start for start in trial.starts if start > since), None)
    return PendingEvent(commit.index, commit.entry, until, is_due, is_skipped)


def _is_known_by_answer(trial: Trial, commit: Commit) -> bool:
    """Whether the controller, which does not watch this resource, knows of a commit by the answer to a write of its own."""
    same = object_history(trial).objects[commit.entry.uid].commits
    ends = any(each.deletes and each.heard is not None and each.index < commit.index for each in same)
    return commit.heard is not None or (commit.deletes and ends)


def _selector(trial: Trial, index: int) -> str:
    """Of the stream or list that an entry belongs to; empty for none."""
    match trial.entries[index]:
        case Listed(selector=selector):
            return selector
        case Delivered(stream=stream) if stream in trial.streams:
            return trial.streams[stream].entry.selector
    return ""


def _shown_at(seen: View, commit: Committed) -> int | None:
    """Where it has been shown by then, or is later in that life."""
    since = seen.before - 1
    if _is_shown(seen, commit):
        return since
    states = seen.life.objects.since(since, commit.uid)
    shown = next((index for index, known in states if known.has_seen(commit.revision)), None)
    lists = (seen.life.whole_lists.since(since, (commit.resource, place)) for place in ("", commit.namespace))
    listed = (index for revisions in lists for index, revision in revisions if revision >= commit.revision)
    return min((index for index in (shown, *listed) if index is not None), default=None)


def _is_shown(seen: View, commit: Committed) -> bool:
    return seen.of(commit.uid).has_seen(commit.revision) or seen.has_listed(commit.resource, commit.revision)


def _is_skipped(trial: Trial, commit: Commit, seen: View) -> bool:
    """Whether it was not itself what the entry before this view has shown, so that it never will be."""
    entry, known = commit.entry, seen.of(commit.entry.uid)
    if seen.has_shown(entry.uid, entry.revision):
        return False
    has_left = known.chosen is not None and not known.chosen[1]
    if _selector(trial, seen.before - 1) and (has_left or "" in seen.streamed(entry.resource)):
        return False
    if known.absent >= entry.revision and not known.has_met(entry.revision):
        return False
    is_replaced = seen.present(entry.resource, entry.name) not in ("", entry.uid)
    return is_replaced or known.shown is None or not commit.deletes
