"""Plans of the restart scenario."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from msgspec import structs

from staleproof.core.fault import Kill, PastSnapshot, Restart, SlowStart, Window
from staleproof.core.operator.observed import Changed, Observed
from staleproof.core.plan.plan import Plan
from staleproof.draw import restart
from staleproof.draw.canonical import death, life, removal, round_trip, turns
from staleproof.draw.profile import PROFILES, STANDARD, Profile

from .seen import GROWN, MAPS, MOVE, PODS, REMOVED, SWITCHED, WIDGETS, controllers, profiles, widgets


def plans(of: Observed, profile: Profile = STANDARD) -> Iterator[Plan]:
    for family in restart.SCENARIO.families:
        yield from family(of, profile)


@given(controllers(), profiles)
def test_all_plans_have_one_of_a_few_workloads(of: Observed, profile: Profile) -> None:
    assert all(
        plan.steps
        in (
            life(of).steps,
            death(of).steps,
            removal(of).steps,
            turns(of).steps,
            *(round_trip(of, each).steps for each in of.returning or (None,)),
        )
        for plan in plans(of, profile)
    )


def test_it_is_killed_at_the_first_and_the_last_write_of_each_kind_in_each_step_of_its_life() -> None:
    of = widgets()
    faults = [fault for plan in restart.kills(of, STANDARD) if plan.steps == life(of).steps for fault in plan.faults]

    kills = [fault for fault in faults if isinstance(fault, Kill)]
    assert len(kills) == len(faults) == len(set(kills))
    for written in of.life:
        found = {
            (kill.nth, kill.moment)
            for kill in kills
            if (kill.window.from_step, kill.resource, kill.verb, kill.subresource)
            == (written.step, written.resource, written.verb, written.subresource)
        }
        assert {(1, "after"), (written.times, "after")} <= found
    assert sum(kill.moment == "before" for kill in kills) == len({written.step for written in of.life})


def test_no_plan_kills_it_twice_in_a_step() -> None:
    for plan in restart.kills(widgets(), STANDARD):
        steps = [fault.window.from_step for fault in plan.faults]
        assert len(steps) == len(set(steps))


def test_a_controller_that_keeps_a_finalizer_is_back_before_the_primary_returns() -> None:
    kept, let_go = ({spans(plan) for plan in restart.down(widgets(finalizer=finalizer), STANDARD)} for finalizer in (True, False))
    died = death(widgets())

    assert let_go - kept == {((died.deletes, died.last),)}
    assert not [each for each in kept if (died.deletes, died.last) in each]


def test_it_is_down_when_something_is_changed_that_is_changed_back_and_when_something_goes_for_good() -> None:
    of = widgets(turned=(REMOVED,))
    (plan,) = [plan for plan in restart.down(of, STANDARD) if plan.steps == turns(of).steps]

    assert spans(plan) == ((2, 3), (4, 5), (6, 7))


def test_it_is_restarted_on_what_the_primary_was_between_two_states_that_are_alike() -> None:
    of = replace(widgets(turned=(REMOVED, SWITCHED)), reads_past=(WIDGETS, PODS))
    found = list(restart.past_turns(of, STANDARD))

    window = Window(from_step=turns(of).last)
    assert [plan.faults for plan in found] == [
        (PastSnapshot(resource=WIDGETS, as_of_step=step, window=window), Restart(window=window)) for step in (3, 5)
    ]
    assert list(restart.past_turns(replace(of, reads_past=(PODS,)), STANDARD)) == []
    assert len(list(restart.past_turns(replace(of, changes=(REMOVED, SWITCHED)), STANDARD))) == 1  # the other is the round trip's


def spans(plan: Plan) -> tuple[tuple[int, int | None], ...]:
    return tuple((fault.window.from_step, fault.window.until_step) for fault in plan.faults)


def pasts(changed: dict[str, tuple[int, ...]], reads: tuple[str, ...] = (WIDGETS, PODS, MAPS)) -> list[dict[str, int]]:
    """What is shown as of which step, in a life in which so much changed: appears, changes, grows, shrinks, is touched."""
    found = tuple(Changed(*each) for each in changed.items())
    of = replace(widgets(), reads_past=reads, life_changed=found, death_changed=())
    every = [plan for plan in restart.past(of, STANDARD) if plan.steps == life(of).steps]
    assert all(Restart(window=plan.faults[-1].window) == plan.faults[-1] for plan in every)
    return [{fault.resource: fault.as_of_step for fault in plan.faults if isinstance(fault, PastSnapshot)} for plan in every]


def test_it_is_shown_each_earlier_state_of_what_it_reads_but_that_after_a_change_and_of_all_at_once() -> None:
    assert pasts({WIDGETS: (1, 2, 3, 4, 5), PODS: (1, 4)}) == [
        *({WIDGETS: 4}, {PODS: 4}, {WIDGETS: 4, PODS: 4}),
        *({WIDGETS: 2}, {WIDGETS: 2, PODS: 2}),
        *({WIDGETS: 1}, {PODS: 1}, {WIDGETS: 1, PODS: 1}),
    ]


@pytest.mark.parametrize(
    ("changed", "reads"),
    [({}, (WIDGETS,)), ({WIDGETS: (5,)}, (WIDGETS,)), ({WIDGETS: (1,)}, (PODS,)), ({"nodes": (0,)}, ("nodes",))],
    ids=["nothing was there", "as at present", "none of these was there", "as it always was"],
)
def test_a_past_that_is_like_the_present_is_left_out(changed: dict[str, tuple[int, ...]], reads: tuple[str, ...]) -> None:
    assert pasts(changed, reads) == []


def test_what_differs_from_the_present_is_shown_together_where_anything_changed() -> None:
    assert pasts({WIDGETS: (2,), MAPS: (3,)}) == [{WIDGETS: 2}, {WIDGETS: 2, MAPS: 2}]


def test_it_is_shown_what_was_taken_back() -> None:
    of = replace(widgets(), reads_past=(WIDGETS, MAPS, PODS))
    trip = round_trip(of)
    changed, scaled = (step + 1 for step in trip.away)

    found = [snapshots(plan) for plan in restart.past(of, STANDARD) if plan.steps == trip.steps]
    assert found == [{(WIDGETS, changed), (MAPS, changed)}, {(WIDGETS, changed)}, {(WIDGETS, scaled), (PODS, scaled)}]


def test_thorough_takes_back_each_change_that_it_passes_on() -> None:
    other = structs.replace(MOVE, path="spec.other", do={"spec": {"other": 1}}, undo={"spec": {"other": None}})
    of = replace(widgets(), reads_past=(WIDGETS,), changes=(MOVE, other))
    tried = {profile: [plan.steps[1:3] for plan in restart.past(of, PROFILES[profile])] for profile in ("standard", "thorough")}

    assert (of.do(MOVE), of.undo(MOVE)) in tried["standard"]
    assert (of.do(other), of.undo(other)) not in tried["standard"]
    assert (of.do(MOVE), of.undo(MOVE)) in tried["thorough"]
    assert (of.do(other), of.undo(other)) in tried["thorough"]


def test_a_life_and_a_death_have_pasts_of_their_own() -> None:
    of = replace(widgets(), reads_past=(WIDGETS, PODS))
    for workload in (life(of), death(of)):
        shown = [snapshots(plan) for plan in restart.past(of, STANDARD) if plan.steps == workload.steps]
        assert {(WIDGETS, workload.last - 1)} in shown
        assert {(WIDGETS, 1), (PODS, 1)} in shown


def test_a_list_of_one_step_ago_is_served_where_that_step_changed_something() -> None:
    found = (Changed(WIDGETS, (1, 2, 3, 4, 5)), Changed(PODS, (1, 4)), Changed(MAPS, (1, 3)))
    of = replace(widgets(), relists_past=True, life_changed=found)

    behind = [{(WIDGETS, 2), (WIDGETS, 4)}, {(PODS, 4)}]
    each_in_one_way, each_in_both = ([*restart.past_relist(of, profile)] for profile in (STANDARD, PROFILES["thorough"]))
    assert [snapshots(plan) for plan in each_in_one_way] == behind
    assert ["410" in plan.title for plan in each_in_one_way] == [False, True]
    assert [snapshots(plan) for plan in each_in_both] == behind * 2
    assert not [*restart.past_relist(replace(of, relists_past=False), STANDARD)], "it asks for no older state then"


def test_no_controller_is_killed_at_a_write_that_changes_nothing() -> None:
    of = widgets()
    idle = tuple(replace(each, changes=each.resource != MAPS) for each in of.life)
    faults = [fault for plan in restart.kills(replace(of, life=idle, death=()), STANDARD) for fault in plan.faults]
    assert faults
    assert not [fault for fault in faults if fault.resource == MAPS]


def snapshots(plan: Plan) -> set[tuple[str, int]]:
    return {(fault.resource, fault.as_of_step) for fault in plan.faults if isinstance(fault, PastSnapshot)}


def test_every_first_list_that_it_works_by_is_slow_once_and_one_breaks_off() -> None:
    found = list(restart.slow_start(widgets(watched=(WIDGETS, MAPS, PODS, "nodes")), STANDARD))

    assert [(fault.resource, fault.then) for plan in found for fault in plan.faults if isinstance(fault, SlowStart)] == [
        (PODS, "ends"),
        (MAPS, "ends"),
        (WIDGETS, "ends"),
        (PODS, "closes"),
    ]


def test_only_a_410_needs_a_controller_that_was_started_anew() -> None:
    of = replace(widgets(), relists_at_once=False, relists_past=True)

    assert {plan.fresh for plan in restart.past_relist(of, STANDARD) if "410" in plan.title} == {True}
    assert {plan.fresh for plan in plans(of) if "410" not in plan.title} == {False}
    assert {plan.fresh for plan in plans(widgets())} == {False}


def test_a_status_is_no_reason_to_kill_where_none_is_written() -> None:
    of = widgets()
    (pods,) = restart.behind_status(of, STANDARD)
    died = death(of)

    assert pods in restart.behind_status(of, PROFILES["thorough"])
    assert pods.faults[1] == Kill(resource=WIDGETS, verb="update", subresource="status", window=Window(died.returns, died.last))
    assert pods.aims == ()
    assert list(restart.behind_status(replace(of, death=()), STANDARD)) == []


def test_only_what_can_be_taken_back_is_shown_taken_back() -> None:
    of = replace(widgets(changes=False, turned=(GROWN, SWITCHED)), reads_past=(WIDGETS,))
    every = [plan for profile in ("standard", "thorough") for plan in restart.past(of, PROFILES[profile])]

    assert not [plan for plan in every if of.undo(GROWN) in plan.steps]
    assert [plan for plan in every if of.undo(SWITCHED) in plan.steps]
    assert 3 in {past for plan in every if plan.steps == life(of).steps for _, past in snapshots(plan)}
