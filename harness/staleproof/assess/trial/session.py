"""Trials: a plan is run beside its references and judged, and run again when there is a finding. Each has a folder of its own."""

import time
from dataclasses import replace
from pathlib import Path

from staleproof.assess.learn.lives import IN_THE_LIFE_BEFORE, IN_VAIN, doubted, set_aside
from staleproof.assess.store.run_folder import HISTORY
from staleproof.assess.trial.confirmation import Confirmation
from staleproof.assess.trial.long_wait import IN_HASTE, LONG
from staleproof.assess.trial.once_more import BROKEN_OFF, Again, Undoable, interrupted, once_more, undone_without_faults
from staleproof.assess.trial.references import Hopeless
from staleproof.assess.trial.result import Result, failures, unconfirmed
from staleproof.assess.trial.runner import Runner
from staleproof.assess.trial.suspects import SUSPECT, in_words, is_in_doubt, suspects, without_suspects
from staleproof.checks.judge import judge
from staleproof.core.history.time_breakdown import spent
from staleproof.core.plan.plan import Plan
from staleproof.draw.copies import alone, copies_in, mentioned, without
from staleproof.drive.trial.workload import Refused
from staleproof.errors import OutOfTime
from staleproof.report.coverage import SUSPECTED

_OF_AN_ATTEMPT = (IN_THE_LIFE_BEFORE, IN_VAIN, IN_HASTE, LONG)
"""Folders that a second attempt at a plan may need as well; those of re-runs have names of their own."""


class Session(Runner):
    """A worker that judges what it runs."""

    def fails(self, plan: Plan, slugs: frozenset[str], times: int) -> bool:
        """Whether one of these requirements is violated each time that the plan is run, as far as its references alone tell."""
        plan = self.completed(plan)
        self.begin_soundly()
        references = self.references.of(plan)
        folder = self.new_folder()
        for number in range(times):
            history = self.execute(plan, references, folder / f"rerun-{number}" if number else folder, anew=bool(number))
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
        folder = self.new_folder()
        first, blamed = self._attempt(plan, folder, reruns)
        is_swept = copies_in(plan) and not first.interrupted
        again = None if is_swept else once_more(first, is_doubted=not blamed)
        result = self._second(first, again, folder, reruns) if again is not None else first
        return self._swept(result, reruns) if copies_in(result.plan) and not result.interrupted else result

    def _second(self, first: Result, again: Again, folder: Path, reruns: int) -> Result:
        """What came of another attempt at a plan; or what stands of the first when there is no time for one."""
        if not self.has_time(first.seconds):
            return self._late(first)
        set_aside(folder, again.reason, _OF_AN_ATTEMPT)
        try:
            self.renew()
            second, _ = self._attempt(again.plan, folder, reruns)
        except OutOfTime:
            return self._late(replace(first, folder=folder / again.reason))
        if again.reason == BROKEN_OFF and undone_without_faults(second):
            raise Undoable(second.interrupted)
        return replace(
            second,
            again=again.reason,
            references_seconds=first.references_seconds + second.references_seconds,
            confirming_seconds=first.confirming_seconds + second.confirming_seconds,
        )

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
                except (Undoable, Refused, OutOfTime, Hopeless):
                    is_open = True
                    continue
                if result.failures:
                    return replace(result, again=SUSPECT, swept=sweep)
                doubted += [result] if is_in_doubt(result) else []
        if doubted:
            return replace(doubted[0], again=SUSPECT, swept=sweep)
        if is_open:
            return replace(sweep, verdicts=unconfirmed(sweep.verdicts), is_unconfirmed=True)
        self.note(f"{SUSPECTED} {sweep.name}, and not seen alone", in_words(sweep))
        return replace(sweep, verdicts=without_suspects(sweep.verdicts))

    def _late(self, first: Result) -> Result:
        """What stands when there is no time to run a plan once more. OutOfTime when it says nothing."""
        if first.interrupted:
            raise OutOfTime
        return first

    def _attempt(self, plan: Plan, folder: Path, reruns: int) -> tuple[Result, str]:
        """Run a plan beside its references, and judge it; and whether the trial before may be to blame for a doubt, in words."""
        before = self.watched_seconds
        doubt = self.begin_soundly()
        with self.doing("references", plan.title):
            references = self.references.of(plan)
        began = time.monotonic()
        with self.doing("trial", plan.title):
            history, ruined = self.run_soundly(plan, references, folder)
        seconds = time.monotonic() - began
        began, watched = time.monotonic(), self.watched_seconds
        judged = Confirmation(self, plan, folder).judged(history, reruns)
        confirming = time.monotonic() - began - (self.watched_seconds - watched)
        if judged.history is not history:  # then another run counts as the trial
            confirming -= spent(judged.history).total
        blamed = doubt or ruined or judged.died or self.death_between()
        self.refusals()
        self.call(lambda env: env.count_calls())
        result = Result(
            name=folder.name,
            plan=plan,
            history=judged.history,
            verdicts=doubted(judged.verdicts, blamed),
            folder=folder,
            seconds=seconds,
            reproduced=judged.reproduced,
            references_seconds=self.watched_seconds - before,
            confirming_seconds=max(confirming, 0.0),
            is_unconfirmed=judged.is_cut,
            healed_by=judged.healed_by if failures(judged.verdicts) else "",
            interrupted=interrupted(judged.history),
        )
        if self.options.keep == "findings" and result.passed:
            for kept in (folder / HISTORY, *folder.glob(f"rerun-*/{HISTORY}")):
                kept.unlink()
        return result, blamed
