"""Plans of the coalescing-and-skew scenario: each can be run, and its faults are sure to fire."""

from dataclasses import replace

from staleproof.core.fault import Coalesce, Skew, Window
from staleproof.core.plan.step import Delete, Rest
from staleproof.draw.canonical import glance, life, turns
from staleproof.draw.coalescing_skew import coalesce, coalesce_turns, hide_first_write, hold, hold_long, lag
from staleproof.draw.profile import STANDARD

from .seen import CHANGE, MAPS, PODS, REMOVED, SWITCHED, TARGET, WIDGETS, reporters, widgets


def test_the_primary_and_everything_is_out_of_sight_while_the_primary_changes() -> None:
    plans = list(coalesce(widgets(), STANDARD))

    assert [plan.faults[0].resource for plan in plans] == [WIDGETS, "*"]
    assert all(
        plan.faults == (Coalesce(resource=plan.faults[0].resource, window=Window(2, life(widgets()).last)),) for plan in plans
    )


def test_the_primary_is_out_of_sight_until_all_that_was_changed_has_been_changed_back() -> None:
    of = widgets(turned=(REMOVED, SWITCHED))
    (plan,) = coalesce_turns(of, STANDARD)

    assert plan.faults == (Coalesce(resource=WIDGETS, window=Window(2, turns(of).goes)),)
    assert plan.steps == turns(of).steps
    assert list(coalesce_turns(widgets(scales=False), STANDARD)) == list(coalesce_turns(widgets(watched=()), STANDARD)) == []


def test_each_resource_is_behind_the_others() -> None:
    assert [plan.faults[0].resource for plan in hold(widgets(), STANDARD)] == [WIDGETS, MAPS, PODS]
    assert [plan.faults[0] for plan in lag(widgets(), STANDARD)] == [
        Skew(by_seconds={MAPS: 0.5, PODS: 0.5}),
        Skew(by_seconds={WIDGETS: 0.5}),
    ]
    assert len(list(lag(widgets(watched=(WIDGETS,)), STANDARD))) == 1


def test_the_primary_is_behind_from_the_first_own_write_on() -> None:
    (plan,) = hide_first_write(widgets(), STANDARD)

    assert plan.steps == glance(widgets())
    assert list(hide_first_write(widgets(finalizer=False), STANDARD)) == []


def test_what_happens_to_the_primary_is_hidden_for_long_where_no_creates_can_be() -> None:
    changed, grown = reporters(), reporters(changes=False)
    holds = replace(reporters(changes=False, scales=False), keeps_finalizer=True)
    found = [next(hold_long(of, STANDARD)).steps[1:] for of in (changed, grown, holds)]

    rest = Rest(seconds=STANDARD.longest)
    assert found == [(CHANGE, rest), (grown.scale(4), rest), (Delete(target=TARGET), rest)]
    assert list(hold_long(reporters(changes=False, scales=False), STANDARD)) == list(hold_long(widgets(), STANDARD)) == []
