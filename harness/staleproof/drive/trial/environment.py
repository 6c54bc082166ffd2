"""Everything that a trial needs, running: control plane, truth, proxy, companions, controller. Started once for many trials."""

import asyncio
import itertools
import platform
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from staleproof import __version__
from staleproof.core.entry import Broke, Exited, Started
from staleproof.core.plan import Manifest, Subject
from staleproof.drive.cluster import manifests
from staleproof.drive.cluster.api import NAMESPACES, Api, ApiError, connect
from staleproof.drive.cluster.companions import companions
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, Progress, control_plane
from staleproof.drive.cluster.leases import Leases, release
from staleproof.drive.cluster.truth import Truth, watching
from staleproof.drive.process import logs
from staleproof.drive.process.address import free_port
from staleproof.drive.process.private import private_folder
from staleproof.drive.process.program import Program
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import loading_proxy
from staleproof.drive.subject.controller import controller_process, secret_values
from staleproof.drive.subject.metrics import METRICS_PORT, OPTION, Endpoint, Unreadable, endpoint, subject_at
from staleproof.drive.trial.event_bus import POLL_SECONDS, EventBus
from staleproof.drive.trial.supervision import MOST_EXITS, supervisor_wait
from staleproof.errors import SetupError, UsageError

OPENS_WATCH_SECONDS = 30.0
_READY_IDLE_SECONDS = 0.3
_LOG_LINES, _LOG_WIDTH = 40, 300
"""So much of a log tells of an exit: a panic of Go comes before a page of stack."""
_REST_LIMIT_SECONDS = 100.0  # client-go waits up to a minute after several 410s


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentOptions:
    """What an environment is made of.

    Attributes:
        subject: the controller under test.
        manifests: CustomResourceDefinitions and whatever else is applied first.
        control_plane: where the API server comes from.
        start_seconds: how long the controller may take to open its first watch, and to serve its metrics.
        release_leases: leases that a dead life of the controller held are released before its next one, as an administrator may do.
        metrics: the URL of the controller's metrics, `{metrics_port}` standing for a free port there and in the subject's command,
            arguments and variables; empty means that none are read.
        companions: real controllers that run beside it, by name (`staleproof.core.companion`).
    """

    subject: Subject
    manifests: tuple[Manifest, ...] = ()
    control_plane: ControlPlaneOptions = field(default_factory=ControlPlaneOptions)
    start_seconds: float = OPENS_WATCH_SECONDS
    release_leases: bool = True
    metrics: str = ""
    companions: tuple[str, ...] = ()


@dataclass(slots=True)
class Environment:
    """The running parts.

    Attributes:
        options: what is about the controller may be changed between trials.
        folder: takes the logs.
        private: takes what must not stay; open to this user alone.
        group: everything that runs beside the trials; an error in it ends the environment.
        description: what reports say about the environment.
        life: the number of the controller's present life, or of its last one; 0 before the first.
        harmed_by: the last run with faults, in words; empty when nothing has been done to this controller yet.
        exited: what a controller that died between two runs had been through, in words, and its last exit; None if none died.
    """

    options: EnvironmentOptions
    plane: ControlPlane
    api: Api
    truth: Truth
    proxy: Proxy
    bus: EventBus
    folder: Path
    private: Path
    group: asyncio.TaskGroup
    description: dict[str, str]
    metrics_port: int = field(default_factory=free_port)
    controller: Program | None = None
    life: int = 0
    harmed_by: str = ""
    exited: tuple[str, Exited] | None = None
    _leases: Leases = field(default_factory=Leases)
    _is_ending: bool = False
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def controller_ready(self, *, fresh: bool = False) -> None:
        """Return once the controller runs, has opened a watch, serves its metrics and is idle. One that has exited is started
        again, and with `fresh` so is one that has run a trial; if it exits again, a supervisor tries a few times more.

        A controller that something has been done to (`harmed_by`) may be beyond that. Then the next run begins with whatever there
        is of it, and shows it.

        Raises:
            UsageError: the URL of the metrics is not one of HTTP.
            SetupError: nothing was ever done to it, and it exits, opens no watch, or serves no metrics; with the end of its log.
        """
        if self.running_controller and not fresh:
            return await self._at_rest()
        source = self.endpoint
        for exits in itertools.count(1):
            try:
                return await self._begin_life(source)
            except SetupError:
                if self.controller is None or (self._is_hopeless(exits) and not self.harmed_by):
                    await self._stack.aclose()
                    raise
            if self._is_hopeless(exits):
                return None
            await asyncio.sleep(supervisor_wait(exits))

    def _is_hopeless(self, exits: int) -> bool:
        """Whether a life that did not begin well is no reason to try again: there were too many, or the process is there."""
        return exits > MOST_EXITS or self.running_controller is not None

    async def _begin_life(self, source: Endpoint | None) -> None:
        """Start the controller and return once it has come to rest. SetupError when it does not come to that."""
        await self._stack.aclose()
        self.controller = None
        self.bus.activity.restarted()
        self.bus.flaws.clear()
        controller = await self._start()
        watching = await self.bus.until(
            lambda now: bool(self.bus.activity.streams) or not controller.running or now + POLL_SECONDS,  # an exit is no entry yet
            limit_seconds=self.options.start_seconds,
        )
        if not controller.running:
            raise SetupError(f"the controller exited with code {controller.exit_code} before any trial.\n{controller.account()}")
        if not watching:
            raise SetupError(
                f"the controller opened no watch within {self.options.start_seconds:g} s. Does it use the kubeconfig it is given "
                f"(KUBECONFIG, or {{kubeconfig}} in its command)?\n{controller.account()}"
            )
        if source is not None:
            await self._serves(source, controller)
        await self.bus.until_idle(_READY_IDLE_SECONDS, limit_seconds=self.options.start_seconds)
        if isinstance(digest := getattr(controller, "image_digest", None), str):
            self.description["imageDigest"] = digest

    async def use(self, subject: Subject, *, metrics: str = "") -> None:
        """Put another controller under test; it starts with the next trial. `metrics` is the URL of its own; empty: none."""
        await self._stack.aclose()
        self.options, self.controller = replace(self.options, subject=subject, metrics=metrics), None
        self.harmed_by, self.exited = "", None
        self.description["controller"] = _title(subject)
        self.description.pop("imageDigest", None)

    @property
    def running_controller(self) -> Program | None:
        return self.controller if self.controller is not None and self.controller.running else None

    async def stop_controller(self, *, gently: bool) -> None:
        """End the controller in the middle of a trial, by SIGKILL or gently, as the end of a run does it."""
        if self.controller is None:
            return
        self._is_ending = True
        self.bus.activity.dies()
        if not gently:
            await self.controller.send_signal(signal.SIGKILL)
            await self.controller.wait()
        await self._stack.aclose()
        self._is_ending = False
        self.bus.activity.died(time.monotonic())

    async def restart_controller(self) -> Started:
        """Begin its next life in the middle of a trial, which waits for its watches like for everything else."""
        await self._start()
        at = time.monotonic()
        self.bus.activity.born(at)
        return self.controller_started(at)

    async def take_exit(self) -> tuple[str, Exited] | None:
        """The last exit between two runs (`exited`), each time it is asked for only since the time before."""
        found, self.exited = self.exited, None
        return found

    async def revive_controller(self) -> Started:
        """Begin its next life after it exited by itself, in the middle of a trial."""
        await self._stack.aclose()
        return await self.restart_controller()

    def controller_started(self, at: float) -> Started:
        """The entry that begins a life of the controller."""
        return Started(at=at, life=self.life, pid=self.controller.pid if self.controller else 0)

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the controller's metrics are; None when they are not asked for. UsageError when the URL is not one of HTTP."""
        url = self.options.metrics
        return endpoint(url, self.metrics_port, self.plane.tokens.get(CONTROLLER, "")) if url else None

    @property
    def ends_namespaces(self) -> bool:
        """Whether somebody finishes the deletion of namespaces."""
        return self.plane.provider == "existing" or "namespace" in self.options.companions

    async def create_namespace(self, name: str) -> None:
        """Create a namespace for a trial. SetupError when the API server refuses."""
        body = {"metadata": {"name": name, "labels": {"staleproof.dev/trial": "true"}}}
        try:
            await self.api.call("POST", NAMESPACES.path(), body)
        except ApiError as err:
            raise SetupError(f"cannot create the namespace {name}: {err}") from err

    @property
    def logs(self) -> tuple[Path, Path]:
        """The files that controller and proxy write to, over all trials."""
        return self.folder / "controller.log", self.folder / "proxy.log"

    @property
    def secrets(self) -> list[str]:
        """What must not be written down."""
        return [*self.plane.tokens.values(), *secret_values(self.options.subject)]

    async def _start(self) -> Program:
        if self.options.release_leases and self.life and not self.bus.dead:
            await self.proxy.fence()
            await release(self._leases, self.api)
        self.life += 1
        self._leases.begin_life()
        kubeconfig = self.private / "controller.kubeconfig"
        self.plane.write_kubeconfig(kubeconfig, user=CONTROLLER, server=self.proxy.server, ca_file=self.proxy.ca_file)
        self.controller = await self._stack.enter_async_context(self._launch(kubeconfig))
        self.bus.activity.wakes(time.monotonic())
        return self.controller

    @asynccontextmanager
    async def _launch(self, kubeconfig: Path) -> AsyncIterator[Program]:
        log, _ = self.logs
        subject = subject_at(self.options.subject, self.metrics_port)
        if subject.image:
            from staleproof.drive.subject.image import controller_container  # docker is imported only when it is used

            launched: AbstractAsyncContextManager[Program] = controller_container(subject, kubeconfig, log)
        else:
            launched = controller_process(subject, kubeconfig, log)
        async with launched as controller:
            watch = self.group.create_task(self._tell_exit(controller, self.life))
            try:
                yield controller
            finally:
                watch.cancel()

    async def _tell_exit(self, controller: Program, life: int) -> None:
        code = await controller.wait()
        if self._is_ending:  # it was told to exit
            return
        at, leases = time.monotonic(), self._leases
        lines = [line[:_LOG_WIDTH] for line in controller.last_lines(_LOG_LINES)]
        log = logs.masked("\n".join(lines).encode(), self.secrets).decode(errors="replace").split("\n") if lines else ()
        every = leases.renews_every
        exited = Exited(at=at, life=life, code=code, log=tuple(log), unrenewed=leases.unrenewed(at), renews_every=every)
        if self.bus.recorder is None:
            self.exited = self.harmed_by, exited
        self.bus.take(exited)

    async def _serves(self, source: Endpoint, controller: Program) -> None:
        """Wait until there are metrics."""
        end = time.monotonic() + self.options.start_seconds
        while True:
            try:
                return await source.check()
            except Unreadable as err:
                why = err
            if time.monotonic() >= end or not controller.running:
                break
            await self.bus.until(lambda now: False, limit_seconds=_READY_IDLE_SECONDS)
        raise SetupError(
            f"{OPTION}: no metrics at {source.url} within {self.options.start_seconds:g} s: {why}. Does the controller serve them "
            f"there? {METRICS_PORT} stands for a free port ({self.metrics_port}), in the URL and in the controller's command, "
            f"arguments and variables.\n{controller.account()}"
        )

    async def _at_rest(self) -> None:
        """Wait for what an earlier trial left the controller to do. If it does not come to rest, it spoils the next trial."""
        if self.bus.activity.namespace:  # else it has been watched since the clean-up began
            self.bus.activity.begin("", time.monotonic())
        if not await self.bus.until_idle(_READY_IDLE_SECONDS / 3, limit_seconds=_REST_LIMIT_SECONDS):
            why = f"the controller was still busy {_REST_LIMIT_SECONDS:g} s after the trial before this one"
            self.bus.take(Broke(at=time.monotonic(), where="runner", why=why))

    async def _close(self) -> None:
        """Stop the controller; leave nothing secret in the logs."""
        await self._stack.aclose()
        logs.mask(self.logs, self.secrets)


@asynccontextmanager
async def environment(options: EnvironmentOptions, folder: Path, progress: Progress) -> AsyncIterator[Environment]:
    """Start everything but the controller, which starts with the first trial. The proxy loads while the control plane starts.

    Raises:
        UsageError: no controller is named, or two; or the API server rejects a manifest.
        SetupError: one of the parts does not start.
    """
    if bool(options.subject.command) == bool(options.subject.image):
        raise UsageError("name one controller: --controller-cmd or --controller-image")
    folder.mkdir(parents=True, exist_ok=True)
    bus = EventBus()
    async with AsyncExitStack() as stack:
        private = stack.enter_context(private_folder("run"))
        loading = await stack.enter_async_context(loading_proxy(private / "proxy", log=folder / "proxy.log"))
        plane = await stack.enter_async_context(control_plane(options.control_plane, folder, progress))
        loading.tell_of(plane)  # it begins to listen while the truth is found out
        access = plane.access(RUNNER)
        api = await stack.enter_async_context(connect(plane.server, access.tls(), access.headers))
        truth = await stack.enter_async_context(watching(api, bus.take))
        made = Environment(
            options=options,
            plane=plane,
            api=api,
            truth=truth,
            proxy=await stack.enter_async_context(loading.driven(bus.take)),
            bus=bus,
            folder=folder,
            private=private,
            group=await stack.enter_async_context(asyncio.TaskGroup()),
            description=_description(plane, options),
        )
        bus.listeners.append(made._leases.see)
        stack.push_async_callback(made._close)
        await manifests.apply(options.manifests, api, truth)
        await stack.enter_async_context(companions(options.companions, made, progress))
        yield made


def _description(plane: ControlPlane, options: EnvironmentOptions) -> dict[str, str]:
    return {
        "kubernetes": plane.version,
        "provider": plane.provider,
        "staleproof": __version__,
        "controller": _title(options.subject),
        "arch": platform.machine(),
        "wireFormat": "json",
    } | ({"companions": ", ".join(options.companions)} if options.companions else {})


def _title(subject: Subject) -> str:
    program = (subject.image,) if subject.image else subject.command
    return " ".join((*program, *subject.arguments))
