"""Trials: a plan is run beside its references and judged, and run again when there is a finding. Each has a folder of its own."""

import contextlib
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec

from staleproof.assess.learn import patience as learnt
from staleproof.assess.learn.lives import (
    IN_THE_LIFE_BEFORE,
    IN_VAIN,
    died_between,
    doubted,
    left_like_that,
    put_back,
    set_aside,
    stopped,
)
from staleproof.assess.run.doing import Tell, discard
from staleproof.assess.run.worker import SessionOptions, Task, Worker
from staleproof.assess.store.run_folder import HISTORY, read_history, write_atomically
from staleproof.assess.trial.comparison import (
    CONTROLS,
    RERUNS,
    as_long,
    differs,
    hasty,
    paced,
    questions,
    waited_in_vain,
    without_faults,
)
from staleproof.assess.trial.long_wait import IN_HASTE, LONG, Waited, is_another, stuck, waited, waited_seconds
from staleproof.assess.trial.once_more import BROKEN_OFF, Undoable, interrupted, once_more, undone_without_faults
from staleproof.assess.trial.references import REFERENCES, References
from staleproof.assess.trial.result import Result, confirmed, failures, is_undecided, unconfirmed
from staleproof.assess.trial.suspects import SUSPECT, in_words, is_in_doubt, suspects, without_suspects
from staleproof.assess.trial.wanted import Again, WantedRuns
from staleproof.checks.catalog import waits
from staleproof.checks.ends.healing import healed, usual_seconds
from staleproof.checks.facts.retries import first_retry
from staleproof.checks.judge import judge
from staleproof.checks.trial import indexed
from staleproof.checks.verdict import Verdict
from staleproof.core.history.history import History, sealed
from staleproof.core.plan.plan import Plan
from staleproof.core.times import HEALS_FACTOR, HEALS_SECONDS
from staleproof.draw.copies import alone, copies_in, mentioned, without
from staleproof.drive.cluster.control_plane import Progress
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.run import run_trial
from staleproof.drive.trial.spec import Patience, TrialSpec
from staleproof.drive.trial.workload import Refused
from staleproof.errors import OutOfTime
from staleproof.report.coverage import SUSPECTED

_TRIALS = "trials"
_SHORT = 6
"""So much of a trial's digest tells its re-runs from those of one whose place it took, which may still be under way."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A trial with what it was compared with, what it shows, and how often its findings came back. `is_cut`: there was no time to
    compare it with more, or to run it again. `healed_by`: what healed the controller in the end, when it was run again. `hasty`:
    the trial whose place it took, because this one waited long."""

    history: History
    verdicts: tuple[Verdict, ...]
    reproduced: tuple[int, int] = (0, 0)
    is_cut: bool = False
    healed_by: str = ""
    hasty: History | None = None


class Session(Worker):
    """A worker that judges what it runs.

    Attributes:
        references: what it compares trials with.
        wanted: what other workers make for it, and it for them.
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
        self.wanted = WantedRuns(self.references, self._rerun)
        self._numbers = itertools.count(1)
        self._is_spoilt = False

    def fails(self, plan: Plan, slugs: frozenset[str], times: int) -> bool:
        """Whether one of these requirements is violated each time that the plan is run, as far as its references alone tell."""
        plan = self.completed(plan)
        self._begin_soundly()
        references = self.references.of(plan)
        folder = self.run.folder / _TRIALS / self.named(next(self._numbers))
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

        No single trial leaves a doubt, either: one that could not be carried out, found no occasion for what it was drawn for, or
        cannot be explained is run once more (`once_more`), and then the second one counts. A sweep goes on without a primary that
        the API server does not accept.

        Raises:
            OutOfTime: there was no time to run it, or its references.
            Undoable: a step of its workload cannot be done, even without faults, or the API server does not accept it.
        """
        try:
            return self._trial(self.completed(plan), self.options.reruns if reruns is None else reruns)
        except Refused as err:
            left = without(plan, mentioned(copies_in(plan), str(err)))
            if left is None:
                raise Undoable(str(err)) from err
            return self.trial(left, reruns=reruns)

    def _trial(self, plan: Plan, reruns: int) -> Result:
        name = self.named(next(self._numbers))
        folder = self.run.folder / _TRIALS / name
        first, blamed = self._attempt(plan, name, folder, reruns)
        if copies_in(plan) and not first.interrupted:
            return self._swept(first, reruns)
        again = once_more(first, is_doubted=not blamed)
        if again is None:
            return first
        if not self.has_time(first.seconds):
            return self._late(first)
        set_aside(folder, again.reason)
        try:
            self.renew()
            second, _ = self._attempt(again.plan, name, folder, reruns)
        except OutOfTime:
            return self._late(replace(first, folder=folder / again.reason))
        if again.reason == BROKEN_OFF and undone_without_faults(second):
            raise Undoable(second.interrupted)
        return replace(second, again=again.reason, references_seconds=first.references_seconds + second.references_seconds)

    def _swept(self, sweep: Result, reruns: int) -> Result:
        """What came of a sweep: the first finding about a primary that is run alone, or what is in doubt about one, or what
        the sweep shows of all. Where the time is over, or one cannot be run, its suspicion stays open."""
        doubted: list[Result] = []
        is_open = False
        plans = [alone(sweep.plan, name) for name in suspects(sweep)]
        with self.wanted.references(plans):
            for each in plans:
                try:
                    result = self._trial(each, reruns)
                except (Undoable, Refused, OutOfTime):
                    is_open = True
                    continue
                if result.failures:
                    return replace(result, again=SUSPECT)
                doubted += [result] if is_in_doubt(result) else []
        if doubted:
            return replace(doubted[0], again=SUSPECT)
        if is_open:
            return replace(sweep, verdicts=unconfirmed(sweep.verdicts), is_unconfirmed=True)
        self.note(f"{SUSPECTED} {sweep.name}, and not seen alone", in_words(sweep))
        return replace(sweep, verdicts=without_suspects(sweep.verdicts))

    def _late(self, first: Result) -> Result:
        """What stands when there is no time to run a plan once more. OutOfTime when it says nothing."""
        if first.interrupted:
            raise OutOfTime
        return first

    def _attempt(self, plan: Plan, name: str, folder: Path, reruns: int) -> tuple[Result, str]:
        """Run a plan beside its references, and judge it; and whether the trial before may be to blame for a doubt, in words."""
        before = self.watched_seconds
        doubt = self._begin_soundly()
        with self.doing("references", plan.title):
            references = self.references.of(plan)
        began = time.monotonic()
        with self.doing("trial", plan.title):
            history, ruined = self._run_soundly(plan, references, folder)
        seconds = time.monotonic() - began
        judged = self._judged(plan, history, folder, reruns)
        blamed = doubt or ruined or self._death_between()
        self.refusals()
        self.call(lambda env: env.count_calls())
        result = Result(
            name=name,
            plan=plan,
            history=judged.history,
            verdicts=doubted(judged.verdicts, blamed),
            folder=folder,
            seconds=seconds,
            reproduced=judged.reproduced,
            references_seconds=self.watched_seconds - before,
            is_unconfirmed=judged.is_cut,
            healed_by=judged.healed_by if failures(judged.verdicts) else "",
            interrupted=interrupted(judged.history),
        )
        if self.options.keep == "findings" and result.passed:
            (folder / HISTORY).unlink()
        return result, blamed

    def _judged(self, plan: Plan, history: History, folder: Path, reruns: int) -> "_Judged":
        """Compare a trial with all that explains it, and run it again if there is a finding, as long as there is time for that: a
        finding that could not be confirmed any more is none. OutOfTime when there was none to explain a doubt. A sweep only says
        what is to be run alone."""
        judged = self._compared(plan, history, folder)
        if copies_in(plan):
            return replace(judged, is_cut=False)
        if not judged.is_cut and not failures(judged.verdicts) and waited_in_vain(judged.history):
            set_aside(folder, IN_VAIN)
            judged = self._compared(plan, self._run(plan, judged.history.harmless, folder), folder)
        if not judged.is_cut and (causes := self._stuck(judged)):
            try:
                again = self._reruns(judged.history, folder, [2] if reruns > 1 else [])  # the trial itself will count as the first
                with self.doing("confirming", f"waiting for what may heal by itself: {plan.title}"):
                    judged = self._waited_for(causes, plan, judged, folder, again)
            except OutOfTime:
                judged = replace(judged, is_cut=bool(failures(judged.verdicts)))
        if not judged.is_cut and failures(judged.verdicts):
            try:
                with self.doing("confirming", plan.title):
                    return self._reproduced(plan, judged, folder, reruns)
            except OutOfTime:
                judged = replace(judged, is_cut=True)
        if judged.is_cut and not failures(judged.verdicts):
            raise OutOfTime
        return replace(judged, verdicts=unconfirmed(judged.verdicts)) if judged.is_cut else judged

    def _stuck(self, judged: "_Judged") -> frozenset[str]:
        """The causes for which the controller may be stuck, if it was not waited for as long as it is to be."""
        is_due = waited_seconds(judged.history) < self.options.patience
        return stuck(judged.history, judged.verdicts) if is_due else frozenset()

    def _waited_for(self, causes: frozenset[str], plan: Plan, judged: "_Judged", folder: Path, again: Sequence[Again]) -> "_Judged":
        """The trial, once it is known whether what may heal by itself does, when it is waited for long: a trial that asks takes the
        place of this one, and what was in vain for these causes is asked once a run. What healed in another trial and not in
        this one, which had as long, is asked again. Meanwhile other workers may run it `again`."""
        longer: list[_Judged] = []

        def wait() -> bytes:
            with self.wanted.reruns(plan, again):
                longer.append(self._long_wait(plan, judged, folder))
            history = longer[0].history
            return msgspec.json.encode(Waited(waited_seconds(history), in_vain=bool(history.header.waited)))

        for number in itertools.count(1):
            answer = msgspec.json.decode(self.once("patience", (sorted(causes), number), wait), type=Waited)
            if longer:
                return replace(longer[0], hasty=judged.history)
            if answer.in_vain:
                break
        known = replace(judged, history=waited(judged.history, answer.seconds))
        return self._judged_against(known.history.references, known, folder)

    def _long_wait(self, plan: Plan, judged: "_Judged", folder: Path) -> "_Judged":
        """The plan, run again and waited for with patience, in place of the trial: what heals is learnt for all other trials.
        OutOfTime, with the trial as it was, when there is no time for that."""
        seconds, before = self.options.patience, indexed(judged.history, judged.history.references)
        self.need(usual_seconds(before) + seconds)
        history = self._run(plan, judged.history.harmless, folder / LONG, patience=seconds)
        set_aside(folder, IN_HASTE)
        put_back(folder, LONG)
        found = self._compared(plan, self._against(judged.history.references, history, folder), folder)
        if stuck(found.history, found.verdicts) and is_another(before, indexed(found.history, found.history.references)):
            references = as_long(self.references.histories_for, plan, found.history)
            found = self._judged_against(references, found, folder)
        if stuck(found.history, found.verdicts):
            known = replace(found, history=waited(found.history, waited_seconds(found.history)))
            return self._judged_against(known.history.references, known, folder)
        if (by_itself := healed(indexed(found.history))) is not None:
            self.expect(found.history.digest, HEALS_FACTOR * by_itself.seconds + HEALS_SECONDS)
        return found

    def _compared(self, plan: Plan, history: History, folder: Path) -> "_Judged":
        """The trial, judged, with as many more references as explain what it differs in, if any do, and there is time for."""
        judged = _Judged(history, judge(history))
        if differs(judged.history, judged.verdicts):
            helps = failures(judged.verdicts) and not copies_in(plan)
            wanted = self.wanted.comparisons(plan, history) if helps else contextlib.nullcontext()
            with self.doing("confirming", plan.title), wanted:
                judged = self._explained(plan, judged, folder)
        return judged if judged.is_cut else self._unhurried(plan, judged, folder)

    def _unhurried(self, plan: Plan, judged: "_Judged", folder: Path) -> "_Judged":
        """The trial, whose unscored findings about its end are compared with a run that took as long; they are open if there is no
        time for it."""
        if copies_in(plan) or not (found := hasty(judged.history, judged.verdicts)):
            return judged
        try:
            self.need(usual_seconds(indexed(judged.history)))
            with self.doing("confirming", plan.title):
                references = paced(self.references.histories_for, plan, judged.history)
        except OutOfTime:
            return replace(judged, verdicts=unconfirmed(judged.verdicts, found))
        return self._judged_against(references, judged, folder)

    def _explained(self, plan: Plan, judged: "_Judged", folder: Path) -> "_Judged":
        """The trial beside the answers to one question after the other, as long as it differs."""
        for question in questions(self.references.histories_for, plan):
            if not differs(judged.history, judged.verdicts):
                break
            try:
                self.need(usual_seconds(indexed(judged.history)))
                references = question(judged.history)
            except OutOfTime:
                return replace(judged, is_cut=True)
            if references != judged.history.references or self.references.unstable() != judged.history.header.unstable:
                judged = self._judged_against(references, judged, folder)
        return judged

    def _reproduced(self, plan: Plan, judged: "_Judged", folder: Path, times: int) -> "_Judged":
        """The trial, judged, with so many re-runs, or as many more as a rate takes when they do not say the same. The trial whose
        place it took counts as one of them; but not if what was found came while this one waited, and then all wait as long."""
        history, healed = judged.history, ""
        is_late = judged.hasty is not None and not history.header.waited
        runs = [(folder / IN_HASTE, judged.hasty)] if judged.hasty is not None and not is_late and times > 1 else []
        patience, of = waited_seconds(history) if is_late else 0.0, judged.hasty if runs and judged.hasty is not None else history

        def rerun(times: int) -> list[tuple[Verdict, ...]]:
            nonlocal healed
            due = self._reruns(of, folder, range(len(runs) + 1, times + 1), patience, heals=not healed)
            with self.wanted.reruns(plan, due):
                for each in due:
                    self.need(usual_seconds(indexed(history)) + patience)
                    healed = self.done(self._rerun(plan, each)).decode() or healed
                    where = self.shared.path / each.folder
                    runs.append((where, read_history(where / HISTORY)))
            known = [(where, waited(each, history.header.waited)) for where, each in runs]
            return [judge(self._against(history.references, each, where)) for where, each in known]

        verdicts, again = judge(history), rerun(times)
        if is_undecided(verdicts, again):
            history = self._against(without_faults(self.references.histories_for, plan, history, CONTROLS), history, folder)
            verdicts, again = judge(history), rerun(max(RERUNS, times))
        return _Judged(history, *confirmed(verdicts, again, without=len(history.harmless)), healed_by=healed)

    def _reruns(
        self, of: History, folder: Path, numbers: Sequence[int], patience: float = 0.0, *, heals: bool = True
    ) -> list[Again]:
        """The re-runs of this trial with these numbers; what heals it is tried in the first of them, if in any."""
        beside = tuple(each.digest for each in of.harmless)
        places = [folder.relative_to(self.shared.path) / f"rerun-{number}-{of.digest[:_SHORT]}" for number in numbers]
        return [Again(str(place), beside, patience, heals and place == places[0]) for place in places]

    def _rerun(self, plan: Plan, again: Again) -> Task:
        """A re-run of a plan, in a new life; what comes of it is what healed the controller in the end, in words."""

        def make() -> bytes:
            beside, healed = [self.shared.reference(each) for each in again.beside], list[str]()
            where, healed_by = self.shared.path / again.folder, healed.append if again.heals else None
            self._run(plan, beside, where, anew=True, patience=again.patience, healed_by=healed_by)
            return "".join(healed).encode()

        return Task(self.key("again", plan.steps, plan.faults, plan.settle, plan.before, again.folder), make)

    def _against(self, references: Sequence[History], history: History, folder: Path) -> History:
        """The trial with other references, and with what the run has shown so far to be unstable; also where it is kept."""
        header = msgspec.structs.replace(history.header, unstable=self.references.unstable())
        made, data = sealed(replace(history, header=header, references=tuple(references)))
        write_atomically(folder / HISTORY, data)
        return made

    def _judged_against(self, references: Sequence[History], judged: "_Judged", folder: Path) -> "_Judged":
        """The trial with other references, judged."""
        compared = self._against(references, judged.history, folder)
        return replace(judged, history=compared, verdicts=judge(compared))

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
            return env.lives.harmed_by

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

    def _run(
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


def _named(folder: Path) -> str:
    """The name of the trial that this folder is part of."""
    return folder.parts[len(folder.parts) - folder.parts[::-1].index(_TRIALS)]
