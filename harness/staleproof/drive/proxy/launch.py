"""The proxy process: `staleproof.proxy_addons`, started on a leash with its configuration, and ready when it listens."""

import asyncio
import json
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from staleproof.core.entry import Entry
from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlane
from staleproof.drive.process.private import write_private
from staleproof.drive.process.process import Command, Process, run_process
from staleproof.drive.proxy.client import Ports, Proxy

START_SECONDS = 60.0


@asynccontextmanager
async def proxy(plane: ControlPlane, folder: Path, on_entry: Callable[[Entry], None], *, log: Path) -> AsyncIterator[Proxy]:
    """A ready proxy in front of the control plane. Its CA and secrets are in `folder`, which is removed in the end."""
    folder.mkdir(parents=True, exist_ok=True)
    control_token = secrets.token_urlsafe(24)
    config = {
        "tokens": {token: "controller" if user == CONTROLLER else user for user, token in plane.tokens.items()},
        "controlToken": control_token,
    }
    try:
        async with (
            proxy_process(plane.access(CONTROLLER), config, folder, log=log) as (process, ports),
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {control_token}"}, read_bufsize=1 << 20) as session,
            asyncio.TaskGroup() as group,
        ):
            running = Proxy(process, folder, ports, session)
            reading = group.create_task(running.read_entries(on_entry))
            try:
                yield running
            finally:
                reading.cancel()
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # its CA's key and the tokens


@asynccontextmanager
async def proxy_process(
    upstream: Access, config: Mapping[str, object], folder: Path, *, log: Path
) -> AsyncIterator[tuple[Process, Ports]]:
    """A proxy that listens, in front of an API server. `config` adds to its configuration; `folder` takes all its files. SetupError
    when it does not start."""
    ready, config_file = folder / "ready.json", folder / "config.json"
    common = {
        "upstream": upstream.server,
        "upstreamCa": str(upstream.ca_file.resolve()) if upstream.ca_file else "",
        "clientCertificate": str(upstream.client_certificate or ""),
        "confdir": str(folder / "ca"),
        "ready": str(ready),
    }
    write_private(config_file, json.dumps({**common, **config}).encode())
    argv = (sys.executable, "-O", "-m", "staleproof.proxy_addons", str(config_file))

    async def listens() -> bool:
        return ready.exists()

    async with run_process(Command(name="proxy", argv=argv, log=log), grace_seconds=5.0) as process:
        await process.ready(listens, limit_seconds=START_SECONDS)
        found = json.loads(ready.read_bytes())
        yield process, Ports(found["port"], found["controlPort"])
