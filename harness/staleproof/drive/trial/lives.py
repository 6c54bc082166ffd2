"""A program under test, one life after another: started, ended, revived, and reported when it exits by itself.

Usually that is the controller. A subject with several programs has as many `Lives`, of which the controller's has no name.
"""

import asyncio
import itertools
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from staleproof.core.history.entry import Asked, Broke, Entry, Exited, Refused, Started
from staleproof.core.plan.plan import MAIN, Subject
from staleproof.core.times import (
    AT_MOST_NEEDED_SECONDS,
    BEGUN_AGAIN_IDLE_SECONDS,
    BEGUN_IDLE_SECONDS,
    POLL_SECONDS,
)
from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlane
from staleproof.drive.cluster.control_plane.plane import kubeconfig
from staleproof.drive.cluster.leases import Leases, release
from staleproof.drive.external.launch import RunningSystems
from staleproof.drive.process import logs
from staleproof.drive.process.address import free_port
from staleproof.drive.process.private import write_private
from staleproof.drive.process.process import CannotStart
from staleproof.drive.process.program import IDENTITY, Program
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.subject.controller import controller_process, filled, secret_values
from staleproof.drive.subject.given_files import with_files
from staleproof.drive.subject.metrics import INSIDE, METRICS_PORT, OPTION, Endpoint, Unreadable, endpoint
from staleproof.drive.subject.webhooks import Webhooks
from staleproof.drive.trial.event_bus import EventBus
from staleproof.drive.trial.first_contact import FirstContact
from staleproof.drive.trial.refusals import Refusals
from staleproof.drive.trial.supervision import MOST_EXITS, supervisor_wait
from staleproof.errors import HarnessBug, SetupError, UsageError

if TYPE_CHECKING:
    from staleproof.drive.process.network import Network

_LOG_LINES, _LOG_WIDTH = 40, 300
"""So much of a log is shown for an exit: a panic of Go comes before a page of stack."""


class ControllerExited(SetupError):
    """The controller exits before it has come to rest."""

    def __init__(self, message: str, code: int | None) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True, kw_only=True)
class Lives:
    """What is done to the controller's process, or container, and what is known of it.

    Attributes:
        name: of a further program of the subject; empty: it is the controller itself.
        token: the further program's own, which only the proxy knows; empty: the controller has that of the control plane.
        subject: the controller; `metrics`, `start_seconds` and `release_leases` are as in `EnvironmentOptions`.
        log: takes what it writes, over all lives.
        private: takes its kubeconfig; open to this user alone.
        group: takes what watches for its exit.
        description: what reports say about the environment, and so of the controller.
        refusals: what it asked for and may not do.
        webhooks: its own; None: it has none.
        network: the one that its container is in; None for a command.
        external: the systems outside Kubernetes, whose URLs it is given.
        program: its present life, or its last one.
        number: the number of that life; 0 before the first.
        harmed_by: the last run with faults, in words; empty when nothing has been done to this controller yet.
        exited: what a controller that died between two runs had been through, in words, and its last exit; None if none died.
        had_time_to_look: it was waited for once until it looked for its primaries somewhere.
        keeps_primaries: a primary that was deleted did not go, though nothing kept the controller from letting it go.
        watches_otherwise: a life did not come to watch all that earlier ones had watched by themselves.
    """

    subject: Subject
    metrics: str
    start_seconds: float
    release_leases: bool
    plane: ControlPlane
    api: Api
    proxy: Proxy
    bus: EventBus
    log: Path
    private: Path
    group: asyncio.TaskGroup
    description: dict[str, str]
    refusals: Refusals
    webhooks: Webhooks | None = None
    network: "Network | None" = None
    external: RunningSystems = field(default_factory=RunningSystems)
    name: str = ""
    token: str = field(default="", repr=False)
    metrics_port: int = field(default_factory=free_port)
    program: Program | None = None
    number: int = 0
    harmed_by: str = ""
    exited: tuple[str, Exited] | None = None
    had_time_to_look: bool = False
    keeps_primaries: bool = False
    watches_otherwise: bool = False
    _leases: Leases = field(default_factory=Leases)
    _contact: FirstContact = field(default_factory=FirstContact)
    _is_ending: bool = False
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    def __post_init__(self) -> None:
        self.bus.listeners.append(self._see)
        if not self.name:  # it counts what all programs may not do
            self.bus.listeners.append(self.refusals.see)

    def _see(self, entry: Entry) -> None:
        """What another program asks for says nothing of this one."""
        if not isinstance(entry, Asked | Refused) or self.bus.activity.watches.program(entry.client) == self.name:
            self._leases.see(entry)
            self._contact.see(entry)

    async def ready(self, *, fresh: bool = False, awaits_metrics: bool = True) -> None:
        """Return once the controller runs, has opened a watch, serves its metrics (with `awaits_metrics`) and is idle. One
        that has exited is started again, and with `fresh` so is one that has run a trial; if it exits again, a supervisor tries a
        few times more.

        A controller that something has been done to (`harmed_by`) may be beyond that. Then the next run begins with whatever there
        is of it, and shows it.

        Raises:
            UsageError: the URL of the metrics is not one of HTTP; or its program cannot be started; or it does not start, and may
                not do what it asks for.
            SetupError: nothing was ever done to it, and it exits, opens no watch, or serves no metrics; with the end of its log.
        """
        if self.running and not fresh:
            return await self._at_rest()
        source = self.endpoint if awaits_metrics else None
        for exits in itertools.count(1):
            try:
                return await self._begin_life(source)
            except SetupError as err:
                if self.program is None or (self._is_hopeless(exits) and not self.harmed_by):
                    await self._stack.aclose()
                    await self._blame_rights(err)
                    raise
            if self._is_hopeless(exits):
                return None
            await asyncio.sleep(supervisor_wait(exits))

    async def use(self, subject: Subject, *, metrics: str = "") -> None:
        """Put another controller under test; it starts with the next trial. `metrics` is the URL of its own; empty: none."""
        if bool(subject.image) != bool(self.subject.image):
            raise HarnessBug("the proxy listens where a command, or where an image reaches it; begin another environment")
        await self._stack.aclose()
        self.bus.activity.replaced(self.name)
        self.bus.whereabouts.forget()
        self.subject, self.metrics, self.program = subject, metrics, None
        self.harmed_by, self.exited = "", None
        self.had_time_to_look = self.keeps_primaries = self.watches_otherwise = False
        if self.name:
            return
        self.description["controller"] = title(subject)
        for name in IDENTITY:
            self.description.pop(name, None)

    @property
    def running(self) -> Program | None:
        return self.program if self.program is not None and self.program.running else None

    def log_of(self, controller: Program) -> list[str]:
        """How its log ends, without secrets."""
        lines = [line[:_LOG_WIDTH] for line in controller.last_lines(_LOG_LINES)]
        return logs.masked("\n".join(lines).encode(), self.secrets).decode(errors="replace").split("\n") if lines else []

    async def stop(self, *, gently: bool) -> None:
        """End the controller in the middle of a trial, by SIGKILL or gently, as the end of a run does it."""
        if self.program is None:
            return
        self._is_ending = True
        self.bus.activity.watches.will_end(self.name)
        if not gently:
            await self.program.send_signal(signal.SIGKILL)
            await self.program.wait()
        await self._stack.aclose()
        self._is_ending = False
        self.bus.activity.died(time.monotonic(), self.name)

    async def restart(self) -> Started:
        """Begin its next life in the middle of a trial, which waits for its watches like for everything else."""
        await self._start()
        at = time.monotonic()
        self.bus.activity.born(at, self.name)
        return self.started(at)

    async def revive(self) -> Started:
        """Begin its next life after it exited by itself, in the middle of a trial."""
        await self._stack.aclose()
        return await self.restart()

    def started(self, at: float) -> Started:
        """The entry that begins a life of the controller."""
        return Started(at=at, life=self.number, pid=self.program.pid if self.program else 0, program=self.name)

    @property
    def called(self) -> str:
        """What messages call it."""
        return f"{self.name}, a program of the subject (also)," if self.name else "the controller"

    async def take_exit(self) -> tuple[str, Exited] | None:
        """The last exit between two runs (`exited`), each time it is asked for only since the time before."""
        found, self.exited = self.exited, None
        return found

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the controller's metrics are; None when they are not asked for. UsageError when the URL is not one of HTTP."""
        url = self.metrics
        if not url:
            return None
        found = endpoint(url, self.metrics_port, self.plane.tokens.get(CONTROLLER, ""))
        return found.published(self.metrics_port) if self._is_private else found

    @property
    def secrets(self) -> list[str]:
        """What must not be written down."""
        kept = [*self.external.secrets, *self.api.payloads.known]
        return [*self.plane.tokens.values(), *filter(None, [self.token]), *secret_values(self.subject), *kept]

    async def _begin_life(self, source: Endpoint | None) -> None:
        """Start the controller and return once it has come to rest. SetupError when it does not come to that."""
        await self._stack.aclose()
        self.program = None
        self.bus.activity.restarted(self.name)
        self.bus.flaws.clear()
        controller, watches = await self._start(), self.bus.activity.watches
        watching = await self.bus.until(
            lambda now: watches.is_open(self.name) or not controller.running or now + POLL_SECONDS,  # no entry yet
            limit_seconds=self.start_seconds,
        )
        if not controller.running:
            code = controller.exit_code
            raise ControllerExited(f"{self.called} exited with code {code} before any trial.\n{controller.account()}", code)
        if not watching:
            image, obstacle = bool(self.subject.image), self.network.obstacle if self.network else ""
            why = self._contact.no_watch(is_image=image, obstacle=obstacle)
            raise SetupError(f"{self.called} opened no watch within {self.start_seconds:g} s. {why}\n{controller.account()}")
        if source is not None:
            await self._serves(source, controller)
        if not await self.bus.until(self._is_ready, limit_seconds=self.start_seconds):
            self.watches_otherwise = True  # a life need not do what an earlier one did; it is not waited for again
        if not self.name:
            self.description |= controller.identity()

    def _is_ready(self, now: float) -> bool | float:
        """Whether the controller has come to rest: soon, once it watches what its earlier lives watched by themselves. One that has
        yet to be elected rests, too, and does nothing of what the next run is about."""
        activity = self.bus.activity
        since = activity.idle_since(now)
        known, again = activity.watches.is_known(self.name), activity.watches.are_back(self.name)
        is_early = known and not again and not self.watches_otherwise and self.running is not None
        if since is None or is_early:
            return now + POLL_SECONDS
        due = since + (BEGUN_AGAIN_IDLE_SECONDS if again else BEGUN_IDLE_SECONDS)
        return now >= due or due

    def _is_hopeless(self, exits: int) -> bool:
        """Whether a life that did not begin well is no reason to try again: there were too many, or the process is there."""
        return exits > MOST_EXITS or self.running is not None

    async def _blame_rights(self, err: SetupError) -> None:
        """UsageError if the controller, which does not start, asked for what it may not do."""
        if missing := await self.refusals.missing_rights(self.api):
            raise UsageError(
                f"the controller does not start as ServiceAccount {self.refusals.account}, which lacks rights: {missing}. Has it a "
                f"Role with them, and a binding, in the manifests?\n{err}"
            ) from None  # the surroundings are not to blame

    async def _start(self) -> Program:
        if self.release_leases and self.number and not self.bus.dead:
            await self.proxy.fence()
            await release(self._leases, self.api)
        self.number += 1
        self._leases.begin_life()
        self._contact.begin_life()
        try:
            self.program = await self._stack.enter_async_context(self._launch())
        except CannotStart as err:
            if self.number > 1:
                raise
            raise UsageError(str(err)) from None  # it is what the user named, and trying again will not help
        self.bus.activity.wakes(time.monotonic(), self.name)
        return self.program

    @asynccontextmanager
    async def _launch(self) -> AsyncIterator[Program]:
        values, hooks = {METRICS_PORT: str(self.metrics_port)}, self.webhooks
        subject = filled(self.subject, values)
        subject = msgspec.structs.replace(subject, env={**self.external.env, **subject.env})
        if self.network is not None:
            from staleproof.drive.subject.image import controller_container  # docker is imported only when it is used

            access = self.plane.access(CONTROLLER, server=self.proxy.server, ca_file=self.proxy.ca_file)
            inside = endpoint(self.metrics, self.metrics_port, "").port if self.metrics else None
            publish = ({inside: self.metrics_port} if inside else {}) | (hooks.published if hooks else {})
            subject, files = (hooks.container(subject), hooks.files) if hooks else (subject, {})
            launched: AbstractAsyncContextManager[Program] = controller_container(
                subject, access, self.log, self.network, files=files, publish=publish
            )
        else:
            path = self.private / f"{self.name or MAIN}.kubeconfig"
            access = self.plane.access(CONTROLLER, server=self.proxy.server, ca_file=self.proxy.ca_file)
            access = replace(access, token=self.token) if self.token else access
            write_private(path, kubeconfig(access, user=CONTROLLER, namespace=subject.namespace))
            if hooks is not None:
                subject, values = hooks.process(subject), {**values, **hooks.values}
            subject = with_files(subject, values, self.private / "given" / self.name)
            launched = controller_process(subject, path, self.log, name=self.name or MAIN)
        async with launched as controller:
            watch = self.group.create_task(self._tell_exit(controller, self.number))
            try:
                yield controller
            finally:
                if controller.running:
                    watch.cancel()
                await asyncio.wait({watch})  # an exit that is not reported yet

    async def _tell_exit(self, controller: Program, life: int) -> None:
        code = await controller.wait()
        if self._is_ending:  # the runner ended it
            return
        at, leases = time.monotonic(), self._leases
        log, every, unrenewed = tuple(self.log_of(controller)), leases.renews_every, leases.unrenewed(at)
        reason = controller.exit_reason
        exited = Exited(
            at=at, life=life, code=code, reason=reason, log=log, unrenewed=unrenewed, renews_every=every, program=self.name
        )
        if self.bus.recorder is None:
            self.exited = self.harmed_by, exited
        self.bus.take(exited)

    async def _serves(self, source: Endpoint, controller: Program) -> None:
        """Wait until there are metrics."""
        end = time.monotonic() + self.start_seconds
        while True:
            try:
                return await source.check()
            except Unreadable as err:
                why = err
            if time.monotonic() >= end or not controller.running:
                break
            await self.bus.until(lambda now: False, limit_seconds=BEGUN_IDLE_SECONDS)
        raise SetupError(
            f"{OPTION}: no metrics at {source.url} within {self.start_seconds:g} s: {why}. Does the controller serve them "
            f"there? {METRICS_PORT} stands for a free port ({self.metrics_port}), in the URL and in the controller's command, "
            f"arguments and variables.{INSIDE if self._is_private else ''}\n{controller.account()}"
        )

    async def _at_rest(self) -> None:
        """Wait for what an earlier trial left the controller to do. If it does not come to rest, it spoils the next trial."""
        if self.bus.activity.namespace:  # else it has been watched since the clean-up began
            self.bus.activity.begin("", time.monotonic())
        if not await self.bus.until_idle(BEGUN_AGAIN_IDLE_SECONDS, limit_seconds=AT_MOST_NEEDED_SECONDS):
            why = f"the controller was still busy {AT_MOST_NEEDED_SECONDS:g} s after the trial before this one"
            self.bus.take(Broke(at=time.monotonic(), where="runner", why=why))

    @property
    def _is_private(self) -> bool:
        """Whether the controller's ports are its own, and must be published."""
        return self.network is not None and self.network.is_private

    async def close(self) -> None:
        """Stop the controller."""
        await self._stack.aclose()


def title(subject: Subject) -> str:
    """The program and its arguments."""
    program = (subject.image,) if subject.image else subject.command
    return " ".join((*program, *subject.arguments))
