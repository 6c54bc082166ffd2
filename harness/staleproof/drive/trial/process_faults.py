"""Faults that the runner itself carries out on the controller's process: kills, restarts and pauses.

The proxy keeps time and says when such a fault opens, closes, or has caught the write to be killed at; what follows is done here,
one thing after the other. The fault decides what is done.

A controller that exits by itself is started again (`supervision`).
"""

import asyncio
import signal
import time
from collections.abc import Sequence

from staleproof.core.fault import AnyFault, ExternalFault, ExternalNoticeFault, Kill, KillAtCall, Pause, Restart
from staleproof.core.history.entry import (
    Continued,
    Entry,
    Exited,
    FaultClosed,
    FaultFired,
    FaultIndex,
    FaultMissed,
    FaultOpened,
    Started,
    Stopped,
)
from staleproof.drive.trial.event_bus import EventBus
from staleproof.drive.trial.lives import Lives
from staleproof.drive.trial.supervision import MOST_EXITS, supervisor_wait


class ProcessFaults:
    """Follows the entries of one trial, for all programs of the subject. `follow` runs as a task; `settled` waits until everything
    that was asked for is done."""

    def __init__(self, programs: Sequence[Lives], bus: EventBus, faults: Sequence[AnyFault]) -> None:
        self._each = [_OfProgram(lives, bus, faults) for lives in programs]

    def see(self, entry: Entry) -> None:
        """Entries of the trial, as they happen."""
        for each in self._each:
            each.see(entry)

    @property
    def is_busy(self) -> bool:
        """Whether something that was asked for is not done."""
        return any(each.is_busy for each in self._each)

    async def follow(self) -> None:
        """Do what is asked for, for ever; what is done to one program waits for nothing that is done to another."""
        await asyncio.gather(*(each.follow() for each in self._each))

    @property
    def is_looping(self) -> bool:
        """Whether a program is down because it exits again and again: nothing waits for a crash loop."""
        return any(each.is_looping for each in self._each)

    async def settled(self) -> bool:
        """Return once everything that was asked for is done, crash loops aside; whether there was anything."""
        return any([await each.settled() for each in self._each])

    def missed(self) -> list[FaultMissed]:
        """Once the plan is over: an entry for each of the runner's faults that never did anything."""
        return [missed for each in self._each for missed in each.missed()]

    async def give_way(self) -> None:
        """Have the controller back before its faults are over: what users do cannot be done without it, as it serves webhooks."""
        await self._each[0].give_way()


class _OfProgram:
    """What is done to one program of the subject."""

    def __init__(self, lives: Lives, bus: EventBus, faults: Sequence[AnyFault]) -> None:
        self._lives, self._bus, self._faults = lives, bus, faults
        self.exits = 0
        """How often the controller exited by itself."""
        self._queue: asyncio.Queue[FaultOpened | FaultClosed | FaultFired | Exited] = asyncio.Queue()
        self._keep_down: set[FaultIndex] = set()
        self._fired: set[FaultIndex] = set()
        self._due = 0
        self._is_paused = False

    def see(self, entry: Entry) -> None:
        """Entries of the trial, as they happen."""
        if isinstance(entry, FaultOpened | FaultClosed | FaultFired):
            fault = self._faults[entry.fault]
            if not fault.happens_to(self._lives.name):
                return
            if fault.refuses_connections and not isinstance(entry, FaultFired):
                self._bus.activity.reachable(entry.at, yes=isinstance(entry, FaultClosed))
            elif isinstance(fault, Kill | KillAtCall | Restart | Pause) and not self._is_own(entry):
                self._ask(entry)
            if isinstance(fault, ExternalFault) and isinstance(entry, FaultFired):
                self._fired.add(entry.fault)
        elif isinstance(entry, Exited) and entry.program == self._lives.name:
            self.exits += 1
            self._ask(entry)

    def _is_own(self, entry: FaultOpened | FaultClosed | FaultFired) -> bool:
        """Whether it reports what was done here."""
        return isinstance(entry, FaultFired) and entry.fault in self._fired

    def _ask(self, entry: FaultOpened | FaultClosed | FaultFired | Exited) -> None:
        self._due += 1
        self._queue.put_nowait(entry)

    @property
    def is_busy(self) -> bool:
        """Whether something that was asked for is not done."""
        return self._due > 0

    async def follow(self) -> None:
        """Do what is asked for, for ever."""
        while True:
            entry = await self._queue.get()
            try:
                if isinstance(entry, Exited):
                    await self._supervise(entry)
                else:
                    await self._do(entry, self._faults[entry.fault])
            finally:
                self._due -= 1
                self._queue.task_done()

    @property
    def is_looping(self) -> bool:
        """Whether it is down because it exits again and again: nothing waits for a crash loop."""
        return self.is_busy and self.exits > MOST_EXITS

    async def settled(self) -> bool:
        """Return once everything that was asked for is done, crash loops aside; whether there was anything."""
        had = self._due > 0
        if not self.is_looping:
            await self._queue.join()
        return had

    def missed(self) -> list[FaultMissed]:
        """Once the plan is over: an entry for each of the runner's faults that never did anything."""
        now = time.monotonic()
        late = [FaultIndex(i) for i, fault in enumerate(self._faults) if self._is_mine(fault) and i not in self._fired]
        return [FaultMissed(at=now, fault=i, why=_missed(self._faults[i])) for i in late]

    def _is_mine(self, fault: AnyFault) -> bool:
        """Whether it is the runner's and is reported here: the controller's lives report what all programs meet."""
        return fault.executed_by == "runner" and fault.program == self._lives.name

    async def give_way(self) -> None:
        """Have the program back before its faults are over."""
        for index in sorted(self._keep_down):
            await self._begin(index)
        await self._continue()

    async def _do(self, entry: FaultOpened | FaultClosed | FaultFired, fault: AnyFault) -> None:
        match entry, fault:
            case FaultFired(), Kill(stays_down=stays_down):
                await self._end(entry.fault, fault, gently=False, stays_down=stays_down)
            case FaultOpened(), Restart(gently=gently, stays_down=stays_down):
                await self._end(entry.fault, fault, gently=gently, stays_down=stays_down)
            case FaultFired(), KillAtCall():
                await self._end(entry.fault, fault, gently=False, stays_down=False)
            case FaultClosed(), Kill() | Restart():
                await self._begin(entry.fault)
            case FaultOpened(), Pause():
                await self._pause(entry.fault)
            case FaultClosed(), Pause():
                await self._continue()

    async def _end(self, index: FaultIndex, fault: AnyFault, *, gently: bool, stays_down: bool) -> None:
        if self._lives.running is None:
            return
        await self._lives.stop(gently=gently)
        self._tell(Stopped(at=time.monotonic(), life=self._lives.number, program=self._lives.name, fault=index))
        if isinstance(fault, Restart):
            self._fire(index, f"{self._called} was {'stopped' if gently else 'killed'}")
        self._keep_down.add(index)
        if not stays_down:
            await self._begin(index)

    async def _supervise(self, exited: Exited) -> None:
        """Start the controller again, unless a fault keeps it down or has started it meanwhile."""
        await asyncio.sleep(supervisor_wait(self.exits))
        if not self._keep_down and exited.life == self._lives.number:
            self._tell(await self._lives.revive())

    async def _begin(self, index: FaultIndex) -> None:
        """Start the controller again, unless another fault keeps it down."""
        if index not in self._keep_down:
            return
        self._keep_down.discard(index)
        if not self._keep_down:
            self._tell(await self._lives.restart())

    async def _pause(self, index: FaultIndex) -> None:
        if controller := self._lives.running:
            await controller.send_signal(signal.SIGSTOP)
            self._is_paused = True
            self._tell(Stopped(at=time.monotonic(), life=self._lives.number, program=self._lives.name, paused=True, fault=index))
            self._fire(index, f"the process of {self._called} was stopped")

    async def _continue(self) -> None:
        if self._is_paused and (controller := self._lives.running):
            self._is_paused = False
            await controller.send_signal(signal.SIGCONT)
            self._tell(Continued(at=time.monotonic(), life=self._lives.number, program=self._lives.name))

    @property
    def _called(self) -> str:
        return self._lives.name or "the controller"

    def _fire(self, index: FaultIndex, on: str) -> None:
        if index not in self._fired:
            self._fired.add(index)
            self._tell(FaultFired(at=time.monotonic(), fault=index, on=on))

    def _tell(self, entry: Started | Stopped | Continued | FaultFired) -> None:
        self._bus.take(entry)


def _missed(fault: AnyFault) -> str:
    """Why one of the runner's faults never did anything."""
    if isinstance(fault, ExternalNoticeFault):
        return f"no notification of {fault.about} that it acts on came while it was open"
    if isinstance(fault, ExternalFault):
        return f"no call to {fault.about} that it acts on came while it was open"
    return "its window never opened, or the controller did not run then"
