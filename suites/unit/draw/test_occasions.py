"""Occasions: what a controller can be expected to write in steps that are like those in which it was observed."""

from staleproof.core.plan import Apply, Rest, Step, Touch
from staleproof.draw.canonical import life
from staleproof.draw.occasions import stirred, written

from .seen import CHANGE, MAPS, PODS, SWITCHED, TARGET, WIDGETS, sample, widgets

TOUCH = Touch(target=TARGET)


def of_pods(*steps: Step) -> list[tuple[int, str, int]]:
    return [(each.step, each.verb, each.times) for each in written(widgets(), steps) if each.resource == PODS]


def test_in_its_life_it_writes_what_it_was_seen_to_write() -> None:
    assert written(widgets(), life(widgets()).steps) == list(widgets().life)


def test_scaling_makes_and_deletes_as_many_as_were_seen_and_no_more_than_are_wanted() -> None:
    of = widgets()
    assert of_pods(Apply(object=sample(1)), of.scale(2), of.scale(1), TOUCH) == [
        (1, "create", 1),
        (2, "create", 1),
        (3, "delete", 1),
    ]
    assert of_pods(Apply(object=sample(6)), of.scale(6), of.scale(0)) == [(1, "create", 3)]


def test_a_change_is_one_only_the_first_time() -> None:
    of, steps = widgets(), (Apply(object=sample(3)), TOUCH, CHANGE, CHANGE)
    changes = [each.step for each in written(of, steps) if each.resource == MAPS and each.verb == "update"]
    assert set(changes) <= {3}
    assert not [each for each in written(of, (*steps, Rest(seconds=1.0))) if each.step == 5]


def test_nothing_is_expected_of_it_while_it_is_told_what_it_was_not_told_in_its_life() -> None:
    of = widgets(turned=(SWITCHED,))
    assert of_pods(Apply(object=sample(3)), of.do(SWITCHED), of.scale(4), TOUCH) == [(1, "create", 3)]


def test_what_changes_is_sure_to_stir() -> None:
    of = widgets()
    steps = (Apply(object=sample(3)), of.scale(4), TOUCH)
    assert stirred(of, steps) == [(PODS, 2), (WIDGETS, 2), (WIDGETS, 3)]
    assert stirred(widgets(watched=(PODS,)), steps) == [(PODS, 2)]
