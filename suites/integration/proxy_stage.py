"""A real proxy process in front of a real kube-apiserver: what the files that test it share, and nothing that they assert.

One control plane and one proxy serve a whole file (`scene`); every test has a namespace of its own (`stage`), and sees only the
entries that it has caused.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
import pytest
import pytest_asyncio

from staleproof.core.entry import Answered, Broke, Entry, FaultFired, FaultMissed, FaultRefused
from staleproof.core.fault import AnyFault
from staleproof.core.fault.legality import Contract
from staleproof.drive.cluster.api import Api, connect
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, Silent, control_plane
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import proxy

from .proxy_client import LIMIT_SECONDS, MERGE, Connection, Watching, trusting, until

E = TypeVar("E", bound=Entry)
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


def bearer(plane: ControlPlane) -> dict[str, str]:
    """The headers with which we identify ourselves to the API server."""
    return {"Authorization": f"Bearer {plane.tokens[RUNNER]}"}


class Tape:
    """The entries recorded since the tape was made, or since it was cleared."""

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
        if self.proxy.process.running:
            await self.proxy.install((), "")
            async with asyncio.timeout(LIMIT_SECONDS):
                while await self.streams():  # or the next test would see entries about their end
                    await asyncio.sleep(0.005)

    # --- what was recorded -------------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> list[Entry]:
        return self._tape.entries

    def of(self, kind: type[E]) -> list[E]:
        """The entries of this kind that this test has caused."""
        return self._tape.of(kind)

    async def told(self) -> None:
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

    # --- the user, past the proxy ------------------------------------------------------------------------------------------------

    async def create(self, name: str, *, size: int = 0) -> str:
        """Make a ConfigMap; its resourceVersion."""
        made = await self.api.call("POST", self.path, {"metadata": {"name": name}, "data": {"text": "x" * size}})
        return str(made["metadata"]["resourceVersion"])

    async def create_each(self, *names: str, size: int = 0) -> None:
        """Make ConfigMaps, one after the other."""
        for name in names:
            await self.create(name, size=size)

    async def change(self, name: str, **fields: object) -> None:
        await self.api.call("PATCH", f"{self.path}/{name}", fields, content_type=MERGE)

    async def delete(self, name: str) -> None:
        await self.api.call("DELETE", f"{self.path}/{name}")

    async def stored(self, name: str) -> dict[str, Any] | None:
        """The ConfigMap as the API server has it; None if there is none."""
        items = (await self.api.call("GET", f"{self.path}?fieldSelector=metadata.name={name}"))["items"]
        return items[0] if items else None

    async def revision(self) -> str:
        """The collection's resourceVersion."""
        return str((await self.api.call("GET", f"{self.path}?limit=1"))["metadata"]["resourceVersion"])

    async def revisions(self, *collections: str) -> dict[tuple[str, str], str]:
        """The resourceVersion of each object in these collections, by collection and name."""
        found = {path: (await self.api.call("GET", path))["items"] for path in collections}
        return {(path, item["metadata"]["name"]): item["metadata"]["resourceVersion"] for path in found for item in found[path]}

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
        await self.told()
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
async def on_stage(scene: Scene) -> AsyncIterator[Stage]:
    """A stage for one test, on which nothing is left behind."""
    async with asyncio.TaskGroup() as group:
        stage = Stage(scene, group)
        await stage.begin()
        try:
            yield stage
        finally:
            await stage.end()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plane(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ControlPlane]:
    async with control_plane(ControlPlaneOptions(), tmp_path_factory.mktemp("control-plane"), Silent()) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(plane: ControlPlane) -> AsyncIterator[Api]:
    """A client that speaks to the API server directly."""
    async with connect(plane.server, trusting(plane.ca_file), bearer(plane)) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(plane: ControlPlane, api: Api, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    folder, recorded = tmp_path_factory.mktemp("proxy"), list[Entry]()
    async with proxy(plane, folder, recorded.append, log=folder.with_suffix(".log")) as running:
        yield Scene(plane, api, running, recorded)


@pytest_asyncio.fixture(loop_scope="module")
async def stage(scene: Scene) -> AsyncIterator[Stage]:
    async with on_stage(scene) as found:
        yield found
    assert scene.proxy.process.running, scene.proxy.process.account()
