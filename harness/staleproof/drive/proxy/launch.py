"""The proxy process and its control API, from the runner's side.

Starts `staleproof.proxy_addons` on a leash, reads its entries as they happen, gives it commands. A proxy that dies or that says it
is broken ends the trial as proving nothing.
"""

import asyncio
import json
import secrets
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from staleproof.core.control import InstallPlan, Release, SeverStreams, Step
from staleproof.core.entry import Broke, Entry
from staleproof.core.fault import AnyFault
from staleproof.core.fault.legality import Contract
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlane
from staleproof.drive.cluster.control_plane.plane import write_private
from staleproof.drive.process.process import Command, Process
from staleproof.errors import HarnessBug, SetupError

START_SECONDS = 60.0
COMMAND_SECONDS = 60.0
_decode = msgspec.json.Decoder(Entry).decode


@dataclass(frozen=True, slots=True)
class Ports:
    port: int
    control: int


class Proxy:
    """A running proxy. `server` and `ca_file` are what a controller's kubeconfig needs."""

    def __init__(self, process: Process, folder: Path, ports: Ports, session: aiohttp.ClientSession) -> None:
        self.process = process
        self.server = f"https://127.0.0.1:{ports.port}"
        self.ca_file = folder / "ca" / "mitmproxy-ca-cert.pem"
        self._control = f"http://127.0.0.1:{ports.control}/v1"
        self._session = session
        self._read = 0
        self._lost = False
        self._news = asyncio.Condition()

    async def install(self, faults: tuple[AnyFault, ...], namespace: str, *, contract: Contract = "legal") -> None:
        """Replace the plan; entries of its open streams come first."""
        await self._command("PUT", "plan", InstallPlan(faults, namespace, contract, runner=True))

    async def begin_step(self, step: int, *, revision: int | None = None) -> None:
        """Faults open and close by its number. `revision` is the API server's now, for a plan that shows this moment later."""
        await self._command("POST", "step", Step(step, revision))

    async def release(self) -> None:
        await self._command("POST", "release", Release())

    async def expire(self, resource: str) -> int:
        """End the controller's streams of this resource with 410; how many there were."""
        return int((await self._command("POST", "sever", SeverStreams(resource, "expired")))["streams"])

    async def fence(self) -> None:
        """Wait until every entry that the proxy has made by now has been taken."""
        await self._command("GET", "healthz", None)

    async def _command(self, method: str, name: str, body: msgspec.Struct | None) -> dict[str, Any]:
        """A command, and every entry that it caused: both have happened when this returns."""
        data = None if body is None else msgspec.json.encode(body)
        try:
            async with self._session.request(method, f"{self._control}/{name}", data=data) as response:
                answer: dict[str, Any] = await response.json()
                if response.status != 200:
                    raise HarnessBug(f"the proxy refused {name}: {answer}")
            async with asyncio.timeout(COMMAND_SECONDS), self._news:
                await self._news.wait_for(lambda: self._read >= answer["entries"] or self._lost)
        except (aiohttp.ClientError, TimeoutError) as err:
            raise SetupError(f"the proxy does not answer ({err or 'too late'}).\n{self.process.account()}") from err
        return answer

    async def read_entries(self, on_entry: Callable[[Entry], None]) -> None:
        """Take entries as they happen, until cancelled or until the proxy ends, which is told as an entry too."""
        rest = b""
        try:
            async with self._session.get(f"{self._control}/entries", timeout=aiohttp.ClientTimeout(total=None)) as response:
                async for chunk in response.content.iter_any():
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        on_entry(_decode(line))
                    self._read += len(lines)
                    async with self._news:
                        self._news.notify_all()
            why = "it ended its stream of entries"
        except (aiohttp.ClientError, msgspec.DecodeError) as err:
            why = str(err)
        code = await self.process.stop(grace_seconds=5.0)  # a proxy that is not watched must not let traffic pass
        why = f"the proxy ended with code {code} ({why}); see {self.process.command.log}"
        on_entry(Broke(at=time.monotonic(), where="proxy", why=why))
        async with self._news:
            self._lost = True
            self._news.notify_all()


@asynccontextmanager
async def proxy(plane: ControlPlane, folder: Path, on_entry: Callable[[Entry], None], *, log: Path) -> AsyncIterator[Proxy]:
    """A ready proxy in front of the control plane; its CA and secrets are in `folder`, which is removed in the end."""
    folder.mkdir(parents=True, exist_ok=True)
    control_token, ready = secrets.token_urlsafe(24), folder / "ready.json"
    config = {
        "upstream": plane.server,
        "upstreamCa": str(plane.ca_file),
        "clientCertificate": str(plane.client_certificate or ""),
        "confdir": str(folder / "ca"),
        "tokens": {token: "controller" if user == CONTROLLER else user for user, token in plane.tokens.items()},
        "controlToken": control_token,
        "ready": str(ready),
    }
    write_private(folder / "config.json", json.dumps(config).encode())
    argv = (sys.executable, "-O", "-m", "staleproof.proxy_addons", str(folder / "config.json"))
    process = await Process.start(Command(name="proxy", argv=argv, log=log))
    try:
        await process.ready(lambda: _exists(ready), limit_seconds=START_SECONDS)
        found = json.loads(ready.read_bytes())
        headers = {"Authorization": f"Bearer {control_token}"}
        async with (
            aiohttp.ClientSession(headers=headers, read_bufsize=1 << 20) as session,
            asyncio.TaskGroup() as group,
        ):
            running = Proxy(process, folder, Ports(found["port"], found["controlPort"]), session)
            reading = group.create_task(running.read_entries(on_entry))
            try:
                yield running
            finally:
                reading.cancel()
    finally:
        await process.stop(grace_seconds=5.0)
        shutil.rmtree(folder, ignore_errors=True)  # its CA's key and the tokens


async def _exists(path: Path) -> bool:
    return path.exists()
