"""Three values, and the worst one wins."""

from staleproof.checks.verdict import Finding, Outcome, failed, inconclusive, not_exercised, passed


def test_the_worst_outcome_wins_and_nothing_seen_is_never_a_pass() -> None:
    assert max(Outcome.PASS, Outcome.NOT_EXERCISED) is Outcome.PASS
    assert max(Outcome.PASS, Outcome.INCONCLUSIVE) is Outcome.INCONCLUSIVE
    assert max(Outcome.INCONCLUSIVE, Outcome.FAIL) is Outcome.FAIL
    assert [outcome.word for outcome in Outcome] == ["inconclusive", "passed", "inconclusive", "failed"]


def test_a_verdict_says_what_it_rests_on() -> None:
    finding = Finding("settles", "it wrote again", (1, 2))

    assert passed("settles").outcome is Outcome.PASS
    assert failed("settles", [finding]).findings == (finding,)
    assert inconclusive("settles", "the harness broke").why == "the harness broke"
    assert not_exercised("settles", "nothing happened").outcome is Outcome.NOT_EXERCISED
