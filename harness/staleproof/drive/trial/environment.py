"""Everything that a trial needs, running: control plane, truth, proxy, companions, controller. Started once for many trials."""

import asyncio
import platform
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from staleproof.core.declared import SHARED_SYSTEMS, AnyDeclared, DeclaredCommands, DeclaredHTTP, DeclaredS3
from staleproof.core.history.entry import Exited
from staleproof.core.operator.companion import ROOT_CA
from staleproof.core.operator.webhooks import without_admission
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Subject, program_problems
from staleproof.core.times import DELETED_SECONDS, GIVEN_SECONDS, OPENS_WATCH_SECONDS
from staleproof.drive.cluster import manifests
from staleproof.drive.cluster.api import NAMESPACES, Api, ApiError, connect
from staleproof.drive.cluster.companions import Companions, companions
from staleproof.drive.cluster.control_plane import RUNNER, ControlPlane, ControlPlaneOptions, Progress, control_plane
from staleproof.drive.cluster.control_plane.credentials import account_user
from staleproof.drive.cluster.truth import Key, Truth, watching
from staleproof.drive.external.launch import RunningSystems, running_systems
from staleproof.drive.process import logs
from staleproof.drive.process.address import NEARBY
from staleproof.drive.process.private import private_folder
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import loading_proxy
from staleproof.drive.subject.webhooks import Calls, calls_in, calls_text, webhooks_in
from staleproof.drive.trial.event_bus import EventBus
from staleproof.drive.trial.lives import Lives, title
from staleproof.drive.trial.refusals import Refusals
from staleproof.errors import HarnessBug, SetupError, UsageError
from staleproof.version import running_version

if TYPE_CHECKING:
    from staleproof.drive.process.network import Network

CONTROLLER_LOG, PROXY_LOG = "controller.log", "proxy.log"
_CONFLICT = 409
_TOKEN_BYTES = 32
_GIVEN = {"serviceaccount": ("serviceaccounts", "default"), ROOT_CA: ("configmaps", "kube-root-ca.crt")}
"""What companions put into each namespace. A trial begins with it, so that it makes no difference when it comes."""


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
        companions: real controllers that run beside it, by name (`core.operator.companion`). More may follow (`accompany`).
        namespace: the one that primaries have to be in; empty: the one that the controller looks into, or each trial's own.
        external: systems outside Kubernetes that the controller keeps something in.
    """

    subject: Subject
    manifests: tuple[Manifest, ...] = ()
    control_plane: ControlPlaneOptions = field(default_factory=ControlPlaneOptions)
    start_seconds: float = OPENS_WATCH_SECONDS
    release_leases: bool = True
    metrics: str = ""
    companions: tuple[str, ...] = ()
    namespace: str = ""
    external: tuple[AnyDeclared, ...] = ()


@dataclass(slots=True)
class Environment:
    """The running parts.

    Attributes:
        options: as they were given; companions may become more (`accompany`), and the controller another one (`lives`).
        folder: takes the logs.
        private: takes what must not stay; open to this user alone.
        group: everything that runs beside the trials; an error in it ends the environment.
        description: what reports say about the environment.
        lives: the controller under test.
        further: the other programs of the subject, each with lives of its own.
        external: the systems outside Kubernetes.
        companions: those that run beside it.
        renames: resource and name of primaries that are in no namespace of a trial's → whether the API server accepts them under
            other names.
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
    lives: Lives
    external: RunningSystems
    further: tuple[Lives, ...] = ()
    companions: Companions = field(init=False)
    renames: dict[tuple[str, str], bool] = field(default_factory=dict)
    standing: dict[Key, str] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)

    async def controller_ready(self, *, fresh: bool = False, awaits_metrics: bool = True) -> None:
        """Return once the controller is ready for the next run (`Lives.ready`), and nothing of the one before disturbs it.

        If it watches namespaces, those of earlier trials are gone: what it does about their end would be taken for what it does in
        the next trial. One that does not go is not waited for again.
        """
        if self.ends_namespaces:
            if self.shows_namespaces:
                keys = {(NAMESPACES.name, "", namespace) for namespace in self.over}
                await self.bus.until(lambda now: keys.isdisjoint(self.truth.objects), limit_seconds=DELETED_SECONDS)
            self.over.clear()
        await self.lives.ready(fresh=fresh, awaits_metrics=awaits_metrics)
        for program in self.further:
            await program.ready(fresh=fresh)

    async def use(self, subject: Subject, *, metrics: str = "") -> None:
        """Put another subject under test, which has further programs of the same names; it starts with the next trial. `metrics`:
        as of `Lives.use`."""
        if subject.programs != tuple(each.name for each in self.further):
            raise HarnessBug("the proxy knows the programs of the subject that it was started for; begin another environment")
        await self.lives.use(subject, metrics=metrics)
        for program in self.further:
            await program.use(subject.further(program.name))

    async def close(self) -> None:
        """Stop all programs of the subject."""
        for program in self.programs:
            await program.close()

    async def take_exit(self) -> tuple[str, Exited] | None:
        """The last exit of a program between two runs (`Lives.take_exit`), the controller's first."""
        found = [await program.take_exit() for program in self.programs]
        return next((each for each in found if each is not None), None)

    @property
    def programs(self) -> tuple[Lives, ...]:
        """All programs of the subject, the controller first."""
        return self.lives, *self.further

    async def count_calls(self) -> None:
        """Have reports say how often the API server has called the controller's webhooks."""
        if self.has_webhooks and not self.is_users_cluster:
            self.description["webhooks"] = calls_text(await self.webhook_calls()) or "never called"

    async def webhook_calls(self) -> dict[str, Calls]:
        """How often the API server has called which of the controller's webhooks."""
        return calls_in(await self.api.metrics())

    @property
    def has_webhooks(self) -> bool:
        """Whether the controller has webhooks that an API server is to call."""
        return self.lives.webhooks is not None and self.lives.webhooks.are_called

    @property
    def is_users_cluster(self) -> bool:
        """Whether the API server is not ours: it cannot reach the controller, and knows it as the user."""
        return self.plane.provider == "existing"

    @property
    def applied(self) -> list[Manifest]:
        """What is applied first, with the controller's own webhooks where it serves them, if they can be called."""
        webhooks = self.lives.webhooks
        if webhooks is None or not webhooks.are_called or self.is_users_cluster:
            return without_admission(self.options.manifests)
        return webhooks.led(self.options.manifests)

    @property
    def ends_namespaces(self) -> bool:
        """Whether a controller finishes the deletion of namespaces."""
        return self.is_users_cluster or "namespace" in self.options.companions

    @property
    def shows_namespaces(self) -> bool:
        """Whether the controller sees namespaces come and go."""
        return self.bus.activity.watches.include(NAMESPACES.name)

    async def accompany(self, names: tuple[str, ...]) -> float:
        """Have these companions, of which some may run already; the seconds that all starts have taken so far."""
        await self.companions.have(names)
        ended_before = self.ends_namespaces
        self.options = replace(self.options, companions=names)
        if self.ends_namespaces and not ended_before:  # before that, nothing could end what earlier trials left
            for namespace in tuple(self.over):
                await self.api.delete(NAMESPACES, "", namespace)
        if names:
            self.description["companions"] = ", ".join(names)
        return self.companions.seconds

    async def have_namespace(self, name: str, why: str) -> None:
        """Make a namespace that is no trial's, unless it is there. UsageError, which says why it is needed, when the API server
        refuses."""
        if (NAMESPACES.name, "", name) in self.truth.objects:
            return
        try:
            await self.api.call("POST", NAMESPACES.path(), {"metadata": {"name": name}})
        except ApiError as err:
            if err.code != _CONFLICT:
                raise UsageError(f"the namespace {name} cannot be made ({why}): {err.message}") from err

    async def create_namespace(self, name: str) -> None:
        """Create a namespace for a trial, with what companions put into each. SetupError when the API server refuses."""
        body = {"metadata": {"name": name, "labels": {"staleproof.dev/trial": "true"}}}
        try:
            await self.api.call("POST", NAMESPACES.path(), body)
        except ApiError as err:
            raise SetupError(f"cannot create the namespace {name}: {err}") from err
        given = {(resource, name, each) for companion, (resource, each) in _GIVEN.items() if companion in self.options.companions}
        await self.bus.until(lambda now: given <= self.truth.objects.keys(), limit_seconds=GIVEN_SECONDS)

    @property
    def secrets(self) -> list[str]:
        """What must not be written down."""
        return [secret for program in self.programs for secret in program.secrets]

    @property
    def logs(self) -> tuple[Path, ...]:
        """The files that the programs of the subject and the proxy write to, over all trials."""
        return *(each.log for each in self.programs), self.folder / PROXY_LOG


@asynccontextmanager
async def environment(options: EnvironmentOptions, folder: Path, progress: Progress) -> AsyncIterator[Environment]:
    """Start everything but the controller, which starts with the first trial. The proxy loads while the control plane starts.

    Raises:
        UsageError: no controller is named; or the API server rejects a manifest.
        SetupError: one of the parts does not start.
    """
    _require_controller(options.subject)
    folder.mkdir(parents=True, exist_ok=True)
    bus, network, secrets = EventBus(_tokens(options.subject)), await _network(options.subject), set[str]()
    reach = network.reach if network else NEARBY
    async with AsyncExitStack() as stack:
        stack.callback(lambda: logs.mask(sorted(folder.glob("*.log")), secrets))  # once nothing writes to any of them
        private = stack.enter_context(private_folder("run"))
        loading = await stack.enter_async_context(loading_proxy(private / "proxy", log=folder / PROXY_LOG))
        plane_options = replace(options.control_plane, service_account=options.subject.service_account)
        plane = await stack.enter_async_context(control_plane(plane_options, folder, progress))
        loading.tell_of(plane, reach, bus.tokens)  # it begins to listen while the truth is found out
        access = plane.access(RUNNER)
        api = await stack.enter_async_context(connect(plane.server, access.tls(), access.headers))
        truth = await stack.enter_async_context(watching(api, bus.take))
        proxy = await stack.enter_async_context(loading.driven(bus.take, host=reach.host))
        external = await stack.enter_async_context(running_systems(options.external, folder, private, bus.take, reach))
        bus.listeners.append(external.see)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        lives = Lives(
            subject=options.subject,
            metrics=options.metrics,
            start_seconds=options.start_seconds,
            release_leases=options.release_leases,
            plane=plane,
            api=api,
            proxy=proxy,
            bus=bus,
            log=folder / CONTROLLER_LOG,
            private=private,
            group=group,
            description=_described(options, plane, network),
            refusals=Refusals(options.subject.service_account if plane.provider != "existing" else ""),
            webhooks=webhooks_in(private / "webhooks", options.subject, is_private=network is not None and network.is_private),
            network=network,
            external=external,
        )
        further = tuple(_further(lives, name, folder) for name in options.subject.programs)
        made = Environment(
            options, plane, api, truth, proxy, bus, folder, private, group, lives.description, lives, external, further
        )
        stack.callback(lambda: secrets.update(made.secrets))
        stack.push_async_callback(made.close)
        await manifests.apply(made.applied, api, truth)
        if options.namespace:  # before the controller starts: it may insist
            await made.have_namespace(options.namespace, "--staleproof-namespace, or --namespace, names it")
        made.companions = await stack.enter_async_context(companions(made, progress))
        await made.accompany(options.companions)
        yield made


def _tokens(subject: Subject) -> dict[str, str]:
    """One for each further program, by name."""
    return {name: token_urlsafe(_TOKEN_BYTES) for name in subject.programs}


def _further(lives: Lives, name: str, folder: Path) -> Lives:
    """Another program of the same subject. It has neither webhooks nor metrics; where RBAC decides, it may do what the controller
    may, and the controller's refusals count what it may not."""
    return Lives(
        subject=lives.subject.further(name),
        metrics="",
        start_seconds=lives.start_seconds,
        release_leases=lives.release_leases,
        plane=lives.plane,
        api=lives.api,
        proxy=lives.proxy,
        bus=lives.bus,
        log=folder / f"{name}.log",
        private=lives.private,
        group=lives.group,
        description=lives.description,
        refusals=lives.refusals,
        external=lives.external,
        name=name,
        token=lives.bus.tokens[name],
    )


def _described(options: EnvironmentOptions, plane: ControlPlane, network: "Network | None") -> dict[str, str]:
    """What reports say of it."""
    return {
        "kubernetes": plane.version,
        "provider": plane.provider,
        "staleproof": running_version(),
        "controller": title(options.subject),
        **({"programs": ", ".join(options.subject.programs)} if options.subject.also else {}),
        "arch": platform.machine(),
        "wireFormat": "json",
        "rbac": _rights(plane, options.subject),
        **({"external": _external_summary(options.external)} if options.external else {}),
        **({SHARED_SYSTEMS: shared} if (shared := _shared(options.external)) else {}),
        **({"network": network.name} if network else {}),
    }


def _require_controller(subject: Subject) -> None:
    if not subject.command and not subject.image:
        raise UsageError("name the controller: --controller-cmd or --controller-image")
    if problems := program_problems(subject):
        raise UsageError("; ".join(f"controller-{problem}" for problem in problems))


async def _network(subject: Subject) -> "Network | None":
    """The network of the subject's container; None if it is none. Raises what `controller_network` raises."""
    if not subject.image:
        return None
    from staleproof.drive.subject.image import controller_network  # docker is imported only when it is used

    return await controller_network(subject)


def _external_summary(declared: tuple[AnyDeclared, ...]) -> str:
    """Their names and kinds."""
    return ", ".join(f"{each.name} ({each.tag})" for each in declared)


_SERVICES = DeclaredHTTP | DeclaredS3 | DeclaredCommands


def _shared(declared: tuple[AnyDeclared, ...]) -> str:
    """Services that run already: all workers use them, and perhaps others."""
    return ", ".join(each.name for each in declared if isinstance(each, _SERVICES) and not each.command)


def _rights(plane: ControlPlane, subject: Subject) -> str:
    """What the controller may do, and why."""
    if plane.provider == "existing":
        return "not checked: the controller has the rights of --staleproof-kubeconfig"
    if not subject.service_account:
        return "not checked: the controller may do everything, because no Roles are known (--controller-manifests)"
    return f"the controller may do what {account_user(subject.service_account)} may do"
