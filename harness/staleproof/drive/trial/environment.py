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
from typing import TYPE_CHECKING

from staleproof import __version__
from staleproof.core.companion import ROOT_CA
from staleproof.core.entry import Broke, Exited, Started
from staleproof.core.manifest import Manifest
from staleproof.core.plan import Subject
from staleproof.core.request import not_allowed
from staleproof.core.webhooks import without_admission
from staleproof.drive.cluster import manifests
from staleproof.drive.cluster.api import NAMESPACES, Api, ApiError, connect
from staleproof.drive.cluster.companions import Companions, companions
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, Progress, control_plane
from staleproof.drive.cluster.control_plane.credentials import account_user
from staleproof.drive.cluster.leases import Leases, release
from staleproof.drive.cluster.truth import Key, Truth, watching
from staleproof.drive.process import logs
from staleproof.drive.process.address import NEARBY, free_port
from staleproof.drive.process.private import private_folder
from staleproof.drive.process.program import IDENTITY, Program
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import loading_proxy
from staleproof.drive.subject.controller import controller_process, filled, secret_values
from staleproof.drive.subject.metrics import INSIDE, METRICS_PORT, OPTION, Endpoint, Unreadable, endpoint
from staleproof.drive.subject.webhooks import Webhooks, told_calls, webhooks_in
from staleproof.drive.trial.event_bus import POLL_SECONDS, EventBus
from staleproof.drive.trial.first_contact import FirstContact
from staleproof.drive.trial.refusals import Refusals
from staleproof.drive.trial.supervision import MOST_EXITS, supervisor_wait
from staleproof.errors import HarnessBug, SetupError, UsageError

if TYPE_CHECKING:
    from staleproof.drive.process.network import Network

OPENS_WATCH_SECONDS = 30.0
_READY_IDLE_SECONDS, _AGAIN_IDLE_SECONDS = 0.3, 0.1
_LOG_LINES, _LOG_WIDTH = 40, 300
"""So much of a log tells of an exit: a panic of Go comes before a page of stack."""
_GIVEN = {"serviceaccount": ("serviceaccounts", "default"), ROOT_CA: ("configmaps", "kube-root-ca.crt")}
"""What companions put into each namespace. A trial begins with it, so that it makes no difference when it comes."""
_GIVEN_SECONDS = 5.0
_REST_LIMIT_SECONDS = 100.0  # client-go waits up to a minute after several 410s
_GONE_SECONDS = 10.0


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
        companions: real controllers that run beside it, by name (`staleproof.core.companion`). More may follow (`accompany`).
    """

    subject: Subject
    manifests: tuple[Manifest, ...] = ()
    control_plane: ControlPlaneOptions = field(default_factory=ControlPlaneOptions)
    start_seconds: float = OPENS_WATCH_SECONDS
    release_leases: bool = True
    metrics: str = ""
    companions: tuple[str, ...] = ()


class ControllerExited(SetupError):
    """The controller exits before it has come to rest."""

    def __init__(self, told: str, code: int | None) -> None:
        super().__init__(told)
        self.code = code


@dataclass(slots=True)
class Environment:
    """The running parts.

    Attributes:
        options: what is about the controller may be changed between trials.
        folder: takes the logs.
        private: takes what must not stay; open to this user alone.
        group: everything that runs beside the trials; an error in it ends the environment.
        description: what reports say about the environment.
        refusals: what the controller asked for and may not do.
        webhooks: those of the controller; None: it has none.
        network: the one that the controller's container is in; None for a command.
        companions: those that run beside the controller.
        life: the number of the controller's present life, or of its last one; 0 before the first.
        harmed_by: the last run with faults, in words; empty when nothing has been done to this controller yet.
        exited: what a controller that died between two runs had been through, in words, and its last exit; None if none died.
        renames: resource and name of cluster-scoped primaries → whether the API server accepts them under other names.
        standing: the prerequisites that are there for all trials, each with the digest of its manifest.
        over: the namespaces of trials that are over and may still be there.
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
    refusals: Refusals
    webhooks: Webhooks | None = None
    metrics_port: int = field(default_factory=free_port)
    network: "Network | None" = None
    companions: Companions = field(init=False)
    controller: Program | None = None
    life: int = 0
    harmed_by: str = ""
    exited: tuple[str, Exited] | None = None
    renames: dict[tuple[str, str], bool] = field(default_factory=dict)
    standing: dict[Key, str] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)
    _leases: Leases = field(default_factory=Leases)
    _contact: FirstContact = field(default_factory=FirstContact)
    _is_ending: bool = False
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def controller_ready(self, *, fresh: bool = False, awaits_metrics: bool = True) -> None:
        """Return once the controller runs, has opened a watch, serves its metrics (unless nobody waits for them) and is idle. One
        that has exited is started again, and with `fresh` so is one that has run a trial; if it exits again, a supervisor tries a
        few times more.

        A controller that something has been done to (`harmed_by`) may be beyond that. Then the next run begins with whatever there
        is of it, and shows it.

        Raises:
            UsageError: the URL of the metrics is not one of HTTP; or it does not start, and may not do what it asks for.
            SetupError: nothing was ever done to it, and it exits, opens no watch, or serves no metrics; with the end of its log.
        """
        await self._others_gone()
        if self.running_controller and not fresh:
            return await self._at_rest()
        source = self.endpoint if awaits_metrics else None
        for exits in itertools.count(1):
            try:
                return await self._begin_life(source)
            except SetupError as err:
                if self.controller is None or (self._is_hopeless(exits) and not self.harmed_by):
                    await self._stack.aclose()
                    await self._blame_rights(err)
                    raise
            if self._is_hopeless(exits):
                return None
            await asyncio.sleep(supervisor_wait(exits))

    async def _blame_rights(self, err: SetupError) -> None:
        """UsageError if the controller, which does not start, asked for what it may not do."""
        if told := await self.told_refusals():
            raise UsageError(
                f"the controller does not start as ServiceAccount {self.refusals.account}, which lacks rights: {told}. Has it a "
                f"Role with them, and a binding, in the manifests?\n{err}"
            ) from None  # the surroundings are not to blame

    async def count_calls(self) -> None:
        """Have reports say how often the API server has called the controller's webhooks."""
        if self.webhooks is not None and not self.is_users_cluster:
            self.description["webhooks"] = told_calls(await self.api.metrics()) or "never called"

    async def told_refusals(self) -> str:
        """What the controller asked for and may not do, in words; empty when there is nothing."""
        await self.refusals.sort_out(self.api)
        return "; ".join(not_allowed(self.refusals.counts))

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
            code = controller.exit_code
            raise ControllerExited(f"the controller exited with code {code} before any trial.\n{controller.account()}", code)
        if not watching:
            image, obstacle = bool(self.options.subject.image), self.network.obstacle if self.network else ""
            why = self._contact.no_watch(is_image=image, obstacle=obstacle)
            raise SetupError(
                f"the controller opened no watch within {self.options.start_seconds:g} s. {why}\n{controller.account()}"
            )
        if source is not None:
            await self._serves(source, controller)
        await self.bus.until(self._is_ready, limit_seconds=self.options.start_seconds)
        self.description |= controller.identity()

    def _is_ready(self, now: float) -> bool | float:
        """Whether the controller has come to rest: soon, once it watches what its earlier lives watched by themselves."""
        since = self.bus.activity.idle_since(now)
        if since is None:
            return now + POLL_SECONDS
        due = since + (_AGAIN_IDLE_SECONDS if self.bus.activity.watches_again else _READY_IDLE_SECONDS)
        return now >= due or due

    async def use(self, subject: Subject, *, metrics: str = "") -> None:
        """Put another controller under test; it starts with the next trial. `metrics` is the URL of its own; empty: none."""
        if bool(subject.image) != bool(self.options.subject.image):
            raise HarnessBug("the proxy listens where a command, or where an image reaches it; begin another environment")
        await self._stack.aclose()
        self.bus.activity.replaced()
        self.options, self.controller = replace(self.options, subject=subject, metrics=metrics), None
        self.harmed_by, self.exited = "", None
        self.description["controller"] = _title(subject)
        for name in IDENTITY:
            self.description.pop(name, None)

    @property
    def running_controller(self) -> Program | None:
        return self.controller if self.controller is not None and self.controller.running else None

    def log_of(self, controller: Program) -> list[str]:
        """How its log ends, without secrets."""
        lines = [line[:_LOG_WIDTH] for line in controller.last_lines(_LOG_LINES)]
        return logs.masked("\n".join(lines).encode(), self.secrets).decode(errors="replace").split("\n") if lines else []

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
        if not url:
            return None
        found = endpoint(url, self.metrics_port, self.plane.tokens.get(CONTROLLER, ""))
        return found.published(self.metrics_port) if self._is_private else found

    @property
    def _is_private(self) -> bool:
        """Whether the controller's ports are its own, and must be published."""
        return self.network is not None and self.network.is_private

    @property
    def is_users_cluster(self) -> bool:
        """Whether the API server is not ours: it cannot reach the controller, and knows it as the user."""
        return self.plane.provider == "existing"

    @property
    def applied(self) -> list[Manifest]:
        """What is applied first, with the controller's own webhooks where it serves them, if they can be called."""
        if self.webhooks is None or self.is_users_cluster:
            return without_admission(self.options.manifests)
        return self.webhooks.led(self.options.manifests)

    @property
    def ends_namespaces(self) -> bool:
        """Whether somebody finishes the deletion of namespaces."""
        return self.is_users_cluster or "namespace" in self.options.companions

    @property
    def shows_namespaces(self) -> bool:
        """Whether the controller sees namespaces come and go."""
        return self.bus.activity.watches(NAMESPACES.name)

    async def accompany(self, names: tuple[str, ...]) -> float:
        """Have these companions, of which some may run already; the seconds that all starts have taken so far."""
        await self.companions.have(names)
        ended_before = self.ends_namespaces
        self.options = replace(self.options, companions=names)
        if self.ends_namespaces and not ended_before:  # what earlier trials left was nobody's to end
            for namespace in tuple(self.over):
                await self.api.delete(NAMESPACES, "", namespace)
        if names:
            self.description["companions"] = ", ".join(names)
        return self.companions.seconds

    async def create_namespace(self, name: str) -> None:
        """Create a namespace for a trial, with what companions put into each. SetupError when the API server refuses."""
        body = {"metadata": {"name": name, "labels": {"staleproof.dev/trial": "true"}}}
        try:
            await self.api.call("POST", NAMESPACES.path(), body)
        except ApiError as err:
            raise SetupError(f"cannot create the namespace {name}: {err}") from err
        given = {(resource, name, each) for who, (resource, each) in _GIVEN.items() if who in self.options.companions}
        await self.bus.until(lambda now: given <= self.truth.objects.keys(), limit_seconds=_GIVEN_SECONDS)

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
        self._contact.begin_life()
        self.controller = await self._stack.enter_async_context(self._launch())
        self.bus.activity.wakes(time.monotonic())
        return self.controller

    @asynccontextmanager
    async def _launch(self) -> AsyncIterator[Program]:
        log, _ = self.logs
        subject, hooks = filled(self.options.subject, {METRICS_PORT: str(self.metrics_port)}), self.webhooks
        if self.network is not None:
            from staleproof.drive.subject.image import controller_container  # docker is imported only when it is used

            access = self.plane.access(CONTROLLER, server=self.proxy.server, ca_file=self.proxy.ca_file)
            inside = endpoint(self.options.metrics, self.metrics_port, "").port if self.options.metrics else None
            publish = ({inside: self.metrics_port} if inside else {}) | (hooks.published if hooks else {})
            subject, files = (hooks.container(subject), hooks.files) if hooks else (subject, {})
            launched: AbstractAsyncContextManager[Program] = controller_container(
                subject, access, log, self.network, files=files, publish=publish
            )
        else:
            kubeconfig = self.private / "controller.kubeconfig"
            self.plane.write_kubeconfig(
                kubeconfig,
                user=CONTROLLER,
                server=self.proxy.server,
                ca_file=self.proxy.ca_file,
                namespace=subject.namespace,
            )
            launched = controller_process(hooks.process(subject) if hooks else subject, kubeconfig, log)
        async with launched as controller:
            watch = self.group.create_task(self._tell_exit(controller, self.life))
            try:
                yield controller
            finally:
                if controller.running:
                    watch.cancel()
                await asyncio.wait({watch})  # an exit that nobody has told of yet

    async def _tell_exit(self, controller: Program, life: int) -> None:
        code = await controller.wait()
        if self._is_ending:  # it was told to exit
            return
        at, leases = time.monotonic(), self._leases
        log, every, unrenewed = tuple(self.log_of(controller)), leases.renews_every, leases.unrenewed(at)
        reason = controller.exit_reason
        exited = Exited(at=at, life=life, code=code, reason=reason, log=log, unrenewed=unrenewed, renews_every=every)
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
            f"arguments and variables.{INSIDE if self._is_private else ''}\n{controller.account()}"
        )

    async def _others_gone(self) -> None:
        """Wait until the namespaces of earlier trials are gone, if the controller watches namespaces. What it does about their end
        would be taken for what it does in the next trial. One that does not go is not waited for again."""
        if self.ends_namespaces:
            if self.shows_namespaces:
                await self.bus.until(lambda now: not self._has_others(), limit_seconds=_GONE_SECONDS)
            self.over.clear()

    def _has_others(self) -> bool:
        return any((NAMESPACES.name, "", namespace) in self.truth.objects for namespace in self.over)

    async def _at_rest(self) -> None:
        """Wait for what an earlier trial left the controller to do. If it does not come to rest, it spoils the next trial."""
        if self.bus.activity.namespace:  # else it has been watched since the clean-up began
            self.bus.activity.begin("", time.monotonic())
        if not await self.bus.until_idle(_AGAIN_IDLE_SECONDS, limit_seconds=_REST_LIMIT_SECONDS):
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
        UsageError: no controller is named; or the API server rejects a manifest.
        SetupError: one of the parts does not start.
    """
    if not options.subject.command and not options.subject.image:
        raise UsageError("name the controller: --controller-cmd or --controller-image")
    folder.mkdir(parents=True, exist_ok=True)
    bus, network = EventBus(), await _network(options.subject)
    reach = network.reach if network else NEARBY
    async with AsyncExitStack() as stack:
        private = stack.enter_context(private_folder("run"))
        loading = await stack.enter_async_context(loading_proxy(private / "proxy", log=folder / "proxy.log"))
        asked = replace(options.control_plane, service_account=options.subject.service_account)
        plane = await stack.enter_async_context(control_plane(asked, folder, progress))
        loading.tell_of(plane, reach)  # it begins to listen while the truth is found out
        access = plane.access(RUNNER)
        api = await stack.enter_async_context(connect(plane.server, access.tls(), access.headers))
        truth = await stack.enter_async_context(watching(api, bus.take))
        made = Environment(
            options=options,
            plane=plane,
            api=api,
            truth=truth,
            proxy=await stack.enter_async_context(loading.driven(bus.take, host=reach.host)),
            bus=bus,
            folder=folder,
            private=private,
            group=await stack.enter_async_context(asyncio.TaskGroup()),
            description=_description(plane, options) | ({"network": network.name} if network else {}),
            refusals=Refusals(options.subject.service_account if plane.provider != "existing" else ""),
            webhooks=webhooks_in(private / "webhooks", options.subject, is_private=network is not None and network.is_private),
            network=network,
        )
        bus.listeners += [made._leases.see, made._contact.see, made.refusals.see]
        stack.push_async_callback(made._close)
        await manifests.apply(made.applied, api, truth)
        made.companions = await stack.enter_async_context(companions(made, progress))
        await made.accompany(options.companions)
        yield made


async def _network(subject: Subject) -> "Network | None":
    """The network of the subject's container; None if it is none. Raises what `controller_network` raises."""
    if not subject.image:
        return None
    from staleproof.drive.subject.image import controller_network  # as above

    return await controller_network(subject)


def _description(plane: ControlPlane, options: EnvironmentOptions) -> dict[str, str]:
    return {
        "kubernetes": plane.version,
        "provider": plane.provider,
        "staleproof": __version__,
        "controller": _title(options.subject),
        "arch": platform.machine(),
        "wireFormat": "json",
        "rbac": _rights(plane, options.subject),
    }


def _rights(plane: ControlPlane, subject: Subject) -> str:
    """What the controller may do, and why."""
    if plane.provider == "existing":
        return "not checked: the controller has the rights of --staleproof-kubeconfig"
    if not subject.service_account:
        return "not checked: the controller may do everything, because no Roles are known (--controller-manifests)"
    return f"the controller may do what {account_user(subject.service_account)} may do"


def _title(subject: Subject) -> str:
    program = (subject.image,) if subject.image else subject.command
    return " ".join((*program, *subject.arguments))
