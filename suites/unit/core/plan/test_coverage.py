"""What a plan covers: phases and changes of its steps, and on which occasion each fault opens."""

import pytest

from staleproof.core.fault import AnyFault, HideOwnWrite, HoldStream, Kill, OwnWrite, PastSnapshot, Window
from staleproof.core.plan.coverage import PHASES, Moment, Occasion, moments, occasions
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import (
    Apply,
    AwaitRepair,
    Delete,
    Drift,
    Edit,
    Heartbeat,
    Patch,
    PatchStatus,
    Recreate,
    Remove,
    Rest,
    Restore,
    Resync,
    Step,
    Together,
    Touch,
    TurnSystem,
)

TARGET = Target("example.com/v1", "Widget", "w")
SECRET = Target("v1", "Secret", "s")


def widget(name: str = "w") -> Apply:
    return Apply(
        object={"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 1, "log": {"a": 1}}}
    )


def says(**spec: object) -> Patch:
    return Patch(target=TARGET, patch={"spec": spec})


STEPS: tuple[tuple[Step, Moment], ...] = (
    (widget(), Moment("appears", "")),
    (says(size=2), Moment("changes", "spec.size")),
    (says(size=2), Moment("is touched", "")),  # which says so already
    (says(log=None, size=1), Moment("changes", "spec.size, spec.log")),
    (says(log={"a": 1}), Moment("changes back", "spec.log")),
    (widget("other"), Moment("another appears", "")),
    (Touch(target=TARGET), Moment("is touched", "")),
    (Remove(resource="pods"), Moment("a child is deleted", "")),
    (Recreate(resource="pods"), Moment("a child is replaced", "")),
    (Heartbeat(resource="pods"), Moment("a child is touched", "")),
    (Edit(resource="pods", patch={"data": {"a": "b"}}), Moment("a child is edited", "")),
    (PatchStatus(target=TARGET, patch={"status": {"size": None}}), Moment("its status is overwritten", "")),
    (Resync(resource="widgets.example.com"), Moment("is listed again", "")),
    (Rest(seconds=1.0), Moment("rests", "")),
    (Drift(system="db", kind="roles"), Moment("something drifts outside", "")),
    (AwaitRepair(seconds=1.0), Moment("rests", "")),
    (TurnSystem(system="db", state="down"), Moment("an external system turns", "")),
    (Delete(target=SECRET), Moment("what it needs goes", "")),
    (Restore(target=SECRET), Moment("what it needs returns", "")),
    (Delete(target=TARGET), Moment("is deleted", "")),
    (widget(), Moment("returns", "")),
    (says(size=2), Moment("changes", "spec.size")),  # it is another one, which has not said so
)


def test_every_step_has_its_phase_and_what_changes_in_it() -> None:
    found = moments([step for step, _ in STEPS])
    assert found == [moment for _, moment in STEPS]
    assert {moment.phase for moment in found} == set(PHASES)


def test_what_is_done_together_changes_what_any_of_them_changes() -> None:
    others = (Patch(target=Target("example.com/v1", "Widget", name), patch={"spec": {"size": 2}}) for name in ("v", "u"))
    found = moments([Together(steps=(widget("v"), widget("u"), widget())), Together(steps=(*others, says(log=None)))])
    assert found == [Moment("another appears", ""), Moment("changes", "spec.size, spec.log")]
    assert found[1].fields == ["spec.size", "spec.log"]
    assert found[0].fields == []


@pytest.mark.parametrize(
    ("fault", "occasion"),
    [
        (HoldStream(resource="pods", window=Window(2)), Occasion("Hold", "pods", "changes", "spec.size")),
        (HideOwnWrite(resource="pods", write=OwnWrite("delete")), Occasion("HideOwnWrite delete", "pods", "appears", "")),
        (Kill(resource="pods", verb="update", window=Window(21)), Occasion("Kill update", "pods", "returns", "")),
        (  # what it is shown was there until it was changed back
            PastSnapshot(resource="pods", as_of_step=5, window=Window(7)),
            Occasion("PastSnapshot", "pods", "changes back", "spec.log"),
        ),
    ],
)
def test_a_fault_has_the_occasion_of_the_step_with_which_it_opens(fault: AnyFault, occasion: Occasion) -> None:
    plan = Plan(scenario="x", steps=tuple(step for step, _ in STEPS), faults=(fault,))
    assert occasions(plan) == [occasion]
