"""What came of a trial, read from its history and verdicts."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from staleproof.assess.result import Result, confirmed
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import explain
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.entry import FaultFired
from staleproof.core.fault import DropFrame, HoldStream
from staleproof.core.history import History

from ..judged import result


def test_a_guilty_trial_has_failures_and_their_stories() -> None:
    found = result("naive-hidden-creates")
    assert [verdict.requirement for verdict in found.failures] == ["no-duplicate-create"]
    verdict = found.of("no-duplicate-create")
    assert len(verdict.findings) > 1
    assert found.stories == [explain(verdict.findings[0], found.history)]


def test_an_innocent_trial_has_none() -> None:
    found = result("expectations-hidden-creates")
    assert (found.failures, found.stories) == ([], [])
    assert found.of("no-duplicate-create").outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("outcome", "passed"),
    [(Outcome.PASS, True), (Outcome.NOT_EXERCISED, True), (Outcome.INCONCLUSIVE, False), (Outcome.FAIL, False)],
)
@pytest.mark.parametrize("slug", ["settles", "no-blind-retry"])
def test_a_trial_passes_when_nothing_is_found_or_open(outcome: Outcome, slug: str, *, passed: bool) -> None:
    """Also about what is not scored: somebody will want to see why."""
    found = result("expectations-hidden-creates")
    assert found.passed
    assert replace(found, verdicts=(*found.verdicts, Verdict(slug, outcome))).passed is passed


def test_a_fault_fires_once_however_often_it_does_something() -> None:
    found = result("naive-hidden-creates")
    assert found.fired == len(found.plan.faults) == 1
    plan = msgspec.structs.replace(found.plan, faults=(HoldStream(resource="pods"),) * 3)
    header = msgspec.structs.replace(found.history.header, plan=plan)
    fired = FaultFired(at=1.0, fault=1, on="x")
    more = Result("001", plan, History(header, (fired, fired, FaultFired(at=2.0, fault=2, on="x"))), (), Path(), 1.0)
    assert more.fired == 2
    assert [fault.outcome for fault in more.faults] == ["not fired", "fired", "fired"]
    assert Result("001", plan, History(header, ()), (), Path(), 1.0).fired == 0


def test_what_is_found_under_hostile_faults_is_told_and_is_no_failure() -> None:
    guilty = result("naive-hidden-creates")
    plan = msgspec.structs.replace(
        guilty.plan, faults=(*guilty.plan.faults, DropFrame(resource="nodes")), contract="hostile", aims=()
    )
    history = replace(guilty.history, header=msgspec.structs.replace(guilty.history.header, plan=plan))
    found = Result("001", plan, history, judge(history), Path(), 1.0)
    assert (guilty.hostile, found.hostile) == ("", "hostile faults (DropFrame)")
    assert found.failures == []
    assert [story.requirement for story in found.stories] == ["no-duplicate-create"]


def test_what_is_found_about_a_provisional_requirement_is_told_and_is_no_failure() -> None:
    guilty = result("naive-hidden-creates")
    finding = replace(guilty.of("no-duplicate-create").findings[0], requirement="no-blind-retry")
    found = replace(guilty, verdicts=(Verdict("no-blind-retry", Outcome.FAIL, (finding,)),))
    assert found.failures == []
    assert [story.heading for story in found.stories] == ["Not scored: this requirement is provisional."]


FAILED = Verdict("no-duplicate-create", Outcome.FAIL, (Finding("twice", (1,)),))
OTHER = Verdict("settles", Outcome.FAIL, (Finding("never", (2,)),))
PASSED = (Verdict("no-duplicate-create", Outcome.PASS), Verdict("settles", Outcome.PASS))


@pytest.mark.parametrize(
    ("again", "outcomes", "reproduced"),
    [
        ([], [Outcome.FAIL, Outcome.FAIL], (1, 1)),
        ([(FAILED, OTHER), (FAILED, OTHER)], [Outcome.FAIL, Outcome.FAIL], (3, 3)),
        ([(FAILED, OTHER), (FAILED, PASSED[1])], [Outcome.FAIL, Outcome.INCONCLUSIVE], (3, 3)),
        ([PASSED, (PASSED[0], OTHER)], [Outcome.INCONCLUSIVE, Outcome.INCONCLUSIVE], (2, 3)),
    ],
)
def test_a_finding_is_believed_if_it_comes_back_every_time(
    again: list[tuple[Verdict, ...]], outcomes: list[Outcome], reproduced: tuple[int, int]
) -> None:
    verdicts, times = confirmed((FAILED, OTHER), again)
    assert ([verdict.outcome for verdict in verdicts], times) == (outcomes, reproduced)
    told = [verdict.why for verdict in verdicts if verdict.outcome is Outcome.INCONCLUSIVE]
    assert all(f"of {reproduced[1]} runs: " in why for why in told)
