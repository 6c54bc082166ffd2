"""Many primaries of one sample, one of them alone, and a plan without some of them."""

from dataclasses import replace

from msgspec import structs

from staleproof.core.fault import HoldStream
from staleproof.core.plan.plan import Plan
from staleproof.draw.copies import SWEEP, alone, copies, copies_in, hosts_of_copies, there_and_back, without

from .seen import MOVE, REMOVED, SWITCHED, WIDGETS, sample, widgets

MOVES = [SWITCHED, REMOVED]


def sweep() -> Plan:
    steps = there_and_back(copies(widgets(), MOVES))
    return Plan(scenario=SWEEP, title="held", steps=steps, faults=(HoldStream(resource=WIDGETS),))


def test_only_a_sweep_has_copies() -> None:
    assert copies_in(sweep()) == ["w-a", "w-b"]
    assert copies_in(structs.replace(sweep(), scenario="streams")) == []


def test_one_alone_has_the_same_steps_and_faults() -> None:
    plan = sweep()
    made = alone(plan, "w-b")
    (_, second) = copies(widgets(), MOVES)
    assert made.steps == there_and_back([second])
    assert made.faults == plan.faults
    assert made.title != plan.title
    assert copies_in(made) == []


def test_a_sweep_goes_on_without_those_that_cannot_be_done() -> None:
    plan = sweep()
    left = without(plan, ["w-a"])
    assert left is not None
    assert (left.steps, left.faults) == (alone(plan, "w-b").steps, plan.faults)
    assert left.title.endswith("; without w-a")
    assert without(plan, []) is None, "it is unknown which of them it is"
    assert without(plan, ["w-a", "w-b"]) is None


def test_the_hosts_of_a_copy_are_its_own_on_the_way_there_and_back() -> None:
    move = structs.replace(MOVE, do={"spec": {"host": None}}, undo={"spec": {"host": "w.example.com"}})
    of = replace(widgets(), sample={**sample(1), "spec": {"host": "w.example.com"}}, hosts=("w.example.com",))
    (made,) = copies(of, [move])
    assert made.manifest["spec"] == {"host": "w-a.example.com"}
    assert made.undoes.patch == {"spec": {"host": "w-a.example.com"}}
    assert hosts_of_copies(of)[0] == "w-a.example.com"
    assert hosts_of_copies(widgets()) == ()
