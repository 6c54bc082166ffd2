"""Four values, and the worst one wins."""

from typing import Literal

from staleproof.checks.verdict import SEVERITIES, Finding, Outcome, Severity, Verdict, rank


def test_the_worst_outcome_wins_and_nothing_seen_is_never_a_pass() -> None:
    assert max(Outcome.PASS, Outcome.NOT_EXERCISED) is Outcome.PASS
    assert max(Outcome.PASS, Outcome.INCONCLUSIVE) is Outcome.INCONCLUSIVE
    assert max(Outcome.INCONCLUSIVE, Outcome.FAIL) is Outcome.FAIL
    assert [outcome.word for outcome in Outcome] == ["not exercised", "passed", "inconclusive", "failed"]


def test_the_worst_finding_is_the_first_that_does_most_harm() -> None:
    found = [Finding("a", ()), Finding("b", (), severity="leaked"), Finding("c", (), severity="undone")]
    found.append(Finding("d", (), severity="undone"))

    assert Verdict("x", Outcome.FAIL, tuple(found)).worst.because == "c"
    graded: list[Severity | Literal[""]] = [*SEVERITIES, ""]
    assert sorted(graded[::-1], key=rank) == graded
