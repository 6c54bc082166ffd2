"""Plans of the deletion scenario."""

from dataclasses import replace

from staleproof.core.fault import HeldState, HideOwnWrite, HoldStream, OwnWrite, PastSnapshot, Reject, Window
from staleproof.core.operator.observed import ChildKind
from staleproof.core.plan.step import Apply, Patch, Recreate, Remove, Rest, Touch
from staleproof.draw import deletion
from staleproof.draw.canonical import appear, death, removal
from staleproof.draw.profile import STANDARD

from .seen import MAPS, PODS, TARGET, WIDGETS, sample, widgets

NAMED = ChildKind("pods", creates=4, deletes=3, stable_names=True, stays=1)


def test_another_user_takes_the_name_of_the_last_child_unseen_before_it_is_scaled_away() -> None:
    (plan,) = deletion.name_taken(replace(widgets(), children=(NAMED,)), STANDARD)

    taken = Recreate(resource="pods", foreign=True)
    assert plan.steps == (Apply(object=sample(3)), taken, Patch(target=TARGET, patch={"spec": {"replicas": 2}}))
    assert plan.faults == (HoldStream(resource="pods", window=Window(from_step=2)),)
    assert plan.aims == ("no-delete-of-unseen",)


def test_a_name_is_taken_where_there_is_one_to_scale_down_to_that_the_api_server_accepts() -> None:
    (plan,) = deletion.name_taken(replace(widgets(replicas=1), children=(NAMED,)), STANDARD)
    assert (plan.steps[0], plan.steps[-1]) == (Apply(object=sample(3)), Patch(target=TARGET, patch={"spec": {"replicas": 2}}))


def test_no_user_takes_a_generated_name_and_what_is_never_deleted_cannot_be_deleted_wrongly() -> None:
    generated = ChildKind("pods", creates=4, deletes=3, stable_names=False, stays=1)
    kept = ChildKind("services", creates=1, deletes=0, stable_names=True, stays=1)

    assert list(deletion.name_taken(replace(widgets(), children=(generated, kept)), STANDARD)) == []
    assert list(deletion.name_taken(replace(widgets(scales=False), children=(NAMED,)), STANDARD)) == []


def test_the_primary_is_deleted_when_nothing_that_was_created_for_it_has_been_seen() -> None:
    of = widgets()
    plans = list(deletion.unseen_children(of, STANDARD))

    assert [plan.faults for plan in plans] == [(HideOwnWrite(resource=each, write=OwnWrite("create")),) for each in (PODS, MAPS)]
    assert all(plan.steps == removal(of).steps for plan in plans)


def test_another_user_deletes_what_it_has_not_been_shown_yet() -> None:
    of = widgets()
    (plan,) = deletion.vanished(of, STANDARD)

    assert plan.steps == (appear(of), Remove(resource=PODS), Touch(target=TARGET))
    assert plan.faults == (HideOwnWrite(resource=PODS, write=OwnWrite("create"), release="relist"),)
    assert list(deletion.vanished(widgets(watched=(WIDGETS,)), STANDARD)) == []


def test_another_user_deletes_what_it_has_been_shown_and_only_a_list_tells() -> None:
    of = replace(widgets(), children=(NAMED,))
    (plan,) = deletion.lost_unseen(of, STANDARD)

    assert plan.steps == (appear(of), Remove(resource=PODS))
    assert plan.faults == (HoldStream(resource=PODS, window=Window(2, 3), release="relist"),)
    assert list(deletion.lost_unseen(replace(of, children=(replace(NAMED, watched=False),)), STANDARD)) == []
    assert list(deletion.lost_unseen(replace(of, children=(replace(NAMED, stays=0),)), STANDARD)) == []


def test_the_primary_is_deleted_and_only_a_list_tells() -> None:
    of = widgets()
    (plan,) = deletion.gone_unseen(of, STANDARD)

    deletes = removal(of).deletes
    assert plan.steps == removal(of).steps
    assert plan.faults == (HoldStream(resource=WIDGETS, window=Window(deletes, deletes + 1), release="relist"),)
    assert list(deletion.gone_unseen(widgets(watched=(PODS,)), STANDARD)) == []


def test_each_thing_that_it_does_to_finish_is_rejected() -> None:
    of = widgets()
    faults = [fault for plan in deletion.rejected(of, STANDARD) for fault in plan.faults]

    assert [(fault.verb, fault.resource, fault.times) for fault in faults if isinstance(fault, Reject)] == [
        ("delete", MAPS, None),
        ("delete", PODS, None),
        ("update", WIDGETS, None),
    ]


def test_a_controller_that_keeps_a_finalizer_is_shown_that_the_primary_is_to_go_but_not_that_it_is_gone() -> None:
    of = widgets()
    deletes = death(of).deletes
    hidden = [plan.faults[0] for plan in deletion.primary_returns(of, STANDARD)]
    held = [plan.faults[0] for plan in deletion.primary_returns(widgets(finalizer=False), STANDARD)]

    releases = ["relist", "resume", "events"]
    assert [(type(fault), fault.release) for fault in hidden if isinstance(fault, HideOwnWrite)] == [
        (HideOwnWrite, release) for release in releases
    ]
    assert {fault.window for fault in (*hidden, *held)} == {Window(from_step=deletes)}
    assert [fault.release for fault in held if type(fault) is HoldStream] == releases


def test_the_terminating_primary_is_shown_to_a_controller_that_keeps_a_finalizer_and_reads_the_past() -> None:
    of = replace(widgets(), reads_past=(WIDGETS,))
    (plan,) = deletion.terminating(of, STANDARD)
    died = death(of)

    assert [fault.as_of_step for fault in plan.faults if isinstance(fault, PastSnapshot)] == [died.deletes + 1]
    (keeps,) = [fault for fault in plan.faults if isinstance(fault, Reject)]
    assert (keeps.window, keeps.holds) == (Window(died.deletes, died.deletes + 1), HeldState("terminating", died.deletes + 1))
    assert list(deletion.terminating(widgets(), STANDARD)) == []
    assert list(deletion.terminating(replace(of, keeps_finalizer=False), STANDARD)) == []


def test_a_finalizer_may_go_later_than_in_the_step_that_deletes_its_object() -> None:
    of = widgets()
    died = death(of)
    later = tuple(replace(each, step=died.deletes + 1) if each.step == died.deletes else each for each in of.death)
    for family in (deletion.primary_returns, deletion.unseen_deletes, deletion.rejected):
        drafts = [(each.title, list(each.faults)) for each in family(of, STANDARD)]
        assert drafts
        assert [(each.title, list(each.faults)) for each in family(replace(of, death=later), STANDARD)] == drafts


def test_a_child_is_deleted_and_for_a_while_nothing_else_happens() -> None:
    (plan,) = deletion.unnoticed(replace(widgets(), children=(NAMED,)), STANDARD)
    assert plan.steps[1] == Remove(resource="pods")
    assert [type(step) for step in plan.steps[2:]] == [Rest, Touch]
    assert plan.faults == ()
    assert plan.aims == ("notices-lost-children",)
    passing = ChildKind("jobs", creates=1, deletes=0, stable_names=True, stays=0)
    assert list(deletion.unnoticed(replace(widgets(), children=(passing,)), STANDARD)) == []
