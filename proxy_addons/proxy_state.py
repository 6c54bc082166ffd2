"""What the parts of the proxy share: the schedule of the installed plan, the open streams, the journal, the clock.

Applies the schedule's changes to the streams; decides nothing.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from staleproof.core.engine.schedule import Called, Change, FaultCloses, FaultEnds, FaultIsRefused, FaultOpens, Schedule
from staleproof.core.entry import Broke, Entry, FaultClosed, FaultFired, FaultMissed, FaultOpened, FaultRefused
from staleproof.core.fault import AnyFault
from staleproof.core.fault.decision import End, Refusal
from staleproof.core.frame import Frame
from staleproof.core.request import ApiRequest

from .conditions import Waits
from .journal import Journal

if TYPE_CHECKING:
    from .connections import Connections
    from .stream import Stream


class Board:
    """The proxy's state. `stop` ends the process; it is called once something proved that traffic is not under control."""

    def __init__(self, journal: Journal, stop: Callable[[], None], connections: "Connections") -> None:
        self.journal = journal
        self.waits = Waits()
        self._connections = connections
        self.schedule = Schedule()
        self.streams: dict[int, Stream] = {}
        self.numbers = itertools.count(1)
        self._stop = stop
        self._timer: asyncio.TimerHandle | None = None
        self._open = True
        self._door: asyncio.Task[None] | None = None

    @staticmethod
    def now() -> float:
        """Seconds on the machine's monotonic clock, which the runner's process shares."""
        return time.monotonic()

    def record(self, entry: Entry) -> None:
        self.journal.record(entry)

    def broke(self, where: str, why: str) -> None:
        """What we show the controller is not what we think: the trial proves nothing."""
        self.record(Broke(at=self.now(), where=where, why=why))

    def fail(self, where: str, why: str) -> None:
        """Part of the proxy is broken: say so and stop, so that no traffic passes unseen."""
        self.broke(where, why)
        self._stop()

    def install(self, faults: Sequence[AnyFault], namespace: str) -> None:
        """Replace the plan: everything the last one held leaves, and the open streams are announced again.

        What a hostile fault has broken ends with its plan: the clients have to list again.
        """
        before, self.schedule = self.schedule, Schedule(faults, namespace)
        for stream in list(self.streams.values()):
            stream.follow(spoiled=before.has_spoiled(stream.seat))
        self.apply(())

    def begin_step(self, step: int, *, revision: int | None = None) -> None:
        self.apply(self.schedule.begin_step(step, self.now(), revision=revision))

    def add(self, fault: AnyFault) -> int:
        """One more fault, open from now on; its index."""
        index, changes = self.schedule.add(fault, self.now())
        for stream in self.streams.values():
            stream.ask_again()
        self.apply(changes)
        return index

    def remove(self, fault: int) -> None:
        self.apply(self.schedule.remove(fault))

    def asked(self, request: ApiRequest) -> None:
        """A request of the controller is about to be forwarded."""
        self.apply(self.schedule.asked(request, self.now()))

    def on_request(self, request: ApiRequest, counted: dict[int, int]) -> Called:
        called = self.schedule.on_request(request, counted)
        self.tell_news()
        return called

    def on_answer(self, request: ApiRequest) -> Called:
        called = self.schedule.on_answer(request)
        self.tell_news()
        return called

    def release(self) -> None:
        """Close every fault and let everything go; what trickles out does so at its own pace."""
        self.apply(self.schedule.release())
        for stream in list(self.streams.values()):
            stream.release_all(at_once=False)

    def sever(self, resource: str, how: End) -> int:
        """End every stream of this resource now; how many there were. `expired` is the resync poke."""
        streams = [stream for stream in self.streams.values() if stream.request.resource == resource]
        for stream in streams:
            stream.sever(how, None)
        return len(streams)

    def release_upto(self, resource: str, revision: int) -> None:
        """Let what is held of this resource go, up to and including this revision."""
        for stream in list(self.streams.values()):
            if stream.request.resource == resource:
                stream.release_upto(revision)

    async def settled(self) -> None:
        """Return once the door is as open as it should be, and the requests that waited for what has happened go on."""
        while self._door is not None and not self._door.done():
            await asyncio.wait({self._door})
        await self.waits.settled()

    def is_current(self, plan: Schedule | None) -> bool:
        """Whether this schedule, if one is meant, has not been replaced: faults have their numbers within a plan."""
        return plan is None or plan is self.schedule

    def fired(self, fault: int, frame: Frame | None, on: str, *, plan: Schedule | None = None) -> None:
        """A fault did something. `plan`: the schedule that it is of, which may have been replaced; empty means the one of now."""
        if self.is_current(plan) and self.schedule.fires(fault, frame):
            self.record(FaultFired(at=self.now(), fault=fault, on=on))

    def refused(self, fault: int, refusal: Refusal, on: str, *, plan: Schedule | None = None) -> None:
        """A fault could not do what it wanted to do. `plan` as above."""
        if self.is_current(plan):
            self.schedule.refuse(fault, refusal, on)
            self.tell_news()

    def tell_news(self) -> None:
        """What the schedule found out while it decided frames and requests."""
        news = self.schedule.take_news()
        if news:
            self.apply(news)

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            match change:
                case FaultOpens():
                    self._open_fault(change)
                case FaultCloses():
                    self._close_fault(change)
                case FaultEnds(fault):
                    if why := self.schedule.missed(fault):
                        self.record(FaultMissed(at=self.now(), fault=fault, why=why))
                case FaultIsRefused(fault, on, refusal):
                    self.record(FaultRefused(at=self.now(), fault=fault, on=on, row=refusal.row, why=refusal.why))
        self._set_timer()
        self._set_door()
        self.waits.stir()

    def _open_fault(self, change: FaultOpens) -> None:
        self.record(FaultOpened(at=self.now(), fault=change.fault, why=change.why))
        if change.ends is not None:
            for stream in self._streams_under(change.fault):
                stream.sever(change.ends, change.fault)
        if self.schedule.faults[change.fault].refuses_connections:
            for stream in list(self.streams.values()):
                stream.sever("reset", change.fault)
            if cut := self._connections.reset_all():
                self.fired(change.fault, None, f"{cut} connections were reset")

    def _close_fault(self, change: FaultCloses) -> None:
        self.record(FaultClosed(at=self.now(), fault=change.fault))
        for stream in self._streams_under(change.fault):
            if change.ends is not None and stream.gate.holds(change.fault):
                stream.sever(change.ends, change.fault)
            else:
                stream.rule_again(change.fault)

    def _streams_under(self, fault: int) -> list["Stream"]:
        return [stream for stream in self.streams.values() if self.schedule.acts_on(fault, stream.seat)]

    def _set_door(self) -> None:
        """Refuse connections while a fault says so. Each change waits for the one before it."""
        on = not self.schedule.refuses_connections
        if on is not self._open:
            self._open = on
            self._door = asyncio.get_running_loop().create_task(self._connections.listen(on=on))

    def _tick(self) -> None:
        self.apply(self.schedule.tick(self.now()))

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due = self.schedule.deadline()
        self._timer = None if due is None else asyncio.get_running_loop().call_at(due, self._tick)
