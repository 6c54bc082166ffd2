"""The catalogue: one MUST sentence each."""

import importlib
import pkgutil
import re

import pytest

from staleproof.checks import rules
from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS, is_scored, worst
from staleproof.checks.requirement import Requirement
from staleproof.checks.verdict import Outcome
from staleproof.core.fault.suggest import FAULTS


def test_every_requirement_says_what_a_controller_must_do_and_what_helps() -> None:
    for requirement in REQUIREMENTS:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+|settles", requirement.slug)
        assert requirement.must.startswith("The controller MUST ")
        assert requirement.must.endswith(".")
        assert requirement.source
        assert requirement.remedy


def test_every_row_of_every_family_is_in_the_catalogue_under_its_name() -> None:
    families = [importlib.import_module(f"{rules.__name__}.{name}") for _, name, _ in pkgutil.iter_modules(rules.__path__)]
    rows = {name: each for family in families for name, each in vars(family).items() if isinstance(each, Requirement)}
    assert {name.lower().replace("_", "-"): each for name, each in rows.items()} == BY_SLUG


def test_slugs_are_never_renamed() -> None:
    """Reports, markers and documents out there use them."""
    assert set(BY_SLUG) >= {
        "no-duplicate-create",
        "no-excess-delete",
        "no-blind-retry",
        "no-delete-of-unseen",
        "no-time-travel",
        "name-reuse",
        "tolerates-skew",
        "tolerates-coalescing",
        "waits-for-initial-sync",
        "survives-restart",
        "survives-stream-loss",
        "survives-expiry",
        "needs-no-bookmarks",
        "survives-lost-answer",
        "backs-off",
        "converges-after-catch-up",
        "settles",
        "recovers-in-bounded-time",
        "isolates-objects",
        "cleans-up",
        "honest-observed-generation",
        "honest-ready",
        "honest-status",
        "reports-skips",
        "no-cross-object-writes",
    }
    assert len(BY_SLUG) == len(REQUIREMENTS)


def test_faults_are_named_as_in_plans_and_are_legal() -> None:
    """What is found under a hostile one proves nothing."""
    named = {name for requirement in REQUIREMENTS for name in requirement.faults}
    assert named <= FAULTS.keys()
    assert {FAULTS[name].contract for name in named} == {"legal"}
    assert all(len(set(requirement.faults)) == len(requirement.faults) for requirement in REQUIREMENTS)


def test_only_provisional_requirements_are_not_scored() -> None:
    unscored = {each.slug for each in REQUIREMENTS if not is_scored(each.slug)}
    assert unscored == {each.slug for each in REQUIREMENTS if each.level == "provisional"} >= {"no-blind-retry"}
    assert is_scored("a-requirement-of-another-version")


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], Outcome.NOT_EXERCISED),
        ([("no-blind-retry", Outcome.FAIL)], Outcome.NOT_EXERCISED),
        ([("no-blind-retry", Outcome.FAIL), ("settles", Outcome.PASS)], Outcome.PASS),
        ([("no-blind-retry", Outcome.INCONCLUSIVE), ("settles", Outcome.PASS)], Outcome.PASS),
        ([("honest-ready", Outcome.FAIL), ("settles", Outcome.INCONCLUSIVE)], Outcome.FAIL),
    ],
)
def test_the_worst_of_what_is_scored_counts(outcomes: list[tuple[str, Outcome]], expected: Outcome) -> None:
    assert worst(outcomes) is expected
