"""The scenarios as a whole: every family is there, under its own name, and profiles differ in how much of it is tried."""

from hypothesis import given

from staleproof.core.observed import Observed
from staleproof.draw.profile import PROFILES, STANDARD
from staleproof.draw.scenarios import FAMILIES, canonical_plans

from .seen import controllers, widgets

SCENARIOS = sorted({family.scenario for family in FAMILIES})


def test_names_tell_families_apart() -> None:
    assert len({(family.scenario, family.name) for family in FAMILIES}) == len(FAMILIES)


def test_a_controller_that_gives_every_occasion_is_shown_every_scenario() -> None:
    assert {plan.scenario for plan in canonical_plans(widgets())} >= set(SCENARIOS) - {"metrics"}


@given(controllers())
def test_titles_tell_plans_apart(observed: Observed) -> None:
    titles = [(plan.scenario, plan.title) for plan in canonical_plans(observed)]
    assert len(titles) == len(set(titles))


@given(controllers())
def test_smoke_is_a_part_of_the_standard(observed: Observed) -> None:
    smoke = list(canonical_plans(observed, PROFILES["smoke"]))
    assert len(smoke) <= len(list(canonical_plans(observed, STANDARD)))
