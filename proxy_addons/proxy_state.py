"""What the parts of the proxy share: the schedule of the installed plan, the open streams, the journal, the clock.

Carries out the schedule's changes on streams and connections; decides nothing.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from staleproof.core.engine.exchange import Exchange
from staleproof.core.engine.planned_fault import FaultChange, FaultOpens, FaultRef
from staleproof.core.engine.schedule import RequestRuling, Schedule
from staleproof.core.engine.watch_stream import WatchStream
from staleproof.core.fault import AnyFault
from staleproof.core.fault.decision import End, Refusal
from staleproof.core.history.entry import Broke, Entry, Listed, StreamId
from staleproof.core.history.request import ApiRequest

from .conditions import Conditions
from .journal import Journal
from .stream import Stream

if TYPE_CHECKING:  # a test of the state does without a mitmproxy
    from .connections import Connections


class ProxyState:
    """The proxy's state. `stop` ends the process; it is called when traffic has proved not to be under control."""

    def __init__(self, journal: Journal, stop: Callable[[], None], connections: "Connections") -> None:
        self.journal, self.record = journal, journal.record
        self.conditions = Conditions()
        self.schedule = Schedule()
        self.streams: dict[int, Stream] = {}
        self.request_numbers = itertools.count(1)
        self._connections = connections
        self._numbers = itertools.count(1)
        self._stop = stop
        self._timer: asyncio.TimerHandle | None = None
        self._accepts = True
        self._listening: asyncio.Task[None] | None = None

    @staticmethod
    def now() -> float:
        """Seconds on the machine's monotonic clock, which the runner's process shares."""
        return time.monotonic()

    # --- what the history gets

    def record_all(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.record(entry)

    def broke(self, where: str, why: str) -> None:
        """What we show the controller is not what we think: the trial proves nothing."""
        self.record(Broke(at=self.now(), where=where, why=why))

    def fail(self, where: str, why: str) -> None:
        """Part of the proxy is broken: say so and stop, so that no traffic passes unseen."""
        self.broke(where, why)
        self._stop()

    def fired(self, fault: FaultRef | None, on: str) -> None:
        """A fault did something to a request, a stream or a connection."""
        self.record_all(self.schedule.fires(fault, on, self.now()))
        self._set_timer()  # the window of a fault about requests begins with the first

    def refused(self, fault: FaultRef, why: str, on: str) -> None:
        """A fault could not do what it wanted to do."""
        self.schedule.refuse(fault, Refusal("", why), on)
        self.record_all(self.schedule.news(self.now()))

    # --- commands

    def install(self, faults: Sequence[AnyFault], namespace: str) -> None:
        """Replace the plan: everything the last one held leaves, and the open streams are announced again.

        What a hostile fault has broken ends with its plan: the clients have to list again.
        """
        self.schedule = Schedule(faults, namespace, plan=self.schedule.plan + 1)
        self._change_streams(lambda watch, now: watch.follow(self.schedule, now))
        self._apply(())

    def begin_step(self, step: int, *, revision: int | None = None) -> None:
        self._apply(self.schedule.begin_step(step, self.now(), revision=revision))

    def add(self, fault: AnyFault) -> FaultRef:
        """One more fault, open from now on."""
        added, changes = self.schedule.add(fault, self.now())
        self._apply(changes)
        return added

    def remove(self, fault: int) -> None:
        self._apply(self.schedule.remove(fault))

    def release(self) -> None:
        """Close every fault and let everything go; what trickles out does so at its own pace."""
        self._apply(self.schedule.release())
        self._change_streams(lambda watch, now: watch.gate.release_all(now, at_once=False))

    def release_upto(self, resource: str, revision: int) -> None:
        """Let what is held of this resource go, up to and including this revision."""
        self._change_streams(lambda watch, now: watch.gate.release_upto(revision, now), resource)

    def sever(self, resource: str, how: End) -> int:
        """End every stream of this resource now; how many there were. `expired` makes the controller list again."""
        return self._change_streams(lambda watch, _: watch.gate.sever(how), resource)

    async def settled(self) -> None:
        """Return once connections are accepted or refused as they should be, and requests whose wait is over go on."""
        while self._listening is not None and not self._listening.done():
            await asyncio.wait({self._listening})
        await self.conditions.settled()

    # --- requests and streams

    def requested(self, request: ApiRequest) -> None:
        """A request of the controller is about to be forwarded."""
        self._apply(self.schedule.triggered_by(request, self.now()))

    def answered(self, exchange: Exchange, code: int, body: bytes, *, retry_after: bool) -> None:
        """What the API server (or a fault) said, and what the client got."""
        entry = exchange.answered(code, body, self.now(), retry_after=retry_after)
        if isinstance(entry, Listed):
            self.schedule.expiries.listed(exchange.request)
        self.record(entry)

    def on_request(self, exchange: Exchange) -> RequestRuling:
        ruling = self.schedule.on_request(exchange.request, exchange.counted)
        self.record_all(self.schedule.news(self.now()))
        return ruling

    def open_stream(self, client: str, request: ApiRequest, writer: asyncio.StreamWriter, reset: Callable[[], None]) -> Stream:
        """A watch is about to be answered with a stream."""
        number = StreamId(next(self._numbers))
        watch = WatchStream(number, client, request, self.schedule, self.now())
        stream = Stream(watch, writer, reset=reset, record=self.record, on_closed=lambda: self.streams.pop(number, None))
        self.streams[number] = stream
        return stream

    # --- inside

    def _change_streams(self, how: Callable[[WatchStream, float], None], resource: str = "") -> int:
        """Tell every open stream (of this resource); how many there were."""
        streams = [stream for stream in self.streams.values() if resource in ("", stream.watch.request.resource)]
        for stream in streams:
            stream.change(how)
        return len(streams)

    def _apply(self, changes: Sequence[FaultChange]) -> None:
        for change in changes:
            self._carry_out(change)
        self._set_timer()
        self._set_listening()
        self.conditions.recheck()

    def _carry_out(self, change: FaultChange) -> None:
        self.record_all(self.schedule.entries_about(change, self.now()))
        self._change_streams(lambda watch, now: watch.on_change(change, now))
        if isinstance(change, FaultOpens) and change.all_clients and (cut := self._connections.reset_all()):
            self.fired(change.fault, f"{cut} connections were reset")

    def _set_listening(self) -> None:
        """Refuse connections while a fault says so. Each change waits for the one before it."""
        on = not self.schedule.refuses_connections
        if on is not self._accepts:
            self._accepts = on
            self._listening = asyncio.get_running_loop().create_task(self._connections.listen(on=on))

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due = self.schedule.deadline()
        loop = asyncio.get_running_loop()
        self._timer = None if due is None else loop.call_at(due, lambda: self._apply(self.schedule.tick(self.now())))
