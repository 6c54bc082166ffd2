"""Plans of the own-writes scenario: each can be run, and each can prove something."""

from dataclasses import replace

from staleproof.core.fault import HideOwnWrite, OwnWrite, Window
from staleproof.core.operator.observed import Written
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Apply, Patch, Rest, Touch
from staleproof.draw.canonical import life, round_trip, turns
from staleproof.draw.own_writes import hide_creates, hide_deletes, hide_long, hide_until_back, hide_updates, idempotence
from staleproof.draw.profile import PROFILES, STANDARD

from .seen import CHANGE, GROWN, MAPS, PODS, REMOVED, SWITCHED, TARGET, WIDGETS, reporters, sample, widgets


def test_the_first_plan_hides_the_first_create_and_all_after_it_then_touches() -> None:
    assert next(hide_creates(widgets(), STANDARD)) == Plan(
        scenario="own-writes",
        title="hide own creates of pods, then touch",
        aims=("no-duplicate-create", "converges-after-catch-up"),
        steps=(Apply(object=sample(3)), Touch(target=TARGET)),
        faults=(HideOwnWrite(resource="pods", window=Window(from_step=1), write=OwnWrite("create")),),
        settle=Settle(resync=True),
    )


def test_the_plan_of_deletes_leaves_something_that_could_be_deleted_in_excess() -> None:
    up, down = (Patch(target=TARGET, patch={"spec": {"replicas": n}}) for n in (4, 2))

    for replicas in (0, 1, 3):
        plan = next(hide_deletes(widgets(replicas=replicas), STANDARD))
        assert plan.title == "hide own deletes of pods, then touch"
        assert plan.aims == ("no-excess-delete", "converges-after-catch-up")
        assert plan.steps == (Apply(object=sample(3)), CHANGE, up, down, Touch(target=TARGET))
        assert plan.faults == (HideOwnWrite(resource="pods", window=Window(from_step=4), write=OwnWrite("delete")),)


def test_what_it_does_about_a_change_is_hidden_until_that_is_changed_back_and_something_else_happens() -> None:
    of = widgets(turned=(REMOVED, SWITCHED))
    found = list(hide_until_back(of, STANDARD))

    assert [plan.faults for plan in found] == [
        (HideOwnWrite(resource=MAPS, window=Window(4, 7), write=OwnWrite("delete")),),
        (HideOwnWrite(resource=PODS, window=Window(6, 9), write=OwnWrite("delete")),),
        (HideOwnWrite(resource=MAPS, window=Window(2, 5), write=OwnWrite("update")),),
    ]
    looked_at = (*turns(of).steps[:-1], Touch(target=TARGET))
    assert all(plan.steps == looked_at for plan in found), "a touch makes it look while its delete is hidden"
    assert ["no-excess-delete" in plan.aims for plan in found] == [False, True, False], (
        "of what it deletes all none can be too many"
    )
    (last,) = hide_until_back(widgets(), STANDARD)
    assert last.faults == (HideOwnWrite(resource=PODS, window=Window(2), write=OwnWrite("delete")),)
    assert list(hide_until_back(widgets(scales=False), STANDARD)) == []


def test_of_the_first_child_in_every_way() -> None:
    titles = [plan.title for plan in hide_creates(widgets(), STANDARD)]

    assert titles == [
        "hide own creates of pods, then touch",
        "hide own creates of configmaps, then touch",
        "hide own creates of pods, then touch, release by relist",
        "hide own creates of pods, then touch, release by resume",
        "hide own creates of pods, then resync",
    ]
    assert [plan.title for plan in hide_creates(widgets(), PROFILES["smoke"])] == titles[:1]


def test_one_that_does_not_list_again_at_once_is_made_to_list_seldom() -> None:
    slow = replace(widgets(), relists_at_once=False)

    assert [plan.fresh for plan in hide_creates(slow, STANDARD)] == [False, False, True, False, True]
    assert len(list(hide_deletes(slow, STANDARD))) == 1


def test_a_hold_outlasts_the_one_before() -> None:
    (plan,) = hide_long(widgets(), STANDARD)

    assert [step.seconds for step in plan.steps if isinstance(step, Rest)] == [2.0, 4.0, 6.0]
    assert "recovers-in-bounded-time" in plan.aims


def test_each_update_of_something_that_is_watched_is_hidden() -> None:
    hidden = [plan.faults[0] for plan in hide_updates(widgets(watched=(WIDGETS,)), STANDARD)]

    assert hidden == [HideOwnWrite(resource=WIDGETS, window=Window(1), write=OwnWrite("update"))]
    assert MAPS in [plan.faults[0].resource for plan in hide_updates(widgets(), STANDARD)]


def test_an_update_that_changes_nothing_is_not_hidden() -> None:
    of = widgets()
    idle = tuple(replace(each, changes=each.resource != MAPS) for each in of.life)
    assert {plan.faults[0].resource for plan in hide_updates(replace(of, life=idle), STANDARD)} == {WIDGETS}


def test_idempotence_needs_no_fault() -> None:
    (plan,) = idempotence(widgets(), STANDARD)

    assert (plan.aims, plan.faults, plan.settle.resync) == (("settles", "quiet-at-rest"), (), True)
    assert plan.steps == life(widgets()).steps


def test_only_what_the_controller_writes_and_watches_can_be_hidden() -> None:
    assert not list(hide_deletes(widgets(scales=False), STANDARD))
    assert [plan.faults[0].resource for plan in hide_creates(widgets(watched=(WIDGETS, MAPS)), STANDARD)][:1] == [MAPS]
    later = replace(widgets(), life=(Written(3, PODS, "create", "", 1),))
    assert not list(hide_creates(later, STANDARD))


def test_creates_by_server_side_apply_are_patches() -> None:
    of = widgets()
    applied = replace(of, life=tuple(replace(each, verb="patch") if each.verb == "create" else each for each in of.life))

    writes = [fault.write for plan in hide_creates(applied, STANDARD) for fault in plan.faults if isinstance(fault, HideOwnWrite)]

    assert len(writes) == len(list(hide_creates(of, STANDARD)))
    assert set(writes) == {OwnWrite("patch")}


def test_a_change_whose_update_is_hidden_is_taken_back() -> None:
    of = widgets(finalizer=True)
    steps = {plan.faults[0].window.from_step: plan.steps for plan in hide_updates(of, STANDARD)}

    assert steps[life(of).changes] == round_trip(of).steps
    assert steps[1] == life(of).steps


def test_a_change_that_cannot_be_taken_back_stays() -> None:
    of = widgets(changes=False, turned=(GROWN, SWITCHED))
    steps = {plan.faults[0].window.from_step: plan.steps for plan in hide_updates(of, STANDARD)}

    assert steps[life(of).changes] == life(of).steps


def test_own_reports_are_hidden_where_nothing_else_is_written() -> None:
    of = reporters()
    hidden = [plan.faults[0] for plan in hide_updates(of, STANDARD)]

    assert hidden == [
        HideOwnWrite(resource=WIDGETS, window=Window(each.step), write=OwnWrite("update", subresource="status")) for each in of.life
    ]
