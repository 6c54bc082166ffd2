"""Runs without harm that a worker wants for comparison, so that other workers make some of them.

A trial with a finding is compared with a dozen runs and more, one after the other. A worker announces all that it may come to ask
for; any other makes one of these before its next trial, and while it has nothing else to do. Each is made once, under its key, by
whichever worker comes first; what is not wanted any more, because an earlier answer explains the trial, is withdrawn.
"""

import contextlib
import itertools
from collections.abc import Iterator, Sequence

import msgspec
from filelock import Timeout

from staleproof.assess.store.run_folder import acquired_now
from staleproof.assess.trial.comparison import questions
from staleproof.assess.trial.references import References
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.plan import decode as decode_plan
from staleproof.core.plan.plan import encode as encode_plan
from staleproof.errors import OutOfTime, UsageError


class WantedRun(msgspec.Struct, frozen=True):
    """As a run folder has it. `rank`: when it will be asked for, among those that are announced together; `number`: how
    many of its kind come before it."""

    rank: int
    role: HistoryRole
    number: int
    lasts: tuple[float, ...]
    plan: msgspec.Raw


class WantedRuns:
    """Those that the workers of a run want, as one of them sees it."""

    def __init__(self, references: References) -> None:
        self._references, self._worker = references, references.worker
        self._in_vain: set[str] = set()

    @contextlib.contextmanager
    def announced(self, trial: Plan, history: History) -> Iterator[None]:
        """Let other workers make what the trial of this plan may have to be compared with, for as long as this lasts."""
        keys: list[str] = []
        ranks = itertools.count()

        def announce(plan: Plan, role: HistoryRole, times: int = 1, *, lasts: Sequence[float] = ()) -> tuple[History, ...]:
            written = self._worker.shared.keep_manifests(plan)
            for number, run in enumerate(self._references.runs_for(plan, role, times, lasts=lasts)):
                wanted = WantedRun(next(ranks), role, number, tuple(lasts), msgspec.Raw(encode_plan(written)))
                self._worker.shared.want(run.key, msgspec.json.encode(wanted))
                keys.append(run.key)
            return ()

        try:
            for question in questions(announce, trial):
                question(history)
            yield
        finally:
            for key in keys:
                self._worker.shared.withdraw(key)

    def make_one(self) -> bool:
        """Make the run that will be asked for first, of those that no worker is at; whether there was one."""
        known = {key: msgspec.json.decode(data, type=WantedRun) for key, data in self._worker.shared.wanted().items()}
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

    def _is_made(self, key: str, wanted: WantedRun) -> bool:
        """Whether this worker has made it; False when it would be another run here, as with a Secret that no file has."""
        plan = self._worker.completed(self._worker.shared.whole(decode_plan(wanted.plan)))
        run = self._references.runs_for(plan, wanted.role, wanted.number + 1, lasts=wanted.lasts)[wanted.number]
        if run.key != key:
            return False
        self._worker.shared.once(key, run.make, acquired_now)
        return True
