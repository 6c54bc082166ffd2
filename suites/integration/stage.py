"""A test's own namespace on a real kube-apiserver: what its user does there, and what was recorded meanwhile.

One control plane serves a whole file of tests.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Self, TypeVar

import pytest
import pytest_asyncio

from staleproof.core.history.entry import Entry
from staleproof.drive.cluster.api import JSON, Api, ApiError, ResourceType, connect
from staleproof.drive.cluster.control_plane import RUNNER, ControlPlane, ControlPlaneOptions, Silent, control_plane

from .proxy_client import limited

E = TypeVar("E", bound=Entry)
CONFIG_MAPS = "configmaps"


def revision_of(obj: JSON) -> str:
    return str(obj["metadata"]["resourceVersion"])


def text(size: int) -> dict[str, str]:
    """The data of a ConfigMap that is so large."""
    return {"text": "x" * size}


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


class Stage:
    """A namespace of a test's own. What the user does there goes past every proxy, to ConfigMaps unless said otherwise."""

    _numbers = itertools.count(1)

    def __init__(self, api: Api, recorded: list[Entry]) -> None:
        self.api, self.tape = api, Tape(recorded)
        self.namespace = f"test-{next(self._numbers)}"
        self.path = f"/api/v1/namespaces/{self.namespace}/configmaps"

    async def begin(self) -> Self:
        await self.create(self.namespace, "namespaces")
        self.tape.clear()
        return self

    # --- what was recorded -------------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> list[Entry]:
        return self.tape.entries

    def of(self, kind: type[E]) -> list[E]:
        """The entries of this kind since the test began."""
        return self.tape.of(kind)

    # --- the user ----------------------------------------------------------------------------------------------------------------

    async def kind(self, resource: str) -> ResourceType:
        """As soon as discovery tells of it, which may be after it is served."""
        async with limited():
            while (found := await self.api.type_named(resource)) is None:
                await asyncio.sleep(0.005)
        return found

    async def create(self, name: str, resource: str = CONFIG_MAPS, *, metadata: JSON | None = None, **fields: JSON) -> JSON:
        """Make an object; as it is then."""
        kind = await self.kind(resource)
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, **(metadata or {})}, **fields}
        return await self.api.call("POST", kind.path(self.namespace), body)

    async def create_each(self, *names: str, **fields: JSON) -> None:
        """Make ConfigMaps, one after the other."""
        for name in names:
            await self.create(name, CONFIG_MAPS, **fields)

    async def change(self, name: str, resource: str = CONFIG_MAPS, **fields: JSON) -> JSON:
        """Merge these fields into an object; as it is then."""
        return await self.api.merge(await self.kind(resource), self.namespace, name, fields)

    async def delete(self, name: str, resource: str = CONFIG_MAPS) -> None:
        await self.api.delete(await self.kind(resource), self.namespace, name, now=True)

    async def listed(self, resource: str = CONFIG_MAPS, **query: str) -> list[JSON]:
        """The objects as the API server has them."""
        found: list[JSON] = (await self.api.call("GET", (await self.kind(resource)).path(self.namespace), **query))["items"]
        return found

    async def stored(self, name: str, resource: str = CONFIG_MAPS) -> JSON | None:
        """One object as the API server has it; None if there is none."""
        return next(iter(await self.listed(resource, fieldSelector=f"metadata.name={name}")), None)

    async def revision(self) -> str:
        """The resourceVersion of the collection of ConfigMaps."""
        return revision_of(await self.api.call("GET", self.path, limit="1"))


async def served(api: Api, path: str) -> None:
    """Wait until the API server serves a new type; before that it answers 404, and then 429."""
    async with limited():
        while True:
            try:
                await api.call("GET", path)
                return
            except ApiError as err:
                if err.code not in (404, 429):
                    raise
                await asyncio.sleep(0.005)


def direct_api(plane: ControlPlane) -> AbstractAsyncContextManager[Api]:
    """A client that speaks to the API server past every proxy."""
    runner = plane.access(RUNNER)
    return connect(plane.server, runner.tls(), runner.headers)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plane(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ControlPlane]:
    async with control_plane(ControlPlaneOptions(), tmp_path_factory.mktemp("control-plane"), Silent()) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(plane: ControlPlane) -> AsyncIterator[Api]:
    async with direct_api(plane) as found:
        yield found
