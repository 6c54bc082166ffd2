"""A real proxy process in front of a real kube-apiserver: what the files that test it share, and nothing that they assert.

One control plane and one proxy serve a whole file (`theatre`); every test has a namespace of its own (`Stage`), and sees only the
entries that it has caused.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import aiohttp
import pytest

from staleproof.core.entry import Entry
from staleproof.core.fault import AnyFault
from staleproof.drive.cluster.api import Api, connect
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, Silent, control_plane
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import proxy

from .proxy_client import LIMIT_SECONDS, Connection, Watching, trusting

E = TypeVar("E", bound=Entry)
T = TypeVar("T")


class Tape:
    """The entries since the tape was made, or since it was cleared."""

    def __init__(self, recorded: list[Entry]) -> None:
        self._recorded, self._from = recorded, len(recorded)

    def clear(self) -> None:
        self._from = len(self._recorded)

    @property
    def entries(self) -> list[Entry]:
        return self._recorded[self._from :]

    def of(self, kind: type[E]) -> list[E]:
        return [entry for entry in self.entries if isinstance(entry, kind)]


@dataclass(frozen=True, slots=True)
class Scene:
    """What lives from the first test of a file to the last."""

    plane: ControlPlane
    api: Api
    proxy: Proxy
    recorded: list[Entry]


class Stage:
    """Everything that a test needs, in its own namespace."""

    _numbers = itertools.count(1)

    def __init__(self, scene: Scene, group: asyncio.TaskGroup) -> None:
        self.scene, self.group = scene, group
        self.plane, self.api, self.proxy = scene.plane, scene.api, scene.proxy
        self.namespace = f"test-{next(self._numbers)}"
        self.path = f"/api/v1/namespaces/{self.namespace}/configmaps"
        self._tape = Tape(scene.recorded)
        self._connections: list[Connection] = []

    async def begin(self) -> None:
        await self.proxy.install((), "")
        await self.api.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        self._tape.clear()

    async def end(self) -> None:
        for connection in self._connections:
            connection.abort()
        await self.proxy.install((), "")
        async with asyncio.timeout(LIMIT_SECONDS):
            while await self.open_streams():  # or the next test would be told of their end
                await asyncio.sleep(0.005)

    @property
    def entries(self) -> list[Entry]:
        return self._tape.entries

    def of(self, kind: type[E]) -> list[E]:
        """The entries of this kind that this test has caused."""
        return self._tape.of(kind)

    async def connection(self, *, direct: bool = False, token: str = "", alpn: tuple[str, ...] = ()) -> Connection:
        token = token or self.plane.tokens[CONTROLLER]
        server, ca_file = (self.plane.server, self.plane.ca_file) if direct else (self.proxy.server, self.proxy.ca_file)
        made = Connection(server, ca_file, token, alpn=alpn)
        await made.open()
        self._connections.append(made)
        return made

    async def watch(self, start: str, *, direct: bool = False, query: str = "", on: Connection | None = None) -> Watching:
        connection = on or await self.connection(direct=direct)
        return await self.watch_at(f"{self.path}?watch=1&resourceVersion={start}{query}", on=connection)

    async def watch_at(self, target: str, *, on: Connection | None = None, **headers: str) -> Watching:
        """Any watch, written out."""
        connection = on or await self.connection()
        assert await connection.ask("GET", target, **headers) == 200
        return Watching(connection, self.group)

    async def create(self, name: str, *, size: int = 0) -> str:
        """Directly, so that it is no write of the controller; its resourceVersion."""
        made = await self.api.call("POST", self.path, {"metadata": {"name": name}, "data": {"text": "x" * size}})
        return str(made["metadata"]["resourceVersion"])

    async def revision(self) -> str:
        """The collection's resourceVersion, asked for directly."""
        return str((await self.api.call("GET", f"{self.path}?limit=1"))["metadata"]["resourceVersion"])

    async def told(self) -> None:
        """Return once every entry of what has happened so far is here."""
        await self.proxy.fence()

    async def play(self, *faults: AnyFault) -> None:
        """Install the faults and begin step 1."""
        await self.proxy.install(faults, "")
        await self.proxy.begin_step(1)

    # --- the control API, by hand -------------------------------------------------------------------------------------------------

    @property
    def control_url(self) -> str:
        return self.proxy._control

    @property
    def control_headers(self) -> dict[str, str]:
        return dict(self.proxy._session.headers)

    def control(self, *, token: str = "") -> aiohttp.ClientSession:
        """A session with the control API; with the right token unless another is named."""
        headers = {"Authorization": f"Bearer {token}"} if token else self.control_headers
        return aiohttp.ClientSession(self.control_url.removesuffix("/v1"), headers=headers)

    async def open_streams(self) -> list[tuple[str, int]]:
        """Resource and number of held frames of each open stream."""
        async with self.control() as session, session.get("/v1/healthz") as response:
            return [(stream["resource"], stream["held"]) for stream in (await response.json())["streams"]]


class Lasting(Generic[T]):
    """Something asynchronous that lives in one event loop from the first test of a file to the last."""

    def __init__(self, opened: AbstractAsyncContextManager[T]) -> None:
        self._opened = opened
        self._runner = asyncio.Runner()
        self._leave = asyncio.Event()

    def __enter__(self) -> "Lasting[T]":
        try:
            self._runner.run(self._open())
        except BaseException:
            self._runner.close()
            raise
        return self

    async def _open(self) -> None:
        """It is entered and left by a task of its own: what it opens (task groups, timeouts) belongs to one task."""
        ready = asyncio.Event()
        self._home = asyncio.get_running_loop().create_task(self._live(ready))
        waiting = asyncio.get_running_loop().create_task(ready.wait())
        await asyncio.wait({self._home, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._home.done():
            await self._home

    async def _live(self, ready: asyncio.Event) -> None:
        async with self._opened as self._value:
            ready.set()
            await self._leave.wait()

    def play(self, body: Callable[[T, asyncio.TaskGroup], Awaitable[None]]) -> None:
        async def inside() -> None:
            async with asyncio.timeout(2 * LIMIT_SECONDS), asyncio.TaskGroup() as group:
                await body(self._value, group)

        self._runner.run(inside())

    def __exit__(self, *_: object) -> None:
        async def leave() -> None:
            self._leave.set()
            await self._home

        try:
            self._runner.run(leave())
        finally:
            self._runner.close()


class Theatre:
    """Gives every test its stage."""

    def __init__(self, lasting: Lasting[Scene]) -> None:
        self._lasting = lasting

    def play(self, body: Callable[[Stage], Awaitable[None]]) -> None:
        async def inside(scene: Scene, group: asyncio.TaskGroup) -> None:
            stage = Stage(scene, group)
            await stage.begin()
            try:
                await body(stage)
            finally:
                await stage.end()
            assert scene.proxy.process.running, scene.proxy.process.account()

        self._lasting.play(inside)


@asynccontextmanager
async def scene_in(folder: Path) -> AsyncIterator[Scene]:
    recorded: list[Entry] = []
    async with control_plane(ControlPlaneOptions(), folder / "control-plane", Silent()) as plane:
        headers = {"Authorization": f"Bearer {plane.tokens[RUNNER]}"}
        async with (
            connect(plane.server, trusting(plane.ca_file), headers) as api,
            proxy(plane, folder / "proxy", recorded.append, log=folder / "proxy.log") as running,
        ):
            yield Scene(plane, api, running, recorded)


@pytest.fixture(scope="module")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    with Lasting(scene_in(tmp_path_factory.mktemp("theatre"))) as lasting:
        yield Theatre(lasting)
