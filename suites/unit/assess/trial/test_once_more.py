"""Which trials are run once more: those that say nothing, and those with a doubt of their own."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from staleproof.assess.trial.once_more import BROKEN_OFF, IN_DOUBT, interrupted, once_more, undone_without_faults
from staleproof.assess.trial.result import Result, unconfirmed
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.history.entry import Broke
from staleproof.core.history.history import History
from staleproof.core.plan.step import Remove

from ...checks.script import HOLD, Script, trial, two_references

GONE = "step 2 (remove secrets number -1): there are 0 such children"


def work(script: Script) -> Script:
    return script.step(1, "apply").applied("w").creates("w-a").step(2, "remove")


def of(history: History, *verdicts: Verdict, scenario: str = "drawn") -> Result:
    steps = (*history.header.plan.steps[:1], Remove(resource="secrets"))
    plan = msgspec.structs.replace(history.header.plan, scenario=scenario, steps=steps)
    return Result("001", plan, history, verdicts, Path("trials/001"), 1.0, interrupted=interrupted(history))


def broken() -> History:
    return work(Script(HOLD)).adds(Broke, where="workload", why=GONE).ends()


def test_a_step_without_its_object_is_done_to_another_one() -> None:
    result = of(replace(broken(), references=two_references(work)))
    again = once_more(result)
    assert again is not None
    assert again.reason == BROKEN_OFF
    assert again.plan.steps[1] == Remove(resource="pods")
    assert result.interrupted == f"a step of the workload could not be done: {GONE}"
    assert not undone_without_faults(result)


def test_a_plan_of_the_user_s_own_is_run_as_it_is() -> None:
    result = of(broken(), scenario="mine")
    again = once_more(result)
    assert again is not None
    assert again.plan == result.plan


def test_a_step_that_cannot_be_done_without_faults_either_is_told_apart() -> None:
    reference = work(trial()).adds(Broke, where="workload", why=GONE).ends()
    result = of(replace(work(Script(HOLD)).ends(), references=(reference, reference)))
    assert result.interrupted == f"a step of the workload could not be done: {GONE}"
    assert undone_without_faults(result)


def test_a_step_that_cannot_be_done_with_the_other_faults_alone_says_nothing_of_the_trial() -> None:
    ablated = replace(broken(), header=msgspec.structs.replace(broken().header, role="ablated"))
    result = of(replace(work(Script(HOLD)).ends(), references=(*two_references(work), ablated)))
    assert result.interrupted == ""
    assert not undone_without_faults(result)


DOUBT = Verdict("settles", Outcome.INCONCLUSIVE, why="the references do not agree")
FOUND = Verdict("settles", Outcome.FAIL, (Finding("it goes on", (), requirement="settles", severity="transient"),))


@pytest.mark.parametrize(
    ("verdicts", "fields", "is_doubted", "reason"),
    [
        ([DOUBT], {}, True, IN_DOUBT),
        ([DOUBT], {}, False, ""),  # it is about the trial before
        ([DOUBT], {"reproduced": (1, 3)}, True, ""),  # three runs have said so
        ([DOUBT, FOUND], {}, True, ""),
        ([Verdict("no-blind-retry", Outcome.INCONCLUSIVE, why="it is not scored")], {}, True, ""),
        ([Verdict("settles", Outcome.PASS)], {}, True, ""),
    ],
)
def test_a_doubt_is_asked_about_once_more(
    verdicts: list[Verdict], fields: dict[str, object], reason: str, *, is_doubted: bool
) -> None:
    history = replace(work(Script(HOLD)).hold().let_go().ends(), references=two_references(work))
    again = once_more(replace(of(history, *verdicts, scenario="streams"), **fields), is_doubted=is_doubted)  # type: ignore[arg-type]
    assert (again.reason if again is not None else "") == reason


def test_what_could_not_be_confirmed_is_inconclusive_and_says_so() -> None:
    kept = Verdict("cleans-up", Outcome.PASS)
    assert unconfirmed([FOUND, kept]) == (
        Verdict("settles", Outcome.INCONCLUSIVE, why="unconfirmed, because the run ended first: it goes on"),
        kept,
    )
