"""A real proxy process in front of an upstream that says whatever a test wants: what the files about broken upstreams share.

Whatever upstream does, every test ends with the same questions: does the proxy still run, does it still answer, has it called
itself broken?
"""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from staleproof.core.history.entry import Broke, Entry
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlane
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import proxy

from .proxy_client import Connection, Watching, until
from .proxy_upstream import Script, Upstream, upstream
from .stage import Tape


@dataclass(frozen=True, slots=True)
class Play:
    """An upstream of our own, a proxy in front of it, and what the proxy has recorded since the test began."""

    upstream: Upstream
    plane: ControlPlane
    proxy: Proxy
    tape: Tape
    group: asyncio.TaskGroup
    connections: list[Connection] = field(default_factory=list)

    async def connection(self) -> Connection:
        made = Connection(self.proxy.server, self.proxy.ca_file, self.plane.tokens[CONTROLLER])
        await made.open()
        self.connections.append(made)
        return made

    def expect(self, script: Script) -> str:
        """A path that is answered by this script."""
        path = f"/api/v1/namespaces/n{len(self.upstream.answers)}/configmaps"
        self.upstream.answers[path] = script
        return path

    async def watch(self, script: Script) -> tuple[int, Watching]:
        client = await self.connection()
        status = await client.ask("GET", f"{self.expect(script)}?watch=1&resourceVersion=5")
        return status, Watching(client, self.group)

    async def arrival_at(self, path: str) -> None:
        await until(lambda: any(request.path == path for request in self.upstream.requests))

    async def recorded(self, kind: type[Entry]) -> list[str]:
        """The types of frames, or how streams closed, once every entry has arrived."""
        await self.proxy.fence()
        return [getattr(entry, "type", "") or getattr(entry, "how", "") for entry in self.tape.of(kind)]


Scene = tuple[Upstream, ControlPlane, Proxy, list[Entry]]


class Wilderness:
    """One proxy serves the whole file, unless a test has broken it: then the next test gets another."""

    def __init__(self, folder: Path) -> None:
        self._folders = (folder / str(number) for number in itertools.count())
        self._stack = AsyncExitStack()
        self._scene: Scene | None = None

    async def scene(self) -> Scene:
        if self._scene is None:
            self._scene = await self._stack.enter_async_context(wild_proxy(next(self._folders)))
        return self._scene

    async def close(self) -> None:
        self._scene = None
        await self._stack.aclose()


@asynccontextmanager
async def wild_proxy(folder: Path) -> AsyncIterator[Scene]:
    recorded: list[Entry] = []
    async with (
        upstream(folder / "upstream") as (serving, plane),
        proxy(plane, folder / "proxy", recorded.append, log=folder / "proxy.log") as running,
    ):
        yield serving, plane, running, recorded


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wilderness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wilderness]:
    made = Wilderness(tmp_path_factory.mktemp("wilderness"))
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="module")
async def play(wilderness: Wilderness) -> AsyncIterator[Play]:
    serving, plane, running, recorded = await wilderness.scene()
    async with asyncio.TaskGroup() as group:
        found = Play(serving, plane, running, Tape(recorded), group)
        yield found
        for connection in found.connections:
            connection.abort()
    try:
        await running.fence()  # it answers, so it does not hang
        assert found.tape.of(Broke) == []
        assert running.process.running, running.process.account()
    except BaseException:
        await wilderness.close()
        raise
