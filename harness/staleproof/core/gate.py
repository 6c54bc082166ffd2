"""When does each frame of one stream leave? The gate of one watch stream.

Feed frames in with the time they arrived, take out what may leave now. The gate owns the queue; faults only answer questions
about frames. It guarantees, whatever the faults say, that a stream stays a stream:

1. frames leave in the order they came, unless a (hostile) delay lets others overtake it;
2. a frame leaves at most once, and none is lost unless a fault dropped it or the stream ended;
3. nothing leaves after the end of the stream;
4. a frame that upstream sent before it ended leaves before that end does.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from staleproof.core.fault import Decision, Delay, Drop, End, Hold, Pass, Sever
from staleproof.core.frame import Frame

Ending = End | Literal["cut"]
"""`cut`: upstream broke off without a last chunk, and so does the stream."""

Ruling = tuple[Decision, int | None]
"""A decision and the index of the plan's fault that made it (None: no fault had a say)."""

Decide = Callable[[Frame, int], Ruling]


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of the stream; nothing leaves after it. `fault` is the fault that ended it, None for upstream."""

    how: Ending
    fault: int | None = None


@dataclass(slots=True)
class Waiting:
    """A frame in the queue: `due` is when it may leave (None: when its fault lets go)."""

    frame: Frame
    nth: int
    due: float | None
    fault: int | None
    overtaken: bool = False


def _free(frame: Frame, nth: int) -> Ruling:
    return Pass(), None


class Gate:
    """The gate of one stream. Time is any non-decreasing number of seconds."""

    def __init__(self, decide: Decide = _free) -> None:
        self._decide = decide
        self._queue: deque[Waiting] = deque()
        self._seen = 0
        self._closing: Closing | None = None
        self.closed = False
        self.last_fault: int | None = None
        self.discarded = 0

    def decide_with(self, decide: Decide) -> None:
        """Ask these faults about every frame that arrives from now on, and count frames from here."""
        self._decide, self._seen = decide, 0

    def receive(self, frame: Frame, now: float) -> Waiting | Drop | None:
        """Take a frame that upstream sent; say what became of it (None: the stream is already ending)."""
        if self._closing is not None:
            return None
        self._seen += 1
        decision, fault = self._decide(frame, self._seen)
        self.last_fault = fault
        match decision:
            case Drop():
                return decision
            case Sever(how):
                self.sever(how, fault)
                return None
        waiting = Waiting(frame, self._seen, _due(decision, now), fault, _overtaken(decision))
        self._queue.append(waiting)
        return waiting

    def release(self, now: float) -> list[Frame | Closing]:
        """What leaves now, in the order in which it must be written."""
        out: list[Frame | Closing] = []
        if self.closed:
            return out
        stuck: deque[Waiting] = deque()
        while self._queue:
            waiting = self._queue.popleft()
            if waiting.due is not None and waiting.due <= now:
                out.append(waiting.frame)
                continue
            stuck.append(waiting)
            if not waiting.overtaken:
                break
        stuck.extend(self._queue)
        self._queue = stuck
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

    def redecide(self, fault: int, now: float) -> bool:
        """Ask again about the frames that `fault` holds, because it has closed. True when it held any."""
        held = [waiting for waiting in self._queue if waiting.fault == fault and waiting.due is None]
        for waiting in held:
            decision, waiting.fault = self._decide(waiting.frame, waiting.nth)
            match decision:
                case Drop():
                    self._queue.remove(waiting)
                case Sever(how):
                    self.sever(how, waiting.fault)
                    break
            waiting.due, waiting.overtaken = _due(decision, now), _overtaken(decision)
        return bool(held)

    def release_upto(self, revision: int, now: float) -> None:
        """Let every held frame up to and including this revision go, in order."""
        for waiting in self._queue:
            if waiting.frame.revision is None or waiting.frame.revision > revision:
                break
            waiting.due, waiting.fault = now, None

    def release_all(self, now: float) -> None:
        """Let everything go at once."""
        for waiting in self._queue:
            waiting.due, waiting.fault = now, None

    def sever(self, how: Ending, fault: int | None = None) -> None:
        """End the stream now. What waits is discarded (and counted): the client resumes before it."""
        self.discarded += len(self._queue)
        self._queue.clear()
        self._closing = Closing(how, fault)

    def upstream_ended(self, how: Ending) -> None:
        """Upstream ended: the stream ends the same way once everything has left."""
        if self._closing is None:
            self._closing = Closing(how)

    def holds(self, fault: int) -> bool:
        """Whether any frame waits because of this fault."""
        return any(waiting.fault == fault for waiting in self._queue)

    def __len__(self) -> int:
        """How many frames wait: the memory this gate is responsible for."""
        return len(self._queue)


def _due(decision: Decision, now: float) -> float | None:
    match decision:
        case Delay(seconds):
            return now + seconds
        case Hold():
            return None
    return now


def _overtaken(decision: Decision) -> bool:
    return isinstance(decision, Delay) and decision.overtaken
