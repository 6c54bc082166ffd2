"""How thorough a run is."""

import itertools

import pytest

from staleproof.draw.profile import PROFILES, STANDARD, Profile


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_each_hold_outlasts_the_one_before(profile: Profile) -> None:
    assert profile.holds
    assert all(before < after for before, after in itertools.pairwise((0.0, *profile.holds)))
    assert profile.longest == profile.holds[-1]


def test_the_standard_tries_every_variant() -> None:
    assert list(STANDARD.some("abc")) == ["a", "b", "c"]
    assert list(STANDARD.more("abc")) == ["a", "b", "c"]


def test_smoke_tries_one_of_each_kind_and_none_of_what_takes_long() -> None:
    smoke = PROFILES["smoke"]
    assert list(smoke.some("abc")) == ["a"]
    assert list(smoke.some("")) == []
    assert list(smoke.more("abc")) == []
