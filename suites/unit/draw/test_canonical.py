"""The shared workloads: their steps are where they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.observed import Observed
from staleproof.core.plan import Apply, Delete, Patch, Rest, Touch
from staleproof.draw.canonical import appear, death, life, patience, removal, replicas

from .seen import CHANGE, controllers, widgets


def test_a_life_and_its_steps() -> None:
    of = widgets(replicas=2)
    plan = life(of)

    assert plan.steps == (Apply(object=of.scaled(3)), CHANGE, of.scale(4), of.scale(2), Touch(target=of.target))
    assert (plan.changes, plan.grows, plan.shrinks, plan.last) == (2, 3, 4, 5)


def test_what_cannot_be_done_to_a_primary_is_left_out() -> None:
    of = widgets(scales=False, changes=False)
    plan = life(of)

    assert plan.steps == (Apply(object=of.sample), Touch(target=of.target))
    assert (plan.changes, plan.grows, plan.shrinks) == (0, 0, 0)


@given(controllers())
def test_a_death_is_followed_by_another_life_under_the_same_name(of: Observed) -> None:
    plan = death(of)

    assert isinstance(plan.steps[plan.deletes - 1], Delete)
    assert isinstance(plan.steps[plan.deletes], Rest)
    assert isinstance(plan.steps[plan.returns - 1], Apply)
    assert isinstance(plan.steps[plan.last - 1], Touch)
    assert not plan.grows or isinstance(plan.steps[plan.grows - 1], Patch)


@given(controllers())
def test_a_removal_is_for_good(of: Observed) -> None:
    plan = removal(of)

    assert isinstance(plan.steps[plan.deletes - 1], Delete)
    assert not any(isinstance(step, Apply) for step in plan.steps[plan.deletes :])


@pytest.mark.parametrize(("wanted", "scales", "expected"), [(0, True, 3), (2, True, 3), (5, True, 5), (2, False, 1)])
def test_something_is_left_when_it_shrinks(wanted: int, scales: bool, expected: int) -> None:  # noqa: FBT001  # a row
    assert replicas(widgets(replicas=wanted, scales=scales)) == expected


@given(st.lists(st.integers(1, 400), min_size=1, max_size=5, unique=True).map(sorted))
def test_touches_come_at_the_seconds_asked_for(holds: list[int]) -> None:
    of = widgets()
    first, *rests = patience(of, holds)

    assert first == appear(of)
    assert sum(step.seconds for step in rests if isinstance(step, Rest)) == holds[-1]
    assert rests[1::2] == [Touch(target=of.target)] * len(holds)
