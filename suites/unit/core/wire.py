"""The proxy between `cluster.Server` and `cluster.Reflector`, without sockets and with time as a number.

The streams are the product's own; what is done with them and with requests is what the proxy does, in the same order. A `Passage`
is kept of every stream. What the proxy itself must get right (bytes, timers, connections) is tested where the proxy is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from staleproof.core.engine.gate import Ending, Gate, Received, Redecided, Waiting
from staleproof.core.engine.planned_fault import FaultChange, FaultRef
from staleproof.core.engine.schedule import Schedule
from staleproof.core.engine.watch_stream import WatchStream
from staleproof.core.fault.decision import Cut, Drop, FromPast, Pass, Reply, Stall, Wait
from staleproof.core.history.entry import Broke, Closed, FaultFired, StreamId
from staleproof.core.history.frame import Frame, FrameReader
from staleproof.core.history.request import ApiRequest

from .cluster import Reflector, Server, bookmark, request
from .watch_rules import Passage


class StrictSchedule(Schedule):
    """Excuses no breach: the self-check tells of those, too, that a hostile fault is there for."""

    def may_break(self, property_: str) -> bool:
        return False


class NotingGate(Gate):
    """Remembers which frames came, and which of them were dropped."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.came, self.dropped = list[Frame](), list[Frame]()

    def receive(self, frame: Frame, now: float) -> Received | None:
        received = super().receive(frame, now)
        self.came += [frame] if received is not None else []
        self.dropped += [frame] if received is not None and isinstance(received.decision, Drop) else []
        return received

    def redecide(self, fault: FaultRef, now: float, *, trickle: bool = False) -> Redecided:
        again = super().redecide(fault, now, trickle=trickle)
        self.dropped += [waiting.frame for waiting in again.dropped]
        return again


class Stream:
    """One watch on its way. `breaches` are the properties that the self-check found broken."""

    def __init__(self, watch: WatchStream, gate: NotingGate) -> None:
        self.watch, self.gate, self.request = watch, gate, watch.request
        self.passage = Passage(watch.request.start, watch.request.is_watch_list, came=gate.came)
        self.breaches: set[str] = set()
        self.reader = FrameReader()


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that waits for a fault to close, or an answer that is on its way: what happens to it, and when."""

    is_due: Callable[[], bool]
    goes_on: Callable[[], None]


class Wire:
    """One client, one stream at a time. `streams` are those that have ended; `fired` the numbers of faults that did something."""

    def __init__(self, schedule: Schedule, server: Server, client: Reflector, gate: Callable[..., NotingGate]) -> None:
        self.schedule, self.server, self.client, self._gate = schedule, server, client, gate
        self.now = 0.0
        self.stream: Stream | None = None
        self.pending: Pending | None = None
        self.streams: list[Stream] = []
        self.fired: set[int] = set()

    # --- the client's requests

    def ask(self) -> None:
        """The client makes its next request, unless one is under way or no client can connect."""
        if self.stream is None and self.pending is None and not self.schedule.refuses_connections:
            self._before(request(f"GET {self.client.wants()}"))

    def write(self, target: str) -> None:
        """The controller's own create: the schedule hears of it before it is committed."""
        self.apply(self.schedule.triggered_by(request(f"POST {target}"), self.now))

    def leave(self) -> None:
        """The client closes its watch; what has not left by now is no fault of the gate."""
        if (stream := self.stream) is not None:
            stream.gate.release_all(self.now)
            unsent = {item.frame.raw for item in stream.gate.release(self.now) if isinstance(item, Waiting)}
            stream.passage.came = [frame for frame in stream.passage.came if frame.raw not in unsent]
            stream.watch.left_by_client(self.now)
            self._over(stream)

    def _before(self, request: ApiRequest) -> None:
        decision, fault = self.schedule.on_request(request)
        self._fires(fault)
        match decision:
            case Pass():
                self._forward(request)
            case Stall() if fault is not None:
                again = decision.then == "forward"
                self.pending = Pending(lambda: not self.schedule.is_open(fault), lambda: self._before(request) if again else None)
            case Reply(code):
                assert code != 410 or request.start is not None, "410 for a request that needs no history"
                self.client.refused(code)
            case Wait(seconds):
                self._later(seconds, lambda: self._forward(request))
            case FromPast(step):
                self._forward(request, past=self.schedule.revision_at(step))
            case _:
                assert decision == Cut()

    def _fires(self, fault: FaultRef | None) -> None:
        self.fired |= {entry.fault for entry in self.schedule.fires(fault, "", self.now)}

    def _forward(self, request: ApiRequest, *, past: int | None = None) -> None:
        if not request.is_watch:
            self._list(request, past)
        elif (expiry := self.schedule.expiries.of(request)) is not None:
            self._fires(expiry.fault)
            self.client.refused(410)
        else:
            self._open(request, past)

    def _list(self, request: ApiRequest, past: int | None) -> None:
        revision = self.server.revision if past is None else past
        items = self.server.state_at(revision)
        if past is not None:
            self.schedule.gave_past(request, past)

        def arrive() -> None:
            self.schedule.expiries.listed(request)
            self.client.listed(items, revision)

        decision, fault = (Pass(), None) if past is not None else self.schedule.on_answer(request)
        self._fires(fault)
        match decision:
            case Pass():
                arrive()
            case Wait(seconds):
                self._later(seconds, arrive)
            case _:
                assert decision == Cut()

    def _open(self, request: ApiRequest, past: int | None) -> None:
        made: list[NotingGate] = []

        def gate(**options: object) -> NotingGate:
            made.append(self._gate(**options))
            return made[-1]

        watch = WatchStream(StreamId(len(self.streams)), "client", request, self.schedule, self.now, gate)
        stream = self.stream = Stream(watch, made[0])
        self.client.opened(request)
        if request.start is not None:
            self.feed(self.server.since(request.start))
            return
        initial = self.server.initial(self.server.revision if past is None else past)
        stream.passage.initial.extend(initial)
        if past is not None:
            stream.watch.feed_past(b"".join(frame.raw for frame in initial), past, self.now)
            self.flush()
            self.feed(self.server.since(past))
        else:
            self.feed([*initial, bookmark(self.server.revision, initial_end=True)] if request.is_watch_list else initial)

    # --- frames

    def feed(self, frames: Sequence[Frame]) -> None:
        """Upstream sends these at once."""
        if self.stream is not None:
            self.stream.watch.feed(b"".join(frame.raw for frame in frames), self.now)
            self.flush()

    def flush(self) -> None:
        if (stream := self.stream) is None:
            return
        for output in stream.watch.take(self.now):
            match output:
                case bytes():
                    self._leaves(stream, stream.reader.feed(output))
                case FaultFired(fault=fault):
                    self.fired.add(fault)
                case Broke(why=why):
                    stream.breaches.add(why.split(": ")[1])
                case Closed():
                    self._over(stream)

    def _leaves(self, stream: Stream, frames: Sequence[Frame]) -> None:
        for frame in frames:
            stream.passage.left.append(frame)
            if frame.type == "ERROR":
                self.client.refused(410)
            else:
                self.client.take(frame)

    def _over(self, stream: Stream) -> None:
        self.stream = None
        self.streams.append(stream)

    # --- time and faults

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.apply(self.schedule.tick(self.now))
        self.flush()
        self.settle()

    def settle(self) -> None:
        """A request that waited goes on, or an answer arrives, if it is time."""
        if (pending := self.pending) is not None and pending.is_due():
            self.pending = None
            pending.goes_on()

    def _later(self, seconds: float, goes_on: Callable[[], None]) -> None:
        due = self.now + seconds
        self.pending = Pending(lambda: self.now >= due, goes_on)

    def sever(self, how: Ending) -> None:
        """The runner's poke."""
        if self.stream is not None:
            self.stream.gate.sever(how)
            self.flush()

    def upstream_ends(self, how: Ending) -> None:
        if self.stream is not None:
            self.stream.watch.upstream_ended(how)
            self.flush()

    def apply(self, changes: Sequence[FaultChange]) -> None:
        for change in changes:
            if self.stream is not None:
                self.stream.watch.on_change(change, self.now)
                self.flush()
        self.settle()

    def release(self) -> None:
        """The plan is over: every fault closes, and everything held leaves."""
        self.apply(self.schedule.release())
        if self.stream is not None:
            self.stream.gate.release_all(self.now)
            self.flush()
