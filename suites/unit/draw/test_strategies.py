"""Strategies for everyone: what they draw can be run, has an occasion, composes, and needs no argument in a run of pytest."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from staleproof.core.fault import CallFault, HideOwnWrite, HoldStream
from staleproof.core.fingerprint import fingerprint
from staleproof.core.move import Move
from staleproof.core.observed import Observed
from staleproof.core.plan import Apply, Patch, Plan, Touch, contradictions, decode, encode
from staleproof.draw import moves, plans, schedules, strategies, workloads
from staleproof.draw.drawn import drawn
from staleproof.errors import UsageError

from .seen import CHANGE, GROWN, MOVE, PODS, REMOVED, SWITCHED, TARGET, WIDGETS, controllers, sample, widgets


@given(st.data())
def test_whatever_is_drawn_can_be_run(data: st.DataObject) -> None:
    of = data.draw(controllers())
    plan = data.draw(plans(of))
    assert contradictions(plan) == []
    assert decode(encode(plan)) == plan
    assert plan.faults
    assert sum("restarts" in fault.effects for fault in plan.faults) <= 1
    calls = [fault.resource for fault in plan.faults if isinstance(fault, CallFault)]
    assert len(set(calls)) == len(calls), "the first would take the occasion of the second"
    assert isinstance(plan.steps[0], Apply)
    assert isinstance(plan.steps[-1], Touch)
    for fault in plan.faults:
        if isinstance(fault, HideOwnWrite):
            assert fault.resource in of.watched


@given(st.data())
def test_only_writes_that_happen_are_hidden(data: st.DataObject) -> None:
    of = widgets(watched=(WIDGETS, PODS))
    plan = data.draw(plans(of))
    for fault in plan.faults:
        if isinstance(fault, HideOwnWrite) and fault.resource == PODS:
            step = plan.steps[fault.window.from_step - 1]
            assert step == CHANGE or isinstance(step, Apply) or (isinstance(step, Patch) and step.patch["spec"]["replicas"] > 0)
            assert not isinstance(step, Apply) or fault.write.nth <= step.object["spec"]["replicas"]


@given(st.data())
def test_no_fault_waits_for_a_write_that_a_hold_may_prevent(data: st.DataObject) -> None:
    plan = data.draw(plans(data.draw(controllers())))
    holds = [fault for fault in plan.faults if isinstance(fault, HoldStream)]
    writes = [fault for fault in plan.faults if isinstance(fault, CallFault | HideOwnWrite)]
    assert all(write.window.from_step < hold.window.from_step for hold in holds for write in writes if write is not hold)


@given(st.data())
def test_a_change_is_taken_back_before_another_is_made(data: st.DataObject) -> None:
    of = widgets(turned=(REMOVED, SWITCHED))
    done, undone = [of.do(move) for move in of.live], [of.undo(move) for move in of.live]
    steps = [step for step in data.draw(workloads(of, most_steps=6)) if step in done or step in undone]
    assert all(step in done for step in steps[::2])
    assert all(done.index(there) == undone.index(back) for there, back in zip(steps[::2], steps[1::2], strict=False))


def test_moves_are_those_that_are_accepted_and_none_of_them_scales() -> None:
    dead, scaling = structs.replace(SWITCHED, live=""), structs.replace(MOVE, path="spec.replicas")
    of = replace(widgets(), changes=(MOVE, dead, scaling))
    for live, expected in ((False, {MOVE.name, dead.name}), (True, {MOVE.name})):
        found = drawn(_changed_by(moves(of, live=live)), by="7", examples=9)
        assert {plan.title for plan in found} == expected
    with pytest.raises(UsageError, match="can be changed and taken back that the controller passes on"):
        drawn(_changed_by(moves(replace(of, changes=(dead,)), live=True)), by="7", examples=1)


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
        assert len(plan.steps) <= 4
        assert plan.faults == (hold,)
        assert not [step for step in plan.steps if step == CHANGE]
    steps = (Apply(object=sample(3)), Touch(target=TARGET))
    assert all(len(faults) == 1 for faults in _drawn(schedules(steps, of, most_faults=1)))


def _drawn(faults: st.SearchStrategy[strategies.Faults]) -> list[strategies.Faults]:
    return [
        plan.faults for plan in drawn(st.builds(lambda some: Plan(scenario="x", steps=(), faults=some), faults), by="7", examples=9)
    ]


def test_without_an_argument_they_are_for_the_controller_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "_observe", [])
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
    changes = [step for step in steps if isinstance(step, Patch) and "replicas" not in step.patch["spec"]]
    assert of.undo(GROWN) not in changes
    assert of.do(GROWN) not in changes[:-1]
