"""The shared workloads: their steps are where they say."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from staleproof.core.operator.observed import Observed
from staleproof.core.plan.move import Move, merged
from staleproof.core.plan.step import Apply, Delete, Patch, Rest, Touch
from staleproof.draw.canonical import UNWOKEN, appear, counts, death, fewer, life, patience, removal, replicas, round_trip, turns

from .seen import CHANGE, GROWN, MAPS, MOVE, PODS, REMOVED, SWITCHED, controllers, widgets


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


def test_turns_are_there_and_back_and_a_removal_is_for_good_in_the_end() -> None:
    of = widgets(replicas=3, turned=(SWITCHED, REMOVED, REMOVED))
    plan = turns(of)
    patches = [step.patch for step in plan.steps if isinstance(step, Patch)]

    assert patches == [
        *(REMOVED.do, REMOVED.undo, SWITCHED.do, SWITCHED.undo),
        *(of.scale(1).patch, of.scale(3).patch, REMOVED.do),
    ]
    assert (plan.away, plan.goes, plan.last) == ((2, 4, 6), 8, 9)


def test_no_block_goes_of_which_no_schema_says_that_it_may() -> None:
    blind = structs.replace(REMOVED, blind=True)

    assert widgets(turned=(blind, SWITCHED)).turned == (SWITCHED,)
    assert widgets(turned=(blind, REMOVED)).turned == (REMOVED,)


@pytest.mark.parametrize(("scales", "turned", "away"), [(True, (), (2,)), (False, (SWITCHED,), (2,)), (False, (), ())])
def test_what_has_no_moves_has_no_turns(scales: bool, turned: tuple[Move, ...], away: tuple[int, ...]) -> None:  # noqa: FBT001
    plan = turns(widgets(scales=scales, turned=turned))

    assert (plan.away, plan.goes, plan.last) == (away, 0, 2 + 2 * len(away))


@given(controllers())
def test_a_death_is_followed_by_another_life_under_the_same_name(of: Observed) -> None:
    plan = death(of)

    assert isinstance(plan.steps[plan.deletes - 1], Delete)
    assert isinstance(plan.steps[plan.deletes], Rest)
    assert isinstance(plan.steps[plan.returns - 1], Apply)
    assert isinstance(plan.steps[plan.last - 1], Rest), "a touch would wake the controller"
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


def test_a_round_trip_ends_where_it_began() -> None:
    of = widgets()
    trip = round_trip(of)

    assert trip.steps == (appear(of), CHANGE, of.undo(MOVE), of.scale(1), of.scale(3), UNWOKEN)
    assert trip.away == (2, 4)
    assert [trip.may_change(MAPS, step, step + 1) for step in range(1, 7)] == [True, True, True, False, False, False]
    assert [trip.may_change(PODS, step, step + 1) for step in range(1, 7)] == [True, False, False, True, True, False]


def test_a_round_trip_goes_to_zero_where_that_is_accepted() -> None:
    zero = Move(path="spec.replicas", kind="zero", do={"spec": {"replicas": 0}}, undo={"spec": {"replicas": 3}}, becomes="0")
    of = replace(widgets(), changes=(MOVE, zero))
    assert of.scale(0) in round_trip(of).steps


@pytest.mark.parametrize(("said", "found"), [(1, [1, 2, 3, 4]), (3, [1, 2, 3, 4]), (8, [1, 7, 8, 9]), (0, [0, 1, 2, 3, 4])])
def test_a_primary_is_scaled_to_what_the_api_server_was_asked_about(said: int, found: list[int]) -> None:
    assert counts(widgets(replicas=said)) == found
    assert counts(widgets(replicas=said, scales=False)) == []


def test_it_is_scaled_to_none_where_that_is_accepted() -> None:
    of = widgets()
    zero = Move(path="spec.replicas", kind="zero", do={"spec": {"replicas": 0}}, undo={"spec": {"replicas": 3}}, becomes="0")
    to_none = replace(of, changes=(zero,))
    assert fewer(of, 4) == [of.scale(3)]
    assert fewer(of, 1) == []
    assert fewer(to_none, 1) == [of.scale(0)]


@given(controllers())
def test_the_last_state_of_a_round_trip_is_the_first(of: Observed) -> None:
    trip = round_trip(of)
    state = first = appear(of).object
    states = [state]
    for step in trip.steps[1:]:
        state = merged(state, step.patch) if isinstance(step, Patch) else state
        states.append(state)

    assert states[-1]["spec"]["replicas"] == first["spec"]["replicas"]
    assert all(states[step] != states[step - 1] for step in trip.away)


@pytest.mark.parametrize("more_moves", [(), (MOVE,)])
def test_nothing_is_taken_back_that_cannot_be(more_moves: tuple[Move, ...]) -> None:
    fixed = structs.replace(SWITCHED, returns=False)
    of = widgets(changes=False, turned=(GROWN, fixed, *more_moves))

    assert of.change == of.do(GROWN)
    assert [step.patch for step in round_trip(of).steps if isinstance(step, Patch)] == [
        *(patch for move in more_moves for patch in (move.do, move.undo)),
        *(of.scale(1).patch, of.scale(3).patch),
    ]
    assert round_trip(of).changes == (2 if more_moves else 0)
    assert turns(of).steps == (appear(of), of.scale(1), of.scale(3), UNWOKEN)
