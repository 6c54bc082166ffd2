"""A process's part of a run: one environment, in which plans are run, and a folder that it shares with the other workers.

Everything here is called synchronously and returns when it is done (`background`).
"""

import asyncio
import contextlib
import hmac
import itertools
import math
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self, TypeVar

import msgspec
from filelock import FileLock, Timeout

from staleproof import __version__
from staleproof.assess.learn import patience
from staleproof.assess.run.budget import starting
from staleproof.assess.run.doing import Doing, Phase, Tell, discard
from staleproof.assess.store.run_folder import RunFolder, acquired_now, new_run_folder
from staleproof.assess.trial.background import Background, Ends, Work
from staleproof.assess.trial.result import Run
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.operator.companion import ALWAYS, WITHOUT, union
from staleproof.core.operator.prerequisite import with_payloads, without_payload
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.pace import longest_period
from staleproof.core.plan.plan import Plan, Subject
from staleproof.core.times import LOOK_SECONDS, PERIODS_FACTOR, RETRY_FACTOR
from staleproof.draw.mutations.allowed import Mutations
from staleproof.drive.cluster.companions import OPTION, NotBuilt
from staleproof.drive.cluster.control_plane import ControlPlane, Progress, Silent
from staleproof.drive.trial.environment import Environment, EnvironmentOptions
from staleproof.drive.trial.run import run_trial
from staleproof.drive.trial.spec import TrialSpec
from staleproof.errors import OutOfTime, SetupError
from staleproof.settings import ARTEFACTS, Keep

T = TypeVar("T")
_Awaited = Literal["wait", "retry"]
"""What a trial waits for: for what is missing, or until a create whose answer was lost is tried again."""
_UNDIVIDED: frozenset[Phase] = frozenset({"learning the operator", "confirming", "shrinking"})
"""The parts of these are not shown one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions(EnvironmentOptions):
    """What a run needs: an environment, and

    Attributes:
        root: the artefact folder; a run gets a folder of its own under `runs`.
        worker: the xdist worker that this is, which has a part of the run folder; empty: the run has one process.
        run_secret: what the workers of a run know and no file says; empty: the run has one process.
        reruns: how often a trial with a finding is run again before the finding is believed.
        patience: how many seconds what may heal by itself is waited for, once for a cause, before the controller is called stuck;
            0: no longer than in any trial.
        keep: whether the histories of trials that pass are kept, too.
        ends: when the time is over, on the monotonic clock; it may become later, because building is not counted.
        kept_names: cluster-scoped primaries that have the same name in every trial (`plan`); more may follow (`keep_name`).
        own_hosts: host names that each trial makes its own (`plan`); more may follow (`make_own`).
        chooses_companions: besides those that are named, companions run that a real cluster would have for what the controller
            creates (`assess.learn.companions`).
        mutations: what of the samples may be changed.
        maps: the operator's map is learnt (`assess.learn.operator_map`), because there are plans that need it.
        before: what the workloads of plans need that do not say it themselves; and Secrets with their payloads, for plans that were
            written without.
    """

    root: Path = ARTEFACTS
    worker: str = ""
    run_secret: str = ""
    reruns: int = 2
    patience: float = 0.0
    keep: Keep = "all"
    mutations: Mutations = field(default_factory=Mutations)
    maps: bool = False
    before: tuple[Manifest, ...] = ()
    chooses_companions: bool = False
    kept_names: tuple[str, ...] = ()
    own_hosts: tuple[str, ...] = ()
    ends: Callable[[], float] = lambda: math.inf


@dataclass(frozen=True, slots=True)
class Task:
    """Work that is done once for all workers of a run.

    Attributes:
        key: the same in every worker, and another for any other work (`Worker.key`).
        make: does it; what came of it.
    """

    key: str
    make: Callable[[], bytes]


class Worker:
    """Use as a context manager. Raises what `drive` raises: UsageError, SetupError, HarnessBug.

    Attributes:
        options: as they are now; companions, for one, may become more.
        shared: the folder of the run, which all workers share.
        run: what reports say of this worker's part in the end.
        watched_seconds: what fault-free runs have taken so far.
    """

    def __init__(
        self,
        options: SessionOptions,
        progress: Progress | None = None,
        *,
        folder: Path | None = None,
        tell: Tell = discard,
    ) -> None:
        self.options = options
        self.shared = RunFolder(folder or new_run_folder(options.root, reports=False))
        self.run = Run(self.shared.path / options.worker)
        self.watched_seconds = 0.0
        self._secret = (options.run_secret or secrets.token_hex()).encode()
        self._background = Background(options, self.run.folder, progress or Silent())
        self._watched = itertools.count(1)
        self._not_built: frozenset[str] = frozenset()
        self._tell, self._doing = tell, Doing()

    def __enter__(self) -> Self:
        turn = self.shared.turn(f"start-{_number(self.options.worker) % (os.cpu_count() or 1)}")
        with self.doing("control plane", "starting it and the controller"), turn, self._starting("control plane"):
            self._background.__enter__()  # all at once would be slower, and the first to be ready begins to learn
        self.run.environment = dict(self._background.description)
        return self

    def __exit__(self, *exc: object) -> None:
        self._tell(Doing("stopping"))
        self._background.__exit__(*exc)
        self._tell(Doing())

    @contextlib.contextmanager
    def doing(self, phase: Phase, what: str = "") -> Iterator[None]:
        """Say that this is done for as long as the block lasts."""
        before = self._doing
        if before.phase in _UNDIVIDED:
            yield
            return
        self._doing = Doing(phase, what)
        self._tell(self._doing)
        try:
            yield
        finally:
            self._doing = before
            self._tell(before)

    @property
    def plane(self) -> ControlPlane:
        """The running control plane."""
        return self._background.plane

    def use(self, subject: Subject, *, metrics: str = "") -> None:
        """Put another controller under test, with metrics of its own or none."""
        self.call(lambda env: env.use(subject, metrics=metrics))
        self.options = replace(self.options, subject=subject, metrics=metrics)

    def accompany(self, names: Iterable[str]) -> float:
        """Have these companions, too, from now on, if the run chooses its own and the cluster is not one that has them; the seconds
        that all starts have taken so far. The run goes on without those that cannot be built, and says so."""
        mine = self.options
        wanted = union(mine.companions, set(names) - self._not_built)
        if not mine.chooses_companions or self.plane.provider == "existing" or set(wanted) == set(mine.companions):
            return 0.0
        try:
            with self._starting(" ".join(wanted)), self.doing("control plane", f"starting {', '.join(wanted)}"):
                seconds = self.call(lambda env: env.accompany(wanted))
        except NotBuilt as err:
            self._not_built |= err.names
            self.note(WITHOUT, f"{', '.join(sorted(self._not_built))}, which cannot be built here: {' '.join(str(err).split())}")
            return self.accompany(names)
        except SetupError as err:
            raise SetupError(f"{err}\n{OPTION}=auto asks for {', '.join(wanted)}; {OPTION}=none does without.") from err
        self.options = replace(mine, companions=wanted)
        return seconds

    def keep_name(self, *primaries: str) -> None:
        """Let these cluster-scoped primaries, as `plan` calls them, have the same name in every trial from now on."""
        self.options = replace(self.options, kept_names=union(self.options.kept_names, primaries))

    def make_own(self, hosts: Iterable[str]) -> None:
        """Let each trial make these host names its own from now on."""
        self.options = replace(self.options, own_hosts=union(self.options.own_hosts, hosts))

    def completed(self, plan: Plan) -> Plan:
        """With all that is needed to run it again by itself. The companions of an earlier run's plan run here, too, and those that
        every cluster has."""
        self.accompany((*ALWAYS, *plan.companions))
        self.keep_name(*plan.kept_names)
        self.make_own(plan.own_hosts)
        made = self.filled(plan)
        if lacking := without_payload(made.before):
            self.note("placeholders", ", ".join(lacking))  # the payload of these Secrets is not known
        return made

    def filled(self, plan: Plan) -> Plan:
        """With what is needed to run it again by itself, as far as it is there already; nothing is started for it."""
        mine = self.options
        manifests = plan.manifests or mine.manifests
        before = with_payloads(plan.before, mine.before) or mine.before
        return msgspec.structs.replace(
            plan,
            controller=mine.subject,
            manifests=manifests,
            before=before,
            companions=mine.companions,
            external=mine.external,
            kept_names=mine.kept_names,
            own_hosts=mine.own_hosts,
        )

    def ready(self) -> None:
        """Return once the controller runs and is idle."""
        self.in_time(lambda env: env.controller_ready())

    def renew(self) -> None:
        """Begin a new life of the controller, to which nothing has been done."""
        self.in_time(lambda env: env.controller_ready(fresh=True))

    def has_time(self, seconds: float) -> bool:
        """Whether what takes so long would end in time."""
        return time.monotonic() + seconds <= self.options.ends()

    def need(self, seconds: float) -> None:
        """OutOfTime when what takes so long would not end in time."""
        if not self.has_time(seconds):
            raise OutOfTime

    def _starting(self, what: str) -> contextlib.AbstractContextManager[None]:
        return starting(self.shared, what, by=self.options.worker)

    def refusals(self) -> str:
        """What the controller has asked for and may not do, in words; empty when there is nothing."""
        return self.call(lambda env: env.lives.refusals.missing_rights(env.api))

    def note(self, name: str, text: str) -> None:
        """Let reports say this of the environment; nothing when the text is empty."""

        async def noted(running: Environment) -> None:
            running.description |= {name: text} if text else {}

        self.call(noted)

    def in_time(self, work: Work[T]) -> T:
        """Run a coroutine with the environment, as `call` does, and break it off when the time is over: OutOfTime."""
        self.need(0.0)
        return self.call(work, ends=self.options.ends)

    def call(self, work: Work[T], *, ends: Ends | None = None) -> T:
        """Run a coroutine with the environment, in its event loop. SetupError when the run is over."""
        try:
            return self._background.call(work, ends=ends)
        finally:
            self.run.environment, self.run.refused = dict(self._background.description), dict(self._background.refused)

    def watch(
        self,
        plan: Plan,
        *,
        role: HistoryRole = "reference",
        lasts: Sequence[float] = (),
        goals: patience.Goals | None = None,
    ) -> History:
        """Run a plan once and judge nothing.

        `lasts`: seconds that each step, and then the settling, take at least. `goals`: what it came to in an earlier run; each step
        of which that tells nothing is waited for with patience.
        """
        folder = self.shared.reference_under_way(self.named(next(self._watched)))
        began = time.monotonic()
        mine = self.options
        kept = self.shared.keep_manifests(
            msgspec.structs.replace(
                plan,
                controller=mine.subject,
                companions=mine.companions,
                external=mine.external,
                kept_names=mine.kept_names,
                own_hosts=mine.own_hosts,
            )
        )
        spec = TrialSpec(
            plan=kept,
            before=plan.before,
            folder=folder,
            role=role,
            lasts=lasts,
            reached=goals.is_reached if goals else None,
            reached_until=goals.until if goals else math.inf,
        )
        history = self.in_time(lambda env: run_trial(spec, env))
        self.shared.keep_reference(folder, history)
        if role == "reference" and not plan.faults:
            self.expect(history.digest, PERIODS_FACTOR * longest_period(history))
        self.watched_seconds += time.monotonic() - began
        return history

    def expect(self, name: str, seconds: float, kind: _Awaited = "wait") -> None:
        """Let every trial of this controller wait so long for what is missing, or for a create to be tried again, if the patience
        allows that, because of what the run of this name showed."""
        self.shared.keep_wait(self.key(kind), name, seconds)

    @property
    def expected_seconds(self) -> float:
        """How long every trial of this controller waits for what is missing, by what the run has shown so far."""
        return min(self.options.patience, self.shared.longest_wait(self.key("wait")))

    @property
    def retry_seconds(self) -> float:
        """The longest that this controller was seen to wait in the run before it tried a rejected create again by itself; no longer
        than such a retry may be waited for."""
        return min(self.options.patience / RETRY_FACTOR, self.shared.longest_wait(self.key("retry")))

    def once(self, kind: str, about: object, make: Callable[[], bytes]) -> bytes:
        """What came of work of this kind on this controller, done once a run. An error in it is raised, and the next caller tries
        again."""
        return self.done(self.task(kind, about, make))

    def task(self, kind: str, about: object, make: Callable[[], bytes]) -> Task:
        """Work of this kind on this controller."""
        return Task(self.key(kind, about), make)

    def done(self, task: Task) -> bytes:
        """What came of it, done now or by the worker that was first. An error in it is raised, as by `once`."""
        return self.shared.once(task.key, task.make, self.acquire) or b""

    def share(self, tasks: Iterable[Task]) -> None:
        """Do those of them that are not done yet and that no other worker is at."""
        for each in tasks:
            with contextlib.suppress(Timeout):
                self.shared.once(each.key, each.make, acquired_now)

    def key(self, kind: str, *about: object) -> str:
        """Names work by all that it depends on. Secret values are among that, so that a guess at them can be checked against
        the key only with what this run alone knows."""
        mine = self.options
        operator = (mine.subject, mine.manifests, mine.companions, mine.kept_names, mine.metrics, mine.release_leases)
        depends = (__version__, *operator, mine.namespace, mine.own_hosts, mine.external)
        return hmac.digest(self._secret, msgspec.json.encode((kind, about, depends), order="sorted"), "sha256").hex()

    def named(self, number: int) -> str:
        """The name of something in this run; no other worker gives it."""
        return f"{self.options.worker}-{number:03d}" if self.options.worker else f"{number:03d}"

    def acquire(self, lock: FileLock) -> None:
        """Wait for a lock, as long as the run is on. OutOfTime when its time is over."""

        async def acquired(_: Environment) -> None:
            while True:
                self.need(0.0)
                with contextlib.suppress(Timeout):
                    lock.acquire(blocking=False)
                    return
                await asyncio.sleep(LOOK_SECONDS)

        self.call(acquired)


def _number(worker: str) -> int:
    """Of an xdist worker; 0 for the only process."""
    digits = worker.removeprefix("gw")
    return int(digits) if digits.isdecimal() else 0
