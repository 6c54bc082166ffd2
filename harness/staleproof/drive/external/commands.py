"""Any system that the user's own commands can read and change, as an external system: processes, containers, files, an appliance.

`read` prints a line for each thing in it, a JSON object with `kind`, `name` and `fields`. The others change one thing, and are done
when they have ended. Without a URL the controller reaches the system by itself, so that its calls are neither counted nor go wrong.
"""

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from staleproof.core.declared import DeclaredCommands, seconds
from staleproof.core.external import Change, Create, Delete, Drift, ExternalObject, target
from staleproof.drive.external.http_service import HTTPService
from staleproof.drive.external.system import ExternalSystem
from staleproof.errors import SetupError, UsageError

_MOST = 300
"""Characters of what a command has printed, in a message."""
_decode = msgspec.json.Decoder(ExternalObject).decode


class Commands(ExternalSystem):
    """`service`: what the controller calls; None: nothing of it is known."""

    kind: ClassVar[str] = "command"

    def __init__(self, declared: DeclaredCommands, service: HTTPService | None) -> None:
        self.name, self._declared, self._service = declared.name, declared, service
        self._seconds = seconds(declared.answers)
        self.bare = declared.bare if declared.change else {}
        self.is_shared = not declared.command
        if service is not None:
            self.protocol, self.upstream, self.url = service.protocol, service.upstream, service.url

    def url_at(self, host: str, port: int) -> str:
        return self._service.url_at(host, port) if self._service else ""

    def capabilities(self) -> frozenset[str]:
        """What there are commands for: to change something is to delete it, at least."""
        declared = self._declared
        turns = {"stop", "start"} if (declared.stop and declared.start) or self._has_program else set[str]()
        return frozenset({"read_state"} | turns | ({"drift"} if declared.delete else set[str]()))

    @property
    def _has_program(self) -> bool:
        return self._service is not None and "start" in self._service.capabilities()

    async def read_state(self) -> tuple[ExternalObject, ...]:
        printed = await self._run("read", self._declared.read, {})
        found = [self._read(number, line) for number, line in enumerate(printed.splitlines(), 1) if line.strip()]
        return tuple(sorted(found, key=lambda each: (each.kind, each.name)))

    def _read(self, number: int, line: bytes) -> ExternalObject:
        try:
            return _decode(line)
        except msgspec.DecodeError as err:
            raise UsageError(
                f"external system {self.name}: line {number} of what `read` prints is no JSON object with kind, name and fields "
                f"({err}): {_short(line)}"
            ) from err

    async def drift(self, drift: Drift) -> None:
        kind, name = target(drift)
        match drift:
            case Create(object=ExternalObject(fields=fields)):
                await self._change("create", self._declared.create, kind, name, fields)
            case Change(fields=fields):
                await self._change("change", self._declared.change, kind, name, fields)
            case Delete():
                await self._change("delete", self._declared.delete, kind, name, {})

    async def _change(self, what: str, argv: Sequence[str], kind: str, name: str, fields: Mapping[str, Any]) -> None:
        if not argv:
            raise UsageError(
                f"external system {self.name}: a step needs to {what} something, and there is no command for that; declare "
                f"`{what}`, or leave the step out"
            )
        await self._run(what, argv, {"{kind}": kind, "{name}": name, "{fields}": json.dumps(fields)})

    async def stop(self) -> None:
        if self._declared.stop:
            await self._run("stop", self._declared.stop, {})
        elif self._service is not None:
            await self._service.stop()
        else:
            self._lacks("stop")

    async def start(self) -> None:
        if self._declared.start:
            await self._run("start", self._declared.start, {})
        elif self._service is not None:
            await self._service.start()
        else:
            self._lacks("start")

    async def _run(self, what: str, argv: Sequence[str], words: Mapping[str, str]) -> bytes:
        """What it prints. SetupError when it cannot be started, is too slow, or says by its code that it has failed."""
        for placeholder, value in words.items():
            argv = [each.replace(placeholder, value) for each in argv]
        where = f"external system {self.name}: the command for `{what}` ({_short(argv[0].encode())})"
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
        except OSError as err:
            raise SetupError(f"{where} cannot be started: {os.strerror(err.errno or 0)}") from err
        try:
            async with asyncio.timeout(self._seconds):
                printed, complaint = await process.communicate()
        except TimeoutError as err:
            raise SetupError(f"{where} took longer than {self._seconds:g} s; make it quicker, or say `answers`") from err
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode != 0:
            raise SetupError(f"{where} ended with code {process.returncode}: {_short(complaint or printed) or 'it said nothing'}")
        return printed


def _short(printed: bytes) -> str:
    text = " ".join(printed.decode(errors="replace").split())
    return text if len(text) <= _MOST else f"…{text[-_MOST:]}"
