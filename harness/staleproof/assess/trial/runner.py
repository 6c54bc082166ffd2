"""A worker that runs plans with their faults: in a sound life of the controller, beside runs without faults, and again."""

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from staleproof.assess.learn import patience as learnt
from staleproof.assess.learn.lives import IN_THE_LIFE_BEFORE, died_between, left_like_that, set_aside, stopped
from staleproof.assess.run.doing import Tell, discard
from staleproof.assess.run.worker import SessionOptions, Task, Worker
from staleproof.assess.trial.references import REFERENCES, References
from staleproof.assess.trial.wanted import Again, Came, WantedRuns
from staleproof.checks.catalog import waits
from staleproof.checks.facts.retries import first_retry
from staleproof.checks.trial import indexed
from staleproof.core.history.history import History
from staleproof.core.plan.plan import Plan
from staleproof.drive.cluster.control_plane import Progress
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.run import run_trial
from staleproof.drive.trial.spec import Patience, TrialSpec
from staleproof.errors import OutOfTime

_TRIALS = "trials"


class Runner(Worker):
    """Runs plans, and judges nothing.

    Attributes:
        references: what trials are compared with.
        wanted: what other workers make for this one, and it for them.
    """

    def __init__(
        self,
        options: SessionOptions,
        progress: Progress | None = None,
        *,
        folder: Path | None = None,
        tell: Tell = discard,
    ) -> None:
        super().__init__(options, progress, folder=folder, tell=tell)
        self.references = References(self)
        self.wanted = WantedRuns(self.references, self.rerun)
        self._numbers = itertools.count(1)
        self._is_spoilt = False

    def new_folder(self) -> Path:
        """Where another trial is kept, under its name."""
        return self.run.folder / _TRIALS / self.named(next(self._numbers))

    def begin_soundly(self) -> str:
        """Leave a life that was found dead or doing nothing any more. How it died since the trial before, in words, if it did."""
        died = self.death_between()
        if self._is_spoilt:
            self.renew()
            self._is_spoilt = False
        return died

    def death_between(self) -> str:
        """Whether the controller died between two runs, in words, and after which trial; empty when it did not."""
        return died_between(self.call(lambda env: env.take_exit()))

    def run_soundly(self, plan: Plan, references: Sequence[History], folder: Path) -> tuple[History, str]:
        """Run a plan, and once more in a new life if the controller stopped working. The run that counts; and if the controller did
        not stop in that one, that the trial before may be to blame, in words."""
        before = self._harmed_by()
        first = self.execute(plan, references, folder)
        if plan.fresh or not stopped(first):
            return first, ""
        set_aside(folder, IN_THE_LIFE_BEFORE)
        second = self.execute(plan, references, folder, anew=True)
        return second, "" if stopped(second) else left_like_that(stopped(first), before)

    def execute(
        self,
        plan: Plan,
        references: Sequence[History],
        folder: Path,
        *,
        anew: bool = False,
        patience: float = 0.0,
        healed_by: Callable[[str], None] | None = None,
    ) -> History:
        """Run a plan; `anew`: in a new life of the controller; `patience`: how many seconds what is missing is waited for, if that
        is longer than the run has learnt to wait; `healed_by` takes what heals the controller in the end."""
        if anew and not plan.fresh:
            self.renew()
        unstable, probe = self.references.unstable(), learnt.probe(plan, references)
        goals = learnt.Goals(references, plan, unstable)
        spec = TrialSpec(
            plan=self.shared.keep_manifests(plan),
            before=plan.before,
            folder=folder,
            title=f"trial {_named(folder)} ({plan.title})",
            role="trial",
            references=references,
            converged=goals.missing,
            reached=None if waits(plan.aims) else goals.is_reached,
            deadline_seconds=learnt.deadline(plan, references[:REFERENCES], self.options.patience),
            may_need=learnt.may_need,
            may_come=partial(learnt.may_come, retry_seconds=self.retry_seconds),
            patience=Patience(max(patience, self.expected_seconds), partial(learnt.lacks, unstable=unstable)),
            probe=replace(probe, patience=patience) if probe is not None else None,
            healed_by=healed_by,
        )
        history = self.in_time(lambda env: run_trial(spec, env))
        self.expect(history.digest, first_retry(indexed(history, history.references)), kind="retry")
        self._is_spoilt = bool(stopped(history))
        return history

    def rerun(self, plan: Plan, again: Again, beside: Sequence[History] | None = None) -> Task:
        """A re-run of a plan, in a new life; what comes of it is `Came`, as JSON. `beside`: the runs that it goes by, if they are
        at hand. The life that it leaves behind is sound."""

        def make() -> bytes:
            calm = [self.shared.reference(each) for each in again.beside] if beside is None else beside
            healed = list[str]()
            where, healed_by = self.shared.path / again.folder, healed.append if again.heals else None
            self.execute(plan, calm, where, anew=True, patience=again.patience, healed_by=healed_by)
            died = self.death_between()
            with contextlib.suppress(OutOfTime):  # what came of it counts, if there is no time for another life
                died = self.begin_soundly() or died
            return msgspec.json.encode(Came("".join(healed), died))

        which = (again.folder, again.patience, again.heals)
        return Task(self.key("again", plan.steps, plan.faults, plan.settle, plan.before, which), make)

    def _harmed_by(self) -> str:
        """The last run with faults, in words; empty when nothing has been done to the controller yet."""

        async def harmed_by(env: Environment) -> str:
            return env.lives.harmed_by

        return self.call(harmed_by)


def _named(folder: Path) -> str:
    """The name of the trial that this folder is part of."""
    return folder.parts[len(folder.parts) - folder.parts[::-1].index(_TRIALS)]
