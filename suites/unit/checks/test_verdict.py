"""Four values, and the worst one wins."""

from typing import Literal

from staleproof.checks.verdict import SEVERITIES, Finding, Inconclusive, Outcome, Severity, Verdict, rank, unless


def test_the_worst_outcome_wins_and_nothing_seen_is_never_a_pass() -> None:
    assert max(Outcome.PASS, Outcome.NOT_EXERCISED) is Outcome.PASS
    assert max(Outcome.PASS, Outcome.INCONCLUSIVE) is Outcome.INCONCLUSIVE
    assert max(Outcome.INCONCLUSIVE, Outcome.FAIL) is Outcome.FAIL
    assert [outcome.word for outcome in Outcome] == ["not exercised", "passed", "inconclusive", "failed"]


def test_a_doubt_takes_the_place_of_what_was_found() -> None:
    found = [Finding("it wrote again", (1, 2)), Finding("and again", (3, 4))]

    assert unless("", found) == found
    assert unless("the user did", found) == [Inconclusive("it wrote again, but the user did")]
    assert unless("the user did", []) == []


def test_the_worst_finding_is_the_first_that_does_most_harm() -> None:
    found = [Finding("a", ()), Finding("b", (), severity="leaked"), Finding("c", (), severity="undone")]
    found.append(Finding("d", (), severity="undone"))

    assert Verdict("x", Outcome.FAIL, tuple(found)).worst.because == "c"
    graded: list[Severity | Literal[""]] = [*SEVERITIES, ""]
    assert sorted(graded[::-1], key=rank) == graded
