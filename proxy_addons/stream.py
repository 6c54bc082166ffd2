"""One watch stream on its way through the proxy: a gate with a timer, and the entries that tell what it did.

Moves frames between the relay's sockets and `core.gate`; decides nothing.
"""

import asyncio
from typing import Protocol

from staleproof.core.entry import Closed, Delivered, Dropped, Opened, Withheld
from staleproof.core.fault import Drop
from staleproof.core.frame import Frame, FrameReader, expired
from staleproof.core.gate import Closing, Ending, Gate
from staleproof.core.monitor import Monitor
from staleproof.core.request import ApiRequest

from .board import Board


class Wire(Protocol):
    """The client's side of a watch."""

    def emit(self, data: bytes) -> None:
        """Send these bytes now."""

    def finish(self) -> None:
        """Clean end: the last chunk."""

    def kill(self, *, reset: bool) -> None:
        """Abrupt end: no last chunk; with a TCP reset if asked for."""


class Stream:
    """An open watch. `number` is unique for the life of the proxy."""

    def __init__(self, number: int, client: str, request: ApiRequest, wire: Wire, board: Board) -> None:
        self.number, self.client, self.request = number, client, request
        self.gate = Gate(board.schedule.decide_for(request.resource))
        self.delivered: int | None = request.start
        self._wire, self._board = wire, board
        self._reader = FrameReader()
        bookmarks = request.query.get("allowWatchBookmarks", "") in ("true", "1")
        self._monitor = Monitor(request.start, watch_list=request.is_watch_list and bookmarks)
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
                bookmarks=request.query.get("allowWatchBookmarks", "") in ("true", "1"),
                since=self.delivered if carried else None,
            )
        )

    def feed(self, data: bytes) -> None:
        """Bytes from upstream."""
        now = self._board.now()
        for frame in self._reader.feed(data):
            waiting = self.gate.receive(frame, now)
            if isinstance(waiting, Drop):
                self._dropped(frame, now)
            elif waiting is not None and (waiting.due is None or waiting.due > now):
                self._withheld(frame, waiting.fault, now)
        self.flush()

    def upstream_ended(self, how: Ending) -> None:
        self.gate.upstream_ended(how if not self._reader.rest else "cut")
        self.flush()

    def sever(self, how: Ending, fault: int | None) -> None:
        """End the stream now, on behalf of a fault or a command."""
        self.gate.sever(how, fault)
        self.flush()

    def rule_again(self, *, closed_fault: int | None = None) -> None:
        """A fault closed, or the plan changed: what it held may leave."""
        now = self._board.now()
        if closed_fault is None:
            self.gate.release_all(now)
        else:
            self.gate.redecide(closed_fault, now)
        self.flush()

    def follow(self) -> None:
        """A new plan was installed: let everything go and ask the new schedule from now on."""
        self.rule_again()
        self.gate.decide_with(self._board.schedule.decide_for(self.request.resource))
        self.announce(carried=True)

    def flush(self) -> None:
        """Write what the gate lets out now and set the timer for the next."""
        now = self._board.now()
        out = self.gate.release(now)
        closing = out.pop() if out and isinstance(out[-1], Closing) else None
        frames = [item for item in out if isinstance(item, Frame)]
        if frames:
            self._wire.emit(b"".join([frame.raw for frame in frames]))
            for frame in frames:
                self._left(frame, now)
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
        match closing.how:
            case "expired":
                self._wire.emit(expired(self.request.start, self.delivered))
                self._board.schedule.expire(self.request)
                self._wire.finish()
            case "clean":
                self._wire.finish()
            case how:
                self._wire.kill(reset=how == "reset")
        if closing.fault is not None:
            self._board.fired(closing.fault, None, f"{self.request.resource} stream {self.number} ended: {closing.how}")
        self._over(Closed(at=now, stream=self.number, how=closing.how, discarded=self.gate.discarded, fault=closing.fault))

    def _over(self, closed: Closed) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._board.record(closed)
        self._board.streams.pop(self.number, None)

    def _left(self, frame: Frame, now: float) -> None:
        breach = self._monitor.see(frame)
        if breach is not None:
            self._board.broke("self-check", f"stream {self.number} of {self.request.resource}: {breach}")
        if frame.revision is not None:
            self.delivered = frame.revision
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
            )
        )

    def _withheld(self, frame: Frame, fault: int | None, now: float) -> None:
        self._board.record(
            Withheld(
                at=now,
                stream=self.number,
                type=frame.type,  # type: ignore[arg-type]  # as above
                namespace=frame.namespace,
                name=frame.name,
                uid=frame.uid,
                revision=frame.revision,
                fault=fault,
            )
        )
        if fault is not None:
            self._board.fired(fault, frame, f"{frame.type} {self.request.resource} {frame.namespace}/{frame.name}")

    def _dropped(self, frame: Frame, now: float) -> None:
        fault = self.gate.last_fault
        self._board.record(
            Dropped(at=now, stream=self.number, type=frame.type, revision=frame.revision, fault=fault)  # type: ignore[arg-type]  # as above
        )
        if fault is not None:
            self._board.fired(fault, frame, f"{frame.type} of {self.request.resource}")
