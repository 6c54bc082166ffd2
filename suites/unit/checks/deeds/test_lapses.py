"""Reports of an observed generation that are wrong by themselves, in one history; and whether another run does better."""

import pytest

from staleproof.checks.deeds.lapses import acts_first, ends_with_newest, left_behind, unacted_claims, wrong_claims
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, trial


def began(script: Script) -> Script:
    return script.step(1, "apply").wants(2).creates("w-a", "w-b").says(1).idle(1)


def held() -> Script:
    """The second generation is hidden."""
    return began(trial()).step(2, "scale").hold(WIDGETS).wants(3).idle(2)


CLAIMS = {
    "one that was shown": (began(trial()), []),
    "one that was not": (held().says(2), [("unshown", 2)]),
    "an older one, though the newest was shown": (began(trial()).step(2, "scale").wants(3).says(2).says(1), []),
}


@pytest.mark.parametrize(("script", "found"), CLAIMS.values(), ids=CLAIMS)
def test_what_is_wrong_with_a_claim(script: Script, found: list[tuple[str, int]]) -> None:
    lapses = wrong_claims(Trial(script.ends()))
    assert [(lapse.kind, lapse.generation) for lapse in lapses] == found
    assert {lapse.where[1:] for lapse in lapses} <= {(WIDGETS, "status.observedGeneration")}


def test_what_is_left_behind_ends_with_an_older_one() -> None:
    late = Trial(began(trial()).step(2, "scale").wants(3).says(1, replicas=3).ends())
    (lapse,) = left_behind(late)
    good = Trial(began(trial()).step(2, "scale").wants(3).creates("w-c").says(2).ends())
    eager = Trial(began(trial()).step(2, "scale").wants(3).says(2).creates("w-c").ends())

    assert (lapse.kind, lapse.generation, lapse.finding.basis) == ("left behind", 2, "unfinished")
    assert [ends_with_newest(run, lapse) for run in (late, good)] == [False, True]
    assert [acts_first(run, lapse) for run in (late, good, eager)] == [False, True, False]
    assert list(left_behind(good)) == list(unacted_claims(good)) == []


def test_a_report_that_was_refused_and_not_made_again_is_left_behind() -> None:
    refused = began(trial()).step(2, "scale").wants(3).creates("w-c").applied("w", note="x").says_blindly().ends()
    again = began(trial()).step(2, "scale").wants(3).creates("w-c").applied("w", note="x").says_blindly().says(2).ends()
    (lapse,) = left_behind(Trial(refused))

    assert "was refused, as the object had changed, and not made again" in lapse.finding.because
    assert not list(left_behind(Trial(again)))


def test_a_report_that_only_the_new_generation_was_in_the_way_of_may_have_been_about_the_one_before() -> None:
    in_flight = began(trial()).step(2, "scale").wants(3).says_blindly().ends()

    assert not list(left_behind(Trial(in_flight)))


def test_a_generation_that_another_process_reports_is_not_its_own() -> None:
    script = trial().step(1, "apply").wants(2).applied("w", status={"observedGeneration": 1}).creates("w-a", "w-b").idle(1)
    theirs = script.step(2, "scale").wants(3).applied("w", note="x").says_blindly().ends()

    assert not list(left_behind(Trial(theirs)))
