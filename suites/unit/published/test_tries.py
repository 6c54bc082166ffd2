"""The table of tries names bugs that there are, and what can be run; nothing is fetched or run."""

import pytest

from staleproof.checks.catalog import BY_SLUG, is_scored
from staleproof.settings import OPTIONS

from ...operators.model import MADE, PUBLISHED, Operator
from ...published.table import bugs
from ...published.tries import TRIES, Try

BUGS = {bug.name: bug for bug in bugs()}
FLAGS = {option.flag for option in OPTIONS}
SIDES = [(each, operator) for each in TRIES for operator in (each.before, each.after) if operator]


def test_each_try_is_of_one_bug() -> None:
    names = [each.bug for each in TRIES]
    assert names == sorted({*names}, key=str.lower)
    assert {*names} <= BUGS.keys()


@pytest.mark.parametrize("each", TRIES, ids=lambda each: each.bug)
def test_versions_are_those_of_the_bug_or_the_row_says_why_not(each: Try) -> None:
    bug = BUGS[each.bug]
    run = (each.before.origin.version, each.after.origin.version if each.after else None)
    assert (run == (bug.before, bug.after)) is not bool(each.another)


@pytest.mark.parametrize("each", TRIES, ids=lambda each: each.bug)
def test_what_is_looked_for_is_what_a_finding_can_say(each: Try) -> None:
    assert each.requirements
    assert all(slug in BY_SLUG and is_scored(slug) for slug in each.requirements)
    assert each.objects
    assert all(kind.isalpha() and kind.islower() and not kind.endswith("s") for kind in each.objects)


@pytest.mark.parametrize(("each", "operator"), SIDES, ids=lambda value: getattr(value, "bug", ""))
def test_options_are_any_users(each: Try, operator: Operator) -> None:
    flags = {option.partition("=")[0] for option in operator.options if option.startswith("--")}
    assert flags <= FLAGS
    assert not flags & {"--staleproof-only", "--staleproof-mutations", "--staleproof-replay", "--staleproof-minutes"}
    said = " ".join((*operator.arguments, *operator.options))
    assert all(f"{MADE}/{name.removesuffix('/bin/spark-submit')}" in said for name in operator.made)
    assert PUBLISHED in said or MADE in said
    assert each.bug.partition("#")[2] not in said
