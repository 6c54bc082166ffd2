"""A run, or a worker's part of one: one environment, many plans, each with its references, its verdicts and its folder.

Observation and references are done once a run, by the worker that needs them first (`run_folder`).

Everything here is called synchronously and returns when it is done (`background`).
"""

import asyncio
import contextlib
import hmac
import itertools
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, TypeVar

import msgspec
from filelock import FileLock, Timeout

from staleproof import __version__
from staleproof.assess import patience
from staleproof.assess.background import Background, Work
from staleproof.assess.comparison import CONTROLS, RERUNS, differs, questions, waited_in_vain, without_faults
from staleproof.assess.lives import IN_THE_LIFE_BEFORE, IN_VAIN, died_between, doubted, left_like_that, set_aside, stopped
from staleproof.assess.result import Result, Run, confirmed, failures, is_undecided
from staleproof.assess.run_folder import HISTORY, RunFolder, acquired_now, new_run_folder, write_whole
from staleproof.checks.catalog import waits
from staleproof.checks.facts.instability import is_harmless, pooled, unstable_fields
from staleproof.checks.facts.usability import ended_well, reference_trouble
from staleproof.checks.judge import judge
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Verdict
from staleproof.core.companion import ALWAYS, WITHOUT, together
from staleproof.core.history import History, HistoryRole, UnstableField, sealed
from staleproof.core.plan import Apply, Manifest, Plan, Subject, masked_subject
from staleproof.core.prerequisite import with_payloads, without_payload
from staleproof.draw.mutations import Mutations
from staleproof.drive.cluster.companions import OPTION, NotBuilt
from staleproof.drive.cluster.control_plane import ControlPlane, Progress, Silent
from staleproof.drive.cluster.manifests import name_of
from staleproof.drive.trial.environment import Environment, EnvironmentOptions
from staleproof.drive.trial.run import TrialSpec, run_trial
from staleproof.errors import SetupError
from staleproof.settings import ARTEFACTS, Keep

T = TypeVar("T")
REFERENCES = 2
_HOPELESS = 2
"""So many workloads of a sample whose fault-free runs cannot be used, and none that can, are enough."""
_LOCK_POLL_SECONDS = 0.2
_TRIALS = "trials"


class Hopeless(SetupError):
    """Whatever is done to a sample without any fault, what the controller does cannot be compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions(EnvironmentOptions):
    """What a run needs: an environment, and

    Attributes:
        root: the artefact folder; a run gets a folder of its own under `runs`.
        worker: the xdist worker that this is, which has a part of the run folder; empty: the run has one process.
        run_secret: what the workers of a run know and no file says; empty: the run has one process.
        reruns: how often a trial with a finding is run again before the finding is believed.
        keep: whether the histories of trials that pass are kept, too.
        kept_names: cluster-scoped primaries that have the same name in every trial (`core.plan`); more may follow (`keep_name`).
        chooses_companions: besides those that are named, companions run that a real cluster would have for what the controller
            creates (`assess.company`).
        mutations: what of the samples may be changed.
        before: what the workloads of plans need that do not say it themselves; and Secrets with their payloads, for plans that were
            written without.
    """

    root: Path = ARTEFACTS
    worker: str = ""
    run_secret: str = ""
    reruns: int = 2
    keep: Keep = "all"
    mutations: Mutations = field(default_factory=Mutations)
    before: tuple[Manifest, ...] = ()
    chooses_companions: bool = False
    kept_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedRun:
    """A fault-free run of a plan that is made once for all workers of a run.

    Attributes:
        key: the same in every worker.
        make: runs it; the digest of its history.
    """

    key: str
    plan: Plan
    make: Callable[[], bytes]


class Session:
    """Use as a context manager. Raises what `drive` raises: UsageError, SetupError, HarnessBug."""

    def __init__(self, options: SessionOptions, progress: Progress | None = None, *, folder: Path | None = None) -> None:
        self.options = options
        self._shared = RunFolder(folder or new_run_folder(options.root))
        self.run = Run(self._shared.path / options.worker)
        self._secret = (options.run_secret or secrets.token_hex()).encode()
        self._background = Background(options, self.run.folder, progress or Silent())
        self._references: dict[str, tuple[History, ...]] = {}
        self._unstable: dict[tuple[str, ...], frozenset[UnstableField]] = {}
        self._references_seconds = 0.0
        self._numbers, self._workloads = itertools.count(1), itertools.count(1)
        self._is_spoilt = False
        self._not_built: frozenset[str] = frozenset()

    def __enter__(self) -> Self:
        self._background.__enter__()
        self.run.environment = dict(self._background.description)
        return self

    def __exit__(self, *exc: object) -> None:
        self._background.__exit__(*exc)

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
        wanted = together(mine.companions, set(names) - self._not_built)
        if not mine.chooses_companions or self.plane.provider == "existing" or set(wanted) == set(mine.companions):
            return 0.0
        try:
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
        """Let these cluster-scoped primaries, as `core.plan` calls them, have the same name in every trial from now on."""
        self.options = replace(self.options, kept_names=together(self.options.kept_names, primaries))

    def ready(self) -> None:
        """Return once the controller runs and is idle."""
        self.call(lambda env: env.controller_ready())

    def renew(self) -> None:
        """Begin a new life of the controller, to which nothing has been done."""
        self.call(lambda env: env.controller_ready(fresh=True))

    def refusals(self) -> str:
        """What the controller has asked for and may not do, in words; empty when there is nothing."""
        return self.call(lambda env: env.told_refusals())

    def note(self, name: str, text: str) -> None:
        """Let reports say this of the environment; nothing when the text is empty."""

        async def noted(running: Environment) -> None:
            running.description |= {name: text} if text else {}

        self.call(noted)

    def references(self, plan: Plan) -> tuple[History, ...]:
        """Fault-free histories of this workload; run once for each workload and kept."""
        return self.repeat(plan.reference)

    def repeat(self, plan: Plan) -> tuple[History, ...]:
        """The plan, run as often as a reference needs, and not judged; kept for the next time that any worker asks for it.
        Hopeless when nothing that was run so far with its sample can be used."""
        workload, of = self._workload(plan), self._key("troubles", _primary(plan), plan.before)
        if workload not in self._references:
            self._raise_hopeless(of)
            found = self._repeated(plan)
            trouble = reference_trouble(Trial(found[0], found))
            self._shared.keep_trouble(of, workload, trouble)
            if trouble:
                self._raise_hopeless(of)
                return found
            self._references[workload] = found
        return self._references[workload]

    def _raise_hopeless(self, of: str) -> None:
        """Hopeless when all workloads of a sample that were run without any fault so far, and these are some, cannot be used."""
        troubles = self._shared.troubles(of)
        if len(troubles) < _HOPELESS or not all(troubles):
            return
        told = "".join(f"\n  - {each}" for each in dict.fromkeys(troubles))
        raise Hopeless(
            f"nothing can be judged: {len(troubles)} workloads were run without any fault, each again in a new life of the "
            f"controller, and none can be compared with:{told}\nA controller has to stay alive and come to rest when its sample is "
            "applied, changed, deleted and made anew; its log is in the run folder. Is the sample complete (--staleproof-before or "
            f"--before), and is there in this cluster what the controller waits for ({OPTION})?"
        )

    def runs_of(self, plan: Plan, attempt: int = 1) -> list[SharedRun]:
        """The fault-free runs that `repeat` asks for; the later ones are run by the first one's steps, if that is over by then."""
        return [self._run_of(plan, attempt, number) for number in range(REFERENCES)]

    def shared_run(self, kind: str, plan: Plan, make: Callable[[Plan], History]) -> SharedRun:
        """A run that is made once for all workers; `make` runs the plan."""

        def made() -> bytes:
            return make(plan).digest.encode()

        return SharedRun(self._key(kind, plan), plan, made)

    def share(self, runs: Iterable[SharedRun]) -> None:
        """Make those of these runs that are not there yet and that no other worker is at."""
        for each in runs:
            with contextlib.suppress(Timeout):
                self._shared.once(each.key, each.make, acquired_now)

    def take(self, run: SharedRun) -> History:
        """The run, made now or by whoever was first."""
        name = self._shared.once(run.key, run.make, self._acquire) or b""
        return _with_secrets(self._shared.reference(name.decode()), run.plan)

    def asked(self, plan: Plan, role: HistoryRole, times: int = 1, *, lasts: Sequence[float] = ()) -> tuple[History, ...]:
        """What a plan without harm brings, run so often in this role; kept for the next trial of any worker that asks for it.

        One without faults that did not end well is run once more; a woken controller may do badly by itself.
        """

        def make() -> bytes:
            found = self.watch(plan, role=role, lasts=lasts)
            is_done = plan.faults or ended_well(Trial(found))
            return (found if is_done else self.watch(plan, role=role, lasts=lasts)).digest.encode()

        key = self._key(role, plan.steps, plan.faults, plan.settle, lasts, plan.before)
        return tuple(self.take(SharedRun(f"{key}-{number}", plan, make)) for number in range(times))

    def once(self, kind: str, about: object, make: Callable[[], bytes]) -> bytes:
        """What came of work of this kind on this controller, done once a run. An error in it is raised, and the next who asks tries
        again."""
        return self._shared.once(self._key(kind, about), make, self._acquire) or b""

    def watch(
        self,
        plan: Plan,
        *,
        role: HistoryRole = "reference",
        lasts: Sequence[float] = (),
        goals: patience.Goals | None = None,
    ) -> History:
        """Run a plan once and judge nothing.

        `lasts`: seconds that each step, and then the settling, take at least. `goals`: what it came to in an earlier run; without
        that each step is waited for with patience.
        """
        folder = self._shared.reference_under_way(self._named(next(self._workloads)))
        began = time.monotonic()
        mine = self.options
        kept = self._shared.keep_manifests(
            msgspec.structs.replace(plan, controller=mine.subject, companions=mine.companions, kept_names=mine.kept_names)
        )
        reached = goals.is_reached if goals else None
        spec = TrialSpec(plan=kept, before=plan.before, folder=folder, role=role, lasts=lasts, reached=reached)
        history = self.call(lambda env: run_trial(spec, env))
        self._shared.keep_reference(folder, history)
        self._references_seconds += time.monotonic() - began
        return history

    def fails(self, plan: Plan, slugs: frozenset[str], times: int) -> bool:
        """Whether one of these requirements is violated each time that the plan is run, as far as its references alone tell."""
        plan = self._completed(plan)
        self._begin_soundly()
        references = self.references(plan)
        folder = self.run.folder / _TRIALS / self._named(next(self._numbers))
        for number in range(times):
            history = self._run(plan, references, folder / f"rerun-{number}" if number else folder, anew=bool(number))
            if not slugs & {verdict.requirement for verdict in failures(judge(history))}:
                return False
        return True

    def trial(self, plan: Plan, *, reruns: int | None = None) -> Result:
        """Run a plan and judge it. `reruns`: how often it is run again if there is a finding; empty: as the options say.

        A finding is only kept when nothing that the controller does but for the faults explains it (`comparison`), and when it
        comes back in every re-run, each in a new life of the controller (reproduce before accusing). A trial that finds the
        controller dead or doing nothing any more is run again in a new life, because the trial before it may be to blame.
        """
        plan = self._completed(plan)
        before = self._references_seconds
        doubt = self._begin_soundly()
        references = self.references(plan)
        name = self._named(next(self._numbers))
        folder = self.run.folder / _TRIALS / name
        began = time.monotonic()
        history, ruined = self._run_soundly(plan, references, folder)
        seconds = time.monotonic() - began
        reproduced = (0, 0)
        history, verdicts = self._compared(plan, history, folder)
        if not failures(verdicts) and waited_in_vain(history):
            set_aside(folder, IN_VAIN)
            history, verdicts = self._compared(plan, self._run(plan, history.references, folder), folder)
        if failures(verdicts):
            history, verdicts, reproduced = self._reproduced(
                plan, history, folder, self.options.reruns if reruns is None else reruns
            )
        verdicts = doubted(verdicts, doubt or ruined or self._death_between())
        self.refusals()
        self.call(lambda env: env.count_calls())
        result = Result(name, plan, history, verdicts, folder, seconds, reproduced, self._references_seconds - before)
        if self.options.keep == "findings" and result.passed:
            (folder / HISTORY).unlink()
        return result

    def _compared(self, plan: Plan, history: History, folder: Path) -> tuple[History, tuple[Verdict, ...]]:
        """The trial, judged, with as many more references as explain what it differs in, if any do."""
        verdicts = judge(history)
        for question in questions(self.asked, plan):
            if not differs(history, verdicts):
                break
            history = self._against(question(history), history, folder)
            verdicts = judge(history)
        return history, verdicts

    def _completed(self, plan: Plan) -> Plan:
        """With all that is needed to run it again by itself. The companions of an earlier run's plan run here, too, and those that
        every cluster has."""
        self.accompany((*ALWAYS, *plan.companions))
        self.keep_name(*plan.kept_names)
        mine = self.options
        manifests = plan.manifests or mine.manifests
        before = with_payloads(plan.before, mine.before) or mine.before
        self._note_placeholders(before)
        return msgspec.structs.replace(
            plan,
            controller=mine.subject,
            manifests=manifests,
            before=before,
            companions=mine.companions,
            kept_names=mine.kept_names,
        )

    def _note_placeholders(self, before: Sequence[Manifest]) -> None:
        """Let reports name the Secrets that the workload needs and of which nobody has the payload."""
        if lacking := without_payload(before):
            self.note("placeholders", ", ".join(lacking))

    def call(self, work: Work[T]) -> T:
        """Run a coroutine with the environment, in its event loop. SetupError when the run is over."""
        try:
            return self._background.call(work)
        finally:
            self.run.environment, self.run.refused = dict(self._background.description), dict(self._background.refused)

    def _named(self, number: int) -> str:
        """The name of something in this run; no other worker gives it."""
        return f"{self.options.worker}-{number:03d}" if self.options.worker else f"{number:03d}"

    def _key(self, kind: str, *about: object) -> str:
        """Names work by all that it depends on. Secret values are among that, so nobody can tell from the key whether they guessed
        them: it cannot be worked out without what only this run knows."""
        mine = self.options
        depends = (__version__, mine.subject, mine.manifests, mine.companions, mine.kept_names, mine.metrics, mine.release_leases)
        return hmac.digest(self._secret, msgspec.json.encode((kind, about, depends), order="sorted"), "sha256").hex()

    def _acquire(self, lock: FileLock) -> None:
        """Wait for a lock, as long as the run is on."""

        async def acquired(_: Environment) -> None:
            while True:
                with contextlib.suppress(Timeout):
                    lock.acquire(blocking=False)
                    return
                await asyncio.sleep(_LOCK_POLL_SECONDS)

        self.call(acquired)

    def _repeated(self, plan: Plan) -> tuple[History, ...]:
        """As often as a reference needs; and once more, in new lives, because what was disturbed, or done by a controller that is
        dead, must not stand for the whole run."""
        left = 2
        for attempt in itertools.count(1):
            runs = self.runs_of(plan, attempt)
            left -= not all(self._shared.outcome(each.key).exists() for each in runs)
            found = tuple(map(self.take, runs))
            is_silent = attempt == 1 and any(Trial(each).idle for each in found)  # or the life was ruined
            if (_usable(found) and not is_silent) or not left:
                break
        return found

    def _run_of(self, plan: Plan, attempt: int, number: int) -> SharedRun:
        key = f"{self._workload(plan)}-{attempt}"
        plan = msgspec.structs.replace(plan, fresh=plan.fresh or attempt > 1)

        def make() -> bytes:
            first = self._shared.outcome(f"{key}-0")
            patient = (self._shared.reference(first.read_text()),) if number and first.exists() else ()
            return self.watch(plan, goals=patience.Goals(patient, plan, self._pooled()) if patient else None).digest.encode()

        return SharedRun(f"{key}-{number}", plan, make)

    def _workload(self, plan: Plan) -> str:
        # whatever they were, it settled; and a reference begins no new life
        paces = msgspec.structs.replace(plan.settle, limit_seconds=1.0, deadline_seconds=1.0, begins_seconds=0.0)
        return self._key("references", plan.steps, paces, plan.before)

    def _reproduced(
        self, plan: Plan, history: History, folder: Path, times: int
    ) -> tuple[History, tuple[Verdict, ...], tuple[int, int]]:
        """The trial, judged with so many re-runs, or as many more as a rate takes when they do not say the same."""
        runs: list[History] = []

        def rerun(times: int) -> list[tuple[Verdict, ...]]:
            for number in range(len(runs) + 1, times + 1):
                runs.append(self._run(plan, history.references, folder / f"rerun-{number}", anew=True))
            return [judge(self._against(history.references, each, folder / f"rerun-{n}")) for n, each in enumerate(runs, 1)]

        verdicts, again = judge(history), rerun(times)
        if is_undecided(verdicts, again):
            history = self._against(without_faults(self.asked, plan, history, CONTROLS), history, folder)
            verdicts, again = judge(history), rerun(max(RERUNS, times))
        return history, *confirmed(verdicts, again, without=len(history.references))

    def _against(self, references: Sequence[History], history: History, folder: Path) -> History:
        """The trial with other references, and with what the run has shown so far to be unstable; also where it is kept."""
        header = msgspec.structs.replace(history.header, unstable=self._pooled())
        made, data = sealed(replace(history, header=header, references=tuple(references)))
        write_whole(folder / HISTORY, data)
        return made

    def _pooled(self) -> tuple[UnstableField, ...]:
        """The fields that fault-free runs of this controller, in this company, do not agree on, whatever their workload and whoever
        ran them."""
        groups: dict[bytes, list[str]] = defaultdict(list)
        subject = masked_subject(self.options.subject)
        for name, plan in self._shared.references().items():
            if plan.controller == subject and plan.companions == self.options.companions and is_harmless(plan):
                groups[msgspec.json.encode((plan.steps, plan.faults, plan.before), order="sorted")].append(name)
        for names in map(tuple, groups.values()):
            if names not in self._unstable:
                self._unstable[names] = unstable_fields([self._shared.reference(name) for name in names])
        return pooled(self._unstable[tuple(names)] for names in groups.values())

    def _begin_soundly(self) -> str:
        """Leave a life that was found dead or doing nothing any more. How it died since the trial before, in words, if it did."""
        died = self._death_between()
        if self._is_spoilt:
            self.renew()
            self._is_spoilt = False
        return died

    def _death_between(self) -> str:
        """Whether the controller died between two runs, in words, and after which trial; empty when it did not."""
        return died_between(self.call(lambda env: env.take_exit()))

    def _harmed_by(self) -> str:
        """The last run with faults, in words; empty when nothing has been done to the controller yet."""

        async def harmed_by(env: Environment) -> str:
            return env.harmed_by

        return self.call(harmed_by)

    def _run_soundly(self, plan: Plan, references: Sequence[History], folder: Path) -> tuple[History, str]:
        """Run a plan, and once more in a new life if the controller stopped working. The run that counts; and if the controller did
        not stop in that one, that the trial before may be to blame, in words."""
        before = self._harmed_by()
        first = self._run(plan, references, folder)
        if plan.fresh or not stopped(first):
            return first, ""
        set_aside(folder, IN_THE_LIFE_BEFORE)
        second = self._run(plan, references, folder, anew=True)
        return second, "" if stopped(second) else left_like_that(stopped(first), before)

    def _run(self, plan: Plan, references: Sequence[History], folder: Path, *, anew: bool = False) -> History:
        """Run a plan; `anew`: in a new life of the controller."""
        if anew and not plan.fresh:
            self.renew()
        goals = patience.Goals(references, plan, self._pooled())
        spec = TrialSpec(
            plan=self._shared.keep_manifests(plan),
            before=plan.before,
            folder=folder,
            title=f"trial {folder.relative_to(self.run.folder / _TRIALS).parts[0]} ({plan.title})",
            role="trial",
            references=references,
            converged=goals.missing,
            reached=None if waits(plan.aims) else goals.is_reached,
            deadline_seconds=patience.deadline(plan, references[:REFERENCES]),
            may_need=patience.may_need,
            probe=patience.probe(plan, references),
        )
        history = self.call(lambda env: run_trial(spec, env))
        self._is_spoilt = bool(stopped(history))
        return history


def _with_secrets(history: History, plan: Plan) -> History:
    """A fault-free run of this plan that was read from its file, where secrets are masked, as it was before."""
    return replace(history, header=msgspec.structs.replace(history.header, plan=plan))


def _primary(plan: Plan) -> str:
    """What the workload is about: the kind and the name of what it applies first."""
    first = next((step.object for step in plan.steps if isinstance(step, Apply)), None)
    return f"{first['apiVersion']} {name_of(first)}" if first is not None else ""


def _usable(references: Sequence[History]) -> bool:
    return not reference_trouble(Trial(references[0], references))
