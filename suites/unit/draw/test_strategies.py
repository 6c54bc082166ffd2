"""Strategies for everyone: what they draw can be run, has an occasion, composes, and needs no argument in a run of pytest."""

import itertools
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from staleproof.core.fault import (
    AnyFault,
    CallFault,
    Coalesce,
    Compete,
    DelayStream,
    Expire,
    HideOwnWrite,
    HoldStream,
    Kill,
    LoseAnswer,
    OwnWrite,
    PastSnapshot,
    Reject,
    Restart,
    SeverStream,
    Window,
)
from staleproof.core.operator.observed import Observed, Written
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.move import Move
from staleproof.core.plan.plan import Plan, contradictions, decode, encode
from staleproof.core.plan.step import Apply, Delete, Edit, Patch, PatchStatus, Recreate, Remove, Rest, Step, Touch
from staleproof.draw import moves, plans, schedules, strategies, workloads
from staleproof.draw.canonical import counts
from staleproof.draw.drawn import drawn
from staleproof.draw.occasions import OF_A_CHILD
from staleproof.draw.profile import PROFILES
from staleproof.draw.scenarios import canonical_plans
from staleproof.draw.shrink import is_possible
from staleproof.draw.strategies import Faults, observation
from staleproof.errors import UsageError

from .seen import CHANGE, GROWN, MAPS, MOVE, PODS, REMOVED, SWITCHED, TARGET, WIDGETS, controllers, sample, widgets

LABEL = Move(
    path="metadata.labels.moved",
    kind="map-add",
    do={"metadata": {"labels": {"moved": "moved"}}},
    undo={"metadata": {"labels": None}},
)
LABELLED = (MOVE, REMOVED, SWITCHED, LABEL)
EDITS = (
    Edit(resource=MAPS, patch={"data": {"content": "first-edited"}}),
    Edit(resource=PODS, patch={"spec": {"x": 1}}),
    Edit(resource=PODS, nth=-1, patch={"metadata": {"ownerReferences": None}}),
)
RESETS = tuple(PatchStatus(target=TARGET, patch={"status": {field: None}}) for field in ("replicas", "conditions"))
STEPS = (
    "apply", "patch", "patch-status", "touch", "delete", "resync", "recreate", "remove", "edit", "heartbeat", "rest"
)  # fmt: skip


@given(st.data())
def test_whatever_is_drawn_can_be_run(data: st.DataObject) -> None:
    of = data.draw(controllers())
    plan = data.draw(plans(of))
    assert contradictions(plan) == []
    assert decode(encode(plan)) == plan
    assert plan.faults
    assert plan.contract == "legal"
    assert is_possible(plan.steps)
    assert _restarts(plan) <= 1
    calls = [fault.resource for fault in plan.faults if isinstance(fault, CallFault)]
    assert len(set(calls)) == len(calls), "the first would take the occasion of the second"
    assert isinstance(plan.steps[0], Apply)
    for fault in plan.faults:
        if isinstance(fault, HideOwnWrite):
            assert fault.resource in of.watched
        if isinstance(fault, PastSnapshot):
            begins = any("restarts" in each.effects and each.window.from_step == fault.window.from_step for each in plan.faults)
            assert fault.resource in (of.reads_past if begins else of.watched), "only a first list asks for any version"


def _restarts(plan: Plan) -> int:
    return sum("restarts" in fault.effects for fault in plan.faults)


def test_everything_that_may_happen_is_drawn() -> None:
    """Whatever a canonical plan holds, and each kind of step that users take."""
    of = replace(
        widgets(turned=(REMOVED, SWITCHED)),
        asks_watch_list=True,
        bookmarked=(PODS,),
        reads_past=(WIDGETS, MAPS, PODS),
        changes=LABELLED,
        edits=EDITS,
        resets=RESETS,
    )
    named = tuple(replace(child, stable_names=True) for child in of.children)
    without_finalizer = replace(of, keeps_finalizer=False, children=named)
    every = drawn(plans(of), by="7", examples=200) + drawn(plans(without_finalizer), by="7", examples=120)
    canonical = {fault.tag for plan in canonical_plans(of, PROFILES["thorough"]) for fault in plan.faults}
    assert {fault.tag for plan in every for fault in plan.faults} == canonical
    assert {step.tag for plan in every for step in plan.steps} == set(STEPS)
    hidden = [{(fault.resource, fault.write.subresource) for fault in _hidden(plan)} for plan in every]
    assert {len(each) for each in hidden} >= {0, 1, 2}
    assert any(("widgets.example.com", "status") in each for each in hidden)
    assert any(isinstance(step, Recreate) and step.foreign for plan in every for step in plan.steps)
    assert any(isinstance(step, Apply) and step.object["metadata"]["name"] == "w-other" for plan in every for step in plan.steps)
    assert any(of.do(LABEL) in plan.steps for plan in every)
    assert any({"metadata": {"finalizers": ["staleproof.dev/held"]}} in _patches(plan) for plan in every)
    assert max(len(plan.faults) for plan in every) == 3
    calls = {(type(fault), fault.subresource) for plan in every for fault in plan.faults if isinstance(fault, CallFault)}
    assert calls >= {(kind, "status") for kind in (Compete, Kill, LoseAnswer, Reject)}


def test_streams_end_at_any_event_of_a_step() -> None:
    of = replace(widgets(), relists_past=True)
    shrinks = st.just((Apply(object=sample(3)), of.scale(1), Touch(target=TARGET)))
    faults = [fault for plan in drawn(plans(of, workload=shrinks), by="9", examples=120) for fault in plan.faults]
    for kind in (SeverStream, Expire):
        assert {fault.nth for fault in faults if isinstance(fault, kind)} > {None, 1}


def _hides(verb: Literal["create", "patch", "delete"], step: int, release: Literal["events", "relist"] = "events") -> AnyFault:
    return HideOwnWrite(resource=PODS, write=OwnWrite(verb), window=Window(step), release=release)


OF = replace(widgets(turned=(REMOVED, SWITCHED)), reads_past=(WIDGETS,), relists_past=True)
APPLIES = replace(OF, life=tuple(replace(each, verb="patch") if each.verb == "create" else each for each in OF.life))
APPEARS, WAKES, WAITS = Apply(object=sample(3)), Touch(target=TARGET), Rest(seconds=12.0)
CONFIG_MAP = Written(2, MAPS, "update", "", 1).selectors


@pytest.mark.parametrize(
    ("of", "steps", "faults"),
    [
        (OF, (APPEARS, WAITS, WAKES), (_hides("create", 1),)),
        (APPLIES, (APPEARS, WAITS, WAKES), (_hides("patch", 1),)),
        (OF, (APPEARS, Delete(target=TARGET), Rest(seconds=1.0)), (_hides("create", 1),)),
        (OF, (APPEARS, Remove(resource=PODS), WAKES), (_hides("create", 1, "relist"),)),
        (OF, (APPEARS, OF.scale(1), OF.scale(3), WAKES), (_hides("delete", 2),)),
        (OF, (APPEARS, OF.scale(1), WAKES), (_hides("delete", 2),)),
        (OF, (APPEARS, CHANGE, WAKES), (Restart(stays_down=True, window=Window(2, 3)),)),
        (
            OF,
            (APPEARS, CHANGE, WAKES),
            (
                Compete(**CONFIG_MAP, edit={"metadata": {"annotations": {"staleproof.dev/touched": "2"}}}),
                HideOwnWrite(resource=MAPS, write=OwnWrite("update"), window=Window(2, 3)),
            ),
        ),
        (
            OF,
            (APPEARS, CHANGE, WAKES),
            (
                SeverStream(resource=WIDGETS, window=Window(3, 4)),
                PastSnapshot(resource=WIDGETS, as_of_step=2, window=Window(3, 4)),
            ),
        ),
    ],
)
def test_what_harms_only_together_is_drawn_together(of: Observed, steps: tuple[Step, ...], faults: Faults) -> None:
    some = [plan.faults for plan in drawn(plans(of, workload=st.just(steps)), by="7", examples=75)]
    assert faults in some


def _hidden(plan: Plan) -> list[HideOwnWrite]:
    return [fault for fault in plan.faults if isinstance(fault, HideOwnWrite)]


def _patches(plan: Plan) -> list[Manifest]:
    return [step.patch for step in plan.steps if isinstance(step, Patch)]


def test_what_no_api_server_does_is_drawn_on_request_only() -> None:
    of = widgets()
    found = drawn(plans(of, schedule=lambda steps: schedules(steps, of, hostile=True)), by="7", examples=60)
    forged = [plan for plan in found if any(fault.contract == "hostile" for fault in plan.faults)]
    assert 0 < len(forged) < len(found)
    assert all((plan.contract == "hostile") == (plan in forged) and contradictions(plan) == [] for plan in found)


@given(st.data())
def test_only_writes_that_happen_are_hidden(data: st.DataObject) -> None:
    of = widgets(watched=(WIDGETS, PODS))
    plan = data.draw(plans(of))
    for fault in plan.faults:
        if isinstance(fault, HideOwnWrite) and fault.resource == PODS:
            step = plan.steps[fault.window.from_step - 1]
            assert isinstance(step, Apply | Delete) or (isinstance(step, Patch) and step.patch["spec"]["replicas"] > 0)
            assert not isinstance(step, Apply) or fault.write.nth <= step.object["spec"]["replicas"]
            assert not isinstance(step, Delete) or fault.write.verb == "delete"


@given(st.data())
def test_no_fault_waits_for_a_write_that_a_hold_may_prevent(data: st.DataObject) -> None:
    plan = data.draw(plans(data.draw(controllers())))
    holds = [fault for fault in plan.faults if isinstance(fault, HoldStream | Coalesce | DelayStream)]
    writes = [fault for fault in plan.faults if isinstance(fault, CallFault | HideOwnWrite)]
    for hold, write in itertools.product(holds, writes):
        both = isinstance(hold, HideOwnWrite) and isinstance(write, HideOwnWrite | Compete)  # of one step
        is_over = hold.window.until_step is not None and hold.window.until_step < write.window.from_step
        assert is_over or write.window.from_step < hold.window.from_step or (both and write.window == hold.window)


@given(st.data())
def test_a_change_is_taken_back_before_another_is_made(data: st.DataObject) -> None:
    of = widgets(turned=(REMOVED, SWITCHED))
    done: list[Step] = [of.do(move) for move in of.live]
    undone: list[Step] = [of.undo(move) for move in of.live]
    changed: list[Step] = []
    for step in data.draw(workloads(of, most_steps=6)):
        if step in done or isinstance(step, Delete):
            assert isinstance(step, Delete) or not changed
            changed = [] if isinstance(step, Delete) else [step]
        elif step in undone:
            assert [done.index(there) for there in changed] == [undone.index(step)]
            changed = []


@given(st.data())
def test_others_write_once_and_only_what_is_sure_to_be_there_and_the_controllers_own(data: st.DataObject) -> None:
    of = replace(widgets(turned=(REMOVED, SWITCHED)), edits=EDITS, resets=RESETS)
    steps = data.draw(workloads(of, most_steps=6))
    assert all(steps.count(step) <= 1 for step in (*EDITS, *RESETS))
    for number, step in enumerate(steps):
        before = steps[:number]
        if isinstance(step, Edit | PatchStatus):
            assert not [each for each in before if isinstance(each, Delete)]
            turned = [sum(each in (of.do(move), of.undo(move)) for each in before) for move in of.live]
            assert all(count % 2 == 0 for count in turned), "what was changed has been taken back"
        if isinstance(step, Edit):
            assert not [each for each in before if isinstance(each, Remove | Recreate) and each.resource == step.resource]
        if isinstance(step, OF_A_CHILD):
            assert not [each for each in before if isinstance(each, Edit) and each.sets_aside and each.resource == step.resource]


@given(plans(replace(widgets(turned=(REMOVED, SWITCHED)), edits=EDITS[2:])))
def test_no_new_life_comes_to_what_was_set_aside(drawn: Plan) -> None:
    """It may make another, and is right."""
    if any(isinstance(step, Edit) and step.sets_aside for step in drawn.steps):
        assert not [fault for fault in drawn.faults if "restarts" in fault.effects]


@given(st.data())
def test_no_user_takes_the_name_of_a_child_that_another_primary_may_want(data: st.DataObject) -> None:
    of = replace(widgets(), children=tuple(replace(child, stable_names=True) for child in widgets().children))
    steps = data.draw(workloads(of, most_steps=6))
    names = {step.object["metadata"]["name"] for step in steps if isinstance(step, Apply)}
    assert len(names) == 1 or not [step for step in steps if isinstance(step, Recreate) and step.foreign]


def test_where_others_can_write_nothing_nothing_of_it_is_drawn() -> None:
    every = drawn(plans(widgets()), by="7", examples=60)
    assert not [step for plan in every for step in plan.steps if isinstance(step, Edit | PatchStatus)]


@given(st.data())
def test_a_workload_scales_to_what_the_api_server_accepts(data: st.DataObject) -> None:
    of = replace(widgets(replicas=data.draw(st.integers(0, 8))), edits=EDITS)
    steps = data.draw(workloads(of))
    asked = [step.object for step in steps if isinstance(step, Apply)] + [step.patch for step in steps if isinstance(step, Patch)]
    wanted = {obj["spec"]["replicas"] for obj in asked if "replicas" in obj.get("spec", {})}
    assert wanted <= {of.replicas, *counts(of)}
    assert steps[0] != Apply(object=of.scaled(0))


def test_moves_are_those_that_are_accepted_and_none_of_them_scales() -> None:
    dead, scaling = structs.replace(SWITCHED, live=""), structs.replace(MOVE, path="spec.replicas")
    of = replace(widgets(), changes=(MOVE, dead, scaling))
    for live, expected in ((False, {MOVE.name, dead.name}), (True, {MOVE.name})):
        found = drawn(_changed_by(moves(of, live=live)), by="7", examples=9)
        assert {plan.title for plan in found} == expected
    with pytest.raises(UsageError, match="can be changed and taken back that the controller passes on"):
        drawn(_changed_by(moves(replace(of, changes=(dead,)), live=True)), by="7", examples=1)


def test_what_is_passed_on_is_changed_more_often_than_anything_else() -> None:
    dead, other = structs.replace(SWITCHED, live=""), structs.replace(REMOVED, live="")
    of = replace(widgets(), changes=(MOVE, dead, other, LABEL))
    steps = [step for plan in drawn(plans(of), by="7", examples=120) for step in plan.steps]
    live, quiet = steps.count(of.do(MOVE)), steps.count(of.do(dead)) + steps.count(of.do(other))
    assert 0 < quiet < live < 6 * quiet


@pytest.mark.parametrize("live", [(), (GROWN,)])
def test_where_nothing_that_is_passed_on_can_be_taken_back_the_rest_is_changed(live: tuple[Move, ...]) -> None:
    dead = structs.replace(MOVE, live="")
    of = replace(widgets(changes=False), changes=(*live, dead, LABEL))
    steps = [step for plan in drawn(plans(of), by="7", examples=60) for step in plan.steps]
    assert of.do(dead) in steps
    assert of.undo(dead) in steps
    assert of.do(GROWN) not in steps


def _changed_by(some: st.SearchStrategy[Move]) -> st.SearchStrategy[Plan]:
    return some.map(lambda move: Plan(scenario="x", title=move.name, steps=(Patch(target=TARGET, patch=move.do),)))


def test_the_same_seed_gives_the_same_plans() -> None:
    found = [[fingerprint(plan) for plan in drawn(plans(widgets()), by=seed, examples=20)] for seed in ("7", "7", "8")]
    assert found[0] == found[1] != found[2]


def test_they_compose() -> None:
    of = widgets()
    mine = workloads(of, most_steps=2, changes=st.just(SWITCHED))
    hold = HoldStream(resource=PODS)
    for plan in drawn(plans(of, workload=mine, schedule=lambda steps: st.just((hold,))), by="7", examples=10):
        assert len(plan.steps) <= 7, "the end has four at most"
        assert plan.faults == (hold,)
        assert not [step for step in plan.steps if step == CHANGE]
    steps = (Apply(object=sample(3)), Touch(target=TARGET))
    assert all(len(faults) == 1 for faults in _drawn(schedules(steps, of, most_faults=1)))


def _drawn(faults: st.SearchStrategy[strategies.Faults]) -> list[strategies.Faults]:
    return [
        plan.faults for plan in drawn(st.builds(lambda some: Plan(scenario="x", steps=(), faults=some), faults), by="7", examples=9)
    ]


def test_without_an_argument_they_are_for_the_controller_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observation, "_observe", [])
    with pytest.raises(UsageError, match="none was observed: let the test have the fixture `trial`"):
        drawn(plans(), by="7", examples=1)
    other = replace(widgets(), sample=sample(1) | {"metadata": {"name": "other"}})
    seen: list[Observed] = [widgets(), other]
    strategies.observe_with(lambda: seen)
    named = {
        step.object["metadata"]["name"]
        for plan in drawn(plans(), by="7", examples=20)
        for step in plan.steps[:1]
        if isinstance(step, Apply)
    }
    assert named == {"w", "other"}


def test_what_is_unknown_is_no_strategy() -> None:
    with pytest.raises(ImportError, match="cannot import name 'nosuch'"):
        exec("from staleproof.draw import nosuch")


@given(st.data())
def test_only_what_can_be_taken_back_is_drawn(data: st.DataObject) -> None:
    of = widgets(turned=(GROWN,))
    steps = data.draw(workloads(of, most_steps=6))
    assert of.do(GROWN) not in steps
    assert of.undo(GROWN) not in steps
    kinds = [*data.draw(workloads(widgets(changes=False, turned=(GROWN,))))]
    assert all(not isinstance(step, Patch) or "replicas" in step.patch["spec"] for step in kinds)


@given(st.data())
def test_a_change_of_ones_own_that_cannot_be_taken_back_is_the_last(data: st.DataObject) -> None:
    of = widgets(turned=(GROWN,))
    steps = data.draw(workloads(of, most_steps=6, changes=st.sampled_from((MOVE, GROWN))))
    assert of.undo(GROWN) not in steps
    changed = False
    for step in steps:
        changed = changed and not isinstance(step, Delete)  # what comes back is as it was at first
        assert not (changed and step in (of.do(MOVE), of.undo(MOVE), of.do(GROWN)))
        changed = changed or step == of.do(GROWN)
