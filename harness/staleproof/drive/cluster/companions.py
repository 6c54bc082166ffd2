"""Companions: real controllers beside the one under test. They talk to the API server directly, never through the proxy.

This module decides how each is started and when it is ready. What companions write are commits by others. One that exits ends the
run: trials after it would be compared with references from another cluster.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import aiohttp

from staleproof.core.operator.companion import KWOK, PROVISIONER, ROOT_CA, SCHEDULER, TOKENS, controllers_flag
from staleproof.core.plan.manifest import Manifest
from staleproof.core.times import GRACE_SECONDS, READY_SECONDS
from staleproof.drive.cluster import manifests
from staleproof.drive.cluster.access import not_inherited
from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import ControlPlane, Progress
from staleproof.drive.cluster.control_plane.local import REQUEST_LIMIT, Server, on_free_ports
from staleproof.drive.cluster.control_plane.plane import COMPANION
from staleproof.drive.cluster.provisioner import provide
from staleproof.drive.cluster.truth import Truth, has_condition
from staleproof.drive.process import logs
from staleproof.drive.process.address import free_port
from staleproof.drive.process.process import Command, Process
from staleproof.drive.process.program import Program
from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.kubernetes import COMPANIONS
from staleproof.errors import SetupError, UsageError
from staleproof.shipped import shipped

OPTION = "--staleproof-companions"
NODES = 3
"""So many Nodes come with kwok."""
_MANAGER, _SCHEDULER = "kube-controller-manager", "kube-scheduler"
_CLIENT = ("--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000")
_ALIVE = ("--node-monitor-grace-period=8760h",)
"""kwok's Nodes do not say that they are alive, and none of them ever dies of that."""
_WAITS, _SYNCED = "Waiting for caches to sync", "Caches are synced"


class NotBuilt(SetupError):
    """The programs that companions need cannot be had. `names`: those companions."""

    def __init__(self, names: Collection[str], err: SetupError) -> None:
        super().__init__(str(err))
        self.names = frozenset(names)


class Site(Protocol):
    """Where companions run. `folder` takes their logs, `private` their kubeconfig; one that exits ends the `group`."""

    plane: ControlPlane
    api: Api
    truth: Truth
    folder: Path
    private: Path
    group: asyncio.TaskGroup


@asynccontextmanager
async def companions(site: Site, progress: Progress) -> AsyncIterator["Companions"]:
    """None as yet; those that are asked for run until the block is left."""
    async with AsyncExitStack() as stack:
        yield Companions(site, stack, progress)


@dataclass(slots=True)
class Companions:
    """Starts them when they are first needed. `stack` stops what was started.

    Attributes:
        names: those that run.
        seconds: how long their starts took in all, what had to be built for them included.
    """

    site: Site
    stack: AsyncExitStack
    progress: Progress
    names: tuple[str, ...] = ()
    seconds: float = 0.0
    _manager: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def have(self, names: Sequence[str]) -> None:
        """Return once these run and are ready. What runs already goes on, but for kube-controller-manager, if it is to run others.

        Raises:
            UsageError: the cluster is the user's own, which has controllers of its own.
            NotBuilt: there is no Go, or no way to its modules; those that run stay as they were.
            SetupError: one cannot be started, or exits; with the end of its log.
        """
        new = set(names) - set(self.names)
        if not new:
            return
        began = time.monotonic()
        if self.site.plane.provider == "existing":
            raise UsageError(
                f"{OPTION}: the cluster that you gave has controllers of its own; leave the option out, or give no cluster"
            )
        programs = await self._programs(new)
        if not self.names:
            every = [self._log(name) for name in (KWOK, SCHEDULER, _MANAGER)]
            self.stack.callback(logs.mask, every, list(self.site.plane.tokens.values()))
            self.site.plane.write_kubeconfig(self._kubeconfig, user=COMPANION)
            await self.stack.enter_async_context(self._manager)
        if KWOK in new:
            await self._kwok(programs / KWOK)
        if SCHEDULER in new:
            await self._scheduler(programs / _SCHEDULER)
        if PROVISIONER in new:
            await self._provisioner()
        if controllers_flag(new):
            await self._controller_manager(programs / _MANAGER, names)
        self.names = tuple(names)
        self.seconds += time.monotonic() - began

    async def _programs(self, names: Collection[str]) -> Path:
        """The folder of what these companions are started from, built where it is missing. NotBuilt if it cannot be."""
        started = frozenset(names) - {PROVISIONER}
        try:
            return await ensure_built(*([COMPANIONS] if started else []), progress=self.progress)
        except SetupError as err:
            raise NotBuilt(started, err) from err

    @property
    def _kubeconfig(self) -> Path:
        return self.site.private / "companions.kubeconfig"

    def _log(self, name: str) -> Path:
        return self.site.folder / f"{name}.log"

    def _command(self, name: str, program: Path, *flags: str) -> Command:
        argv = (str(program), f"--kubeconfig={self._kubeconfig}", *flags)
        return Command(name=f"the companion {name}", argv=argv, log=self._log(name), without=not_inherited(os.environ))

    async def _run(self, command: Command, stack: AsyncExitStack) -> Process:
        process = await Process.start(command)
        stack.push_async_callback(process.stop, grace_seconds=GRACE_SECONDS)
        self._end_the_run_with(process, stack)
        return process

    def _end_the_run_with(self, program: Program, stack: AsyncExitStack) -> None:
        watching = self.site.group.create_task(_until_it_exits(program))
        stack.callback(watching.cancel)

    async def _controller_manager(self, program: Path, names: Sequence[str]) -> None:
        """One kube-controller-manager runs them all. It is ready when every controller has said that its caches are synced."""
        controllers = controllers_flag(names)
        flags = (f"--controllers={controllers}", "--use-service-account-credentials=false", "--secure-port=0", *_ALIVE, *_CLIENT)
        await self._manager.aclose()
        command = self._command(_MANAGER, program, *flags, *self._keys(names))
        before = command.log.stat().st_size if command.log.exists() else 0
        process = await self._run(command, self._manager)

        async def synced() -> bool:
            said = command.log.read_bytes()[before:].decode(errors="replace")
            return said.count(_SYNCED) >= max(said.count(_WAITS), controllers.count(",") + 1)

        await process.ready(synced, limit_seconds=READY_SECONDS)

    def _keys(self, names: Sequence[str]) -> list[str]:
        """Flags that name the files which some of them need."""
        plane = self.site.plane
        root = [f"--root-ca-file={plane.ca_file}"] if {ROOT_CA, TOKENS} & set(names) else []
        return root + ([f"--service-account-private-key-file={plane.service_account_key_file}"] if TOKENS in names else [])

    async def _provisioner(self) -> None:
        providing = self.site.group.create_task(await provide(self.site.api, self.site.truth))
        self.stack.callback(providing.cancel)

    async def _scheduler(self, program: Path) -> None:
        def command(port: int) -> Command:
            return self._command(SCHEDULER, program, "--bind-address=127.0.0.1", f"--secure-port={port}", *_CLIENT)

        server = Server(command=command, ready=_answers_ready, grace_seconds=GRACE_SECONDS)
        ((scheduler, _),) = await on_free_ports(self.stack, lambda: [(server, free_port())])
        self._end_the_run_with(scheduler, self.stack)

    async def _kwok(self, program: Path) -> None:
        """kwok, with Nodes for it to manage. It is ready when they are."""
        api, truth = self.site.api, self.site.truth
        flags = (
            f"--config={shipped('fixtures.controlplane') / COMPANIONS.name / 'stages.yaml'}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=0",  # nothing checks that they are alive (`_ALIVE`)
            "--node-port=0",  # it serves nothing
        )
        nodes = [_node(number) for number in range(1, NODES + 1)]
        await manifests.apply(nodes, api, truth)
        process = await self._run(self._command(KWOK, program, *flags), self.stack)

        async def are_ready() -> bool:
            return all(has_condition(truth.objects.get(("nodes", "", node["metadata"]["name"]), {}), "Ready") for node in nodes)

        await process.ready(are_ready, limit_seconds=READY_SECONDS)
        kind = await manifests.resource_type(nodes[0], api)
        for node in nodes:  # what node-lifecycle does for a Node that is ready
            await api.merge(kind, "", node["metadata"]["name"], {"spec": {"taints": None}})


async def _answers_ready(port: int) -> bool:
    """Its certificate is not verified: it is signed by itself, anew each time."""
    try:
        async with (
            aiohttp.ClientSession(timeout=REQUEST_LIMIT) as session,
            session.get(f"https://127.0.0.1:{port}/readyz", ssl=False) as answer,
        ):
            return answer.status == 200
    except (aiohttp.ClientError, OSError):
        return False


def _node(number: int) -> Manifest:
    name = f"node-{number}"
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "type": KWOK}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


async def _until_it_exits(program: Program) -> None:
    code = await program.wait()
    raise SetupError(f"{program.name} exited with code {code}, which ends the run.\n{program.account()}")
