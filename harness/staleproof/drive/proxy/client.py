"""The control API of a proxy, from the runner's side: reads entries as they happen, gives commands.

A proxy that dies, or says that it is broken, ends the trial, which then proves nothing.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from staleproof.core.control import InstallPlan, Release, SeverStreams, Step
from staleproof.core.fault import AnyFault
from staleproof.core.fault.legality import Contract
from staleproof.core.history.entry import Broke, Entry
from staleproof.core.times import ANSWER_SECONDS, GRACE_SECONDS
from staleproof.drive.process.address import LOOPBACK
from staleproof.drive.process.process import Process
from staleproof.errors import HarnessBug, SetupError

_decode = msgspec.json.Decoder(Entry).decode


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a proxy listens: for clients of the API server, which know it as `host`, and for commands."""

    port: int
    control: int
    host: str = LOOPBACK


def ca_file(folder: Path) -> Path:
    """The CA certificate of a proxy whose files are in this folder."""
    return folder / "ca" / "mitmproxy-ca-cert.pem"


class Proxy:
    """A running proxy. `server` and `ca_file` are what a controller's kubeconfig needs."""

    def __init__(self, process: Process, folder: Path, ports: Ports, session: aiohttp.ClientSession) -> None:
        self.process = process
        self.server = f"https://{ports.host}:{ports.port}"
        self.ca_file = ca_file(folder)
        self._control = f"http://{LOOPBACK}:{ports.control}/v1"
        self._session = session
        self._read = 0
        self._lost = False
        self._news = asyncio.Condition()

    async def install(self, faults: tuple[AnyFault, ...], namespace: str, *, contract: Contract = "legal") -> None:
        """Replace the plan. The first entries after it tell which streams are open."""
        await self._command("PUT", "plan", InstallPlan(faults, namespace, contract, runner=True))

    async def begin_step(self, step: int, *, revision: int | None = None) -> None:
        """Begin a step: faults open and close by its number. `revision` is the API server's now, for a plan that shows this moment
        later."""
        await self._command("POST", "step", Step(step, revision))

    async def release(self) -> None:
        """End all faults; what was withheld is delivered."""
        await self._command("POST", "release", Release())

    async def expire(self, resource: str) -> int:
        """End the controller's streams of this resource with 410; the number of streams."""
        return int((await self._command("POST", "sever", SeverStreams(resource, "expired")))["streams"])

    async def fence(self) -> None:
        """Wait until every entry that the proxy has made by now has been taken."""
        await self._command("GET", "healthz", None)

    async def _command(self, method: str, name: str, body: msgspec.Struct | None) -> dict[str, Any]:
        """Give a command. When this returns, it has been carried out, and every entry that it caused has been taken.

        Raises:
            HarnessBug: the proxy refuses it.
            SetupError: the proxy does not answer.
        """
        try:
            answer = await command(self._session, self._control, method, name, body)
            async with asyncio.timeout(ANSWER_SECONDS), self._news:
                await self._news.wait_for(lambda: self._read >= answer["entries"] or self._lost)
        except (aiohttp.ClientError, TimeoutError) as err:
            raise SetupError(f"the proxy does not answer ({err or 'too late'}).\n{self.process.account()}") from err
        return answer

    async def read_entries(self, on_entry: Callable[[Entry], None]) -> None:
        """Take entries as they happen, until cancelled or until the proxy ends, which becomes an entry, too."""
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
        code = await self.process.stop(grace_seconds=GRACE_SECONDS)  # a proxy that is not watched must not let traffic pass
        why = f"the proxy ended with code {code} ({why}); see {self.process.command.log}"
        on_entry(Broke(at=time.monotonic(), where="proxy", why=why))
        async with self._news:
            self._lost = True
            self._news.notify_all()


async def command(
    session: aiohttp.ClientSession, control: str, method: str, name: str, body: msgspec.Struct | None
) -> dict[str, Any]:
    """Make a call below the URL `control`; the answer. HarnessBug when the proxy refuses it."""
    data = None if body is None else msgspec.json.encode(body)
    async with session.request(method, f"{control}/{name}", data=data) as response:
        answer: dict[str, Any] = await response.json()
        if response.status != 200:
            raise HarnessBug(f"the proxy refused {name}: {answer}")
        return answer
