"""What the runner does to external systems in one trial, and what it reads of them, past the relay."""

import asyncio
import time

from staleproof.core.external import Change, Create, Delete, ExternalObject, target
from staleproof.core.external import Drift as Drifting
from staleproof.core.history.entry import ExternalState, Held, SystemTurned
from staleproof.core.plan.masking import secrets_in, unmarked
from staleproof.core.plan.step import AwaitRepair, Drift, TurnSystem, describe
from staleproof.core.repair import Unrepaired, left_by
from staleproof.core.times import EXTERNAL_READ_SECONDS
from staleproof.drive.external.launch import RunningSystem, RunningSystems
from staleproof.drive.external.recording import ExternalRecording
from staleproof.drive.trial.event_bus import EventBus
from staleproof.errors import UsageError

_DOWN = "down"


class NothingOutside(Exception):
    """What is to drift is not there."""


class Outside:
    """External systems in one trial. `child_seconds`: how long what is to drift is waited for."""

    def __init__(self, systems: RunningSystems, bus: EventBus, *, child_seconds: float = 0.0) -> None:
        self._systems, self._bus, self._child_seconds = systems, bus, child_seconds
        self._drifted: list[tuple[str, Unrepaired]] = []
        self._last_states: dict[str, ExternalState] = {}
        self._turned: dict[str, str] = {}

    async def do(self, step: Drift | AwaitRepair | TurnSystem, number: int) -> None:
        """Do one step.

        Raises:
            NothingOutside: what is to drift is not there.
            UsageError: there is no such system, its adapter lacks what the step needs, or the system refuses it.
            SetupError: it does not answer.
        """
        match step:
            case Drift():
                await self._drift(step, number)
            case TurnSystem():
                await self._turn(step, number)
            case AwaitRepair(seconds=seconds):
                await self._await_repair(seconds)

    async def read(self, *, always: bool = True) -> None:
        """Record what every system holds that is up and can say so; or only where it has changed."""
        for name in self._readable:
            await self._objects(name, always=always)

    async def restore(self, number: int = 0) -> bool:
        """Have everything up and in time; whether anything was not."""
        turned = [name for name, state in self._turned.items() if state != "up"]
        for name in turned:
            await self._turn(TurnSystem(system=name, state="up"), number)
        return bool(turned)

    # --- reading

    @property
    def _readable(self) -> list[str]:
        return [
            name
            for name, each in self._systems.systems.items()
            if self._turned.get(name) != _DOWN and "read_state" in each.relayed.capabilities()
        ]

    @property
    def _recording(self) -> ExternalRecording:
        if self._systems.recording is None:
            raise UsageError("the plan needs an external system, and none is declared (external: in staleproof.yaml)")
        return self._systems.recording

    async def _objects(self, name: str, *, always: bool) -> tuple[ExternalObject, ...]:
        """What it holds now, recorded as well."""
        objects = await self._systems[name].relayed.read_state()
        state = self._recording.owners.state(name, objects, at=time.monotonic())
        before = self._last_states.get(name)
        if always or before is None or before.objects != state.objects:
            self._last_states[name] = state
            self._bus.take(state)
        return objects

    # --- drift

    async def _drift(self, step: Drift, number: int) -> None:
        system = self._systems[step.system]
        system.relayed.require(["drift", "read_state"])
        drifts = [await self._named(step, number)] if step.name else await self._picked(step, number)
        self._recording.owners.hide(secrets_in(step.fields))
        before = await self._objects(step.system, always=True)
        for drift in drifts:
            await system.relayed.drift(drift)
            self._bus.take(self._recording.owners.drifted(step.system, drift, at=time.monotonic(), step=number))
        after = await self._objects(step.system, always=True)
        self._drifted.append((step.system, left_by(drifts[-1], before, after)))
        if step.notifies and "notify" in system.relayed.capabilities():
            await system.relayed.notify(*target(drifts[-1]))

    async def _named(self, step: Drift, number: int) -> Drifting:
        scope = self._bus.scope
        name = step.name.replace("{namespace}", scope.namespace).replace("{mark}", scope.mark)
        if step.change == "deleted":
            end = time.monotonic() + self._child_seconds
            while (step.kind, name) not in {(each.kind, each.name) for each in await self._objects(step.system, always=False)}:
                if time.monotonic() >= end:
                    raise NothingOutside(f"step {number} ({describe(step)}): there is no {name}")
                await asyncio.sleep(EXTERNAL_READ_SECONDS)
            return Delete(kind=step.kind, name=name)
        return Create(object=ExternalObject(kind=step.kind, name=name, fields=unmarked(step.fields)))

    async def _picked(self, step: Drift, number: int) -> list[Drifting]:
        """What a step does to something that is there."""
        end = time.monotonic() + self._child_seconds
        while len(mine := await self._mine(step)) < abs(step.nth) and time.monotonic() < end:
            await asyncio.sleep(EXTERNAL_READ_SECONDS)
        try:
            name = mine[step.nth - 1 if step.nth > 0 else step.nth].external
        except IndexError:
            raise NothingOutside(f"step {number} ({describe(step)}): the trial has {len(mine)} of the {step.kind} there") from None
        gone = Delete(kind=step.kind, name=name)
        match step.change:
            case "deleted":
                return [gone]
            case "changed":
                return [Change(kind=step.kind, name=name, fields=unmarked(step.fields))]
            case "created":
                return [gone, Create(object=ExternalObject(kind=step.kind, name=name, fields=unmarked(step.fields)))]

    async def _mine(self, step: Drift) -> list[Held]:
        """What belongs to the trial of this kind, by name."""
        await self._objects(step.system, always=False)
        placed = self._bus.scope.place(self._last_states[step.system])
        objects = placed.objects if isinstance(placed, ExternalState) else ()
        return [each for each in objects if each.kind == step.kind and each.namespace == self._bus.scope.namespace]

    async def _await_repair(self, seconds: float) -> None:
        """Ask for nothing meanwhile, and record each change."""
        end = time.monotonic() + seconds
        while self._drifted and time.monotonic() < end:
            for name in dict.fromkeys(system for system, _ in self._drifted):
                if name in self._readable:
                    objects = await self._objects(name, always=False)
                    self._drifted = [(of, each) for of, each in self._drifted if of != name or not each.is_repaired(objects)]
            await asyncio.sleep(EXTERNAL_READ_SECONDS if self._drifted else 0)

    # --- down, slow, up

    async def _turn(self, step: TurnSystem, number: int) -> None:
        system = self._systems[step.system]
        await _turned(system, step)
        self._turned[step.system] = step.state
        at = time.monotonic()
        self._bus.take(SystemTurned(at=at, system=step.system, state=step.state, seconds=step.seconds or 0.0, step=number))


async def _turned(system: RunningSystem, step: TurnSystem) -> None:
    relayed = system.relayed
    match step.state:
        case "down":
            relayed.require(["stop", "start"])
            await relayed.stop()
        case "slow":
            await relayed.slow(step.seconds or 0.0)
        case "up":
            if "start" in relayed.capabilities():
                await relayed.start()
            await relayed.slow(0.0)
