"""Plans of the status scenario: each can be run, and its faults are sure to fire."""

from dataclasses import replace

from hypothesis import given

from staleproof.core.fault import HideOwnWrite, HoldStream, OwnWrite, Window
from staleproof.core.observed import Observed
from staleproof.core.plan import Heartbeat
from staleproof.draw.profile import PROFILES, STANDARD, Profile
from staleproof.draw.status import FAMILIES, SCENARIO, hidden_change, hidden_changes, hidden_children
from staleproof.draw.workloads import life

from .seen import CHANGE, MAPS, PODS, WIDGETS, check, controllers, profiles, widgets


@given(controllers(), profiles)
def test_plans_make_sense(of: Observed, profile: Profile) -> None:
    plans = [plan for family in FAMILIES.values() for plan in family(of, profile)]

    for plan in plans:
        check(plan, of)
        assert plan.scenario == SCENARIO
    assert len({plan.title for plan in plans}) == len(plans)


def test_a_child_makes_the_controller_look_while_a_change_is_hidden_from_it() -> None:
    scaled, changed = hidden_change(widgets(), STANDARD)

    for plan in (scaled, changed):
        assert plan.faults == (HoldStream(resource=WIDGETS, window=Window(2)),)
        assert plan.steps[2:] == (Heartbeat(resource=PODS),)
    assert changed.steps[1] == CHANGE


def test_there_is_nothing_to_hide_when_nothing_can_change_or_nobody_looks() -> None:
    still = widgets(scales=False, changes=False)

    assert list(hidden_change(still, STANDARD)) == list(hidden_changes(still, STANDARD)) == []
    assert list(hidden_change(replace(widgets(), watched=(PODS,)), STANDARD)) == []
    assert list(hidden_children(widgets(watched=(WIDGETS,)), STANDARD)) == []


def test_all_changes_are_told_by_one_list() -> None:
    (plan,) = hidden_changes(widgets(), STANDARD)

    assert plan.steps == life(widgets()).steps
    assert plan.faults == (HoldStream(resource=WIDGETS, window=Window(2, life(widgets()).last), release="relist"),)


def test_the_children_are_hidden_from_the_beginning() -> None:
    hidden = [plan.faults[0] for plan in hidden_children(widgets(), STANDARD)]

    assert hidden == [HideOwnWrite(resource=PODS, write=OwnWrite("create")), HideOwnWrite(resource=MAPS, write=OwnWrite("create"))]


def test_a_smoke_run_tries_one_of_each_kind_at_most() -> None:
    assert all(len(list(family(widgets(), PROFILES["smoke"]))) <= 1 for family in FAMILIES.values())
