"""Self-check: does what left the proxy on one stream still look like a watch?

An online monitor of the six properties of a watch that etcd defines and its robustness tests check (etcd-io/etcd
tests/robustness/validate/watch.go), as far as the stream itself shows them: it compares what left with what came from upstream. If
the output of a legal plan breaks a property, that is a bug of staleproof, not of the controller: the trial is inconclusive.
`staleproof.core.history.watch_properties` checks on the whole history what only truth can show.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from staleproof.core.history.frame import UNREADABLE, Frame

Property = Literal["Ordered", "Unique", "Reliable", "Atomic", "Resumable", "Bookmarkable", "Final"]
"""etcd's six, and that nothing follows an ERROR."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A property that was broken, and by what."""

    property: Property
    what: str

    def __str__(self) -> str:
        return f"{self.property}: {self.what}"


@dataclass(slots=True)
class Monitor:
    """Monitors one stream. `start` is the revision after which a plain WATCH resumes; None when initial events come first.

    `watch_list`: the initial events end with a marked bookmark.
    """

    start: int | None
    watch_list: bool
    _event: int = 0  # of the newest event, bookmark that left
    _bookmark: int = 0
    _burst: bool = False
    _over: bool = False
    _seen: set[str] = field(default_factory=set)
    _owed: deque[int] = field(default_factory=deque)  # came and has not left
    _initial: int = 0  # initial events that came and have not left
    _lost: int = 0

    def __post_init__(self) -> None:
        self._burst = self.start is None

    def came(self, frame: Frame, *, initial: bool) -> None:
        """Upstream sent the next frame; `initial`: it is one of the initial events."""
        if initial:
            self._initial += frame.is_event
        elif frame.is_event and frame.revision is not None:
            self._owed.append(frame.revision)

    def lost(self, frame: Frame) -> None:
        """A frame that came will not leave."""
        if frame.is_event and frame.revision is not None:
            self._pay(frame.revision)
            self._lost = self._lost or frame.revision

    def see(self, frame: Frame) -> Breach | None:
        """Take the next frame that left; return the property that it breaks."""
        if self._over:
            return Breach("Final", f"nothing may follow an ERROR, but {frame.type} {frame.revision} did")
        if frame.type in ("ERROR", UNREADABLE):
            self._over = frame.type == "ERROR"
            return None
        if self._initial > 0 and frame.type == "ADDED":
            return self._initial_event(frame)
        return self._bookmarked(frame) if frame.type == "BOOKMARK" else self._live_event(frame)

    def ended(self) -> Breach | None:
        """The stream is over: what has not left by now never will. Return the property that this breaks."""
        missed = next((revision for revision in self._owed if revision < self._event), None)
        return Breach("Reliable", f"event {missed} never left, {self._event} did") if missed else None

    def _initial_event(self, frame: Frame) -> Breach | None:
        """Initial events come in any order, each object once."""
        self._initial -= 1
        self._event = max(self._event, frame.revision or 0)
        if frame.uid and frame.uid in self._seen:  # a Table's rows show no uid here
            return Breach("Unique", f"{frame.namespace}/{frame.name} came twice among the initial events")
        self._seen.add(frame.uid)
        return None

    def _bookmarked(self, frame: Frame) -> Breach | None:
        revision, newest = frame.revision or 0, max(self._event, self._bookmark, self.start or 0)
        missing = self._initial if frame.initial_end else 0
        self._burst = self._burst and self.watch_list and not frame.initial_end
        if not self._burst:
            self._seen.clear()
        self._bookmark = max(self._bookmark, revision)
        if missing > 0:
            return Breach("Atomic", f"{missing} initial events had not left before their end bookmark {revision}")
        if revision < newest:
            return Breach("Bookmarkable", f"bookmark {revision} after {newest}")
        if self._owed and self._owed[0] <= revision:
            return Breach("Bookmarkable", f"bookmark {revision} before event {self._owed[0]}")
        return self._unreliable(revision)

    def _live_event(self, frame: Frame) -> Breach | None:
        revision, last = frame.revision or 0, self._event
        in_burst, self._burst = self._burst and self.watch_list, False
        self._event = max(self._event, revision)
        self._pay(revision)
        if in_burst:
            return Breach("Atomic", f"{frame.type} {revision} before the end of the initial events")
        if self.start is not None and revision <= self.start:
            return Breach("Resumable", f"{frame.type} {revision} on a watch from {self.start}")
        if revision == last:
            return Breach("Unique", f"{frame.type} {revision} twice")
        if revision < last:
            return Breach("Ordered", f"{frame.type} {revision} after {last}")
        if revision <= self._bookmark:
            return Breach("Bookmarkable", f"{frame.type} {revision} after bookmark {self._bookmark}")
        return self._unreliable(revision)

    def _unreliable(self, revision: int) -> Breach | None:
        missed, self._lost = self._lost, 0 if self._lost <= revision else self._lost
        return Breach("Reliable", f"{missed} never left, {revision} did") if 0 < missed <= revision else None

    def _pay(self, revision: int) -> None:
        if self._owed and self._owed[0] == revision:
            self._owed.popleft()
        elif revision in self._owed:
            self._owed.remove(revision)
