"""Plans of the status scenario: each can be run, and its faults are sure to fire."""

from dataclasses import replace

from staleproof.core.fault import HideOwnWrite, HoldStream, OwnWrite, Window
from staleproof.core.operator.observed import Observed, Written
from staleproof.core.plan.step import Heartbeat
from staleproof.draw.canonical import life
from staleproof.draw.profile import PROFILES, STANDARD
from staleproof.draw.status import hidden_change, hidden_changes, hidden_children, hidden_progress

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


def reporting(times: int, *, step: int = 1, changes: bool = True) -> Observed:
    """It reports so often in this step."""
    return replace(widgets(), life=(*widgets().life, Written(step, WIDGETS, "patch", "status", times, changes=changes)))


def test_each_report_but_the_first_is_hidden_alone_and_the_last_of_them_first() -> None:
    hidden = [plan.faults for plan in hidden_progress(reporting(3), STANDARD)]

    assert hidden == [(HideOwnWrite(resource=WIDGETS, write=OwnWrite("patch", number, "status")),) for number in (3, 2)]
    assert [plan.steps[1:] for plan in hidden_progress(reporting(9), STANDARD)] == [(Heartbeat(resource=PODS),)] * 4
    assert [plan.faults for plan in hidden_progress(reporting(3), PROFILES["smoke"])] == hidden[:1]


def test_no_report_is_hidden_that_comes_once_or_later_or_changes_nothing() -> None:
    unseen = [replace(reporting(3), children=()), replace(reporting(3), watched=(PODS,))]
    for seen in (widgets(), reporting(1), reporting(3, step=2), reporting(3, changes=False), *unseen):
        assert list(hidden_progress(seen, STANDARD)) == []


def test_its_updates_of_the_primary_itself_are_hidden_where_it_writes_no_status() -> None:
    own = Written(1, WIDGETS, "update", "", 2)
    plain, both = (replace(seen, life=(*seen.life, own)) for seen in (replace(widgets(), life=()), reporting(2)))

    writes = [[fault.write for plan in hidden_progress(seen, STANDARD) for fault in plan.faults] for seen in (plain, both)]  # type: ignore[union-attr]
    assert writes == [[OwnWrite("update", 2)], [OwnWrite("patch", 2, "status")]]
