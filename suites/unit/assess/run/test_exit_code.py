"""The exit code: of one trial, of a report, of a run that has tests."""

import pytest

from staleproof.assess.run.exit_code import accepted, of_report, of_tests, of_trial
from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.report.model import Report, Word

from ...report import runs
from ...report.runs import BAD, GOOD, IDLE, UNKNOWN

OK, FAILED, INTERRUPTED, BUG, USAGE, NO_TESTS = range(6)
INCONCLUSIVE, BROKEN = 10, 11


def verdicts(*outcomes: Outcome) -> tuple[Verdict, ...]:
    return tuple(Verdict(each.slug, outcome) for each, outcome in zip(REQUIREMENTS, outcomes, strict=False))


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((Outcome.PASS, Outcome.NOT_EXERCISED), OK),
        ((Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED), INCONCLUSIVE),
        ((Outcome.FAIL, Outcome.INCONCLUSIVE), FAILED),
        ((Outcome.NOT_EXERCISED,), INCONCLUSIVE),
    ],
)
def test_that_of_a_trial(outcomes: tuple[Outcome, ...], expected: int) -> None:
    assert of_trial(verdicts(*outcomes)) == expected


def test_what_is_only_hostile_is_not_meant_to_exercise_anything() -> None:
    assert of_trial(verdicts(Outcome.NOT_EXERCISED), hostile=True) == OK


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_provisional_requirement_changes_no_exit_code(outcome: Outcome) -> None:
    assert of_trial((Verdict("no-blind-retry", outcome), Verdict("settles", Outcome.PASS))) == OK


def report(*said: Word) -> Report:
    trials = tuple(runs.trial(str(number), runs.verdict(REQUIREMENTS[0].slug, each)) for number, each in enumerate(said))
    return Report(run_id="1", date="", reproduce="", trials=trials)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], INCONCLUSIVE),
        ([GOOD], OK),
        ([GOOD, IDLE], OK),
        ([IDLE], INCONCLUSIVE),
        ([GOOD, UNKNOWN], INCONCLUSIVE),
        ([BAD, UNKNOWN], FAILED),
    ],
)
def test_that_of_a_report(said: list[Word], expected: int) -> None:
    assert of_report(report(*said)) == expected


@pytest.mark.parametrize(
    ("status", "found", "blamed", "other_failures", "expected"),
    [
        (OK, OK, [], False, OK),
        (OK, INCONCLUSIVE, [], False, INCONCLUSIVE),
        (OK, FAILED, [], False, OK),  # a test of the user's own that does not mind
        (FAILED, FAILED, [], True, FAILED),
        (FAILED, INCONCLUSIVE, [], False, FAILED),
        (FAILED, OK, [INCONCLUSIVE], False, INCONCLUSIVE),
        (FAILED, OK, [BROKEN], False, BROKEN),
        (FAILED, INCONCLUSIVE, [INCONCLUSIVE, USAGE, BROKEN], False, BROKEN),
        (FAILED, OK, [USAGE, BROKEN, BUG], False, BUG),
        (FAILED, FAILED, [BROKEN], False, FAILED),
        (FAILED, OK, [BROKEN], True, FAILED),
        (INTERRUPTED, INCONCLUSIVE, [], False, INTERRUPTED),
        (INTERRUPTED, OK, [BROKEN], False, BROKEN),
        (INTERRUPTED, OK, [INCONCLUSIVE], False, INTERRUPTED),
        (NO_TESTS, OK, [], False, NO_TESTS),
        (USAGE, OK, [], False, USAGE),
    ],
)
def test_that_of_tests(status: int, found: int, blamed: list[int], *, other_failures: bool, expected: int) -> None:
    assert of_tests(status, found, blamed, has_other_failures=other_failures) == expected


@pytest.mark.parametrize(("code", "expected"), [(INCONCLUSIVE, (INCONCLUSIVE, OK, FAILED)), (FAILED, (FAILED,) * 3)])
def test_what_the_user_makes_of_a_doubt(code: int, expected: tuple[int, ...]) -> None:
    assert (accepted(code, ""), accepted(code, "ok"), accepted(code, "fail")) == expected


def test_a_run_that_was_interrupted_has_not_passed() -> None:
    good, bad = (runs.report(runs.trial("001", runs.verdict("settles", said)), partial=True) for said in ("passed", "failed"))
    assert (of_report(good), of_report(bad)) == (10, 1)
