"""A real proxy process in front of a real kube-apiserver: what the files that test it share, and nothing that they assert.

One proxy serves a whole file (`scene`); every test has a namespace of its own (`stage`), and sees only what it has caused itself.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
import pytest
import pytest_asyncio

from staleproof.core.fault import AnyFault
from staleproof.core.fault.legality import Contract
from staleproof.core.history.entry import Answered, Broke, Entry, FaultFired, FaultMissed, FaultRefused
from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlane
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import proxy

from .proxy_client import LIMIT_SECONDS, Connection, Watching, until
from .stage import Stage

DEPLOYMENT_SPEC = {
    "replicas": 1,
    "selector": {"matchLabels": {"app": "a"}},
    "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "main", "image": "sample"}]}},
}


def named(name: str, **fields: object) -> dict[str, Any]:
    """A manifest without kind: the path says it."""
    return {"metadata": {"name": name}, **fields}


def numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}-{number:04}" for number in range(count)]


@dataclass(frozen=True, slots=True)
class Scene:
    """What lives from the first test of a file to the last."""

    plane: ControlPlane
    api: Api
    proxy: Proxy
    recorded: list[Entry]


class ProxyStage(Stage):
    """A stage with a proxy in front of its API server, and all that a test of the proxy needs there."""

    def __init__(self, scene: Scene, group: asyncio.TaskGroup) -> None:
        super().__init__(scene.api, scene.recorded)
        self.plane, self.proxy, self.group = scene.plane, scene.proxy, group
        self._connections: list[Connection] = []

    async def begin(self) -> Self:
        await self.proxy.install((), "")
        return await super().begin()

    async def end(self) -> None:
        for connection in self._connections:
            connection.abort()
        if self.proxy.process.running:
            await self.proxy.install((), "")
            async with asyncio.timeout(LIMIT_SECONDS):
                while await self.streams():  # or the next test would see entries about their end
                    await asyncio.sleep(0.005)

    async def all_recorded(self) -> None:
        """Return once every entry about what has happened so far has arrived."""
        await self.proxy.fence()

    async def answered(self) -> list[Answered]:
        """The entries about answers, once there is one."""
        await until(lambda: self.of(Answered) != [])
        return self.of(Answered)

    # --- clients -----------------------------------------------------------------------------------------------------------------

    async def connection(self, *, direct: bool = False, token: str = "", alpn: tuple[str, ...] = ()) -> Connection:
        token = token or self.plane.tokens[CONTROLLER]
        server, ca_file = (self.plane.server, self.plane.ca_file) if direct else (self.proxy.server, self.proxy.ca_file)
        made = Connection(server, ca_file, token, alpn=alpn)
        await made.open()
        self._connections.append(made)
        return made

    async def watch(
        self, start: str | None = None, *, direct: bool = False, query: str = "", on: Connection | None = None
    ) -> Watching:
        """A watch of the ConfigMaps that starts behind this resourceVersion; None: the present one."""
        start = await self.revision() if start is None else start
        connection = on or await self.connection(direct=direct)
        return await self.watch_at(f"{self.path}?watch=1&resourceVersion={start}{query}", on=connection)

    async def watch_at(self, target: str, *, on: Connection | None = None, **headers: str) -> Watching:
        """Any watch, written out."""
        connection = on or await self.connection()
        assert await connection.ask("GET", target, **headers) == 200
        return Watching(connection, self.group)

    # --- faults ------------------------------------------------------------------------------------------------------------------

    async def play(self, *faults: AnyFault, contract: Contract = "legal") -> str:
        """Install the faults and begin step 1, whose revision is the present one, and is returned."""
        await self.proxy.install(faults, "", contract=contract)
        return await self.step(1)

    async def step(self, number: int) -> str:
        """Begin a step, with the API server's revision at this moment, which is returned. It grows by itself, too: the API server
        keeps a lease of its own."""
        revision = await self.revision()
        await self.proxy.begin_step(number, revision=int(revision))
        return revision

    async def healed(self) -> list[str]:
        """Close all faults. The outcome of each, by number, as the entries have it; nothing of ours may have broken."""
        await self.proxy.release()
        await self.all_recorded()
        assert self.of(Broke) == []
        outcomes: list[str] = []
        for entry in self.entries:
            match entry:
                case FaultFired(fault=fault):
                    outcomes.append(f"{fault} fired")
                case FaultRefused(fault=fault, row=row):
                    outcomes.append(f"{fault} refused {row}".rstrip())
                case FaultMissed(fault=fault):
                    outcomes.append(f"{fault} missed")
        return sorted(outcomes)

    # --- the control API, by hand ------------------------------------------------------------------------------------------------

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

    async def streams(self) -> list[dict[str, Any]]:
        """The open streams, as the control API lists them."""
        async with self.control() as session, session.get("/v1/healthz") as response:
            streams: list[dict[str, Any]] = (await response.json())["streams"]
            return streams


@asynccontextmanager
async def on_stage(scene: Scene) -> AsyncIterator[ProxyStage]:
    """A stage for one test, on which nothing is left behind."""
    async with asyncio.TaskGroup() as group:
        stage = await ProxyStage(scene, group).begin()
        try:
            yield stage
        finally:
            await stage.end()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(plane: ControlPlane, api: Api, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    folder, recorded = tmp_path_factory.mktemp("proxy"), list[Entry]()
    async with proxy(plane, folder, recorded.append, log=folder.with_suffix(".log")) as running:
        yield Scene(plane, api, running, recorded)


@pytest_asyncio.fixture(loop_scope="module")
async def stage(scene: Scene) -> AsyncIterator[ProxyStage]:
    async with on_stage(scene) as found:
        yield found
    assert scene.proxy.process.running, scene.proxy.process.account()
