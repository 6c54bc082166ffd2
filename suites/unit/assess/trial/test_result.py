"""What came of a trial, read from its history and verdicts."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import msgspec
import pytest

from staleproof.assess.trial.result import Result, chance, confirmed, is_undecided
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import explain
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.fault import DropFrame, HoldStream
from staleproof.core.history.entry import FaultFired, FaultIndex
from staleproof.core.history.history import History

from ...judged import result


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
    """Also about what is not scored: a reader will want to see why."""
    found = result("expectations-hidden-creates")
    assert found.passed
    assert replace(found, verdicts=(*found.verdicts, Verdict(slug, outcome))).passed is passed


def test_a_fault_fires_once_however_often_it_does_something() -> None:
    found = result("naive-hidden-creates")
    assert found.fired == len(found.plan.faults) == 1
    plan = msgspec.structs.replace(found.plan, faults=(HoldStream(resource="pods"),) * 3)
    header = msgspec.structs.replace(found.history.header, plan=plan)
    fired = FaultFired(at=1.0, fault=FaultIndex(1), on="x")
    more = Result("001", plan, History(header, (fired, fired, FaultFired(at=2.0, fault=FaultIndex(2), on="x"))), (), Path(), 1.0)
    assert more.fired == 2
    assert [fault.outcome for fault in more.faults] == ["not fired", "fired", "fired"]
    assert Result("001", plan, History(header, ()), (), Path(), 1.0).fired == 0


def test_what_is_found_under_hostile_faults_is_reported_and_is_no_failure() -> None:
    guilty = result("naive-hidden-creates")
    plan = msgspec.structs.replace(
        guilty.plan, faults=(*guilty.plan.faults, DropFrame(resource="nodes")), contract="hostile", aims=()
    )
    history = replace(guilty.history, header=msgspec.structs.replace(guilty.history.header, plan=plan))
    found = Result("001", plan, history, judge(history), Path(), 1.0)
    assert (guilty.hostile, found.hostile) == ("", "hostile faults (DropFrame)")
    assert found.failures == []
    assert [story.requirement for story in found.stories] == ["no-duplicate-create"]


def test_what_is_found_about_a_provisional_requirement_is_reported_and_is_no_failure() -> None:
    guilty = result("naive-hidden-creates")
    finding = replace(guilty.of("no-duplicate-create").findings[0], requirement="no-blind-retry")
    found = replace(guilty, verdicts=(Verdict("no-blind-retry", Outcome.FAIL, (finding,)),))
    assert found.failures == []
    assert [story.heading for story in found.stories] == ["Not scored: this requirement is provisional."]


FAILED = Verdict("no-duplicate-create", Outcome.FAIL, (Finding("twice", (1,)),))
OTHER = Verdict("settles", Outcome.FAIL, (Finding("never", (2,)),))
PASSED = (Verdict("no-duplicate-create", Outcome.PASS), Verdict("settles", Outcome.PASS))


def outcomes_of(verdicts: Sequence[Verdict]) -> list[Outcome]:
    return [verdict.outcome for verdict in verdicts]


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
    verdicts, times = confirmed((FAILED, OTHER), again, without=6)
    assert (outcomes_of(verdicts), times) == (outcomes, reproduced)
    why = [verdict.why for verdict in verdicts if verdict.outcome is Outcome.INCONCLUSIVE]
    assert all(f"of {reproduced[1]} runs: " in each for each in why)


@pytest.mark.parametrize(
    ("times", "runs", "without", "outcome"),
    [
        (2, 2, 0, Outcome.FAIL),
        (3, 6, 12, Outcome.FAIL),
        (2, 6, 12, Outcome.INCONCLUSIVE),
        (3, 6, 6, Outcome.INCONCLUSIVE),
        (4, 6, 6, Outcome.FAIL),
        (0, 6, 12, Outcome.INCONCLUSIVE),
        (5, 6, 0, Outcome.INCONCLUSIVE),
    ],
)
def test_a_race_is_believed_from_a_rate_that_is_no_chance(times: int, runs: int, without: int, outcome: Outcome) -> None:
    again = [(FAILED, PASSED[1])] * times + [PASSED] * (runs - times)
    verdicts, reproduced = confirmed((FAILED, PASSED[1]), again, without=without)
    assert outcomes_of(verdicts) == [outcome, Outcome.PASS]
    assert reproduced == (times + 1, runs + 1)


def test_the_probability_is_reported() -> None:
    verdicts, _ = confirmed((FAILED,), [(FAILED,)] * 3 + [PASSED] * 3, without=12)
    assert verdicts[0].why == "it came back in 4 of 7 runs, and in none of 12 without the faults: chance 2.5%"
    assert verdicts[0].findings == FAILED.findings
    assert confirmed((FAILED,), [(FAILED,)] * 2, without=6)[0] == (FAILED,)


def test_chance_is_what_counting_says() -> None:
    """Of all ways in which so many of the runs can be those that show it, the share in which all of them have the faults."""
    for times, runs, without in product(range(4), range(3, 5), range(4)):
        ways = list(combinations(range(runs + without), times))
        assert chance(times, runs, without) == pytest.approx(sum(max(way, default=-1) < runs for way in ways) / len(ways))


@pytest.mark.parametrize(
    ("again", "expected"),
    [([], False), ([(FAILED,)] * 2, False), ([PASSED] * 2, False), ([(FAILED,), PASSED], True), ([PASSED, (FAILED, OTHER)], True)],
)
def test_re_runs_that_do_not_say_the_same_decide_nothing(again: list[tuple[Verdict, ...]], *, expected: bool) -> None:
    assert is_undecided((FAILED,), again) is expected
