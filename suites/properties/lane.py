"""One proxy in front of the shared API server: plays one case after the other, each in a namespace of its own.

Several lanes run at once and do not disturb each other, because their namespaces differ.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from staleproof.core.fault import PastSnapshot
from staleproof.core.history.entry import Broke, Ended, Entry, Released, StepBegan
from staleproof.core.history.history import Header, History
from staleproof.core.history.watch_properties import breaches
from staleproof.core.plan.step import Apply, Delete, Patch, Rest, Step, describe
from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.api import Api, ApiError, connect
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlane
from staleproof.drive.cluster.truth import Truth
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import proxy
from staleproof.drive.trial.recorder import Recorder
from staleproof.errors import SetupError

from .case import Case
from .reflector import Reflector, Version

LIMIT_SECONDS = 60.0
_LOOK_AGAIN_SECONDS = 0.01
State = Callable[[], Awaitable[dict[str, Version]]]
_MERGE = "application/merge-patch+json"


@dataclass(frozen=True, slots=True)
class Played:
    """The outcome of a case: `flaws` must be empty; the last copy was right `catch_up_seconds` after the release."""

    number: int
    case: Case
    history: History
    flaws: tuple[str, ...]
    catch_up_seconds: float


@dataclass(slots=True)
class Lane:
    """`api` and `truth` are direct and shared; the proxy is this lane's own."""

    plane: ControlPlane
    api: Api
    truth: Truth
    folder: Path
    proxy: Proxy = field(init=False)
    _record: Recorder | None = None
    _broken: list[Broke] = field(default_factory=list)

    def take(self, entry: Entry) -> None:
        """An entry of the proxy or of truth."""
        if self._record is not None:
            self._record.take(entry)
        if isinstance(entry, Broke):
            self._broken.append(entry)

    async def play(self, number: int, case: Case, *, limit_seconds: float = LIMIT_SECONDS) -> Played:
        """Live through the case; then every client's copy is compared with what the API server has."""
        namespace = f"case-{number}"
        await self.api.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        header = Header(plan=case.plan, namespace=namespace)
        self._record = Recorder(self.folder / f"{number:04d}.jsonl", header, (), began=time.monotonic())
        self._broken.clear()
        try:
            flaws, seconds = await self._live_through(case, namespace, limit_seconds)
            await self.truth.caught_up({("configmaps", namespace)}, limit_seconds=LIMIT_SECONDS)
            self.take(Ended(at=time.monotonic()))
        finally:
            history, self._record = self._record.finish(), None
        await self.proxy.install((), "")
        flaws += [f"{entry.where}: {entry.why}" for entry in self._broken]
        flaws += [f"history: {breach}" for breach in breaches(history)]
        return Played(number, case, history, tuple(flaws), seconds)

    async def _live_through(self, case: Case, namespace: str, limit_seconds: float) -> tuple[list[str], float]:
        """Which copies were wrong in the end, and how long after the release the last one was right."""
        path = _path(namespace)
        async with _crowd(self.plane, self.proxy, case, path) as crowd:
            if case.starts == 0:
                crowd.begin()
                await crowd.synced()
            await self.proxy.install(case.plan.faults, namespace, contract=case.plan.contract)
            await self._steps(case, path, crowd)
            await self.proxy.release()
            self.take(Released(at=time.monotonic()))
            released = time.monotonic()
            await crowd.written()
            flaws = await crowd.difference(lambda: self._state(path), limit_seconds)
            seconds = time.monotonic() - released
        await self.proxy.fence()
        return flaws, seconds

    async def _steps(self, case: Case, path: str, crowd: "_Crowd") -> None:
        shown_later = {fault.as_of_step for fault in case.plan.faults if isinstance(fault, PastSnapshot)}
        for number, step in enumerate(case.plan.steps, 1):
            await self.proxy.begin_step(number, revision=await self.api.revision() if number in shown_later else None)
            self.take(StepBegan(at=time.monotonic(), step=number, does=describe(step)))
            if number == case.starts:
                crowd.begin()
            elif number == case.restarts:
                await crowd.restart()
            if number in case.writes:
                crowd.write(f"own-{number}")
            await self._do(step, path)
            await crowd.follow(lambda: self._state(path), case.patience_seconds)

    async def _do(self, step: Step, path: str) -> None:
        match step:
            case Apply(object=manifest):
                await self.api.call("POST", path, manifest)
            case Patch(target=target, patch=patch):
                await self.api.call("PATCH", f"{path}/{target.name}", patch, content_type=_MERGE)
            case Delete(target=target):
                await self.api.call("DELETE", f"{path}/{target.name}")
            case Rest(seconds=seconds):
                await asyncio.sleep(seconds)

    async def _state(self, path: str) -> dict[str, Version]:
        items = (await self.api.call("GET", path))["items"]
        return {item["metadata"]["name"]: (item["metadata"]["uid"], item["metadata"]["resourceVersion"]) for item in items}


class _Crowd:
    """The clients of one case, each with connections of its own."""

    def __init__(self, apis: list[Api], case: Case, path: str, group: asyncio.TaskGroup) -> None:
        self._apis, self._case, self._path, self._group = apis, case, path, group
        self._writes: list[asyncio.Task[None]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._clients: list[Reflector] = []

    async def synced(self) -> None:
        """Return once all of them have the state and watch what changes."""
        async with asyncio.timeout(LIMIT_SECONDS):
            while not all(client.synced and client.watches for client in self._clients):
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    async def restart(self) -> None:
        """All clients forget everything, as new processes do."""
        await self.stop()
        self.begin()

    def write(self, name: str) -> None:
        """Through the proxy, without waiting for an answer that may never come."""
        self._writes.append(self._group.create_task(self._create(name)))

    async def written(self) -> None:
        """Return once every write has been answered, one way or the other."""
        if self._writes:
            await asyncio.wait(self._writes)

    async def difference(self, state: State, limit_seconds: float) -> list[str]:
        """Wait until every copy is what the API server has; the copies that are not.

        The API server is asked again and again, because a write whose connection was cut may still be executed.
        """
        wrong, there = await self._compare(state, limit_seconds)
        return [f"{each.client.kind} has {each.copy} and not {there} after {limit_seconds:g} s" for each in wrong]

    async def follow(self, state: State, seconds: float) -> None:
        """Wait until the clients have been shown everything, but not longer than this."""
        if seconds > 0:
            await self._compare(state, seconds)

    async def _compare(self, state: State, seconds: float) -> tuple[list[Reflector], dict[str, Version]]:
        end = time.monotonic() + seconds
        while True:
            there = await state()
            wrong = [client for client in self._clients if not client.synced or client.copy != there]
            if not wrong or time.monotonic() > end:
                return wrong, there
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def begin(self) -> None:
        self._clients = [Reflector(api, self._path, one) for one, api in zip(self._case.clients, self._apis, strict=True)]
        self._tasks = [self._group.create_task(client.run()) for client in self._clients]

    async def _create(self, name: str) -> None:
        with contextlib.suppress(ApiError, SetupError):
            await self._apis[0].call("POST", self._path, {"metadata": {"name": name}})


@asynccontextmanager
async def _crowd(plane: ControlPlane, running: Proxy, case: Case, path: str) -> AsyncIterator[_Crowd]:
    access = Access(server=running.server, ca_file=running.ca_file, token=plane.tokens[CONTROLLER])
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        apis = [await stack.enter_async_context(connect(access.server, access.tls(), access.headers)) for _ in case.clients]
        crowd = _Crowd(apis, case, path, group)
        try:
            yield crowd
        finally:
            await crowd.stop()


@asynccontextmanager
async def lane(plane: ControlPlane, api: Api, truth: Truth, folder: Path) -> AsyncIterator[Lane]:
    """A lane with its proxy."""
    made = Lane(plane, api, truth, folder)
    async with proxy(plane, folder / "proxy", made.take, log=folder / "proxy.log") as made.proxy:
        yield made


def _path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"
