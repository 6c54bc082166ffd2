"""When does each frame of one stream leave? The gate of one watch stream.

Feed frames in with the time they arrived, take out what may leave now. The gate owns the queue; faults only answer questions
about frames. It guarantees, whatever the faults say, that a stream stays a stream:

1. frames leave in the order they came, unless a (hostile) delay lets others overtake one; no bookmark leaves behind such a frame;
2. a frame leaves at most once (a hostile fault may repeat it), and none is lost unless a fault dropped it or the stream ended;
3. nothing leaves after the end of the stream;
4. a frame that upstream sent before it ended leaves before that end does;
5. what waits takes at most `most_bytes`. At the bound, what a hold keeps is forgotten and nothing more is kept: when the hold
   closes the stream ends cleanly, and the API server sends all of it again to the client that resumes. A mere delay ends the stream
   at once.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from staleproof.core.engine.planned_fault import FaultRef
from staleproof.core.fault.decision import Delay, Drop, End, Follow, FrameDecision, Hold, Pass, Repeat, Sever
from staleproof.core.history.frame import Frame, bookmark_behind
from staleproof.core.times import TRICKLE_IN_ALL_SECONDS, TRICKLE_SECONDS

Ending = End | Literal["cut"]
"""`cut`: upstream broke off without a last chunk, and so does the stream."""

Ruling = tuple[FrameDecision, FaultRef | None]
"""A decision and the fault that made it (None: no fault had a say)."""

Decide = Callable[[Frame, int, bool], Ruling]
"""The question about a frame: the nth of its stream, and whether it is one of the initial events."""

MOST_HELD_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of the stream; nothing leaves after it.

    `fault` is the fault that ended it, None for upstream; `frame` the one in whose place it ended. `is_softened`: it was to end for
    lack of history, but its initial events were not complete, and a client that asked for the state cannot get 410 (row 12).
    """

    how: Ending
    fault: FaultRef | None = None
    frame: Frame | None = None
    is_softened: bool = False


@dataclass(slots=True, eq=False)
class Waiting:
    """A frame in the queue: `due` is when it may leave (None: when its fault lets go). `added`: its fault put it there."""

    frame: Frame
    nth: int
    burst: bool
    due: float | None
    fault: FaultRef | None
    overtaken: bool = False
    added: bool = False
    trickles: bool = False
    left: bool = False


@dataclass(frozen=True, slots=True)
class Received:
    """What became of a frame: the decision and whose it was, and where it waits (nowhere, if it was dropped or severed)."""

    decision: FrameDecision
    fault: FaultRef | None
    waiting: tuple[Waiting, ...] = ()
    burst: bool = False


@dataclass(frozen=True, slots=True)
class Redecided:
    """What became of the frames of a fault that closed: `taken` by another fault, or `dropped` by one."""

    any: bool = False
    taken: tuple[Waiting, ...] = ()
    dropped: tuple[Waiting, ...] = ()


@dataclass(slots=True)
class Burst:
    """Which frames are initial events: `marked` ones end with a bookmark (a WatchList), others with the first that is not ADDED."""

    open: bool = False
    marked: bool = False

    def has(self, frame: Frame) -> bool:
        """Whether this frame, the next of the stream, is one of them (their bookmark included)."""
        if not self.open:
            return False
        if self.marked:
            self.open = not frame.initial_end and frame.type != "ERROR"
            return True
        self.open = frame.type == "ADDED"
        return self.open


@dataclass(slots=True)
class Gate:
    """The gate of one stream. Time is any non-decreasing number of seconds.

    `held_bytes` is how much waits: the memory that this gate is responsible for.
    """

    decide: Decide = lambda frame, nth, burst: (Pass(), None)
    burst: Burst = field(default_factory=Burst)
    most_bytes: int = MOST_HELD_BYTES
    closed: bool = False
    discarded: int = 0
    held_bytes: int = 0
    _queue: deque[Waiting] = field(default_factory=deque)
    _loose: int = 0  # how many in the queue may be overtaken
    _spilled_by: set[FaultRef | None] = field(default_factory=set)  # the holds whose frames were forgotten at the bound
    _seen: int = 0
    _begins: bool = field(init=False)  # not all initial events have left
    _closing: Closing | None = None

    def __post_init__(self) -> None:
        self._begins = self.burst.open

    def decide_with(self, decide: Decide) -> None:
        """Ask these faults about every frame that arrives from now on, and count frames from here."""
        self.decide, self._seen = decide, 0

    def receive(self, frame: Frame, now: float) -> Received | None:
        """Take a frame that upstream sent; say what became of it (None: the stream is already ending)."""
        if self._closing is not None:
            return None
        self._seen += 1
        burst = self.burst.has(frame)
        decision, fault = self._ask(frame, self._seen, burst=burst)
        match decision:
            case Sever(how, discard):
                self.sever(how, fault, frame=frame, discard=discard)
                return Received(decision, fault, burst=burst)
            case Drop():
                return Received(decision, fault, burst=burst)
        if self._is_late(frame):
            return Received(Drop(), next(waiting.fault for waiting in self._queue if waiting.overtaken), burst=burst)
        added = self._ruled(Waiting(frame, self._seen, burst, now, fault), decision, now)
        self._keep(added, now)
        return Received(decision, fault, tuple(added), burst)

    def release(self, now: float) -> list[Waiting | Closing]:
        """What leaves now, in the order in which it must be written."""
        out: list[Waiting | Closing] = []
        if self.closed:
            return out
        stuck: list[Waiting] = []
        while self._queue:
            waiting = self._queue.popleft()
            if waiting.due is not None and waiting.due <= now:
                waiting.left = True
                self.held_bytes -= len(waiting.frame.raw)
                self._loose -= waiting.overtaken
                self._begins = self._begins and waiting.burst and not waiting.frame.initial_end
                out.append(waiting)
                continue
            stuck.append(waiting)
            if not waiting.overtaken:
                break
        self._queue.extendleft(reversed(stuck))
        if self._closing is not None and not self._queue:
            out.append(self._closing)
            self.closed = True
        return out

    def deadline(self) -> float | None:
        """The earliest time at which `release` can return more; None while only a command can change that."""
        dues: list[float] = []
        for waiting in self._queue:
            if waiting.due is not None:
                dues.append(waiting.due)
            if not waiting.overtaken:
                break
        return min(dues, default=None)

    def redecide(self, fault: FaultRef, now: float, *, trickle: bool = False) -> Redecided:
        """Ask again about the frames that `fault` holds, because it has closed."""
        if fault in self._spilled_by:
            self._spilled_by.remove(fault)
            if not self._spilled_by:
                self.sever("clean")
            return Redecided(any=True)
        held = sum(waiting.fault == fault and waiting.due is None for waiting in self._queue)
        pace = min(TRICKLE_SECONDS, TRICKLE_IN_ALL_SECONDS / max(held, 1)) if trickle else 0.0
        rest, taken, dropped, due = self._take_all(), list[Waiting](), list[Waiting](), now
        while rest:
            waiting = rest.popleft()
            decision: FrameDecision | None = None
            if waiting.fault == fault and waiting.due is None:
                decision, waiting.fault = self._ask(waiting.frame, waiting.nth, burst=waiting.burst)
            if isinstance(decision, Sever):
                self.discarded += 1 + len(rest)
                self.sever(decision.how, waiting.fault, frame=waiting.frame, discard=decision.discard)
                break
            if isinstance(decision, Drop) or self._is_late(waiting.frame):
                dropped.append(waiting)
                continue
            self._append(self._ruled(waiting, decision, due) if decision else [waiting])
            if decision:
                waiting.trickles = trickle
                due += pace
                taken += [waiting] if waiting.fault is not None else []
        self._check_bound(now)
        return Redecided(bool(held), tuple(taken), tuple(dropped))

    def release_upto(self, revision: int, now: float) -> None:
        """Let every held frame up to and including this revision go, in order."""
        for waiting in self._queue:
            if waiting.frame.revision is None or waiting.frame.revision > revision:
                break
            waiting.due, waiting.fault = now, None

    def release_all(self, now: float, *, at_once: bool = True) -> None:
        """Let everything go: at once, or what already trickles out at its own pace."""
        if self._spilled_by:
            self._spilled_by.clear()
            self.sever("clean")
        for waiting in self._queue:
            if at_once or not waiting.trickles:
                waiting.due, waiting.fault = now, None

    def sever(self, how: Ending, fault: FaultRef | None = None, *, frame: Frame | None = None, discard: bool = True) -> None:
        """End the stream: now, discarding (and counting) what waits, which the client resumes before; or behind what waits.

        What others have overtaken leaves first in any case: the client would resume behind it.
        """
        if discard:
            self._forget()
        soft = self._begins and how in ("expired", "lapsed", "gone")
        self._closing = Closing("clean" if soft else how, fault, frame, soft)

    def upstream_ended(self, how: Ending) -> None:
        """Upstream ended: the stream ends the same way once everything has left."""
        if self._closing is None:
            self._closing = Closing("clean" if self._spilled_by else how)

    def holds(self, fault: FaultRef) -> bool:
        """Whether any frame waits because of this fault."""
        return fault in self._spilled_by or any(waiting.fault == fault for waiting in self._queue)

    def __len__(self) -> int:
        """How many frames wait."""
        return len(self._queue)

    def _ask(self, frame: Frame, nth: int, *, burst: bool) -> Ruling:
        decision, fault = self.decide(frame, nth, burst)
        return (Pass(), None) if self._loose and isinstance(decision, Follow) else (decision, fault)  # a late bookmark

    def _ruled(self, waiting: Waiting, decision: FrameDecision, now: float) -> list[Waiting]:
        """The frame as the decision wants it, and what that puts behind it."""
        waiting.due, waiting.overtaken = _due(decision, now), isinstance(decision, Delay) and decision.overtaken
        match decision:
            case Repeat():
                again = waiting.frame
            case Follow():
                again = bookmark_behind(waiting.frame)
            case _:
                return [waiting]
        return [waiting, Waiting(again, waiting.nth, waiting.burst, waiting.due, waiting.fault, added=True)]

    def _is_late(self, frame: Frame) -> bool:
        """Whether this is a bookmark that would speak for a frame which has yet to leave."""
        return bool(self._loose) and frame.type == "BOOKMARK" and not frame.initial_end

    def _keep(self, added: list[Waiting], now: float) -> None:
        if self._spilled_by:
            self.discarded += len(added)
            self._spilled_by.update(waiting.fault for waiting in added if waiting.due is None)
            return
        self._append(added)
        self._check_bound(now)

    def _check_bound(self, now: float) -> None:
        if self.held_bytes <= self.most_bytes:
            return
        self._spilled_by = {waiting.fault for waiting in self._queue if waiting.due is None}
        if self._spilled_by:
            self._forget()
        elif any(waiting.due is not None and waiting.due > now for waiting in self._queue):  # else all of it leaves at once
            self.sever("clean")

    def _forget(self) -> None:
        """Discard what waits. What has been overtaken stays, and leaves at once: the client would resume behind it."""
        queue = self._take_all()
        kept = list(takewhile(lambda waiting: waiting.overtaken, queue))
        self.discarded += len(queue) - len(kept)
        for waiting in kept:
            waiting.due = 0.0
        self._append(kept)

    def _append(self, added: list[Waiting]) -> None:
        for waiting in added:
            self._queue.append(waiting)
            self.held_bytes += len(waiting.frame.raw)
            self._loose += waiting.overtaken

    def _take_all(self) -> deque[Waiting]:
        queue, self._queue, self.held_bytes, self._loose = self._queue, deque(), 0, 0
        return queue


def _due(decision: FrameDecision, now: float) -> float | None:
    match decision:
        case Delay(seconds):
            return now + seconds
        case Hold():
            return None
    return now
