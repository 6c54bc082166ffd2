"""Faults about external systems, on their way to the relay: it carries out those that are open, and says what they did.

The proxy keeps time: it says when such a fault opens and closes. That a fault has acted is recorded when the relay reports the
call or the notification.
"""

import asyncio
from collections.abc import Sequence

from staleproof.core.external import CallFault, NotificationFault
from staleproof.core.fault import AnyFault, ExternalCallFault, ExternalFault, ExternalNoticeFault
from staleproof.core.history.entry import Entry, FaultClosed, FaultFired, FaultIndex, FaultOpened, Notified, Replied
from staleproof.drive.external.launch import RunningSystems
from staleproof.drive.trial.event_bus import EventBus

_DONE = {
    "delay": "was answered late",
    "reject": "was rejected",
    "cut": "was cut off",
    "lose-answer": "was executed, and its answer lost",
    "stall": "was executed and not answered",
}
_NOTIFIED = {"lose": "was lost", "delay": "came late", "repeat": "came twice"}


class ExternalFaults:
    """Follows the entries of one trial. `follow` runs as a task; `settled` waits until the relay knows what is open."""

    def __init__(self, systems: RunningSystems, bus: EventBus, faults: Sequence[AnyFault]) -> None:
        self._systems, self._bus = systems, bus
        self._faults = {FaultIndex(number): each for number, each in enumerate(faults) if isinstance(each, ExternalFault)}
        self._open: set[FaultIndex] = set()
        self._fired: set[FaultIndex] = set()
        self._changed: asyncio.Queue[None] = asyncio.Queue()

    def see(self, entry: Entry) -> None:
        """Entries of the trial, as they happen."""
        match entry:
            case FaultOpened(fault=index) if index in self._faults:
                self._open.add(index)
                self._changed.put_nowait(None)
            case FaultClosed(fault=index) if index in self._faults:
                self._open.discard(index)
                self._changed.put_nowait(None)
            case Replied(fault=index) if index is not None:
                self._fire(index, entry.at, f"a call to {entry.system} {_DONE[entry.effect or 'delay']}")
            case Notified(fault=index) if index is not None:
                self._fire(index, entry.at, f"a notification of {entry.system} {_NOTIFIED[entry.effect or 'delay']}")

    def _fire(self, index: FaultIndex, at: float, on: str) -> None:
        if index in self._faults and index not in self._fired:
            self._fired.add(index)
            self._bus.take(FaultFired(at=at, fault=index, on=on))

    async def follow(self) -> None:
        """Do what is asked for, for ever."""
        while True:
            await self._changed.get()
            try:
                await self._install()
            finally:
                self._changed.task_done()

    async def settled(self) -> None:
        """Return once the relay knows what is open."""
        await self._changed.join()

    async def _install(self) -> None:
        for name, system in self._systems.systems.items():
            mine = [(index, self._faults[index]) for index in sorted(self._open)]
            await system.relayed.install(
                [sent for index, each in mine if each.system in ("", name) and (sent := relay_fault(index, each)) is not None]
            )


def relay_fault(index: FaultIndex, fault: ExternalFault) -> CallFault | NotificationFault | None:
    """What the relay has to know of a fault of the plan; None: nothing."""
    match fault:
        case ExternalCallFault(call_effect=effect):
            return CallFault(
                effect=effect,
                seconds=fault.late_by,
                mentions=fault.mentions,
                changes=True,
                nth=fault.nth,
                count=fault.times,
                of=index,
            )
        case ExternalNoticeFault(notification_effect=effect):
            return NotificationFault(
                effect=effect, seconds=fault.late_by, mentions=fault.mentions, nth=fault.nth, count=fault.times, of=index
            )
    return None
