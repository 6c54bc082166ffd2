"""What a sweep suspects, and what is left of its verdicts when that does not come back alone."""

from dataclasses import replace

import msgspec

from staleproof.assess.trial.result import Result
from staleproof.assess.trial.suspects import in_words, is_in_doubt, suspects, without_suspects
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.plan.step import Apply, Together

from ...judged import result

NAMES = ("w-a", "w-b", "w-c", "w-d")


def sweep(*verdicts: Verdict) -> Result:
    found = result("expectations-hidden-creates")
    applied = tuple(Apply(object={"apiVersion": "v1", "kind": "W", "metadata": {"name": name}}) for name in NAMES)
    plan = msgspec.structs.replace(found.plan, scenario="sweep", steps=(Together(steps=applied),))
    return replace(found, plan=plan, verdicts=verdicts)


def found(because: str, slug: str = "no-time-travel", severity: str = "undone") -> Verdict:
    finding = Finding(because, (0,), requirement=slug, severity=severity)  # type: ignore[arg-type]  # one of those that there are
    return Verdict(slug, Outcome.FAIL, (finding,))


def test_nothing_is_suspected_without_a_finding() -> None:
    assert suspects(sweep(Verdict("settles", Outcome.PASS), Verdict("no-time-travel", Outcome.INCONCLUSIVE, why="x"))) == []


def test_the_subject_of_a_finding_is_suspected_the_worst_first() -> None:
    of = sweep(found("it changed w-c"), found("it deleted w-b-data", "name-reuse", "destroyed"))
    assert suspects(of) == ["w-b", "w-c"]


def test_of_many_that_are_meant_some_are_run_and_where_that_does_not_show_all() -> None:
    assert suspects(sweep(found("it changed w-a, w-b, w-c and w-d"))) == ["w-a", "w-b", "w-c"]
    assert suspects(sweep(found("it did something"))) == list(NAMES)


def test_a_name_within_another_word_means_no_suspect() -> None:
    assert suspects(sweep(found("it changed w-creds, and w-b-creds"))) == ["w-b"]


def test_what_takes_long_makes_no_suspect() -> None:
    of = sweep(found("it took w-a too long", "settles"))
    assert suspects(of) == []
    assert in_words(of) == ""


def test_what_is_open_about_one_alone_is_in_doubt() -> None:
    assert is_in_doubt(sweep(Verdict("no-time-travel", Outcome.INCONCLUSIVE, why="x")))
    assert not is_in_doubt(sweep(Verdict("honest-status", Outcome.INCONCLUSIVE, why="x"), Verdict("settles", Outcome.PASS)))


def test_the_words_about_them_name_what_they_are_suspected_of() -> None:
    assert in_words(sweep(found("it changed w-c"))) == "no-time-travel: it changed w-c"
    assert in_words(sweep(found("it changed w-c"), found("x", "name-reuse"))) == "no-time-travel: it changed w-c, and 1 more"


def test_a_suspicion_is_no_pass_and_no_finding() -> None:
    verdicts = (
        found("it changed w-c"),
        Verdict("settles", Outcome.PASS),
        Verdict("name-reuse", Outcome.PASS),
        Verdict("survives-restart", Outcome.INCONCLUSIVE, why="it may be otherwise"),
    )
    outcomes = {each.requirement: (each.outcome, each.why) for each in without_suspects(verdicts)}
    assert outcomes == {
        "no-time-travel": (Outcome.NOT_EXERCISED, "suspected in a sweep, and not seen alone"),
        "settles": (Outcome.NOT_EXERCISED, "how long it takes is seen alone"),
        "name-reuse": (Outcome.PASS, ""),
        "survives-restart": (Outcome.NOT_EXERCISED, "it may be otherwise"),
    }
