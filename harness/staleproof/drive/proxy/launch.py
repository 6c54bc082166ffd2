"""The proxy process: `staleproof.proxy_addons`, started on a leash, given its configuration, and ready when it listens.

Most of a start is spent on loading mitmproxy, for which nothing need be known: a proxy can be started before its API server has an
address. Its configuration comes through a named pipe, so its tokens are never on a disk.
"""

import asyncio
import json
import os
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import aiohttp

from staleproof.core.history.entry import Entry
from staleproof.core.times import GRACE_SECONDS, READY_SECONDS
from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.control_plane import CONTROLLER, NO_TOKEN, RUNNER, ControlPlane
from staleproof.drive.process.address import LOOPBACK, NEARBY, Reach
from staleproof.drive.process.process import Command, Process, run_process
from staleproof.drive.programs.cache import cache_root
from staleproof.drive.proxy.client import Ports, Proxy


@dataclass(frozen=True, slots=True)
class LoadingProxy:
    """A proxy process that loads its libraries; all its files are in `folder`."""

    process: Process
    folder: Path
    _pipe: int
    _control_token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def tell(self, upstream: Access, config: Mapping[str, object]) -> None:
        """Tell it about its API server, and the rest of its configuration. It begins to listen as soon as it can."""
        common = {
            "upstream": upstream.server,
            "upstreamCa": str(upstream.ca_file.resolve()) if upstream.ca_file else "",
            "clientCertificate": str(upstream.client_certificate or ""),
            "confdir": str(self.folder / "ca"),
            "ready": str(self._ready),
            "controlToken": self._control_token,
        }
        os.write(self._pipe, json.dumps({**common, **config}).encode() + b"\n")

    def tell_of(self, plane: ControlPlane, reach: Reach = NEARBY, programs: Mapping[str, str] | None = None) -> None:
        """Tell it about a control plane and the users that are known there, and how the controller reaches it. `programs`: the
        tokens of the subject's further programs, by name."""
        tokens = {token: "controller" if user == CONTROLLER else user for user, token in plane.tokens.items()}
        tokens |= {} if tokens else {NO_TOKEN: "controller"}
        rival = plane.tokens.get(RUNNER, "")
        further = {token: name for name, token in (programs or {}).items()}
        config = {"tokens": tokens, "rivalToken": rival, "listenHost": reach.listen, "host": reach.host}
        self.tell(plane.access(CONTROLLER), {**config, "programs": further, "controllerToken": plane.tokens.get(CONTROLLER, "")})

    async def listens(self) -> Ports:
        """Wait until it listens; where. SetupError when it does not."""

        async def is_written() -> bool:
            return self._ready.exists()

        await self.process.ready(is_written, limit_seconds=READY_SECONDS)
        found = json.loads(self._ready.read_bytes())
        return Ports(found["port"], found["controlPort"])

    @asynccontextmanager
    async def driven(self, on_entry: Callable[[Entry], None], *, host: str = LOOPBACK) -> AsyncIterator[Proxy]:
        """The proxy, which listens, with its entries being read; `host` is what clients know it as. SetupError when it does not
        listen."""
        ports, headers = replace(await self.listens(), host=host), {"Authorization": f"Bearer {self._control_token}"}
        async with aiohttp.ClientSession(headers=headers, read_bufsize=1 << 20) as session, asyncio.TaskGroup() as group:
            running = Proxy(self.process, self.folder, ports, session)
            reading = group.create_task(running.read_entries(on_entry))
            try:
                yield running
            finally:
                reading.cancel()
                await self.process.stop(grace_seconds=GRACE_SECONDS)  # before its API server goes

    @property
    def _ready(self) -> Path:
        return self.folder / "ready.json"


@asynccontextmanager
async def loading_proxy(folder: Path, *, log: Path) -> AsyncIterator[LoadingProxy]:
    """A proxy process that loads its libraries. Its CA and secrets are in `folder`, which is removed in the end. SetupError when it
    cannot be started."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with named_pipe(folder / "config") as (path, pipe):
            argv = (sys.executable, "-O", "-m", "staleproof.proxy_addons", str(path))
            # So Python compiles mitmproxy once and not at each start: packages are installed without the bytecode of `-O`, and in
            # many containers none may be written beside them.
            compiled = {"PYTHONPYCACHEPREFIX": str(cache_root(os.environ) / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
            command = Command(name="proxy", argv=argv, log=log, env=compiled)
            async with run_process(command, grace_seconds=GRACE_SECONDS) as process:
                yield LoadingProxy(process, folder, pipe)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # its CA's key and the tokens


@asynccontextmanager
async def proxy(plane: ControlPlane, folder: Path, on_entry: Callable[[Entry], None], *, log: Path) -> AsyncIterator[Proxy]:
    """A ready proxy in front of a control plane that is there already."""
    async with loading_proxy(folder, log=log) as loading:
        loading.tell_of(plane)
        async with loading.driven(on_entry) as running:
            yield running


@contextmanager
def named_pipe(path: Path) -> Iterator[tuple[Path, int]]:
    """A pipe that only this user can open, and its end for writing, which needs no reader yet."""
    os.mkfifo(path, 0o600)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        yield path, pipe
    finally:
        os.close(pipe)
