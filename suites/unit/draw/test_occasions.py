"""Occasions: what a controller can be expected to write in steps that are like those in which it was observed."""

from staleproof.core.plan.step import Apply, Delete, Edit, PatchStatus, Remove, Rest, Step, Touch
from staleproof.draw.canonical import another, life
from staleproof.draw.occasions import occasions, stirred, written

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
    steps_of_updates = [each.step for each in written(of, steps) if each.resource == MAPS and each.verb == "update"]
    assert set(steps_of_updates) <= {3}
    assert not [each for each in written(of, (*steps, Rest(seconds=1.0))) if each.step == 5]


def test_nothing_is_expected_of_it_after_a_step_that_its_life_did_not_have() -> None:
    of = widgets(turned=(SWITCHED,))
    assert of_pods(Apply(object=sample(3)), of.do(SWITCHED), of.scale(4), TOUCH) == [(1, "create", 3)]


def test_what_dies_and_returns_is_like_what_did() -> None:
    of = widgets()
    steps = (Apply(object=sample(2)), Delete(target=TARGET), Apply(object=sample(2)), TOUCH)
    assert of_pods(*steps) == [(1, "create", 2), (2, "delete", 2), (3, "create", 2)]
    assert (3, MAPS, "create") in [(each.step, each.resource, each.verb) for each in written(of, steps)]
    changed = (Apply(object=sample(2)), CHANGE, Delete(target=TARGET), Apply(object=sample(2)))
    assert of_pods(*changed) == [(1, "create", 2), (4, "create", 2)]  # a change may be why nothing is deleted


def test_another_primary_is_like_the_first() -> None:
    assert of_pods(Apply(object=sample(3)), Apply(object=another(sample(2))), TOUCH) == [(1, "create", 3), (2, "create", 2)]


def test_what_is_taken_back_is_like_what_was_the_first_time_only() -> None:
    of = widgets(turned=(SWITCHED,))
    there, back = of.do(SWITCHED), of.undo(SWITCHED)
    steps = (Apply(object=sample(3)), there, back, there, back)
    assert [(each.step, each.verb) for each in written(of, steps) if each.resource == MAPS] == [
        (1, "create"),
        (2, "delete"),
        (3, "create"),
    ]


def test_what_another_user_deleted_may_not_be_there_to_be_deleted() -> None:
    of = widgets()
    steps = (Apply(object=sample(3)), Remove(resource=PODS), of.scale(1))
    assert of_pods(*steps) == [(1, "create", 3), (3, "delete", 1)]
    assert (PODS, 2) in stirred(of, steps)


def test_what_changes_is_sure_to_stir() -> None:
    of = widgets()
    steps = (Apply(object=sample(3)), of.scale(4), TOUCH)
    assert stirred(of, steps) == [(PODS, 2), (WIDGETS, 2), (WIDGETS, 3)]
    assert stirred(widgets(watched=(PODS,)), steps) == [(PODS, 2)]


def test_what_others_write_stirs_and_nothing_is_expected_of_the_controller() -> None:
    of = widgets()
    edit, reset = Edit(resource=MAPS, patch={"data": {"a": "b"}}), PatchStatus(target=TARGET, patch={"status": {"a": None}})
    steps = (Apply(object=sample(3)), edit, reset, of.scale(4))
    assert stirred(of, steps) == [(MAPS, 2), (PODS, 4), (WIDGETS, 3), (WIDGETS, 4)]
    assert {each.step for each in written(of, steps)} == {1, 4}


def test_each_child_that_is_made_or_deleted_brings_an_event() -> None:
    of = widgets()
    at = occasions(of, (Apply(object=sample(1)), of.scale(3), CHANGE, TOUCH))
    assert at.frames(PODS, 2) == sum(each.times for each in at.writes if (each.resource, each.step) == (PODS, 2)) > 0
    assert [at.frames(WIDGETS, step) for step in (2, 3)] == [1, 1]
    assert at.frames(MAPS, 3) == 1, "an update may leave it as it is"


def test_writes_of_statuses_come_after_the_others() -> None:
    at = occasions(widgets(), life(widgets()).steps)
    assert [bool(each.subresource) for each in at.every_write] == sorted(bool(each.subresource) for each in at.every_write)
    assert {each.subresource for each in at.every_write} == {"", "status"}
