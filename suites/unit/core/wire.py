"""The proxy between `cluster.Server` and `cluster.Reflector`, without sockets and with time as a number.

Does with gate, monitor and schedule what the proxy does with them, in the same order, and keeps a `Passage` of every stream. What
the proxy itself must get right (bytes, timers, connections) is tested where the proxy is.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from staleproof.core.engine.gate import Burst, Closing, Ending, Gate, Received, Waiting
from staleproof.core.engine.schedule import Change, Expiry, FaultCloses, FaultOpens, Schedule
from staleproof.core.fault import Seat
from staleproof.core.fault.decision import Cut, Drop, End, ErrorEvent, FrameDecision, FromPast, Pass, Reply, Sever, Stall, Wait
from staleproof.core.frame import Frame, expired, read_frame
from staleproof.core.monitor import Breach, Monitor
from staleproof.core.request import ApiRequest

from .cluster import Reflector, Server, bookmark, request
from .watch_rules import Passage


class Stream:
    """One watch on its way."""

    def __init__(self, asked: ApiRequest, schedule: Schedule, gate: Gate) -> None:
        self.request, self.gate = asked, gate
        self.seat: Seat = schedule.seat(asked)
        marked = asked.is_watch_list
        gate.decide, gate.burst = schedule.decide_for(self.seat), Burst(asked.start is None, marked)
        self.monitor = Monitor(asked.start, watch_list=marked)
        self.passage = Passage(asked.start, marked)
        self.breaches: list[Breach] = []


@dataclass(frozen=True, slots=True)
class Stalled:
    """A request that waits for a fault to close."""

    request: ApiRequest
    fault: int
    decision: Stall


@dataclass(frozen=True, slots=True)
class Slow:
    """An answer that is on its way."""

    due: float
    arrive: Callable[[], None]


class Wire:
    """One client, one stream at a time. `streams` are those that have ended; `fired` the faults that did something."""

    def __init__(self, schedule: Schedule, server: Server, client: Reflector, gate: Callable[[], Gate]) -> None:
        self.schedule, self.server, self.client, self._gate = schedule, server, client, gate
        self.now = 0.0
        self.stream: Stream | None = None
        self.pending: Stalled | Slow | None = None
        self.streams: list[Stream] = []
        self.fired: set[int] = set()
        self.acted: list[tuple[FrameDecision, Frame]] = []

    # --- the client's requests

    def ask(self) -> None:
        """The client makes its next request, unless one is under way or nobody can connect."""
        if self.stream is None and self.pending is None and not self.schedule.refuses_connections:
            self._before(request("GET", self.client.wants()))

    def write(self, target: str) -> None:
        """The controller's own create: the schedule hears of it before it is committed."""
        self.apply(self.schedule.asked(request("POST", target), self.now))

    def leave(self) -> None:
        """The client closes its watch; what has not left by now is nobody's fault."""
        if (stream := self.stream) is not None:
            stream.gate.release_all(self.now)
            unsent = [item.frame for item in stream.gate.release(self.now) if isinstance(item, Waiting)]
            stream.passage.came = [frame for frame in stream.passage.came if all(frame is not other for other in unsent)]
            self._over(stream)

    def _before(self, asked: ApiRequest) -> None:
        decision, fault = self.schedule.on_request(asked)
        if fault is not None:
            self.fired.add(fault)
        match decision:
            case Pass():
                self._forward(asked)
            case Stall() if fault is not None:
                self.pending = Stalled(asked, fault, decision)
            case Reply(code) | ErrorEvent(code):
                assert code != 410 or asked.start is not None, "410 for a request that needs no history"
                self.client.refused(code)
            case Wait(seconds):
                self.pending = Slow(self.now + seconds, lambda: self._forward(asked))
            case FromPast(step):
                self._forward(asked, past=self.schedule.revision_at(step))
            case _:
                assert decision == Cut()

    def _forward(self, asked: ApiRequest, *, past: int | None = None) -> None:
        if not asked.is_watch:
            self._list(asked, past)
        elif (expiry := self.schedule.expiry(asked)) is not None:
            self.fired |= {expiry.fault} - {None}
            self.client.refused(410)
        else:
            self._open(asked, past)

    def _list(self, asked: ApiRequest, past: int | None) -> None:
        revision = self.server.revision if past is None else past
        items = self.server.state_at(revision)
        if past is not None:
            self.schedule.gave_past(asked, past)

        def arrive() -> None:
            self.schedule.listed(asked)
            self.client.listed(items, revision)

        decision, fault = (Pass(), None) if past is not None else self.schedule.on_answer(asked)
        if fault is not None:
            self.fired.add(fault)
        match decision:
            case Pass():
                arrive()
            case Wait(seconds):
                self.pending = Slow(self.now + seconds, arrive)
            case _:
                assert decision == Cut()

    def _open(self, asked: ApiRequest, past: int | None) -> None:
        stream = self.stream = Stream(asked, self.schedule, self._gate())
        self.client.opened(asked)
        if past is not None:
            stream.seat = dataclasses.replace(stream.seat, past=True)
            stream.gate.decide = self.schedule.decide_for(stream.seat)
            self._initial(stream, self.server.initial(past))
            stream.gate.burst.open = False
            self.feed(self.server.since(past))
        elif asked.start is None:
            self._initial(stream, self.server.initial(self.server.revision))
        else:
            self.feed(self.server.since(asked.start))

    def _initial(self, stream: Stream, events: list[Frame]) -> None:
        stream.passage.initial.extend(events)
        if stream.passage.marked:
            events = [*events, bookmark(self.server.revision, initial_end=True)]
        self.feed(events)

    # --- frames

    def feed(self, frames: Sequence[Frame]) -> None:
        """Upstream sends these at once."""
        if (stream := self.stream) is None:
            return
        for frame in frames:
            received = stream.gate.receive(frame, self.now)
            if received is not None:
                stream.passage.came.append(frame)
                stream.monitor.came(frame, initial=received.burst)
                self._acted(stream, received, frame)
        self.flush()

    def _acted(self, stream: Stream, received: Received, frame: Frame) -> None:
        if isinstance(received.decision, Drop):
            stream.monitor.lost(frame)
        if received.fault is not None:
            self.acted.append((received.decision, frame))
            if not isinstance(received.decision, Sever):
                self.fired.add(received.fault)

    def flush(self) -> None:
        if (stream := self.stream) is None:
            return
        for item in stream.gate.release(self.now):
            if isinstance(item, Waiting):
                self._leaves(stream, item.frame)
                if item.frame.initial_end:
                    self.schedule.listed(stream.request)
            else:
                self._ends(stream, item)

    def _leaves(self, stream: Stream, frame: Frame) -> None:
        stream.passage.left.append(frame)
        if (breach := stream.monitor.see(frame)) is not None:
            stream.breaches.append(breach)
        if frame.type == "ERROR":
            self.client.refused(410)
        else:
            self.client.take(frame)

    def _ends(self, stream: Stream, closing: Closing) -> None:
        if closing.how == "expired":
            self._leaves(stream, read_frame(expired(stream.request.start, self.server.revision)))
            self.schedule.expire(stream.request, Expiry("event", self._shown(stream), closing.fault))
        elif closing.how == "gone":
            self.schedule.expire(stream.request, Expiry("http", self._shown(stream), closing.fault))
        if closing.fault is not None and closing.how != "gone" and not closing.is_softened:
            self.fired.add(closing.fault)
        if (breach := stream.monitor.ended()) is not None:
            stream.breaches.append(breach)
        self._over(stream)

    def _shown(self, stream: Stream) -> int:
        """The newest revision that the client has from this stream."""
        return max([stream.request.start or 0, *(frame.revision or 0 for frame in stream.passage.left)])

    def _over(self, stream: Stream) -> None:
        stream.gate.closed = True
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
        match self.pending:
            case Stalled(asked, fault, Stall(then)) if not self.schedule.is_open(fault):
                self.pending = None
                if then == "forward":
                    self._before(asked)
            case Slow(due, arrive) if due <= self.now:
                self.pending = None
                arrive()

    def sever(self, how: Ending) -> None:
        """The runner's poke."""
        if self.stream is not None:
            self.stream.gate.sever(how)
            self.flush()

    def upstream_ends(self, how: Ending) -> None:
        if self.stream is not None:
            self.stream.gate.upstream_ended(how)
            self.flush()

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            match change:
                case FaultOpens(fault, _, ends):
                    self._opens(fault, ends)
                case FaultCloses(fault, ends):
                    self._closes(fault, ends)
        self.settle()

    def _opens(self, fault: int, ends: End | None) -> None:
        stream = self.stream
        if self.schedule.faults[fault].refuses_connections:
            self.leave()
        elif stream is not None and ends is not None and self.schedule.acts_on(fault, stream.seat):
            stream.gate.sever(ends, fault)
            self.flush()

    def _closes(self, fault: int, ends: End | None) -> None:
        stream = self.stream
        if stream is None or not self.schedule.acts_on(fault, stream.seat):
            return
        if ends is not None and stream.gate.holds(fault):
            stream.gate.sever(ends, fault)
        else:
            again = stream.gate.redecide(fault, self.now, trickle=self.schedule.faults[fault].trickles)
            for waiting in again.dropped:
                stream.monitor.lost(waiting.frame)
                self.acted.append((Drop(), waiting.frame))
            self.fired.update(waiting.fault for waiting in (*again.taken, *again.dropped) if waiting.fault is not None)
        self.flush()

    def release(self) -> None:
        """The plan is over: every fault closes, and everything held leaves."""
        self.apply(self.schedule.release())
        if self.stream is not None:
            self.stream.gate.release_all(self.now)
            self.flush()
