"""A proxy process of our own making: the product's, with a few lines of Python that change it before it starts.

For what no configuration offers: a small bound, a self-check that excuses nothing, a hook that fails.
"""

import asyncio
import json
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from staleproof.core.history.entry import Entry
from staleproof.drive.cluster.control_plane import CONTROLLER
from staleproof.drive.process.private import write_private
from staleproof.drive.process.process import Command, Process
from staleproof.drive.proxy.client import Ports, Proxy

from .proxy_client import LIMIT_SECONDS
from .proxy_stage import ProxyStage, Scene, on_stage

_MAIN = """
import staleproof.proxy_addons.__main__ as product
{planted}
product.main()
"""


@asynccontextmanager
async def planted_proxy(stage: ProxyStage, folder: Path, planted: str = "") -> AsyncIterator[ProxyStage]:
    """Another stage before the same API server; its proxy has been changed by these lines, and may end before the test does."""
    script, ready, token = folder / "planted.py", folder / "ready.json", secrets.token_urlsafe(24)
    script.write_text(_MAIN.format(planted=planted))
    config = {
        "upstream": stage.plane.server,
        "upstreamCa": str(stage.plane.ca_file),
        "confdir": str(folder / "ca"),
        "tokens": {stage.plane.tokens[CONTROLLER]: "controller"},
        "controlToken": token,
        "ready": str(ready),
    }
    write_private(folder / "config.json", json.dumps(config).encode())
    argv = (sys.executable, "-O", str(script), str(folder / "config.json"))
    process = await Process.start(Command(name="proxy", argv=argv, log=folder / "proxy.log"))

    async def written() -> bool:
        return ready.exists()

    try:
        await process.ready(written, limit_seconds=LIMIT_SECONDS)
        found = json.loads(ready.read_bytes())
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(headers=headers, read_bufsize=1 << 20) as session, asyncio.TaskGroup() as group:
            running, recorded = Proxy(process, folder, Ports(found["port"], found["controlPort"]), session), list[Entry]()
            reading = group.create_task(running.read_entries(recorded.append))
            try:
                async with on_stage(Scene(stage.plane, stage.api, running, recorded)) as other:
                    yield other
            finally:
                reading.cancel()
    finally:
        await process.stop(grace_seconds=5.0)
