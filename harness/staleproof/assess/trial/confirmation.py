"""What a trial shows once it is compared with all that may explain it, waited for, and run again.

Reproduce before accusing: a finding is kept when nothing that the controller does but for the faults explains it (`comparison`),
when it does not heal by itself (`long_wait`), and when it comes back in every re-run, each in a new life of the controller.
"""

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from staleproof.assess.learn.lives import IN_VAIN, put_back, set_aside
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
from staleproof.assess.trial.result import confirmed, failures, is_undecided, unconfirmed
from staleproof.assess.trial.runner import Runner
from staleproof.assess.trial.wanted import Again, Came
from staleproof.checks.ends.convergence import converged
from staleproof.checks.ends.healing import healed, usual_seconds
from staleproof.checks.judge import judge
from staleproof.checks.trial import indexed
from staleproof.checks.verdict import Verdict
from staleproof.core.history.history import History, sealed
from staleproof.core.plan.plan import Plan
from staleproof.core.times import HEALS_FACTOR, HEALS_SECONDS
from staleproof.draw.copies import copies_in
from staleproof.drive.trial.workload import Refused
from staleproof.errors import OutOfTime

_EARLY = 2
"""So many re-runs may be begun before it is known whether a finding is explained."""
_SHORT = 6
"""So much of a trial's digest tells its re-runs from those of one whose place it took, which may still be under way."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A trial with what it was compared with, what it shows, and how often its findings came back.

    Attributes:
        is_cut: it could not be compared with all that may explain it, or not be run again: there was no time, or it was `refused`.
        refused: which run that it has to be compared with the API server does not accept, in words.
        healed_by: what healed the controller in the end, when it was run again.
        died: how it died over a re-run, in words.
        hasty: the trial whose place it took, because this one waited long.
        early: the trial as it was run, if re-runs of it may have begun then.
    """

    history: History
    verdicts: tuple[Verdict, ...]
    reproduced: tuple[int, int] = (0, 0)
    is_cut: bool = False
    refused: str = ""
    healed_by: str = ""
    died: str = ""
    hasty: History | None = None
    early: History | None = None

    @property
    def run_again(self) -> History:
        """What re-runs go by: the trial with all that it is compared with, or as it was when the first of them may have begun."""
        return self.early or self.history


class Confirmation:
    """Compares one trial of this plan, which is kept in this folder, with all that may explain it, and runs it again."""

    def __init__(self, runner: Runner, plan: Plan, folder: Path) -> None:
        self._runner, self._plan, self._folder = runner, plan, folder
        self._histories_for = runner.references.histories_for

    def judged(self, history: History, reruns: int) -> Judged:
        """Compare a trial with all that explains it, and run it again if there is a finding, as long as there is time for that: a
        finding that could not be confirmed any more is none. OutOfTime when there was none to explain a doubt. A sweep only says
        what is to be run alone."""
        judged = self._compared(history, reruns)
        if copies_in(self._plan):
            return replace(judged, is_cut=False)
        if not judged.is_cut and not failures(judged.verdicts) and waited_in_vain(judged.history):
            set_aside(self._folder, IN_VAIN)
            judged = self._compared(self._runner.execute(self._plan, judged.history.harmless, self._folder), reruns)
        if not judged.is_cut and (causes := self._stuck(judged)):
            try:
                again = self._reruns(judged.run_again, [2] if reruns > 1 else [])  # the trial itself will count as the first
                with self._runner.doing("confirming", f"waiting for what may heal by itself: {self._plan.title}"):
                    judged = self._waited_for(causes, judged, again)
            except OutOfTime:
                judged = replace(judged, is_cut=bool(failures(judged.verdicts)))
        if not judged.is_cut and failures(judged.verdicts):
            try:
                with self._runner.doing("confirming", self._plan.title):
                    return self._reproduced(judged, reruns)
            except OutOfTime:
                judged = replace(judged, is_cut=True)
        if judged.is_cut and not failures(judged.verdicts):
            raise OutOfTime
        return replace(judged, verdicts=unconfirmed(judged.verdicts, why=judged.refused)) if judged.is_cut else judged

    def _stuck(self, judged: Judged) -> frozenset[str]:
        """The causes for which the controller may be stuck, if it was not waited for as long as it is to be."""
        is_due = waited_seconds(judged.history) < self._runner.options.patience
        return stuck(judged.history, judged.verdicts) if is_due else frozenset()

    def _waited_for(self, causes: frozenset[str], judged: Judged, again: Sequence[Again]) -> Judged:
        """The trial, once it is known whether what may heal by itself does, when it is waited for long: a trial that asks takes the
        place of this one, and what was in vain for these causes is asked once a run. What healed in another trial and not in
        this one, which had as long, is asked again. Meanwhile other workers may run it `again`."""
        longer: list[Judged] = []

        def wait() -> bytes:
            with self._runner.wanted.reruns(self._plan, again):
                longer.append(self._long_wait(judged))
            history = longer[0].history
            return msgspec.json.encode(Waited(waited_seconds(history), in_vain=bool(history.header.waited)))

        for number in itertools.count(1):
            answer = msgspec.json.decode(self._runner.once("patience", (sorted(causes), number), wait), type=Waited)
            if longer:
                return replace(longer[0], hasty=judged.run_again)
            if answer.in_vain:
                break
        known = replace(judged, history=waited(judged.history, answer.seconds))
        return self._judged_against(known.history.references, known)

    def _long_wait(self, judged: Judged) -> Judged:
        """The plan, run again and waited for with patience, in place of the trial: what heals is learnt for all other trials.
        OutOfTime, with the trial as it was, when there is no time for that."""
        seconds, before = self._runner.options.patience, indexed(judged.history, judged.history.references)
        self._runner.need(usual_seconds(before) + seconds)
        history = self._runner.execute(self._plan, judged.history.harmless, self._folder / LONG, patience=seconds)
        set_aside(self._folder, IN_HASTE)
        put_back(self._folder, LONG)
        found = self._compared(self._against(judged.history.references, history))
        if stuck(found.history, found.verdicts) and is_another(before, indexed(found.history, found.history.references)):
            references = as_long(self._histories_for, self._plan, found.history)
            found = self._judged_against(references, found)
        if stuck(found.history, found.verdicts):
            known = replace(found, history=waited(found.history, waited_seconds(found.history)))
            return self._judged_against(known.history.references, known)
        if (by_itself := healed(indexed(found.history))) is not None:
            self._runner.expect(found.history.digest, HEALS_FACTOR * by_itself.seconds + HEALS_SECONDS)
        return found

    def _compared(self, history: History, reruns: int = 0) -> Judged:
        """The trial, judged, with as many more references as explain what it differs in, if any do, and there is time for.

        Of `reruns` the first are begun by other workers meanwhile, as long as no finding of the run has been explained: until then
        most findings are true, and their re-runs need not wait.
        """
        judged = Judged(history, judge(history))
        if differs(judged.history, judged.verdicts):
            helps = failures(judged.verdicts) and not copies_in(self._plan)
            early = self._early(history, reruns) if helps else []
            wanted = self._runner.wanted.comparisons(self._plan, history, early) if helps else contextlib.nullcontext()
            with self._runner.doing("confirming", self._plan.title), wanted:
                judged = self._explained(replace(judged, early=history if early else None))
            if helps and not failures(judged.verdicts):
                self._runner.shared.note_explained()
        return judged if judged.is_cut else self._unhurried(judged)

    def _early(self, history: History, reruns: int) -> list[Again]:
        """The re-runs that other workers, if there are any, may begin at once."""
        may_begin = self._runner.options.worker and not self._runner.shared.has_explained
        return self._reruns(history, range(min(_EARLY, reruns), 0, -1)) if may_begin else []

    def _unhurried(self, judged: Judged) -> Judged:
        """The trial, whose unscored findings about its end are compared with a run that took as long; they are open if there is no
        time for it."""
        if copies_in(self._plan) or not (found := hasty(judged.history, judged.verdicts)):
            return judged
        try:
            self._runner.need(usual_seconds(indexed(judged.history)))
            with self._runner.doing("confirming", self._plan.title):
                references = paced(self._histories_for, self._plan, judged.history)
        except OutOfTime:
            return replace(judged, verdicts=unconfirmed(judged.verdicts, found))
        return self._judged_against(references, judged)

    def _explained(self, judged: Judged) -> Judged:
        """The trial beside the answers to one question after the other, as long as it differs.

        A question may begin with a state that the API server accepts only of what is there already. Then no finding is confirmed,
        but another answer may still explain it.
        """
        refused = ""
        for question in questions(self._histories_for, self._plan):
            if not differs(judged.history, judged.verdicts):
                break
            try:
                self._runner.need(usual_seconds(indexed(judged.history)))
                references = question(judged.history)
            except OutOfTime:
                return replace(judged, is_cut=True)
            except Refused as err:
                refused = f"a run that it has to be compared with is refused ({err})"
                continue
            if references != judged.history.references or self._runner.references.unstable() != judged.history.header.unstable:
                judged = self._judged_against(references, judged)
        return replace(judged, is_cut=True, refused=refused) if refused and failures(judged.verdicts) else judged

    def _reproduced(self, judged: Judged, times: int) -> Judged:
        """The trial, judged, with so many re-runs, or as many more as a rate takes when they do not say the same. The trial whose
        place it took counts as one of them; but not if what was found came while this one waited, and then all wait as long."""
        history, came = judged.history, Came()
        is_late = judged.hasty is not None and not history.header.waited
        first = judged.hasty if not is_late and times > 1 else None
        runs = [(self._folder / IN_HASTE, first)] if first is not None else []
        patience, of = waited_seconds(history) if is_late else 0.0, first or judged.run_again

        def rerun(times: int) -> list[tuple[Verdict, ...]]:
            nonlocal came
            due = self._reruns(of, range(len(runs) + 1, times + 1), patience, heals=not came.healed)
            with self._runner.wanted.reruns(self._plan, due):
                for number, each in enumerate(due, len(runs) + 1):
                    new, where, run = self._run_again(each, of, history)
                    if waited_in_vain(run) and of.digest != history.digest:
                        anew = self._reruns(history, [number], patience, heals=each.heals)
                        died, (new, where, run) = new.died, self._run_again(anew[0], history, history)
                        new = msgspec.structs.replace(new, died=new.died or died)
                    came = Came(came.healed or new.healed, new.died or came.died)
                    runs.append((where, run))
            known = [(where, waited(each, history.header.waited)) for where, each in runs]
            return [judge(self._against(history.references, each, where)) for where, each in known]

        verdicts, again = judge(history), rerun(times)
        if is_undecided(verdicts, again):
            history = self._against(without_faults(self._histories_for, self._plan, history, CONTROLS), history)
            verdicts, again = judge(history), rerun(max(RERUNS, times))
        found, reproduced = confirmed(verdicts, again, without=len(history.harmless))
        return Judged(history, found, reproduced, healed_by=came.healed, died=came.died)

    def _run_again(self, again: Again, of: History, trial: History) -> tuple[Came, Path, History]:
        """A re-run, made now or by the first worker that came to it, which went by what `of` went by; where it is kept, and its
        history beside all that the trial is compared with. What ended well by these has not been healed by anything."""
        task = self._runner.rerun(self._plan, again, of.harmless)
        if not self._runner.shared.outcome(task.key).exists():
            self._runner.need(usual_seconds(indexed(trial)) + again.patience)
        came, where = msgspec.json.decode(self._runner.done(task), type=Came), self._runner.shared.path / again.folder
        run = self._against(trial.references, reread(where, trial), where)
        return (msgspec.structs.replace(came, healed="") if converged(indexed(run, run.references)) else came), where, run

    def _reruns(self, of: History, numbers: Sequence[int], patience: float = 0.0, *, heals: bool = True) -> list[Again]:
        return reruns(self._folder.relative_to(self._runner.shared.path), of, numbers, patience, heals=heals)

    def _against(self, references: Sequence[History], history: History, folder: Path | None = None) -> History:
        """The trial, or a re-run of it that is kept in this folder, with other references, and with what the run has shown so far
        to be unstable; also where it is kept."""
        header = msgspec.structs.replace(history.header, unstable=self._runner.references.unstable())
        made, data = sealed(replace(history, header=header, references=tuple(references)))
        write_atomically((folder or self._folder) / HISTORY, data)
        return made

    def _judged_against(self, references: Sequence[History], judged: Judged) -> Judged:
        """The trial with other references, judged."""
        compared = self._against(references, judged.history)
        return replace(judged, history=compared, verdicts=judge(compared))


def reruns(folder: Path, of: History, numbers: Sequence[int], patience: float = 0.0, *, heals: bool = True) -> list[Again]:
    """The re-runs with these numbers of a trial as it was run, which is kept in this folder of the run's; each goes by what that
    went by.

    What heals the controller is tried in one of them, if in any: in the second, or in that which is nearest to it.
    """
    beside, healing = tuple(each.digest for each in of.harmless), min(numbers, key=lambda each: abs(each - 2), default=0)
    places = [(number, folder / f"rerun-{number}-{of.digest[:_SHORT]}") for number in numbers]
    return [Again(str(place), beside, patience, heals and number == healing) for number, place in places]


def reread(folder: Path, trial: History) -> History:
    """The re-run of a trial that is kept there, with the trial's own plan: in a file, Secrets are masked."""
    read = read_history(folder / HISTORY)
    return replace(read, header=msgspec.structs.replace(read.header, plan=trial.header.plan))
