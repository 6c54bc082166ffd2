"""Companions: real controllers beside the one under test. They talk to the API server directly, never through the proxy.

It decides how each is started and when it is ready. What they write are commits by others. One that exits ends the run: trials
after it would be compared with references from another cluster.
"""

import importlib.resources
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

import staleproof
from staleproof.core.companion import KWOK, SCHEDULER, CompanionError, companion_names, controllers_flag
from staleproof.core.plan import Manifest
from staleproof.drive.cluster import manifests
from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION, Progress
from staleproof.drive.cluster.control_plane.build import ensure_built
from staleproof.drive.cluster.control_plane.local import REQUEST_LIMIT, Server, on_a_free_port
from staleproof.drive.cluster.control_plane.plane import COMPANION
from staleproof.drive.cluster.go_program import GoProgram, ensure_go_program
from staleproof.drive.process import logs
from staleproof.drive.process.process import Command, Process
from staleproof.drive.subject.controller import not_inherited
from staleproof.drive.trial.environment import Rig
from staleproof.errors import SetupError, UsageError

OPTION = "--staleproof-companions"
NODES = 3
"""So many Nodes come with kwok."""
_MANAGER = "kube-controller-manager"
_READY_SECONDS = 60.0
_GRACE_SECONDS = 5.0
_CLIENT = ("--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000")
_WAITS, _SYNCED = "Waiting for caches to sync", "Caches are synced"


def companions_of(text: str) -> tuple[str, ...]:
    """The companions that an option names, in a list with commas; UsageError when there is no such one."""
    try:
        return companion_names(text)
    except CompanionError as err:
        raise UsageError(f"{OPTION}: {err}") from err


@asynccontextmanager
async def companions(names: Sequence[str], rig: Rig, progress: Progress) -> AsyncIterator[None]:
    """Start these and wait until they are ready; stop them when the block is left. Nothing happens when there are none.

    Raises:
        UsageError: the cluster is the user's own, which has controllers of its own.
        SetupError: one cannot be built or started, or exits; with the end of its log.
    """
    async with AsyncExitStack() as stack:
        if names:
            await _start(tuple(names), _Place(rig, stack, progress))
        yield


@dataclass(frozen=True, slots=True)
class _Place:
    """Where they run. `stack` stops what was started."""

    rig: Rig
    stack: AsyncExitStack
    progress: Progress

    @property
    def kubeconfig(self) -> Path:
        return self.rig.private / "companions.kubeconfig"

    def log(self, name: str) -> Path:
        return self.rig.folder / f"{name}.log"

    def command(self, name: str, *argv: str) -> Command:
        return Command(name=f"the companion {name}", argv=argv, log=self.log(name), without=not_inherited(os.environ))

    async def run(self, command: Command) -> Process:
        """A process that ends the run when it exits by itself."""
        process = await Process.start(command)
        self.stack.push_async_callback(process.stop, grace_seconds=_GRACE_SECONDS)
        self.watch(process)
        return process

    def watch(self, process: Process) -> None:
        watching = self.rig.group.create_task(_until_it_exits(process))
        self.stack.callback(watching.cancel)


async def _start(names: tuple[str, ...], place: _Place) -> None:
    rig = place.rig
    if rig.plane.provider == "existing":
        raise UsageError(
            f"{OPTION}: the cluster that you gave has controllers of its own; leave the option out, or give no cluster"
        )
    place.stack.callback(logs.mask, [place.log(name) for name in (KWOK, SCHEDULER, _MANAGER)], rig.secrets)
    rig.plane.write_kubeconfig(place.kubeconfig, user=COMPANION)
    rig.environment["companions"] = ", ".join(names)
    rig.ends_namespaces = "namespace" in names
    if KWOK in names:
        await _kwok(place)
    if SCHEDULER in names:
        await _scheduler(place)
    if flag := controllers_flag(names):
        await _controller_manager(flag, place)


async def _controller_manager(controllers: str, place: _Place) -> None:
    """One kube-controller-manager runs them all. It is ready when every controller has said that its caches are synced."""
    programs = await ensure_built(KUBERNETES_VERSION, place.progress)
    argv = (
        str(programs / _MANAGER),
        f"--kubeconfig={place.kubeconfig}",
        f"--controllers={controllers}",
        "--use-service-account-credentials=false",
        "--secure-port=0",
        *_CLIENT,
    )
    process = await place.run(place.command(_MANAGER, *argv))

    async def synced() -> bool:
        said = process.command.log.read_text(errors="replace")
        return said.count(_SYNCED) >= max(said.count(_WAITS), controllers.count(",") + 1)

    await process.ready(synced, limit_seconds=_READY_SECONDS)


async def _scheduler(place: _Place) -> None:
    program = await ensure_go_program(_module(SCHEDULER), place.progress)

    def command(port: int) -> Command:
        flags = ("--bind-address=127.0.0.1", f"--secure-port={port}", *_CLIENT)
        return place.command(SCHEDULER, str(program), f"--kubeconfig={place.kubeconfig}", *flags)

    started: list[Process] = []

    async def start(port: int) -> Process:
        started.append(await Process.start(command(port)))
        return started[-1]

    server = Server(command=command, ready=_answers_ready, grace_seconds=_GRACE_SECONDS)
    await on_a_free_port(place.stack, server, start)
    place.watch(started[-1])


async def _answers_ready(port: int) -> bool:
    """It signs its certificate itself, anew each time."""
    try:
        async with (
            aiohttp.ClientSession(timeout=REQUEST_LIMIT) as session,
            session.get(f"https://127.0.0.1:{port}/readyz", ssl=False) as answer,
        ):
            return answer.status == 200
    except (aiohttp.ClientError, OSError):
        return False


async def _kwok(place: _Place) -> None:
    """kwok, with Nodes for it to manage. It is ready when they are."""
    module = _module(KWOK)
    program = await ensure_go_program(module, place.progress)
    argv = (
        str(program),
        f"--kubeconfig={place.kubeconfig}",
        f"--config={module.folder / 'stages.yaml'}",
        "--manage-all-nodes=true",
        "--node-lease-duration-seconds=0",  # nobody looks whether they are alive
        "--node-port=0",  # it serves nothing
    )
    nodes = [_node(number) for number in range(1, NODES + 1)]
    rig = place.rig
    await manifests.apply(nodes, rig.api, rig.truth, rig.feed)
    process = await place.run(place.command(KWOK, *argv))

    async def are_ready() -> bool:
        return all(_is_ready(rig.truth.objects.get(("nodes", "", node["metadata"]["name"]), {})) for node in nodes)

    await process.ready(are_ready, limit_seconds=_READY_SECONDS)
    kind = await manifests.resource_type(nodes[0], rig.api)
    for node in nodes:  # what node-lifecycle does for a Node that is ready
        await rig.api.merge(kind, "", node["metadata"]["name"], {"spec": {"taints": None}})


def _node(number: int) -> Manifest:
    name = f"node-{number}"
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "type": KWOK}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def _is_ready(node: Manifest) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _module(name: str) -> GoProgram:
    try:
        folder = Path(str(importlib.resources.files(f"staleproof.fixtures.companions.{name}")))
    except ModuleNotFoundError:
        # The harness folder alone is on the path, as in a checkout that is not installed.
        folder = Path(staleproof.__file__).parents[2] / "fixtures" / "companions" / name
    return GoProgram(name, folder)


async def _until_it_exits(process: Process) -> None:
    code = await process.wait()
    raise SetupError(f"{process.command.name} exited with code {code}, which ends the run.\n{process.account()}")
