"""What is done in place of a step without its object, and where a fault is aimed that found no occasion."""

import pytest

from staleproof.core.fault import AnyFault, HideOwnWrite, HoldStream, Reject, Window
from staleproof.core.fault.model import OwnWrite
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Edit, Heartbeat, Recreate, Remove, Step, Touch
from staleproof.draw.replacement import aimed_anew, with_object

WIDGET = {"apiVersion": "staleproof.dev/v1", "kind": "Widget", "metadata": {"name": "w"}}
TOUCH = Touch(target=Target("staleproof.dev/v1", "Widget", "w"))


def plan(*steps: Step, faults: tuple[AnyFault, ...] = ()) -> Plan:
    return Plan(scenario="drawn", title="drawn: x", steps=(Apply(object=WIDGET), *steps, TOUCH), faults=faults)


@pytest.mark.parametrize(
    ("step", "there", "done"),
    [
        (Remove(resource="secrets", nth=1), {"pods": 3, "configmaps": 1}, Remove(resource="pods", nth=1)),
        (Remove(resource="secrets", nth=3), {"secrets": 1}, Remove(resource="secrets", nth=-1)),
        (Remove(resource="secrets", nth=-2), {"pods": 1}, Remove(resource="pods", nth=-1)),
        (Heartbeat(resource="secrets"), {"pods": 1, "configmaps": 1}, Heartbeat(resource="configmaps")),
        (Recreate(resource="secrets"), {"pods": 1}, Remove(resource="pods")),
        (Recreate(resource="secrets", nth=5), {"secrets": 2}, Recreate(resource="secrets", nth=-1)),
        (Edit(resource="secrets", patch={"data": {"a": "Yg=="}}), {"pods": 1}, Heartbeat(resource="pods")),
    ],
)
def test_it_is_done_to_what_is_there(step: Step, there: dict[str, int], done: Step) -> None:
    made = with_object(plan(step), 2, there)
    assert made is not None
    assert made.steps == (Apply(object=WIDGET), done, TOUCH)
    assert made.title.startswith("drawn: x; ")


@pytest.mark.parametrize(("number", "there"), [(2, {}), (2, {"pods": 0}), (1, {"pods": 3}), (3, {"pods": 3})])
def test_where_nothing_is_there_or_it_is_about_the_primary_nothing_else_is_done(number: int, there: dict[str, int]) -> None:
    assert with_object(plan(Remove(resource="secrets")), number, there) is None


def test_what_was_to_be_hidden_of_one_is_hidden_of_the_other() -> None:
    faults = (HoldStream(resource="secrets", window=Window(2)), HoldStream(resource="pods", window=Window(3)))
    made = with_object(plan(Remove(resource="secrets"), faults=faults), 2, {"configmaps": 1})
    assert made is not None
    assert [fault.resource for fault in made.faults] == ["configmaps", "pods"]


HAPPENED = {1: {("pods", "create"): 3, ("pods", ""): 3}, 2: {("pods", ""): 1}, 3: {("pods", "delete"): 1, ("pods", ""): 1}}


@pytest.mark.parametrize(
    ("fault", "window"),
    [
        (HoldStream(resource="pods", window=Window(2, 3)), Window(1, 2)),
        (HoldStream(resource="pods", window=Window(3)), Window(1)),
        (Reject(resource="pods", verb="delete", window=Window(1, 2)), Window(3, 4)),
        (HideOwnWrite(resource="pods", write=OwnWrite("delete"), window=Window(1)), Window(3)),
        (HoldStream(resource="pods", window=Window(1)), None),  # that is where it was
        (HoldStream(resource="secrets", window=Window(2)), None),  # nothing of the kind ever happens
        (Reject(resource="pods", verb="patch", window=Window(2)), None),
    ],
)
def test_a_fault_is_aimed_where_most_of_what_it_is_about_happens(fault: AnyFault, window: Window | None) -> None:
    made = aimed_anew(plan(Remove(resource="pods"), faults=(fault,)), [0], HAPPENED)
    assert (made.faults[0].window if made is not None else None) == window


def test_it_waits_for_no_more_writes_than_there_are() -> None:
    fault = HideOwnWrite(resource="pods", write=OwnWrite("create", nth=5), window=Window(2))
    made = aimed_anew(plan(Remove(resource="pods"), faults=(fault,)), [0], HAPPENED)
    assert made is not None
    assert made.faults == (HideOwnWrite(resource="pods", write=OwnWrite("create"), window=Window(1)),)


def test_what_found_its_occasion_stays_where_it_was() -> None:
    faults = (HoldStream(resource="pods", window=Window(2)), Reject(resource="pods", verb="delete", window=Window(1)))
    made = aimed_anew(plan(Remove(resource="pods"), faults=faults), [1], HAPPENED)
    assert made is not None
    assert made.faults == (faults[0], Reject(resource="pods", verb="delete", window=Window(3)))
    assert made.title == "drawn: Hold of pods from step 2, Reject of pods from step 3"
