"""Incidents of several faults, or of a fault and a step."""

from dataclasses import replace

from staleproof.core.fault import (
    Compete,
    Expire,
    HideOwnWrite,
    HoldStream,
    OwnWrite,
    PastSnapshot,
    Restart,
    SeverStream,
    Skew,
    Window,
)
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.step import TOUCHED, Apply, Delete, Patch, Recreate, Remove, Rest, Step, Touch, removes
from staleproof.draw.canonical import another
from staleproof.draw.incidents import joint
from staleproof.draw.occasions import Occasions, occasions

from ..seen import CHANGE, MAPS, PODS, REMOVED, TARGET, WIDGETS, sample, widgets

APPEARS, WAKES = Apply(object=sample(3)), Touch(target=TARGET)
OF = replace(widgets(turned=(REMOVED,)), reads_past=(WIDGETS, PODS), relists_past=True)


def at(*steps: Step, of: Observed = OF) -> Occasions:
    return occasions(of, (APPEARS, *steps, WAKES))


def test_two_at_once_are_two_different_ones_of_one_step() -> None:
    hidden = {tuple((each.resource, each.window) for each in faults) for faults in joint.two_writes_hidden(at())}
    assert hidden == {((MAPS, window), (PODS, window)) for window in (Window(1), Window(1, 2))}
    held = {tuple(each.resource for each in faults) for faults in joint.two_held(at(Delete(target=TARGET)))}
    assert held == {(MAPS, PODS)}
    lagging = [fault for (fault,) in joint.skewed(at(OF.scale(1))) if isinstance(fault, Skew)]
    assert {tuple(fault.by_seconds) for fault in lagging} == {(WIDGETS, PODS), (PODS, WIDGETS)}
    assert all(one == 2 * two for one, two in (fault.by_seconds.values() for fault in lagging))


def test_what_is_done_while_an_own_write_is_hidden() -> None:
    hide = HideOwnWrite(resource=PODS, window=Window(1), write=OwnWrite("create"))
    assert (hide,) in joint.hidden_while("create", Rest, at(Rest(seconds=12.0)))
    assert list(joint.hidden_while("create", Rest, at(Rest(seconds=1.0)))) == []
    (gone,) = joint.hidden_while("create", Remove, at(Remove(resource=PODS)))
    assert gone == (HideOwnWrite(resource=PODS, window=Window(1), write=OwnWrite("create"), release="relist"),)
    assert [each.window.from_step for (each,) in joint.hidden_while("delete", Touch, at(OF.scale(1)))] == [2]


def test_the_end_of_a_primary_is_hidden_where_something_comes_after_it() -> None:
    ends = list(joint.end_hidden(at(Delete(target=TARGET))))
    assert {type(fault) for (fault,) in ends} == {HideOwnWrite}
    bare = widgets(finalizer=False)
    assert {type(fault) for (fault,) in joint.end_hidden(at(Delete(target=TARGET), of=bare))} == {HoldStream}
    assert list(joint.end_hidden(at(Delete(target=TARGET), of=widgets(watched=())))) == []


def test_a_controller_that_is_refused_has_still_to_learn_why() -> None:
    (child,) = joint.refused_update(at(CHANGE), of_children=True)
    touched = {"metadata": {"annotations": {TOUCHED: "2"}}}
    assert child == (
        Compete(resource=MAPS, verb="update", subresource="", window=Window(2, 3), edit=touched),
        HideOwnWrite(resource=MAPS, window=Window(2, 3), write=OwnWrite("update")),
    )
    ((primary,),) = joint.refused_update(at(CHANGE), of_children=False)
    assert isinstance(primary, Compete)
    assert primary.edit == CHANGE.patch
    assert {fault.resource for (fault,) in joint.competed(at(CHANGE))} == {MAPS, WIDGETS}


def test_no_user_edits_a_primary_that_may_be_another_or_is_a_secret() -> None:
    two = [faults[0] for faults in joint.competed(at(Apply(object=another(sample(3))))) if faults[0].window.from_step == 2]
    assert two
    assert not any(fault.foreign_edit for fault in two)
    secret = replace(OF, sample={**sample(3), "apiVersion": "v1", "kind": "Secret"})
    assert secret.target == Target("v1", "Secret", "w")
    steps = (Apply(object=secret.sample), Touch(target=secret.target))
    found = [fault for (fault,) in joint.refused_update(occasions(secret, steps), of_children=False)]
    assert found
    assert not any(fault.foreign_edit for fault in found)


def test_it_is_down_in_a_step_or_while_something_changes_or_goes() -> None:
    over = at(CHANGE, Rest(seconds=1.0), OF.do(REMOVED))
    assert [faults[0].window.from_step for faults in joint.down(lambda _: True, over)] == [2, 3, 4]
    assert [faults[0].window.from_step for faults in joint.down(lambda step: isinstance(step, Patch), over)] == [2, 4]
    assert [faults[0].window.from_step for faults in joint.down(removes, over)] == [4]
    assert all(isinstance(each, Restart) and each.stays_down for faults in joint.down(removes, over) for each in faults)


def test_it_is_led_back_to_what_was_otherwise() -> None:
    shown = {
        (tuple(each.resource for each in faults[:-1]), faults[-1].window.from_step) for faults in joint.led_back(at(OF.scale(1)))
    }
    assert shown == {((WIDGETS,), 2), ((PODS,), 2), ((WIDGETS, PODS), 2), ((WIDGETS,), 3), ((PODS,), 3), ((WIDGETS, PODS), 3)}


def test_it_lists_behind_what_it_has_seen_in_a_step_that_leaves_the_primary_alone() -> None:
    found = list(joint.listed_behind(at(OF.scale(1))))
    assert {faults[0].resource for faults in found} == {WIDGETS, PODS}
    assert {type(faults[0]) for faults in found} == {SeverStream, Expire}
    assert all(isinstance(faults[1], PastSnapshot) and faults[1].as_of_step == 2 for faults in found)
    assert not list(joint.listed_behind(at(of=replace(widgets(watched=()), relists_past=True))))
    assert not list(joint.listed_behind(at(OF.scale(1), of=replace(OF, relists_past=False))))
    assert [step for step in at(OF.scale(1)).steps if isinstance(step, Patch)] == [OF.scale(1)]


def test_writes_are_rejected_for_seconds_in_every_way() -> None:
    codes = [fault for (fault,) in joint.all_rejected(at()) if (fault.resource, fault.verb_of_write) == (PODS, "create")]
    assert len(codes) == 5
    assert all(fault.stops_work and fault.window == Window(1, seconds=4.0) for fault in codes)


def test_the_deletes_of_a_clean_up_are_rejected_when_the_primary_goes() -> None:
    found = [fault for (fault,) in joint.clean_up_rejected(at(Delete(target=TARGET)))]
    assert {(fault.verb_of_write, fault.window) for fault in found} == {("delete", Window(2, seconds=4.0))}
    assert not list(joint.clean_up_rejected(at(CHANGE)))


def test_what_is_made_again_is_not_shown_until_the_next_step_is_done() -> None:
    again = Recreate(resource=MAPS)
    found = [fault for (fault,) in joint.replaced_unseen(at(again, OF.scale(1)))]
    assert {(fault.resource, fault.window) for fault in found} == {(MAPS, Window(2)), (MAPS, Window(2, 4))}
    assert not list(joint.replaced_unseen(at(OF.scale(1))))
    assert not list(joint.replaced_unseen(at(again, OF.scale(1), of=widgets(watched=(WIDGETS,)))))
