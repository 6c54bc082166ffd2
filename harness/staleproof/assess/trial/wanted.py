"""Runs that a worker wants because of a finding, so that other workers make some of them.

A trial with a finding is compared with a dozen runs without harm and more, one after the other, and run again itself. A worker
announces all that it may come to ask for; any other makes one of these before its next trial, and while it has nothing else to do.
Each is made once, under its key, by the first worker that comes to it; what is not wanted any more, because an earlier answer
explains the trial, is withdrawn.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from filelock import Timeout

from staleproof.assess.run.worker import Task
from staleproof.assess.store.run_folder import RunFolder, acquired_now
from staleproof.assess.trial.comparison import LONG_QUESTIONS, questions
from staleproof.assess.trial.references import References
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.plan import decode as decode_plan
from staleproof.core.plan.plan import encode as encode_plan
from staleproof.errors import OutOfTime, UsageError


class Again(msgspec.Struct, frozen=True):
    """A re-run of a trial, in a new life of the controller.

    Attributes:
        folder: where it is kept, in the run folder; no other re-run has it.
        beside: the digests of the runs that it goes by.
        patience: for how many seconds what is missing is waited for, at least.
        heals: it is tried, in the end, what heals the controller.
    """

    folder: str
    beside: tuple[str, ...]
    patience: float
    heals: bool


class Came(msgspec.Struct, frozen=True):
    """What came of a re-run besides its history: what healed the controller in the end, and how it died, in words."""

    healed: str = ""
    died: str = ""


class WantedRun(msgspec.Struct, frozen=True):
    """As a run folder has it.

    Attributes:
        rank: when it will be asked for, among those that are announced together.
        role: of a run for comparison (`References.runs_for`); None: it is one of a trial's own references (`References.runs_of`),
            unless it is a trial's re-run.
        number: how many of its kind come before it.
        lasts: see `Worker.watch`.
        plan: as it is written.
        again: the re-run that it is; None: none.
        is_early: it is a re-run of a finding that may still be explained.
    """

    rank: int
    role: HistoryRole | None
    number: int
    lasts: tuple[float, ...]
    plan: msgspec.Raw
    again: Again | None = None
    is_early: bool = False


class _Announcement:
    """What other workers are told of together: runs of plans, in the order in which they will be asked for."""

    def __init__(self, shared: RunFolder) -> None:
        self._shared = shared
        self._keys: list[str] = []

    def add(
        self,
        plan: Plan,
        role: HistoryRole | None,
        runs: Sequence[Task],
        lasts: Sequence[float],
        again: Again | None = None,
        *,
        is_early: bool = False,
    ) -> None:
        """Announce these runs of a plan; see `WantedRun`."""
        written = msgspec.Raw(encode_plan(self._shared.keep_manifests(plan)))
        for number, run in enumerate(runs):
            wanted = WantedRun(len(self._keys), role, number, tuple(lasts), written, again, is_early)
            self._shared.want(run.key, msgspec.json.encode(wanted))
            self._keys.append(run.key)

    def withdraw(self) -> None:
        """None of them is wanted any more."""
        for key in self._keys:
            self._shared.withdraw(key)


class WantedRuns:
    """Those that the workers of a run want, as one of them sees it. `rerun`: a plan's re-run by this worker."""

    def __init__(self, references: References, rerun: Callable[[Plan, Again], Task]) -> None:
        self._references, self._worker, self._rerun = references, references.worker, rerun
        self._in_vain: set[str] = set()

    @contextlib.contextmanager
    def comparisons(self, trial: Plan, history: History, again: Sequence[Again] = ()) -> Iterator[None]:
        """Let other workers make what the trial of this plan may have to be compared with, for as long as this lasts, and run it
        `again`: the first of these before, as that takes longest, the others after the comparisons that take as long as they."""
        with self._announcing() as announced:

            def announce_runs(plan: Plan, role: HistoryRole, times: int = 1, *, lasts: Sequence[float] = ()) -> tuple[History, ...]:
                announced.add(plan, role, self._references.runs_for(plan, role, times, lasts=lasts), lasts)
                return ()

            def announce_reruns(*wanted: Again) -> None:
                for each in wanted:
                    announced.add(trial, None, [self._rerun(trial, each)], (), each, is_early=True)

            announce_reruns(*again[:1])
            for number, question in enumerate(questions(announce_runs, trial), 1):
                question(history)
                if number == LONG_QUESTIONS:
                    announce_reruns(*again[1:])
            yield

    @contextlib.contextmanager
    def references(self, trials: Iterable[Plan]) -> Iterator[None]:
        """Let other workers make the references of trials that this worker is about to run."""
        with self._announcing() as announced:
            for each in trials:
                announced.add(each.reference, None, self._references.runs_of(each.reference), ())
            yield

    @contextlib.contextmanager
    def reruns(self, trial: Plan, wanted: Iterable[Again]) -> Iterator[None]:
        """Let other workers run the trial of this plan again."""
        with self._announcing() as announced:
            for each in wanted:
                announced.add(trial, None, [self._rerun(trial, each)], (), each)
            yield

    def make_one(self) -> bool:
        """Make the run that will be asked for first, of those that no worker is at; whether there was one. Once a finding of the
        run was explained, no re-run is begun early."""
        wanted = {key: msgspec.json.decode(data, type=WantedRun) for key, data in self._worker.shared.wanted().items()}
        known = {key: each for key, each in wanted.items() if not (each.is_early and self._worker.shared.has_explained)}
        for key in sorted(known.keys() - self._in_vain, key=lambda key: known[key].rank):
            try:
                if self._is_made(key, known[key]):
                    return True
            except Timeout:
                continue  # another worker is at it
            except (OutOfTime, UsageError):
                pass  # the worker that wants it will see for itself
            self._in_vain.add(key)
        return False

    @contextlib.contextmanager
    def _announcing(self) -> Iterator[_Announcement]:
        """Announces runs, which are withdrawn in the end."""
        made = _Announcement(self._worker.shared)
        try:
            yield made
        finally:
            made.withdraw()

    def _is_made(self, key: str, wanted: WantedRun) -> bool:
        """Whether this worker has made it; False when it would be another run here, as with a Secret that no file has."""
        plan = self._worker.completed(self._worker.shared.with_manifests(decode_plan(wanted.plan)))
        run = self._as_here(plan, wanted)
        if run.key != key:
            return False

        def make() -> bytes:
            with self._worker.doing("confirming", f"for another worker: {plan.title}"):
                return run.make()

        self._worker.shared.once(key, make, acquired_now)
        return True

    def _as_here(self, plan: Plan, wanted: WantedRun) -> Task:
        """The run, as this worker would make it."""
        if wanted.again is not None:
            return self._rerun(plan, wanted.again)
        if wanted.role is None:
            return self._references.runs_of(plan)[wanted.number]
        return self._references.runs_for(plan, wanted.role, wanted.number + 1, lasts=wanted.lasts)[wanted.number]
