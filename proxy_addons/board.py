"""What the parts of the proxy share: the schedule of the installed plan, the open streams, the journal, the clock.

Applies the schedule's changes to the streams; decides nothing.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from staleproof.core.entry import Broke, Entry, FaultClosed, FaultFired, FaultOpened
from staleproof.core.fault import AnyFault
from staleproof.core.frame import Frame
from staleproof.core.request import ApiRequest
from staleproof.core.schedule import Change, FaultCloses, FaultOpens, Schedule

from .journal import Journal

if TYPE_CHECKING:
    from .stream import Stream


class Board:
    """The proxy's state. `stop` ends the process; it is called once something proved that traffic is not under control."""

    def __init__(self, journal: Journal, stop: Callable[[], None]) -> None:
        self.journal = journal
        self.schedule = Schedule()
        self.streams: dict[int, Stream] = {}
        self.numbers = itertools.count(1)
        self._stop = stop
        self._timer: asyncio.TimerHandle | None = None

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
        """Replace the plan: everything the last one held leaves, and the open streams are announced again."""
        self.schedule = Schedule(faults, namespace)
        for stream in list(self.streams.values()):
            stream.follow()
        self._set_timer()

    def begin_step(self, step: int) -> None:
        self.apply(self.schedule.begin_step(step, self.now()))

    def asked(self, request: ApiRequest) -> None:
        """A write of the controller is about to be forwarded."""
        self.apply(self.schedule.asked(request, self.now()))

    def release(self) -> None:
        """Close every fault and let everything go."""
        self.apply(self.schedule.release())
        for stream in list(self.streams.values()):
            stream.rule_again()

    def expire(self, resource: str) -> int:
        """End every stream of this resource with 410 (the resync poke); how many there were."""
        streams = self._streams_of(resource)
        for stream in streams:
            stream.sever("expired", None)
        return len(streams)

    def fired(self, fault: int, frame: Frame | None, on: str) -> None:
        if self.schedule.fires(fault, frame):
            self.record(FaultFired(at=self.now(), fault=fault, on=on))

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            resource = self.schedule.faults[change.fault].resource
            match change:
                case FaultOpens(fault, why, ends):
                    self.record(FaultOpened(at=self.now(), fault=fault, why=why))
                    if ends is not None:
                        for stream in self._streams_of(resource):
                            stream.sever(ends, fault)
                case FaultCloses(fault, ends):
                    self.record(FaultClosed(at=self.now(), fault=fault))
                    for stream in self._streams_of(resource):
                        if ends is not None and stream.gate.holds(fault):
                            stream.sever(ends, fault)
                        else:
                            stream.rule_again(closed_fault=fault)
        self._set_timer()

    def _streams_of(self, resource: str) -> list["Stream"]:
        return [stream for stream in self.streams.values() if stream.request.resource == resource]

    def _tick(self) -> None:
        self.apply(self.schedule.tick(self.now()))

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due = self.schedule.deadline()
        self._timer = None if due is None else asyncio.get_running_loop().call_at(due, self._tick)
