"""A run: one rig, many plans, each with its references, its verdicts and its folder.

The rig lives in an event loop in a thread of its own, so that watches go on while a test thinks; everything here is called
synchronously and returns when it is done.
"""

import asyncio
import concurrent.futures
import contextlib
import datetime
import hashlib
import itertools
import secrets
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from staleproof.assess.result import Result, Run
from staleproof.checks.catalog import is_scored
from staleproof.checks.facts.liveness import time_needed
from staleproof.checks.judge import judge
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Outcome, Verdict, inconclusive
from staleproof.core.entry import Released, Settled
from staleproof.core.history import History, encode
from staleproof.core.pace import lasted
from staleproof.core.plan import Manifest, Plan, Subject
from staleproof.drive.cluster.companions import companions
from staleproof.drive.cluster.control_plane import ControlPlane, ControlPlaneOptions, Progress, Silent
from staleproof.drive.subject.controller import OPENS_WATCH_SECONDS
from staleproof.drive.trial.environment import Rig, rig
from staleproof.drive.trial.run import Converged, Trial, run_trial
from staleproof.errors import SetupError

T = TypeVar("T")
REFERENCES = 2
_DEADLINE_FACTOR = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a run needs.

    Attributes:
        subject: the controller under test.
        manifests: CustomResourceDefinitions and whatever else is applied first.
        control_plane: where the API server comes from.
        root: the artefact folder; a run gets a folder of its own under `runs`.
        name: added to the trials' names, e.g. the xdist worker; empty means none.
        start_seconds: how long the controller may take to open its first watch.
        release_leases: leases that a dead life of the controller held are released before its next one, as an administrator may do.
        metrics: the URL of the controller's metrics, `{metrics_port}` standing for a free port there and in the subject's command,
            arguments and variables; empty means that none are read.
        companions: real controllers that run beside it, by name (`staleproof.core.companion`).
        reruns: how often a trial with a finding is run again before the finding is believed.
    """

    subject: Subject
    manifests: tuple[Manifest, ...] = ()
    control_plane: ControlPlaneOptions = field(default_factory=ControlPlaneOptions)
    root: Path = Path(".staleproof")
    name: str = ""
    start_seconds: float = OPENS_WATCH_SECONDS
    release_leases: bool = True
    metrics: str = ""
    companions: tuple[str, ...] = ()
    reruns: int = 2


class Session:
    """Use as a context manager. Raises what `drive` raises: UsageError, SetupError, HarnessBug."""

    def __init__(self, options: SessionOptions, progress: Progress | None = None, *, folder: Path | None = None) -> None:
        self.options = options
        self.run = Run(folder or new_run_folder(options.root))
        self.plane: ControlPlane
        self._ended: BaseException | None = None
        self._progress = progress or Silent()
        self._references: dict[str, tuple[History, ...]] = {}
        self._jobs: asyncio.Queue[Callable[[Rig], Coroutine[Any, Any, None]] | None]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaving = False
        self._numbers, self._workloads = itertools.count(1), itertools.count(1)
        self._main_task: asyncio.Task[Any] | None = None
        self._pending: set[concurrent.futures.Future[Any]] = set()
        self._started: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._serve, name="staleproof", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._started.result()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self._leaving = True
        if self._loop is not None:
            # Interrupted while starting, or in the middle of a trial: the waits end now, and what was recorded is kept.
            waiting = self._started.done() and not self._pending
            stop = self._jobs.put_nowait if waiting else self._cancel
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(stop, None)
        self._thread.join()

    def use(self, subject: Subject, *, metrics: str = "") -> None:
        """Put another controller under test, with metrics of its own or none."""
        self._do(lambda r: r.use(subject, metrics=metrics))
        self.options = replace(self.options, subject=subject, metrics=metrics)

    def renew(self) -> None:
        """A new life for the controller, which nothing has been done to."""
        self._do(lambda r: r.controller_ready(fresh=True))

    def references(self, plan: Plan) -> tuple[History, ...]:
        """Fault-free histories of this workload; run once for each workload and kept."""
        return self.repeat(plan.reference)

    def repeat(self, plan: Plan) -> tuple[History, ...]:
        """The plan, run as often as a reference needs, not judged; kept for the next who asks."""
        paces = msgspec.structs.replace(plan.settle, limit_seconds=1.0, deadline_seconds=1.0)  # whatever they were, it settled
        key = _digest((self.options.subject, plan.steps, paces))
        if key not in self._references:
            found = tuple(self.watch(plan) for _ in range(REFERENCES))
            if not _usable(found):  # once more: one that was disturbed must not stand for the whole run
                found = tuple(self.watch(plan) for _ in range(REFERENCES))
            if not _usable(found):
                return found
            self._references[key] = found
        return self._references[key]

    def watch(self, plan: Plan) -> History:
        """Run a plan once and judge nothing."""
        return self._watch(plan)

    def _watch(self, plan: Plan, lasts: Sequence[float] = ()) -> History:
        trial = Trial(plan=plan, folder=self.run.folder / "references" / f"{next(self._workloads):03d}", lasts=lasts)
        return self._do(lambda r: run_trial(trial, r))

    def trial(self, plan: Plan) -> Result:
        """Run a plan and judge it.

        A finding is only kept when a fault-free run that takes as long as the trial does not explain it, and when it comes back in
        every re-run (reproduce before accusing).
        """
        mine = self.options  # the plan that is kept can be run again by itself
        plan = msgspec.structs.replace(
            plan, controller=mine.subject, manifests=plan.manifests or mine.manifests, companions=mine.companions
        )
        began = time.monotonic()
        references = self.references(plan)
        compared = time.monotonic() - began
        name = f"{self.options.name}{next(self._numbers):03d}"
        folder = self.run.folder / "trials" / name
        began = time.monotonic()
        history = self._run(plan, references, folder)
        seconds = time.monotonic() - began
        verdicts = judge(history)
        reproduced = (0, 0)
        if _failed(verdicts):
            began = time.monotonic()
            references = (*references, self._at_the_pace_of(history, plan))
            compared += time.monotonic() - began
            history = _against(references, history, folder)
            verdicts = judge(history)
        if _failed(verdicts):
            again = [judge(self._run(plan, references, folder / f"rerun-{n}")) for n in range(1, self.options.reruns + 1)]
            verdicts, reproduced = _confirmed(verdicts, again)
        result = Result(name, plan, history, verdicts, folder, seconds, reproduced, compared)
        self.run.results.append(result)
        return result

    def call(self, work: Callable[[Rig], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine with the rig, in its event loop."""
        return self._do(work)

    def _at_the_pace_of(self, history: History, plan: Plan) -> History:
        """A fault-free run of the same workload that takes as long: what it does later by itself, it does there, too.

        In a life of its own, because the controller may still suffer from what was done to it in the trial.
        """
        healthy = msgspec.structs.replace(plan.reference, fresh=True)
        found = self._watch(healthy, lasted(history))
        return found if _usable((found, found)) else self._watch(healthy, lasted(history))

    def _run(self, plan: Plan, references: Sequence[History], folder: Path) -> History:
        evidence = Evidence(references[0], tuple(references))
        trial = Trial(
            plan=plan,
            folder=folder,
            references=references,
            converged=_converged(evidence),
            deadline_seconds=_deadline(plan, references[:REFERENCES]),
            may_need=_may_need,
        )
        return self._do(lambda r: run_trial(trial, r))

    def _do(self, work: Callable[[Rig], Coroutine[Any, Any, T]]) -> T:
        done: concurrent.futures.Future[T] = concurrent.futures.Future()

        async def job(running: Rig) -> None:
            try:
                done.set_result(await work(running))
            except asyncio.CancelledError:
                raise  # `_serve` tells whoever waits
            except BaseException as err:
                done.set_exception(err)
            finally:
                self.run.environment = dict(running.environment)

        self._pending.add(done)
        try:
            if not self._thread.is_alive() or self._loop is None:
                raise self._over()
            self._loop.call_soon_threadsafe(self._jobs.put_nowait, job)
            return done.result()
        finally:
            self._pending.discard(done)

    def _cancel(self, _: None) -> None:
        if self._main_task is not None:
            self._main_task.cancel()

    def _over(self) -> SetupError:
        return SetupError(f"the run is over: {self._ended or 'its parts were stopped'}; see the logs in {self.run.folder}")

    def _serve(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as err:
            self._ended = _innermost(err)
            if not self._started.done():
                self._started.set_exception(self._ended)
        finally:
            for waiting in list(self._pending):
                if not waiting.done():
                    waiting.set_exception(self._over())

    async def _main(self) -> None:
        self._loop, self._jobs = asyncio.get_running_loop(), asyncio.Queue()
        self._main_task = asyncio.current_task()
        if self._leaving:
            return
        options = self.options
        async with rig(options.subject, list(options.manifests), options.control_plane, self.run.folder, self._progress) as running:
            running.start_seconds, running.release_leases = options.start_seconds, options.release_leases
            running.metrics = options.metrics
            async with companions(options.companions, running, self._progress):
                self.run.environment, self.plane = dict(running.environment), running.plane
                self._started.set_result(None)
                while (job := await self._jobs.get()) is not None:
                    await job(running)


def new_run_folder(root: Path) -> Path:
    """`runs/<utc>-<id>`, with `latest` pointing at it."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    folder = root / "runs" / f"{stamp}-{secrets.token_hex(2)}"
    folder.mkdir(parents=True)
    latest = root / "latest"
    latest.unlink(missing_ok=True)
    latest.symlink_to(folder.relative_to(root))
    return folder.resolve()


def _against(references: Sequence[History], history: History, folder: Path) -> History:
    """The trial with other references, also where it is kept."""
    compared = replace(history, references=tuple(references))
    (folder / "history.jsonl").write_bytes(encode(compared))
    return compared


def _converged(evidence: Evidence) -> Converged:
    """When the runner may stop waiting: the state is like the references' end."""

    def missing(objects: dict[tuple[str, str, str], Manifest]) -> str:
        namespace = next((key[1] for key in objects), "")
        return evidence.baseline.difference(((key[0], obj) for key, obj in objects.items()), namespace)

    return missing


def _may_need(history: History) -> float:
    """Seconds after the release that a correct controller may need after what was done to it."""
    evidence = Evidence(history, tuple(history.references))
    released = next((i for i, entry in enumerate(history.entries) if isinstance(entry, Released)), None)
    if released is None or evidence.idle:
        return 0.0
    needed, since = time_needed(evidence, len(history.entries))
    return history.entries[since].at - history.entries[released].at + needed


def _deadline(plan: Plan, references: Sequence[History]) -> float:
    """The plan's floor, or a multiple of what the slowest reference took."""
    took = [_settle_seconds(reference) for reference in references]
    return max([plan.settle.deadline_seconds, *(seconds * _DEADLINE_FACTOR for seconds in took)])


def _settle_seconds(history: History) -> float:
    released = [entry.at for entry in history.entries if isinstance(entry, Released)]
    settled = [entry.at for entry in history.entries if isinstance(entry, Settled)]
    return settled[0] - released[0] if released and settled else 0.0


def _failed(verdicts: Sequence[Verdict]) -> set[str]:
    """What is only reported is not worth running again."""
    return {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL and is_scored(verdict.requirement)}


def _confirmed(first: tuple[Verdict, ...], again: list[tuple[Verdict, ...]]) -> tuple[tuple[Verdict, ...], tuple[int, int]]:
    """The verdicts, with findings that did not come back every time turned into inconclusive."""
    runs = 1 + len(again)
    times = {slug: 1 + sum(slug in _failed(verdicts) for verdicts in again) for slug in _failed(first)}
    kept = tuple(
        verdict
        if times.get(verdict.requirement, runs) == runs
        else inconclusive(
            verdict.requirement,
            f"a finding came back in {times[verdict.requirement]} of {runs} runs: {verdict.findings[0].because}",
        )
        for verdict in first
    )
    return kept, (max(times.values(), default=0), runs)


def _usable(references: Sequence[History]) -> bool:
    return not Evidence(references[0], tuple(references)).reference_trouble


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


def _innermost(err: BaseException) -> BaseException:
    """The one error of a task group that has one: who is to blame must not be hidden by how it was run."""
    while isinstance(err, BaseExceptionGroup) and len(err.exceptions) == 1:
        err = err.exceptions[0]
    return err
