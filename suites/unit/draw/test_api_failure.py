"""Plans of the API-failure scenario: each can be run, and its faults are sure to fire."""

from dataclasses import replace

from staleproof.core.fault import AnyFault, Compete, HideOwnWrite, LoseAnswer, OwnWrite, Reject, RequestFault, SlowAnswer, Window
from staleproof.core.operator.observed import Written
from staleproof.core.plan.step import TOUCHED
from staleproof.draw.api_failure import (
    compete,
    lose_answers,
    refused_report,
    reject_once,
    reject_reads,
    reject_writes,
    slow_answers,
)
from staleproof.draw.canonical import UNWOKEN, appear, life, outage
from staleproof.draw.profile import PROFILES, STANDARD

from .seen import CHANGE, MAPS, PODS, WIDGETS, reporters, widgets


def call(fault: AnyFault) -> tuple[str, str, str | None]:
    """Which requests it concerns."""
    assert isinstance(fault, RequestFault)
    return fault.resource, fault.verb, fault.subresource


def test_every_kind_of_write_is_rejected_from_the_first_on_in_another_way() -> None:
    rejections = [plan.faults[0] for plan in reject_writes(widgets(), STANDARD)]

    assert rejections == [
        Reject(resource="*", verb="create", subresource="", code=500, times=None, window=Window(1)),
        Reject(resource="*", verb="update", subresource="", code=503, times=None, window=Window(1)),
        Reject(resource="*", verb="update", subresource="status", code=0, times=None, window=Window(1)),
        Reject(resource="*", verb="delete", subresource="", code=504, times=None, window=Window(life(widgets()).shrinks)),
    ]
    assert all(plan.steps == outage(widgets()).steps for plan in reject_writes(widgets(), STANDARD))


def test_each_first_write_to_a_child_is_rejected_once_and_nothing_else_happens() -> None:
    plans = list(reject_once(widgets(), STANDARD))
    assert [plan.faults for plan in plans] == [
        (Reject(resource=PODS, verb="create", subresource="", code=503, window=Window(1, 2)),),
        (Reject(resource=MAPS, verb="create", subresource="", code=500, window=Window(1, 2)),),
    ]
    assert all(plan.steps == (appear(widgets()), UNWOKEN) for plan in plans)
    assert list(reject_once(widgets(), PROFILES["smoke"])) == []


def test_answers_are_lost_and_late_where_writes_were_seen() -> None:
    of = widgets()
    shrinks = Window(life(of).shrinks, life(of).shrinks + 1)
    lost = [call(fault) for plan in lose_answers(of, STANDARD) for fault in plan.faults]

    assert sorted(lost) == [
        (MAPS, "create", ""),
        (MAPS, "update", ""),
        (PODS, "create", ""),
        (PODS, "delete", ""),
        (WIDGETS, "update", ""),
    ]
    faults = [plan.faults[0] for plan in lose_answers(of, STANDARD)]
    assert any(isinstance(fault, LoseAnswer) and fault.verb == "delete" and fault.window == shrinks for fault in faults)
    assert [plan.faults for plan in slow_answers(of, STANDARD)] == [
        (SlowAnswer(resource=PODS, verb="create", subresource="", by_seconds=1.0, window=Window(1, 2)),),
        (SlowAnswer(resource=PODS, verb="delete", subresource="", by_seconds=1.0, window=shrinks),),
    ]


def test_no_user_competes_for_what_is_only_created_or_deleted() -> None:
    competitions = [fault for plan in compete(widgets(), STANDARD) for fault in plan.faults]

    assert {(fault.resource, fault.verb) for fault in competitions if isinstance(fault, Compete)} == {
        (MAPS, "update"),
        (WIDGETS, "update"),
    }


def test_the_primary_is_edited_as_the_user_does_next_and_a_child_unseen() -> None:
    of = widgets()
    found = {plan.faults[0].resource: plan.faults for plan in compete(of, STANDARD) if isinstance(plan.faults[0], Compete)}

    primary, child = found[WIDGETS], found[MAPS]
    assert isinstance(primary[0], Compete)
    assert primary[0].edit == CHANGE.patch
    assert isinstance(child[0], Compete)
    assert child[0].edit == {"metadata": {"annotations": {TOUCHED: "2"}}}
    assert child[1:] == (HideOwnWrite(resource=MAPS, window=Window(2, 3), write=OwnWrite("update")),)
    assert all(len(faults) == 1 for faults in (primary, *(plan.faults for plan in compete(widgets(watched=()), STANDARD))))


def test_what_the_user_does_not_change_any_more_is_not_edited() -> None:
    of = widgets()
    late = replace(of, life=(*of.life, Written(life(of).last, WIDGETS, "patch", "", 1)))

    (last,) = [fault for plan in compete(late, STANDARD) for fault in plan.faults if fault.window.from_step == life(of).last]

    assert isinstance(last, Compete)
    assert last.edit == {}


def test_reads_are_rejected_when_the_controller_has_to_read() -> None:
    (plan,) = reject_reads(replace(widgets(), relists_at_once=False), STANDARD)

    expire, reject = plan.faults
    assert expire.window.from_step == reject.window.from_step
    assert plan.fresh
    assert plan.settle.deadline_seconds >= 2 * (reject.window.seconds or 0)


def test_no_user_competes_for_what_a_patch_creates() -> None:
    of = widgets()
    applied = replace(
        of, life=tuple(replace(each, verb="patch") if each.verb in ("create", "update") else each for each in of.life)
    )

    faults = [plan.faults[0] for plan in compete(applied, STANDARD)]
    competitions = [(fault.resource, fault.window.from_step) for fault in faults]

    assert sorted(competitions) == [(MAPS, life(of).changes), (WIDGETS, 1), (WIDGETS, 1)]


def test_the_answer_to_a_status_is_lost_where_nothing_else_is_written() -> None:
    (plan,) = lose_answers(reporters(), STANDARD)

    assert [call(fault) for fault in plan.faults] == [(WIDGETS, "update", "status")]


def test_another_user_touches_the_primary_just_before_the_report_on_a_change() -> None:
    of = widgets()
    silent = replace(of, life=tuple(each for each in of.life if each.subresource != "status"))
    says = Written(life(of).changes, WIDGETS, "update", "status", 1)

    (plan,) = refused_report(replace(silent, life=(*silent.life, says)), STANDARD)

    edit = {"metadata": {"annotations": {TOUCHED: "2"}}}
    assert plan.steps[-1] == of.change
    assert plan.faults == (Compete(resource=WIDGETS, verb="update", subresource="status", window=Window(2), edit=edit),)
    assert not list(refused_report(silent, STANDARD))
