"""What a sweep suspects, and what is left of its verdicts when that does not come back alone."""

from dataclasses import replace

import msgspec

from staleproof.assess.trial.result import Result
from staleproof.assess.trial.suspects import in_words, suspects, without_suspects
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


def test_nobody_is_suspected_without_a_finding() -> None:
    assert suspects(sweep(Verdict("settles", Outcome.PASS), Verdict("no-time-travel", Outcome.INCONCLUSIVE, why="x"))) == []


def test_whom_a_finding_is_about_is_suspected_the_worst_first() -> None:
    of = sweep(found("it changed w-c"), found("it deleted w-b-data", "name-reuse", "destroyed"))
    assert suspects(of) == ["w-b", "w-c"]


def test_where_that_does_not_show_any_may_be_meant_but_only_some_are_run() -> None:
    assert suspects(sweep(found("it did something"))) == ["w-a", "w-b", "w-c"]


def test_what_is_told_of_them_names_what_they_are_suspected_of() -> None:
    assert in_words(sweep(found("it changed w-c"))) == "no-time-travel: it changed w-c"


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
