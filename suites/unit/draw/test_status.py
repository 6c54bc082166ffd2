"""Plans of the status scenario: each can be run, and its faults are sure to fire."""

from dataclasses import replace

from staleproof.core.fault import HideOwnWrite, HoldStream, OwnWrite, Window
from staleproof.core.plan.step import Heartbeat
from staleproof.draw.canonical import life
from staleproof.draw.profile import STANDARD
from staleproof.draw.status import hidden_change, hidden_changes, hidden_children

from .seen import CHANGE, MAPS, PODS, WIDGETS, widgets


def test_a_child_makes_the_controller_look_while_a_change_is_hidden_from_it() -> None:
    scaled, changed = hidden_change(widgets(), STANDARD)

    for plan in (scaled, changed):
        assert plan.faults == (HoldStream(resource=WIDGETS, window=Window(2)),)
        assert plan.steps[2:] == (Heartbeat(resource=PODS),)
    assert changed.steps[1] == CHANGE


def test_there_is_nothing_to_hide_when_nothing_can_change_or_nothing_is_watched() -> None:
    still = widgets(scales=False, changes=False)

    assert list(hidden_change(still, STANDARD)) == list(hidden_changes(still, STANDARD)) == []
    assert list(hidden_change(replace(widgets(), watched=(PODS,)), STANDARD)) == []
    assert list(hidden_children(widgets(watched=(WIDGETS,)), STANDARD)) == []


def test_all_changes_are_reported_by_one_list() -> None:
    (plan,) = hidden_changes(widgets(), STANDARD)

    assert plan.steps == life(widgets()).steps
    assert plan.faults == (HoldStream(resource=WIDGETS, window=Window(2, life(widgets()).last), release="relist"),)


def test_the_children_are_hidden_from_the_beginning() -> None:
    hidden = [plan.faults[0] for plan in hidden_children(widgets(), STANDARD)]

    assert hidden == [HideOwnWrite(resource=PODS, write=OwnWrite("create")), HideOwnWrite(resource=MAPS, write=OwnWrite("create"))]
