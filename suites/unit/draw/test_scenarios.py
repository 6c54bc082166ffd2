"""The scenarios as a whole: every family is there, under its own name, and profiles differ in how much of it is tried."""

from dataclasses import replace

import pytest
from hypothesis import given

from staleproof.core.operator.observed import Beside, Observed, Outside
from staleproof.draw.family import Family
from staleproof.draw.profile import PROFILES, Profile
from staleproof.draw.scenarios import FAMILIES, canonical_plans

from .seen import EDGE, check, controllers, profiles, supplied, widgets

ROLES = Outside("db", "roles", 1, can=("drift", "read_state"))
POLLER = Beside("poller", ("widgets.example.com",))
SCENARIOS = sorted({family.scenario for family in FAMILIES})


def test_names_tell_families_apart() -> None:
    assert len({(family.scenario, family.name) for family in FAMILIES}) == len(FAMILIES)


def test_a_controller_that_gives_every_occasion_is_shown_every_scenario() -> None:
    assert {
        plan.scenario for plan in canonical_plans(replace(supplied(), edges=(EDGE,), outside=(ROLES,), beside=(POLLER,)))
    } >= set(SCENARIOS) - {"metrics"}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.scenario}-{family.name}")
@given(controllers(), profiles)
def test_plans_make_sense(family: Family, of: Observed, profile: Profile) -> None:
    """Each can be run, can be written down, and its faults are sure to fire."""
    for plan in family.plans(of, profile):
        check(plan, of)
        assert plan.scenario == family.scenario


@given(controllers(), profiles)
def test_titles_tell_plans_apart(of: Observed, profile: Profile) -> None:
    titles = [(plan.scenario, plan.title) for plan in canonical_plans(of, profile)]
    assert len(titles) == len(set(titles))


@given(controllers())
def test_smoke_is_a_part_of_the_standard(of: Observed) -> None:
    smoke, standard = (list(canonical_plans(of, PROFILES[name])) for name in ("smoke", "standard"))
    assert len(smoke) <= len(standard)
    longer = {plan.title for plan in smoke} - {plan.title for plan in standard}
    assert all(title.endswith("for up to 2 s") for title in longer)


@pytest.mark.parametrize("scenario", ["api-failure", "coalescing-skew", "deletion", "isolation", "metrics", "status", "streams"])
def test_a_smoke_run_tries_one_of_each_kind_at_most(scenario: str) -> None:
    assert all(len(list(family(widgets(), PROFILES["smoke"]))) <= 1 for family in FAMILIES if family.scenario == scenario)
