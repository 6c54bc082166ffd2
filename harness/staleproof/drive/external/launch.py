"""The external systems of a run: started as they are declared, each behind the relay, and stopped when the block is left."""

import importlib.util
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import structs

from staleproof.core.declared import (
    FOLDER,
    PORT,
    AnyDeclared,
    DeclaredCommands,
    DeclaredHTTP,
    DeclaredOwn,
    DeclaredPostgreSQL,
    DeclaredS3,
)
from staleproof.core.external import Delete, ExternalObject
from staleproof.core.history.entry import Entry
from staleproof.drive.external.commands import Commands
from staleproof.drive.external.http_service import HTTPService
from staleproof.drive.external.postgresql import postgresql
from staleproof.drive.external.recording import ExternalRecording
from staleproof.drive.external.relay import relay
from staleproof.drive.external.relayed import Relayed, behind
from staleproof.drive.external.s3 import S3
from staleproof.drive.external.system import ExternalSystem
from staleproof.drive.external.turns import alone_at
from staleproof.drive.process.address import Reach, free_port
from staleproof.drive.process.process import Command
from staleproof.errors import SetupError, UsageError

LOG = "relay.log"
_COMMANDS = ("read", "create", "change", "delete", "stop", "start", "command")


@dataclass(frozen=True, slots=True)
class RunningSystem:
    """One that runs. `base`: what it held before any trial; None when its adapter cannot tell."""

    declared: AnyDeclared
    relayed: Relayed
    base: tuple[ExternalObject, ...] | None

    async def reset(self) -> None:
        """As before any trial: up, in time, without faults, and without what a trial left there.

        What others depend on goes after them. What was there before any trial and is gone, or changed, stays so.
        """
        await self.relayed.install(())
        await self.relayed.slow(0.0)
        if "start" in self.relayed.capabilities():
            await self.relayed.start()
        while self.base is not None and "drift" in self.relayed.capabilities():
            kept = {(each.kind, each.name) for each in self.base}
            left = [each for each in await self.relayed.read_state() if (each.kind, each.name) not in kept]
            if not await self._remove(left):
                return

    async def _remove(self, left: Sequence[ExternalObject]) -> bool:
        """Whether any of them could be removed."""
        removed = False
        for each in left:
            try:
                await self.relayed.drift(Delete(kind=each.kind, name=each.name))
                removed = True
            except UsageError:  # something else depends on it, or it has gone meanwhile
                continue
        return removed


@dataclass(frozen=True, slots=True)
class RunningSystems:
    """All of them, by name. `recording` puts what happens there on the bus."""

    systems: Mapping[str, RunningSystem] = field(default_factory=dict)
    recording: ExternalRecording | None = None

    def __getitem__(self, name: str) -> RunningSystem:
        """UsageError when there is none of that name."""
        if name not in self.systems:
            there = ", ".join(sorted(self.systems)) or "none is declared"
            raise UsageError(f"there is no external system {name!r}; there are: {there} (external: in staleproof.yaml)")
        return self.systems[name]

    def prefer(self, primaries: Sequence[str]) -> None:
        """A trial begins with these: what mentions one of them is about it, rather than about what has the same name."""
        if self.recording is not None:
            self.recording.prefer(primaries)

    def see(self, entry: Entry) -> None:
        """A listener of the bus."""
        if self.recording is not None:
            self.recording.see(entry)

    @property
    def alone(self) -> AbstractAsyncContextManager[None]:
        """Within it, no other process has those of the systems that are shared."""
        return alone_at(_place(each.relayed) for each in self.systems.values() if each.relayed.is_shared)

    async def reset(self) -> None:
        """As before any trial."""
        for each in self.systems.values():
            await each.reset()

    @property
    def env(self) -> dict[str, str]:
        """The controller's variables for them: URLs by way of the relay, with what is secret in them."""
        return {each.declared.env: each.relayed.url for each in self.systems.values() if each.relayed.url}

    @property
    def secrets(self) -> list[str]:
        """What must not be written down."""
        found = (urlsplit(url).password for url in self.env.values())
        return [text for password in found if password for text in dict.fromkeys((password, unquote(password)))]


@asynccontextmanager
async def running_systems(
    declared: Sequence[AnyDeclared], folder: Path, private: Path, take: Callable[[Entry], None], reach: Reach
) -> AsyncIterator[RunningSystems]:
    """Have them run. `folder` gets the logs, `private` what is secret, `take` what happens.

    Raises:
        UsageError: one is not declared as it should be.
        SetupError: one cannot be started, or does not answer.
    """
    if not declared:
        yield RunningSystems()
        return
    recording = ExternalRecording(take)
    async with AsyncExitStack() as stack:
        systems = [await stack.enter_async_context(_system(each, folder)) for each in declared]
        spoken = [behind(each) for each in systems if each.protocol]
        listening = relay(spoken, private / "relay", recording.seen, recording.ended, log=folder / LOG, reach=reach)
        before = await stack.enter_async_context(listening) if spoken else None
        running = {
            each.name: RunningSystem(each, Relayed(system, before if system.protocol else None), await _base(system))
            for each, system in zip(declared, systems, strict=True)
        }
        yield RunningSystems(running, recording)


async def _base(system: ExternalSystem) -> tuple[ExternalObject, ...] | None:
    if "read_state" not in system.capabilities():
        return None
    async with alone_at([_place(system)] if system.is_shared else []):
        return await system.read_state()


def _place(system: ExternalSystem) -> str:
    """What tells it apart from others on this machine."""
    return system.upstream or system.name


def _system(declared: AnyDeclared, folder: Path) -> AbstractAsyncContextManager[ExternalSystem]:
    match declared:
        case DeclaredPostgreSQL(name=name, programs=programs):
            return postgresql(name, programs=Path(programs) if programs else None)
        case DeclaredHTTP() | DeclaredS3():
            return _service(declared, folder)
        case DeclaredCommands():
            return _commands(declared, folder)
        case DeclaredOwn():
            return _own(declared)


@asynccontextmanager
async def _commands(declared: DeclaredCommands, folder: Path) -> AsyncIterator[ExternalSystem]:
    mine = folder / f"external-{declared.name}"
    mine.mkdir(parents=True, exist_ok=True)
    given = _filled(declared, {PORT: str(free_port()), FOLDER: str(mine)})
    if not given.url:
        yield Commands(given, None)
        return
    http = DeclaredHTTP(name=given.name, url=given.url, command=given.command)
    async with _service(http, folder) as service:
        yield Commands(given, service)


def _filled(declared: DeclaredCommands, words: Mapping[str, str]) -> DeclaredCommands:
    """With what stands for the placeholders in its commands and its URL."""

    def filled(text: str) -> str:
        for placeholder, word in words.items():
            text = text.replace(placeholder, word)
        return text

    commands = {name: tuple(map(filled, getattr(declared, name))) for name in _COMMANDS}
    return structs.replace(declared, url=filled(declared.url), **commands)


@asynccontextmanager
async def _service(declared: DeclaredHTTP | DeclaredS3, folder: Path) -> AsyncIterator[HTTPService]:
    kind = S3 if isinstance(declared, DeclaredS3) else HTTPService
    program, port = None, str(free_port())
    url, argv = declared.url.replace(PORT, port), tuple(each.replace(PORT, port) for each in declared.command)
    if argv:
        log = folder / f"external-{declared.name}.log"
        program = Command(name=f"the external system {declared.name}", argv=argv, log=log)
    system = kind(declared.name, url, program)
    if program is not None and await system.is_open():
        raise SetupError(
            f"external system {declared.name}: something listens at {system.upstream} already, so `command` cannot start it there: "
            f"write {PORT} in `url` and in `command`, which is a free port for each worker; or leave `command` out, if the service "
            f"is to be shared"
        )
    if program is None:
        if not await system.is_open():
            raise SetupError(
                f"external system {declared.name}: nothing listens at {system.upstream}; start it, or say with `command` how "
                f"staleproof starts it"
            )
        yield system
        return
    try:
        await system.start()
        yield system
    finally:
        await system.stop()


@asynccontextmanager
async def _own(declared: DeclaredOwn) -> AsyncIterator[ExternalSystem]:
    path, _, name = declared.adapter.rpartition(":")
    make = getattr(_module(declared, Path(path)), name, None)
    if make is None:
        raise UsageError(f"external system {declared.name}: {path} has no {name}")
    async with make(declared.name) as system:
        if not isinstance(system, ExternalSystem):
            raise UsageError(
                f"external system {declared.name}: {declared.adapter} made {type(system).__name__}; an adapter is an "
                f"ExternalSystem (staleproof.drive.external.system)"
            )
        system.name = declared.name
        yield system


def _module(declared: DeclaredOwn, path: Path) -> object:
    """The user's file, as a module."""
    called = f"staleproof_adapter_{declared.name}"
    spec = importlib.util.spec_from_file_location(called, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"external system {declared.name}: there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[called] = module
    spec.loader.exec_module(module)
    return module
