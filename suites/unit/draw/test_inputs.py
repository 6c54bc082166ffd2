"""Plans in which what the primary needs goes and comes back."""

from dataclasses import replace

from staleproof.core.fault import HideOwnWrite, HoldStream, PastSnapshot, Restart, Window
from staleproof.core.operator.observed import ChildKind, Written
from staleproof.core.plan.step import Apply, Delete, Patch, Rest, Restore
from staleproof.draw.inputs import SCENARIO, gone_in_the_past, hide_until_there, unseen
from staleproof.draw.profile import PROFILES, STANDARD

from .seen import MAPS, SECRET, SECRETS, WIDGETS, supplied


def test_it_goes_and_comes_back_and_nothing_wakes_the_controller() -> None:
    for family in SCENARIO.families:
        for plan in family(supplied(), STANDARD):
            assert [type(step) for step in plan.steps] == [Apply, Delete, Restore, Rest]
            assert plan.steps[1:3] == (Delete(target=SECRET), Restore(target=SECRET))


def test_what_the_controller_answers_is_hidden_until_it_is_back() -> None:
    faults = [fault for plan in hide_until_there(supplied(), STANDARD) for fault in plan.faults]
    assert all(isinstance(fault, HideOwnWrite) and fault.window == Window(2, 4) for fault in faults)
    assert [(fault.resource, fault.trigger and fault.trigger.verb) for fault in faults] == [(MAPS, "delete"), (WIDGETS, "update")]


def test_an_informer_may_see_one_change_of_a_deletion_and_a_creation() -> None:
    plans = list(unseen(supplied(), STANDARD))
    assert [fault.release for plan in plans for fault in plan.faults if isinstance(fault, HoldStream)] == [
        "relist",
        "events",
        "resume",
    ]
    assert {fault.resource for plan in plans for fault in plan.faults} == {SECRETS}


def test_it_is_restarted_on_the_state_between() -> None:
    (plan,) = gone_in_the_past(supplied(), STANDARD)
    past = PastSnapshot(resource=SECRETS, as_of_step=3, window=Window(from_step=4))
    assert plan.faults == (past, Restart(window=Window(from_step=4)))
    assert not list(gone_in_the_past(replace(supplied(), reads_past=()), STANDARD))


def test_what_is_otherwise_for_a_while_is_treated_as_what_is_gone() -> None:
    of = supplied()
    edit, undo = {"data": {"n": "4"}}, {"data": {"n": "3"}}
    moved = tuple(replace(each, step=each.step + 2) for each in of.supply)
    of = replace(of, inputs=(replace(of.inputs[0], edit=edit, undo=undo),), supply=(*of.supply, *moved))
    for family in SCENARIO.families:
        plans = list(family(of, STANDARD))
        turns = [plan.steps[1:3] for plan in plans]
        assert (Delete(target=SECRET), Restore(target=SECRET)) in turns
        assert (Patch(target=SECRET, patch=edit), Patch(target=SECRET, patch=undo)) in turns


def test_what_the_controller_does_not_react_to_gives_no_plans() -> None:
    of = supplied()
    deaf = replace(of, supply=tuple(replace(each, changes=False) for each in of.supply))
    for seen in (deaf, replace(of, inputs=())):
        assert not [plan for family in SCENARIO.families for plan in family(seen, STANDARD)]


def test_an_input_is_held_though_the_controller_makes_one_of_that_kind_like_another_child() -> None:
    children = tuple(ChildKind(each, 1, 0, stable_names=True, stays=1) for each in ("services", SECRETS))
    made = tuple(Written(1, each, "create", "", 1) for each in ("services", SECRETS))
    of = replace(supplied(), children=children, life=made, watched=(WIDGETS, "services", SECRETS))
    families = {family.name: family for family in SCENARIO.families}
    assert {fault.resource for plan in families["unseen"](of, STANDARD) for fault in plan.faults} == {SECRETS}


def test_what_is_done_alike_to_several_kinds_of_children_is_hidden_once_or_thoroughly_of_each() -> None:
    more = tuple(replace(each, resource="services") for each in supplied().supply if each.resource == MAPS)
    of = replace(supplied(), supply=(*supplied().supply, *more), watched=(*supplied().watched, "services"))
    hidden = [[fault.resource for plan in hide_until_there(of, profile) for fault in plan.faults] for profile in PROFILES.values()]
    assert dict(zip(PROFILES, hidden, strict=True)) == {
        "smoke": [MAPS],
        "standard": [MAPS, WIDGETS],
        "thorough": [MAPS, "services", WIDGETS],
        "slow": [MAPS, "services", WIDGETS],
    }
