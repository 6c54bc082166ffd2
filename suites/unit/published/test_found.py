"""What counts as a published bug that was found."""

from typing import Any

import pytest

from ...published.found import HARMS, shown
from ...published.table import Bug, bugs
from ...published.tries import TRIES
from ..report.runs import BAD, UNKNOWN, report, trial, verdict

TRY = next(each for each in TRIES if each.bug == "rabbitmq/cluster-operator#653")
BUG = next(bug for bug in bugs() if bug.name == TRY.bug)
SAYS = "no-time-travel  the controller deleted statefulset/trial/sample-server on an older view of rabbitmqcluster/sample"
SHOWS: dict[str, Any] = {"severity": "destroyed", "story": SAYS}


def test_a_verdict_that_says_what_the_report_says_shows_the_bug() -> None:
    later, sooner = (trial(name, verdict("no-time-travel", BAD, **SHOWS)) for name in ("a", "b"))
    found = shown(BUG, TRY, report(later, sooner), {later.folder: 9.0, sooner.folder: 4.0})
    assert [each.after for each in found] == [4.0, 9.0]
    assert found[0].requirement == "no-time-travel"
    assert found[0].says.startswith("the controller deleted statefulset/")


OTHERS: dict[str, dict[str, Any]] = {
    "that does something else to people": {"severity": "stuck"},
    "about another kind": {"story": SAYS.replace("statefulset", "service")},
    "about a kind whose name only begins like it": {"story": SAYS.replace("statefulset", "statefulsetter")},
    "that may be no violation": {"said": UNKNOWN},
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_verdict_shows_nothing(other: str) -> None:
    fields: dict[str, Any] = {"slug": "no-time-travel", "said": BAD, **SHOWS} | OTHERS[other]
    said = verdict(fields.pop("slug"), fields.pop("said"), **fields)
    assert shown(BUG, TRY, report(trial("a", said)), {}) == []


def test_a_requirement_that_the_row_names_comes_first() -> None:
    slugs = ("tolerates-skew", "no-time-travel")
    other, named = (
        trial(slug, verdict(slug, BAD, severity="destroyed", story=SAYS.replace("no-time-travel", slug))) for slug in slugs
    )
    found = shown(BUG, TRY, report(other, named), {other.folder: 4.0, named.folder: 9.0})
    assert [(each.requirement, each.named) for each in found] == [("no-time-travel", True), ("tolerates-skew", False)]


def test_what_no_api_server_does_shows_nothing() -> None:
    assert shown(BUG, TRY, report(trial("a", verdict("no-time-travel", BAD, **SHOWS), hostile="forged")), {}) == []


def test_a_trial_whose_end_is_not_known_comes_last() -> None:
    first, last = (trial(name, verdict("no-time-travel", BAD, **SHOWS)) for name in ("a", "b"))
    assert [each.after for each in shown(BUG, TRY, report(last, first), {first.folder: 4.0})] == [4.0, None]


def test_each_kind_of_bug_does_something_to_people() -> None:
    assert {bug.kind for bug in bugs()} <= HARMS.keys()
    assert all(HARMS.values())


def test_kinds_are_those_of_bugs() -> None:
    assert HARMS.keys() == set(Bug.__annotations__["kind"].__args__)
