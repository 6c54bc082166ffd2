"""When the controller's metrics are read in a trial, and that a reading which fails is none: a controller may be down."""

import asyncio
import time

from staleproof.core.history.entry import Continued, Entry, Exited, FaultClosed, FaultOpened, Released, Started, Stopped
from staleproof.core.times import METRICS_SECONDS, RETRY_SECONDS, UNTIL_DUE_SECONDS
from staleproof.drive.subject.metrics import Endpoint, Unreadable
from staleproof.drive.trial.event_bus import EventBus


class Readings:
    """The readings of one trial, which are of the controller itself: those that the runner asks for, and those that `follow`, a
    task, makes in between: once a life of the controller answers, and every second while a fault is open."""

    def __init__(self, source: Endpoint | None, bus: EventBus) -> None:
        self._source, self._bus = source, bus
        self._one_at_a_time = asyncio.Lock()
        self._open: set[int] = set()
        self._runs, self._is_unread = True, False
        self._tried_at = 0.0

    def see(self, entry: Entry) -> None:
        """Entries of the trial, as they happen."""
        match entry:
            case Started(program=""):
                self._runs = self._is_unread = True
            case Continued(program=""):
                self._runs = True
            case Stopped(program="") | Exited(program=""):
                self._runs = False
            case FaultOpened():
                self._open.add(entry.fault)
            case FaultClosed():
                self._open.discard(entry.fault)
            case Released():
                self._open.clear()

    async def take(self) -> None:
        """Read once, now. A reading that fails is not recorded."""
        if self._source is None or not self._runs:
            return
        async with self._one_at_a_time:
            self._tried_at = time.monotonic()
            try:
                reading = await self._source.read()
            except Unreadable:
                return
            self._is_unread = False
            self._bus.take(reading)

    async def says_working(self) -> bool:
        """Whether the controller's metrics say that it has work; False when there are none, or they cannot be read."""
        if self._source is None or not self._runs:
            return False
        try:
            return await self._source.is_working()
        except Unreadable:
            return False

    async def follow(self) -> None:
        """Read whenever it is due, until the proxy is gone."""
        while self._source is not None and not self._bus.dead:
            if await self._bus.until(self._due, limit_seconds=UNTIL_DUE_SECONDS):
                await self.take()

    def _due(self, now: float) -> bool | float:
        if not self._runs or not (self._is_unread or self._open):
            return False
        due = self._tried_at + (RETRY_SECONDS if self._is_unread else METRICS_SECONDS)
        return True if now >= due else due
