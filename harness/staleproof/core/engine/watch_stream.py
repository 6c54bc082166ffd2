"""One watch on its way through the proxy: bytes from upstream go in; bytes for the client and entries of the history come out.

A gate decides when frames leave, the self-check looks at what left, checksums at the bytes. Call a method when something happens,
then `take` what follows from it: bytes for the client, entries, and at last how the client's side ends. Time is an argument.
"""

import dataclasses
import zlib
from collections.abc import Callable
from enum import Enum

from staleproof.core.control import StreamState
from staleproof.core.engine.expiry import Expiry
from staleproof.core.engine.gate import Burst, Closing, Ending, Gate, Received, Waiting
from staleproof.core.engine.planned_fault import FaultChange, FaultCloses, FaultEnds, FaultOpens, FaultRef
from staleproof.core.engine.schedule import Schedule
from staleproof.core.engine.status import expired
from staleproof.core.fault import Seat
from staleproof.core.fault.decision import Drop, Follow, Pass, Refusal, Repeat, Sever
from staleproof.core.history.entry import SELF_CHECK, Broke, Closed, Delivered, Dropped, Entry, Opened, StreamId, Withheld
from staleproof.core.history.frame import Frame, FrameReader
from staleproof.core.history.monitor import Breach, Monitor
from staleproof.core.history.request import ApiRequest
from staleproof.core.history.resource_version import Revision


class HangUp(Enum):
    """How the client's side ends, behind what was sent."""

    CLEAN = "with the last chunk"
    CUT = "without the last chunk"
    RESET = "without the last chunk, and with a TCP reset"


Output = bytes | HangUp | Entry


class WatchStream:
    """An open watch. `number` is unique for the life of the proxy; `gate` makes the gate that its frames wait in."""

    _schedule: Schedule
    _seat: Seat

    def __init__(
        self, number: StreamId, client: str, request: ApiRequest, schedule: Schedule, now: float, gate: Callable[..., Gate] = Gate
    ) -> None:
        marked = request.is_watch_list and request.flag("allowWatchBookmarks")
        self.number, self.client, self.request = number, client, request
        self.gate = gate(burst=Burst(request.start is None, marked))
        self._shown: int | None = request.start
        self._reader = FrameReader()
        self._monitor = Monitor(request.start, watch_list=marked)
        self._came = self._left = 0  # checksums: equal whenever nothing waits, as long as no fault has acted on the stream
        self._is_touched = False
        self._upstream_is_over = False
        self._is_spoiled = False
        self._out: list[Output] = []
        self._join(schedule, now, carried=False)

    def take(self, now: float) -> list[Output]:
        """What has come out since the last time, and what the gate lets out now."""
        self._write(self.gate.release(now), now)
        self._out += self._schedule.news(now)
        out, self._out = self._out, []
        return out

    @property
    def state(self) -> StreamState:
        """What the control API says of it."""
        request = self.request
        return StreamState(self.number, self.client, request.resource, request.namespace, len(self.gate), self.gate.held_bytes)

    def deadline(self) -> float | None:
        """When `take` can give more; None while only something that happens can change that."""
        return None if self.gate.closed else self.gate.deadline()

    # --- what happens

    def feed(self, data: bytes, now: float) -> None:
        """Bytes from upstream."""
        self._came = zlib.crc32(data, self._came)
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

    def feed_past(self, events: bytes, revision: int, now: float) -> None:
        """Initial events of an earlier revision, which the stream goes on from."""
        self._seat = dataclasses.replace(self._seat, past=True)
        self.gate.decide = self._schedule.decide_for(self._seat)
        self.feed(events, now)
        self.gate.burst.open = False
        self._shown = revision

    def upstream_ended(self, how: Ending) -> None:
        self._upstream_is_over = True
        self.gate.upstream_ended(how)

    def left_by_client(self, now: float) -> None:
        """The client went away; nothing more can be sent."""
        if not self.gate.closed:
            self.gate.closed = True
            self._over(Closed(at=now, stream=self.number, how="client", discarded=len(self.gate)))

    def on_change(self, change: FaultChange, now: float) -> None:
        """A fault opens, and may end the stream; or it closes, and what it held leaves, or the stream ends."""
        match change:
            case FaultOpens(fault, _, ends, all_clients):
                self.gate.decide = self._schedule.decide_for(self._seat)  # it may have been added since
                if ends is not None and (all_clients or self._schedule.concerns(fault, self._seat)):
                    self.gate.sever(ends, fault)
            case FaultCloses(fault, ends, trickles) if self._schedule.concerns(fault, self._seat):
                if ends is not None and self.gate.holds(fault):
                    self.gate.sever(ends, fault)
                else:
                    self._ask_again(fault, now, trickle=trickles)
            case FaultCloses() | FaultEnds():
                pass

    def follow(self, schedule: Schedule, now: float) -> None:
        """A new plan was installed: let everything go and ask its faults from now on.

        Where a hostile fault of the last plan has acted, the client may believe anything: it has to list again.
        """
        self._is_spoiled = self._schedule.has_spoiled(self._seat)
        self._schedule = schedule
        self.gate.release_all(now)
        self._write(self.gate.release(now), now)
        if self._is_spoiled:
            self.gate.sever("expired")
            self._write(self.gate.release(now), now)
        if not self.gate.closed:
            self._join(schedule, now, carried=True)

    # --- inside

    def _join(self, schedule: Schedule, now: float, *, carried: bool) -> None:
        """From now on the stream is one of this plan's; `carried` when it was open before."""
        request = self.request
        self._schedule, self._seat = schedule, schedule.seat(request)
        self.gate.decide_with(schedule.decide_for(self._seat))
        self._out.append(
            Opened(
                at=now,
                stream=self.number,
                client=self.client,
                resource=request.resource,
                namespace=request.namespace,
                selector=request.selector,
                start=request.query.get("resourceVersion", ""),
                watch_list=request.is_watch_list,
                bookmarks=request.flag("allowWatchBookmarks"),
                since=Revision(self._shown) if carried and self._shown is not None else None,
            )
        )

    def _ask_again(self, closed: FaultRef, now: float, *, trickle: bool) -> None:
        """The frames that this fault held may leave, unless another fault wants them."""
        again = self.gate.redecide(closed, now, trickle=trickle)
        for waiting in again.dropped:
            self._monitor.lost(waiting.frame)
            self._dropped(waiting.frame, waiting.fault, now)
        for waiting in again.taken:
            self._withheld(waiting, now)

    def _write(self, out: list[Waiting | Closing], now: float) -> None:
        closing = out.pop() if out and isinstance(out[-1], Closing) else None
        leaving = [item for item in out if isinstance(item, Waiting)]
        if leaving:
            self._emit(b"".join([waiting.frame.raw for waiting in leaving]))
            for waiting in leaving:
                self._delivered(waiting, now)
        if isinstance(closing, Closing):
            self._end(closing, now)

    def _emit(self, data: bytes) -> None:
        self._left = zlib.crc32(data, self._left)
        self._out.append(data)

    def _end(self, closing: Closing, now: float) -> None:
        if self._upstream_is_over and self._reader.rest and not self.gate.discarded:
            self._emit(self._reader.rest)  # upstream broke off in the middle of a frame, and so do we
        fault = self._schedule.number(closing.fault)
        self._hang_up(closing, None if fault is None else closing.fault)
        on = f"{self.request.resource} stream {self.number} ended: {closing.how}"
        if closing.is_softened:
            self._schedule.refuse(closing.fault, Refusal("12", "the initial events were not complete"), on)
            self._out += self._schedule.news(now)
        elif closing.how not in ("lapsed", "gone"):  # they are not felt before the client comes back
            self._out += self._schedule.fires(closing.fault, on, now)
        self._over(Closed(at=now, stream=self.number, how=closing.how, discarded=self.gate.discarded, fault=fault))

    def _hang_up(self, closing: Closing, fault: FaultRef | None) -> None:
        shown = self._shown or 0
        match closing.how:
            case "expired":
                self._out.append(expired(self.request.start, self._shown))
                self._schedule.expiries.expire(self.request, Expiry("event", shown, fault))
            case "lapsed":
                self._schedule.expiries.expire(self.request, Expiry("event", shown, fault))
            case "gone":
                self._schedule.expiries.expire(self.request, Expiry("http", shown, fault))
            case "truncated" if closing.frame is not None:
                self._out.append(closing.frame.raw[: len(closing.frame.raw) // 2])
        self._out.append(_HANGS_UP[closing.how])

    def _over(self, closed: Closed) -> None:
        if closed.how != "client" and (breach := self._monitor.ended()) is not None:
            self._breach(breach, closed.at)
        is_intact = self._is_touched or self._came == self._left
        if self._upstream_is_over and closed.fault is None and closed.how != "client" and not is_intact:
            why = "the bytes that left are not those that came, though no fault acted on them"
            self._breach(Breach("Reliable", why), closed.at)
        self._out.append(closed)

    def _acted(self, received: Received, frame: Frame, now: float) -> None:
        """A fault did something to a frame."""
        self._is_touched = True
        match received.decision:
            case Sever() | Follow() | Repeat():
                return  # recorded when the stream has ended, or what the fault added has left
            case Drop():
                self._monitor.lost(frame)
                self._dropped(frame, received.fault, now)
            case _:
                self._fired(received.fault, frame, now)

    def _delivered(self, waiting: Waiting, now: float) -> None:
        frame = waiting.frame
        breach = self._monitor.see(frame)
        if breach is not None:
            self._breach(breach, now)
        if frame.revision is not None:
            self._shown = max(frame.revision, self._shown or 0)
        fault = None
        if waiting.added:
            fault = self._schedule.number(waiting.fault)
            self._out += self._schedule.fires(waiting.fault, self._what(frame), now)
        if frame.initial_end:
            self._schedule.expiries.listed(self.request)
        self._out.append(
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

    def _withheld(self, waiting: Waiting, now: float) -> None:
        frame = waiting.frame
        self._out.append(
            Withheld(
                at=now,
                stream=self.number,
                type=frame.type,  # type: ignore[arg-type]  # as above
                namespace=frame.namespace,
                name=frame.name,
                uid=frame.uid,
                revision=frame.revision,
                fault=self._schedule.number(waiting.fault),
            )
        )
        self._fired(waiting.fault, frame, now)

    def _dropped(self, frame: Frame, fault: FaultRef | None, now: float) -> None:
        number = self._schedule.number(fault)
        self._out.append(
            Dropped(at=now, stream=self.number, type=frame.type, revision=frame.revision, fault=number)  # type: ignore[arg-type]
        )
        self._out += self._schedule.fires(fault, f"{frame.type} of {self.request.resource}", now, frame=frame)

    def _fired(self, fault: FaultRef | None, frame: Frame, now: float) -> None:
        self._out += self._schedule.fires(fault, self._what(frame), now, frame=frame)

    def _breach(self, breach: Breach, now: float) -> None:
        if not self._is_spoiled and not self._schedule.may_break(breach.property):
            why = f"stream {self.number} of {self.request.resource}: {breach}"
            self._out.append(Broke(at=now, where=SELF_CHECK, why=why))

    def _what(self, frame: Frame) -> str:
        return f"{frame.type} {self.request.resource} {frame.namespace}/{frame.name}".rstrip("/ ")


_HANGS_UP: dict[Ending, HangUp] = {
    "clean": HangUp.CLEAN,
    "expired": HangUp.CLEAN,
    "lapsed": HangUp.CLEAN,
    "gone": HangUp.CLEAN,
    "truncated": HangUp.CUT,
    "cut": HangUp.CUT,
    "reset": HangUp.RESET,
}
