"""A real proxy process before an upstream that says whatever a test wants: what the files about broken upstreams share.

Whatever upstream does, every test ends with the same questions: does the proxy still run, does it still answer, has it called
itself broken?
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from staleproof.core.entry import Broke, Entry
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlane
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import proxy

from .proxy_client import Connection, Watching, until
from .proxy_stage import Lasting, Tape
from .proxy_upstream import Script, Upstream, upstream


@dataclass(frozen=True, slots=True)
class Play:
    """An upstream of our own, a proxy before it, and what that has recorded since the test began."""

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
        """A path that is answered so."""
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
        """Types of frames, or how streams closed, once everything has been told."""
        await self.proxy.fence()
        return [getattr(entry, "type", "") or getattr(entry, "how", "") for entry in self.tape.of(kind)]


class Wilderness:
    """One proxy serves the whole file, unless a test has broken it: then the next one gets another."""

    def __init__(self, folder: Path) -> None:
        self._folders = (folder / str(number) for number in itertools.count())
        self._lasting: Lasting[tuple[Upstream, ControlPlane, Proxy, list[Entry]]] | None = None

    def play(self, body: Callable[[Play], Awaitable[None]]) -> None:
        async def inside(scene: tuple[Upstream, ControlPlane, Proxy, list[Entry]], group: asyncio.TaskGroup) -> None:
            serving, plane, running, recorded = scene
            play = Play(serving, plane, running, Tape(recorded), group)
            try:
                await body(play)
            finally:
                for connection in play.connections:
                    connection.abort()
            await play.proxy.fence()  # it answers, so it does not hang
            assert play.tape.of(Broke) == []
            assert running.process.running, running.process.account()

        if self._lasting is None:
            self._lasting = Lasting(wild_proxy(next(self._folders))).__enter__()
        try:
            self._lasting.play(inside)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._lasting is not None:
            self._lasting.__exit__()
            self._lasting = None


@asynccontextmanager
async def wild_proxy(folder: Path) -> AsyncIterator[tuple[Upstream, ControlPlane, Proxy, list[Entry]]]:
    recorded: list[Entry] = []
    async with (
        upstream(folder / "upstream") as (serving, plane),
        proxy(plane, folder / "proxy", recorded.append, log=folder / "proxy.log") as running,
    ):
        yield serving, plane, running, recorded


@pytest.fixture(scope="module")
def wilderness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wilderness]:
    made = Wilderness(tmp_path_factory.mktemp("wilderness"))
    yield made
    made.close()
