"""One watch stream on its way through the proxy: a gate with a timer, and the entries that tell what it did.

Moves frames between the relay's sockets and `core.gate`; decides nothing.
"""

import asyncio
import dataclasses
import zlib
from typing import Protocol

from staleproof.core.engine.gate import Burst, Closing, Ending, Gate, Received, Waiting
from staleproof.core.engine.schedule import Expiry
from staleproof.core.entry import Closed, Delivered, Dropped, Opened, Withheld
from staleproof.core.fault import Seat
from staleproof.core.fault.decision import Drop, Follow, Pass, Refusal, Repeat, Sever
from staleproof.core.frame import Frame, FrameReader, expired
from staleproof.core.monitor import Breach, Monitor
from staleproof.core.request import ApiRequest

from .proxy_state import Board


class Wire(Protocol):
    """The client's side of a watch."""

    def emit(self, data: bytes) -> None:
        """Send these bytes now."""

    def finish(self) -> None:
        """Clean end: the last chunk."""

    def kill(self, *, reset: bool) -> None:
        """Abrupt end behind what was sent: no last chunk; with a TCP reset if asked for."""


class Stream:
    """An open watch. `number` is unique for the life of the proxy."""

    def __init__(self, number: int, client: str, request: ApiRequest, wire: Wire, board: Board) -> None:
        self.number, self.client, self.request = number, client, request
        self.seat: Seat = board.schedule.seat(request)
        marked = request.is_watch_list and request.flag("allowWatchBookmarks")
        self.gate = Gate(board.schedule.decide_for(self.seat), Burst(request.start is None, marked))
        self.delivered: int | None = request.start
        self._wire, self._board = wire, board
        self._reader = FrameReader()
        self._monitor = Monitor(request.start, watch_list=marked)
        self._sums = _Sums()
        self._upstream_is_over = False
        self._is_spoiled = False
        self._plan = board.schedule
        self._timer: asyncio.TimerHandle | None = None
        self.announce(carried=False)

    def announce(self, *, carried: bool) -> None:
        """Record that this stream is open; `carried` when it was so before the plan that is being installed."""
        request = self.request
        self._board.record(
            Opened(
                at=self._board.now(),
                stream=self.number,
                client=self.client,
                resource=request.resource,
                namespace=request.namespace,
                selector=request.selector,
                start=request.query.get("resourceVersion", ""),
                watch_list=request.is_watch_list,
                bookmarks=request.flag("allowWatchBookmarks"),
                since=self.delivered if carried else None,
            )
        )

    def feed(self, data: bytes) -> None:
        """Bytes from upstream."""
        now = self._board.now()
        self._sums.came(data)
        fresh: list[Received] = []
        out: list[Waiting | Closing] = []
        for frame in self._reader.feed(data):
            out += self.gate.release(now)  # each frame by itself: in how many portions the bytes come makes no difference
            received = self.gate.receive(frame, now)
            if received is None:
                continue
            self._monitor.came(frame, initial=received.burst)
            if not isinstance(received.decision, Pass):
                self._acted(received, frame, now)
            fresh.append(received)
        self._write([*out, *self.gate.release(now)], now)
        for received in fresh:
            for waiting in received.waiting:
                if not waiting.left:
                    self._withheld(waiting, now)
        self._board.tell_news()

    def feed_past(self, events: bytes, revision: int) -> None:
        """Initial events of an earlier revision, which the stream goes on from."""
        self.seat = dataclasses.replace(self.seat, past=True)
        self.ask_again()
        self.feed(events)
        self.gate.burst.open = False
        self.delivered = revision

    def upstream_ended(self, how: Ending) -> None:
        self._upstream_is_over = True
        self.gate.upstream_ended(how)
        self.flush()

    def sever(self, how: Ending, fault: int | None) -> None:
        """End the stream now, on behalf of a fault or a command."""
        self.gate.sever(how, fault)
        self.flush()

    def release_upto(self, revision: int) -> None:
        self.gate.release_upto(revision, self._board.now())
        self.flush()

    def release_all(self, *, at_once: bool) -> None:
        """Nothing is held any more."""
        self.gate.release_all(self._board.now(), at_once=at_once)
        self.flush()

    def rule_again(self, closed_fault: int) -> None:
        """A fault closed: what it held may leave."""
        now = self._board.now()
        trickle = self._board.schedule.faults[closed_fault].trickles
        again = self.gate.redecide(closed_fault, now, trickle=trickle)
        for waiting in again.dropped:
            self._monitor.lost(waiting.frame)
            self._dropped(waiting.frame, waiting.fault, now)
        for waiting in again.taken:
            self._withheld(waiting, now)
        self.flush()

    def follow(self, *, spoiled: bool) -> None:
        """A new plan was installed: let everything go and ask the new schedule from now on.

        `spoiled`: a hostile fault of the last one has acted on streams like this one, whose client may believe anything.
        """
        self._is_spoiled = spoiled
        self.release_all(at_once=True)
        if spoiled:
            self.sever("expired", None)
        if self.gate.closed:
            return
        self._plan = self._board.schedule
        self.seat = self._board.schedule.seat(self.request)
        self.gate.decide_with(self._board.schedule.decide_for(self.seat))
        self.announce(carried=True)

    def ask_again(self) -> None:
        """The schedule has another fault: ask that one, too, about every frame that arrives from now on."""
        self.gate.decide = self._board.schedule.decide_for(self.seat)

    def flush(self) -> None:
        """Write what the gate lets out now and set the timer for the next."""
        now = self._board.now()
        self._write(self.gate.release(now), now)

    def _write(self, out: list[Waiting | Closing], now: float) -> None:
        closing = out.pop() if out and isinstance(out[-1], Closing) else None
        leaving = [item for item in out if isinstance(item, Waiting)]
        if leaving:
            data = b"".join([waiting.frame.raw for waiting in leaving])
            self._sums.left(data)
            self._wire.emit(data)
            for waiting in leaving:
                self._left(waiting, now)
        if isinstance(closing, Closing):
            self._end(closing, now)
            return
        if self._timer is not None:
            self._timer.cancel()
        due = self.gate.deadline()
        self._timer = None if due is None else asyncio.get_running_loop().call_at(due, self.flush)

    def left_by_client(self) -> None:
        """The client went away; nothing more can be sent."""
        if not self.gate.closed:
            self.gate.closed = True
            self._over(Closed(at=self._board.now(), stream=self.number, how="client", discarded=len(self.gate)))

    def _end(self, closing: Closing, now: float) -> None:
        if self._upstream_is_over and self._reader.rest and not self.gate.discarded:
            self._wire.emit(self._reader.rest)  # upstream broke off in the middle of a frame, and so do we
            self._sums.left(self._reader.rest)
        fault = self._current(closing.fault)
        self._end_wire(closing, fault)
        on = f"{self.request.resource} stream {self.number} ended: {closing.how}"
        if fault is not None and closing.is_softened:
            self._board.refused(fault, Refusal("12", "the initial events were not complete"), on)
        elif fault is not None and closing.how != "gone":  # that is not felt before the client comes back
            self._board.fired(fault, None, on)
        self._over(Closed(at=now, stream=self.number, how=closing.how, discarded=self.gate.discarded, fault=fault))

    def _end_wire(self, closing: Closing, fault: int | None) -> None:
        match closing.how:
            case "expired":
                self._wire.emit(expired(self.request.start, self.delivered))
                self._board.schedule.expire(self.request, Expiry("event", self.delivered or 0, fault))
                self._wire.finish()
            case "gone":
                self._board.schedule.expire(self.request, Expiry("http", self.delivered or 0, fault))
                self._wire.finish()
            case "clean":
                self._wire.finish()
            case "truncated":
                if closing.frame is not None:
                    self._wire.emit(closing.frame.raw[: len(closing.frame.raw) // 2])
                self._wire.kill(reset=False)
            case how:
                self._wire.kill(reset=how == "reset")

    def _current(self, fault: int | None) -> int | None:
        """The number of a fault, unless it is of a plan that has been replaced."""
        return fault if self._board.is_current(self._plan) else None

    def _over(self, closed: Closed) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if closed.how != "client" and (breach := self._monitor.ended()) is not None:
            self._breach(breach)
        if self._upstream_is_over and closed.fault is None and closed.how != "client" and not self._sums.equal:
            self._breach(Breach("Reliable", "the bytes that left are not those that came, though no fault acted on them"))
        self._board.record(closed)
        self._board.streams.pop(self.number, None)

    def _acted(self, received: Received, frame: Frame, now: float) -> None:
        """A fault did something to a frame."""
        self._sums.touched()
        match received.decision:
            case Sever():
                return  # told when the stream has ended
            case Drop():
                self._monitor.lost(frame)
                self._dropped(frame, received.fault, now)
            case Follow() | Repeat():
                return  # told when what it added has left
            case _ if received.fault is not None:
                self._board.fired(received.fault, frame, self._what(frame), plan=self._plan)

    def _left(self, waiting: Waiting, now: float) -> None:
        frame = waiting.frame
        breach = self._monitor.see(frame)
        if breach is not None:
            self._breach(breach)
        if frame.revision is not None:
            self.delivered = max(frame.revision, self.delivered or 0)
        fault = self._current(waiting.fault) if waiting.added else None
        if fault is not None:
            self._board.fired(fault, None, self._what(frame))
        if frame.initial_end:
            self._board.schedule.listed(self.request)
        self._board.record(
            Delivered(
                at=now,
                stream=self.number,
                type=frame.type,  # type: ignore[arg-type]  # a type the API may add later is recorded as it came
                namespace=frame.namespace,
                name=frame.name,
                uid=frame.uid,
                revision=frame.revision,
                initial_end=frame.initial_end,
                fault=fault,
            )
        )

    def _breach(self, breach: Breach) -> None:
        if not self._is_spoiled and not self._board.schedule.may_break(breach.property):
            self._board.broke("self-check", f"stream {self.number} of {self.request.resource}: {breach}")

    def _withheld(self, waiting: Waiting, now: float) -> None:
        frame = waiting.frame
        self._board.record(
            Withheld(
                at=now,
                stream=self.number,
                type=frame.type,  # type: ignore[arg-type]  # as above
                namespace=frame.namespace,
                name=frame.name,
                uid=frame.uid,
                revision=frame.revision,
                fault=waiting.fault,
            )
        )
        if waiting.fault is not None:
            self._board.fired(waiting.fault, frame, self._what(frame))

    def _dropped(self, frame: Frame, fault: int | None, now: float) -> None:
        self._board.record(
            Dropped(at=now, stream=self.number, type=frame.type, revision=frame.revision, fault=fault)  # type: ignore[arg-type]  # as above
        )
        if fault is not None:
            self._board.fired(fault, frame, f"{frame.type} of {self.request.resource}")

    def _what(self, frame: Frame) -> str:
        return f"{frame.type} {self.request.resource} {frame.namespace}/{frame.name}".rstrip("/ ")


class _Sums:
    """Checksums of what came and what left: equal whenever nothing waits, as long as no fault has acted on the stream."""

    def __init__(self) -> None:
        self._came = self._left = 0
        self._is_touched = False

    def came(self, data: bytes) -> None:
        self._came = zlib.crc32(data, self._came)

    def left(self, data: bytes) -> None:
        self._left = zlib.crc32(data, self._left)

    def touched(self) -> None:
        self._is_touched = True

    @property
    def equal(self) -> bool:
        return self._is_touched or self._came == self._left
