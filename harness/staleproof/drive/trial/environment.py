"""Everything that a trial needs, running: control plane, truth, proxy, controller. Started once, used by many trials."""

import asyncio
import platform
import signal
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from staleproof import __version__
from staleproof.core.entry import Broke, Exited, Started
from staleproof.core.plan import Manifest, Subject
from staleproof.drive.cluster import manifests
from staleproof.drive.cluster.api import Api, ApiError, connect
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, Progress, control_plane
from staleproof.drive.cluster.control_plane.local import free_port
from staleproof.drive.cluster.leases import Leases, release
from staleproof.drive.cluster.truth import Truth, watching
from staleproof.drive.process import logs
from staleproof.drive.process.private import private_folder
from staleproof.drive.proxy.launch import Proxy, proxy
from staleproof.drive.subject.controller import OPENS_WATCH_SECONDS, Controller, controller_process, secret_values
from staleproof.drive.subject.metrics import METRICS_PORT, OPTION, Endpoint, Unreadable, endpoint, subject_at
from staleproof.drive.trial.event_bus import Feed
from staleproof.errors import SetupError, UsageError

_READY_IDLE_SECONDS = 0.3
_REST_LIMIT_SECONDS = 100.0  # client-go waits up to a minute after several 410s


@dataclass(slots=True)
class Rig:
    """The running parts.

    Attributes:
        environment: what reports say about them.
        start_seconds: how long the controller may take to open its first watch, and to serve its metrics.
        metrics: the URL of the controller's metrics, in which {metrics_port} is replaced; empty means that none are read.
        metrics_port: takes the place of {metrics_port}, there and in the subject.
        release_leases: leases that a dead life of the controller held are released before its next one.
        ends_namespaces: somebody finishes the deletion of namespaces.
    """

    plane: ControlPlane
    api: Api
    truth: Truth
    proxy: Proxy
    feed: Feed
    subject: Subject
    folder: Path
    private: Path
    group: asyncio.TaskGroup
    controller: Controller | None = None
    environment: dict[str, str] = field(default_factory=dict)
    start_seconds: float = OPENS_WATCH_SECONDS
    metrics: str = ""
    metrics_port: int = field(default_factory=free_port)
    release_leases: bool = True
    ends_namespaces: bool = False
    _leases: Leases = field(default_factory=Leases)
    _life: int = 0
    _is_ending: bool = False
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def controller_ready(self, *, fresh: bool = False) -> None:
        """The controller runs, has opened a watch, serves its metrics and is idle. One that has exited is started again.

        `fresh`: so is one that has run a trial before.

        Raises:
            UsageError: the URL of the metrics is none.
            SetupError: it exits, opens no watch, or serves no metrics; with the end of its log.
        """
        if self.controller is not None and self.controller.running and not fresh:
            await self._at_rest()
            return
        source = self.endpoint
        await self._stack.aclose()
        self.feed.activity.restarted()
        self.feed.flaws.clear()
        await self._start()
        watching = await self.feed.until(self._has_watch, limit_seconds=self.start_seconds)
        if self.controller is None or not self.controller.running:
            code = self.controller.exit_code if self.controller else None
            raise SetupError(
                f"the controller exited with code {code} before any trial.\n{self.controller.account() if self.controller else ''}"
            )
        if not watching:
            await self._stack.aclose()
            raise SetupError(
                f"the controller opened no watch within {self.start_seconds:g} s. Does it use the kubeconfig it is given "
                f"(KUBECONFIG, or {{kubeconfig}} in its command)?\n{self.controller.account()}"
            )
        if source is not None:
            await self._serves(source, self.controller)
        await self.feed.until_idle(_READY_IDLE_SECONDS, limit_seconds=self.start_seconds)
        if isinstance(digest := getattr(self.controller, "image_digest", None), str):
            self.environment["imageDigest"] = digest

    async def use(self, subject: Subject, *, metrics: str = "") -> None:
        """Put another controller under test; it starts with the next trial. `metrics` is the URL of its own; empty: none."""
        await self._stack.aclose()
        self.subject, self.metrics, self.controller = subject, metrics, None
        self.environment["controller"] = _title(subject)
        self.environment.pop("imageDigest", None)

    async def stop_controller(self, *, gently: bool) -> None:
        """End the controller, in the middle of a trial: SIGKILL, or gently, as the end of a run does it."""
        if self.controller is None:
            return
        self._is_ending = True
        self.feed.activity.dies()
        if not gently:
            await self.controller.signal(signal.SIGKILL)
            await self.controller.wait()
        await self._stack.aclose()
        self._is_ending = False
        self.feed.activity.died(time.monotonic())

    async def restart_controller(self) -> Started:
        """Its next life, in the middle of a trial; the trial waits for its watches like for everything else."""
        await self._start()
        at = time.monotonic()
        self.feed.activity.born(at)
        return self.controller_started(at)

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the controller's metrics are; None when nobody asked for them."""
        return endpoint(self.metrics, self.metrics_port, self.plane.tokens.get(CONTROLLER, "")) if self.metrics else None

    async def _serves(self, source: Endpoint, controller: Controller) -> None:
        """Wait until there are metrics."""
        end = time.monotonic() + self.start_seconds
        while True:
            try:
                return await source.check()
            except Unreadable as err:
                why = err
            if time.monotonic() >= end or not controller.running:
                break
            await self.feed.until(lambda now: False, limit_seconds=_READY_IDLE_SECONDS)
        await self._stack.aclose()
        raise SetupError(
            f"{OPTION}: no metrics at {source.url} within {self.start_seconds:g} s: {why}. Does the controller serve them there? "
            f"{METRICS_PORT} stands for a free port ({self.metrics_port}), in the URL and in the controller's command, arguments "
            f"and variables.\n{controller.account()}"
        )

    async def _start(self) -> None:
        if self.release_leases and self._life and not self.feed.dead:
            await self.proxy.fence()
            await release(self._leases, self.api)
        self._life += 1
        kubeconfig = self.private / "controller.kubeconfig"
        self.plane.write_kubeconfig(kubeconfig, user=CONTROLLER, server=self.proxy.server, ca_file=self.proxy.ca_file)
        self.controller = await self._stack.enter_async_context(self._launch(kubeconfig))
        self.controller.life = self._life

    def controller_started(self, at: float) -> Started:
        """The entry that begins a life of the controller."""
        return Started(at=at, life=self._life, pid=self.controller.pid if self.controller else 0)

    async def create_namespace(self, name: str) -> None:
        kind = await self.api.type_named("namespaces")
        if kind is None:
            raise SetupError(f"the API server at {self.plane.server} has no namespaces")
        try:
            await self.api.call("POST", kind.path(), {"metadata": {"name": name, "labels": {"staleproof.dev/trial": "true"}}})
        except ApiError as err:
            raise SetupError(f"cannot create the namespace {name}: {err}") from err

    async def delete_namespace(self, name: str) -> None:
        """Ask for it; the cluster's own controllers finish it."""
        kind = await self.api.type_named("namespaces")
        if kind is not None:
            await self.api.delete(kind, "", name)

    @property
    def logs(self) -> tuple[Path, Path]:
        """What the controller and the proxy wrote, over all trials."""
        return self.folder / "controller.log", self.folder / "proxy.log"

    @property
    def secrets(self) -> list[str]:
        """What must not be written down."""
        return [*self.plane.tokens.values(), *secret_values(self.subject)]

    async def _close(self) -> None:
        """Stop the controller; leave nothing secret in its log."""
        await self._stack.aclose()
        logs.mask(self.logs, self.secrets)

    async def _at_rest(self) -> None:
        """Wait for what an earlier trial left the controller to do. One that does not come to rest spoils the next trial."""
        self.feed.activity.begin("", time.monotonic())
        if (
            not await self.feed.until_idle(_READY_IDLE_SECONDS / 3, limit_seconds=_REST_LIMIT_SECONDS)
            and self.controller is not None
        ):
            why = f"the controller was still busy {_REST_LIMIT_SECONDS:g} s after the trial before this one"
            self.feed.take(Broke(at=time.monotonic(), where="runner", why=why))

    def _has_watch(self, now: float) -> bool | float:
        """Asked again every so often, because an exit is no news to the feed."""
        exited = self.controller is not None and not self.controller.running
        return True if self.feed.activity.streams or exited else now + 0.05

    @asynccontextmanager
    async def _launch(self, kubeconfig: Path) -> AsyncIterator[Controller]:
        log = self.folder / "controller.log"
        subject = subject_at(self.subject, self.metrics_port)
        if subject.image:
            from staleproof.drive.subject.image import controller_container  # docker is imported only when it is used

            launched: AbstractAsyncContextManager[Controller] = controller_container(subject, kubeconfig, log)
        else:
            launched = controller_process(subject, kubeconfig, log)
        async with launched as controller:
            watch = self.group.create_task(self._tell_exit(controller, self._life))
            try:
                yield controller
            finally:
                watch.cancel()

    async def _tell_exit(self, controller: Controller, life: int) -> None:
        code = await controller.wait()
        if not self._is_ending:  # else it was told to
            self.feed.take(Exited(at=time.monotonic(), life=life, code=code))


@asynccontextmanager
async def rig(
    subject: Subject, given: list[Manifest], options: ControlPlaneOptions, folder: Path, progress: Progress
) -> AsyncIterator[Rig]:
    """Start everything but the controller, which starts with the first trial."""
    if bool(subject.command) == bool(subject.image):
        raise UsageError("name one controller: --controller-cmd or --controller-image")
    folder.mkdir(parents=True, exist_ok=True)
    feed = Feed()
    async with AsyncExitStack() as stack:
        private = stack.enter_context(private_folder("run"))
        plane = await stack.enter_async_context(control_plane(options, folder, progress))
        api = await stack.enter_async_context(connect(plane.server, _tls(plane), _headers(plane)))
        truth = await stack.enter_async_context(watching(api, feed.take))
        running = await stack.enter_async_context(proxy(plane, private / "proxy", feed.take, log=folder / "proxy.log"))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        made = Rig(plane, api, truth, running, feed, subject, folder, private, group, environment=_environment(plane, subject))
        made.ends_namespaces = plane.provider == "existing"
        feed.listeners.append(made._leases.see)
        stack.push_async_callback(made._close)
        await manifests.apply(given, api, truth, feed)
        yield made


def _tls(plane: ControlPlane) -> ssl.SSLContext:
    tls = ssl.create_default_context(cafile=str(plane.ca_file))
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if plane.client_certificate is not None:
        tls.load_cert_chain(plane.client_certificate)
    return tls


def _headers(plane: ControlPlane) -> dict[str, str]:
    return {"Authorization": f"Bearer {plane.tokens[RUNNER]}"} if RUNNER in plane.tokens else {}


def _environment(plane: ControlPlane, subject: Subject) -> dict[str, str]:
    return {
        "kubernetes": plane.version,
        "provider": plane.provider,
        "staleproof": __version__,
        "controller": _title(subject),
        "arch": platform.machine(),
        "wireFormat": "json",
    }


def _title(subject: Subject) -> str:
    return " ".join((subject.image, *subject.arguments)) if subject.image else " ".join((*subject.command, *subject.arguments))
