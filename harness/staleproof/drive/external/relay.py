"""The relay before external systems, from the harness's side: launched on a leash, given what is to go wrong, and read as it goes.

A relay that dies, or says that a part of it is broken, ends the trial: its calls are counted no more.
"""

import asyncio
import json
import os
import secrets
import shutil
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from staleproof.core.external import CallFault, CallSeen, NotificationFault, Seen, SystemFaults, faults_problem
from staleproof.core.times import ANSWER_SECONDS, GRACE_SECONDS, READY_SECONDS
from staleproof.drive.process.address import LOOPBACK, NEARBY, Reach, free_port
from staleproof.drive.process.process import Command, Process, run_process
from staleproof.drive.programs.cache import cache_root
from staleproof.drive.proxy.client import command
from staleproof.drive.proxy.launch import named_pipe
from staleproof.errors import SetupError, UsageError

_decode = msgspec.json.Decoder(Seen).decode
_FIRST = 0


@dataclass(frozen=True, slots=True)
class Behind:
    """A system that is to be behind a relay: its name, what is spoken with it, and where it is, as HOST:PORT."""

    system: str
    protocol: str
    upstream: str


class Relay:
    """A running relay. `ports` has where clients reach each system by way of it, `host` on which address."""

    def __init__(self, process: Process, ports: dict[str, int], host: str, control: tuple[aiohttp.ClientSession, str]) -> None:
        self.process, self.ports, self.host = process, ports, host
        self._session, self._control = control
        self._calls: dict[str, Counter[str]] = {name: Counter() for name in ports}
        self._faults: dict[str, tuple[CallFault | NotificationFault, ...]] = {}
        self._slow: dict[str, float] = {}
        self._read = _FIRST
        self._lost = False
        self._news = asyncio.Condition()

    async def install(self, system: str, faults: Sequence[CallFault | NotificationFault]) -> None:
        """Replace what goes wrong with a system.

        Raises:
            UsageError: the faults make no sense.
            SetupError: the relay does not answer.
        """
        if problem := faults_problem(faults):
            raise UsageError(f"external system {system}: {problem}")
        self._faults[system] = tuple(faults)
        await self._tell(system)

    async def slow(self, system: str, seconds: float) -> None:
        """Have every call to it answered so late, unless another fault acts on it; 0 ends that."""
        self._slow[system] = seconds
        await self._tell(system)

    async def count(self, system: str) -> Counter[str]:
        """How many calls have come, by what they are counted as."""
        await self._command("GET", "healthz", None)
        return Counter(self._calls[system])

    async def _tell(self, system: str) -> None:
        slow, faults = self._slow.get(system), self._faults.get(system, ())
        last = (CallFault(effect="delay", seconds=slow),) if slow else ()
        await self._command("PUT", "faults", SystemFaults(system=system, faults=(*faults, *last)))

    async def _command(self, method: str, name: str, body: msgspec.Struct | None) -> None:
        """Give a command. When this returns, it has been carried out, and every entry from before it has been taken."""
        try:
            answer: dict[str, Any] = await command(self._session, self._control, method, name, body)
            async with asyncio.timeout(ANSWER_SECONDS), self._news:
                await self._news.wait_for(lambda: self._read >= answer["entries"] or self._lost)
        except (aiohttp.ClientError, TimeoutError) as err:
            raise SetupError(f"the relay does not answer ({err or 'too late'}).\n{self.process.account()}") from err

    async def read(self, on_seen: Callable[[Seen], None], on_end: Callable[[str], None]) -> None:
        """Take what it reports, until cancelled or until it ends; `on_end` gets the reason."""
        rest, why = b"", "it ended its stream of entries"
        try:
            async with self._session.get(f"{self._control}/entries", timeout=aiohttp.ClientTimeout(total=None)) as response:
                async for chunk in response.content.iter_any():
                    *lines, rest = (rest + chunk).split(b"\n")
                    for seen in map(_decode, lines):
                        self._count(seen)
                        on_seen(seen)
                    self._read += len(lines)
                    async with self._news:
                        self._news.notify_all()
        except (aiohttp.ClientError, msgspec.DecodeError) as err:
            why = str(err)
        code = await self.process.stop(grace_seconds=GRACE_SECONDS)  # what is not watched must let no call pass
        on_end(f"the relay ended with code {code} ({why}); see {self.process.command.log}")
        async with self._news:
            self._lost = True
            self._news.notify_all()

    def _count(self, seen: Seen) -> None:
        if isinstance(seen, CallSeen):
            self._calls[seen.system][seen.verb] += 1


@asynccontextmanager
async def relay(
    behind: Sequence[Behind],
    folder: Path,
    on_seen: Callable[[Seen], None],
    on_end: Callable[[str], None],
    *,
    log: Path,
    reach: Reach = NEARBY,
) -> AsyncIterator[Relay]:
    """A relay that listens before these systems, which need not be up. Its files are in `folder`, which is removed in the end.

    Raises:
        SetupError: it cannot be started.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ports = {each.system: free_port() for each in behind}
    token, ready = secrets.token_urlsafe(24), folder / "ready.json"
    try:
        with named_pipe(folder / "config") as (path, pipe):
            async with run_process(_relay_command(path, log), grace_seconds=GRACE_SECONDS) as process:
                os.write(pipe, json.dumps(_config(behind, ports, reach.listen, folder) | {"controlToken": token}).encode() + b"\n")
                await process.ready(_exists(ready), limit_seconds=READY_SECONDS)
                url = f"http://{LOOPBACK}:{json.loads(ready.read_bytes())['controlPort']}/v1"
                headers = {"Authorization": f"Bearer {token}"}
                async with aiohttp.ClientSession(headers=headers, read_bufsize=1 << 20) as session, asyncio.TaskGroup() as group:
                    running = Relay(process, ports, reach.host, (session, url))
                    reading = group.create_task(running.read(on_seen, on_end))
                    try:
                        yield running
                    finally:
                        reading.cancel()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _relay_command(config: Path, log: Path) -> Command:
    compiled = {"PYTHONPYCACHEPREFIX": str(cache_root(os.environ) / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    argv = (sys.executable, "-O", "-m", "staleproof.proxy_addons.external", str(config))
    return Command(name="relay", argv=argv, log=log, env=compiled)


def _config(behind: Sequence[Behind], ports: dict[str, int], host: str, folder: Path) -> dict[str, object]:
    listeners = [
        {"system": each.system, "protocol": each.protocol, "upstream": each.upstream, "host": host, "port": ports[each.system]}
        for each in behind
    ]
    return {"confdir": str(folder / "ca"), "ready": str(folder / "ready.json"), "listeners": listeners}


def _exists(path: Path) -> Callable[[], Any]:
    async def exists() -> bool:
        with suppress(OSError):
            return path.exists()
        return False

    return exists
