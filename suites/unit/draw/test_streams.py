"""Plans of the streams scenario: each can be run, and its faults are sure to fire."""

from dataclasses import replace

from staleproof.core.fault import DropBookmarks, HoldStream, SeverStream, Window
from staleproof.core.plan.step import Rest
from staleproof.draw.canonical import life, outage
from staleproof.draw.profile import PROFILES, STANDARD
from staleproof.draw.streams import SCENARIO, expire_gap, gap, no_bookmarks, outages, sever_on_event

from .seen import MAPS, PODS, WIDGETS, widgets


def test_a_watch_ends_in_place_of_an_event_that_is_sure_to_come() -> None:
    of = widgets()
    changes, grows = life(of).changes, life(of).grows

    assert [plan.faults for plan in sever_on_event(of, STANDARD)] == [
        (SeverStream(resource=WIDGETS, how="clean", nth=1, times=1, window=Window(2, 3)),),
        (SeverStream(resource=MAPS, how="truncated", nth=1, times=1, window=Window(changes, changes + 1)),),
        (SeverStream(resource=PODS, how="reset", nth=1, times=1, window=Window(grows, grows + 1)),),
    ]


def test_in_the_gap_pods_are_deleted_rather_than_created() -> None:
    of = widgets()
    window = Window(life(of).shrinks, life(of).shrinks + 1)

    assert HoldStream(resource=PODS, window=window, release="resume") in [plan.faults[0] for plan in gap(of, STANDARD)]
    assert HoldStream(resource=PODS, window=window, release="relist") in [plan.faults[0] for plan in expire_gap(of, STANDARD)]


def test_what_the_change_is_not_passed_on_to_brings_no_event() -> None:
    """A poller writes its children each time, whether that changes them or not."""
    of = widgets()
    poller = replace(of, life=tuple(replace(each, changes=each.resource != MAPS) for each in of.life))

    assert MAPS in [plan.faults[0].resource for plan in gap(of, STANDARD)]
    for family in (gap, expire_gap, sever_on_event):
        assert MAPS not in [plan.faults[0].resource for plan in family(poller, STANDARD)]


def test_only_one_that_lists_again_at_once_is_sent_away_without_a_fresh_start() -> None:
    of = widgets()
    slow = replace(of, relists_at_once=False)

    assert not any(plan.fresh for family in SCENARIO.families for plan in family(of, STANDARD))
    assert all(plan.fresh for plan in [*outages(slow, STANDARD), *expire_gap(slow, STANDARD)])
    assert not any(plan.fresh for plan in gap(slow, STANDARD))


def test_after_an_outage_nothing_comes_to_help() -> None:
    for plan in outages(widgets(), STANDARD):
        assert plan.steps == outage(widgets()).steps
        assert isinstance(plan.steps[-1], Rest)
        assert plan.settle.deadline_seconds >= 2 * plan.steps[-1].seconds


def test_bookmarks_are_dropped_where_there_are_any() -> None:
    assert list(no_bookmarks(widgets(), STANDARD)) == []
    assert [plan.faults for plan in no_bookmarks(replace(widgets(), bookmarked=(PODS,)), STANDARD)] == [
        (DropBookmarks(resource="*"),)
    ]
    (quick,) = no_bookmarks(replace(widgets(), bookmarked=(PODS,)), STANDARD)
    assert quick.steps == (*life(widgets()).steps, Rest(seconds=3.0))
    (slow,) = no_bookmarks(widgets(), PROFILES["slow"])
    assert Rest(seconds=310.0) in slow.steps
    assert list(no_bookmarks(replace(widgets(), asks_bookmarks=False), PROFILES["slow"])) == []
