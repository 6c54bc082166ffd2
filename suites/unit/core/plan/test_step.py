"""Steps: what makes no sense, what is taken away, and how they are worded."""

import pytest

from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.masking import Placeholders
from staleproof.core.plan.step import (
    Apply,
    AwaitRepair,
    Delete,
    Drift,
    Edit,
    Heartbeat,
    Lull,
    Patch,
    PatchStatus,
    Recreate,
    Remove,
    Rest,
    Resync,
    Step,
    Together,
    Touch,
    TurnSystem,
    at_once,
    describe,
    in_parts,
    is_workload,
    masked_step,
    problems_of,
    removes,
)

POD: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
WIDGET = Target("staleproof.dev/v1", "Widget", "sample")
DATABASE = Target("v1", "Secret", "database")


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (Apply(object={}), "object needs apiVersion, kind and metadata.name"),
        (Apply(object=POD | {"metadata": "x"}), "object needs apiVersion, kind and metadata.name"),
        (Apply(object=POD | {"apiVersion": 1}), "object needs apiVersion, kind and metadata.name"),
        (Recreate(resource="pods", nth=0), "nth is 0, children are counted from 1, or from -1 backwards"),
        (Remove(resource="pods", nth=0), "nth is 0, children are counted from 1, or from -1 backwards"),
        (Edit(resource="pods", nth=0, patch={}), "nth is 0, children are counted from 1, or from -1 backwards"),
        (
            PatchStatus(target=Target("v1", "Widget", "w"), patch={"status": {}, "spec": {}}),
            "patch needs status and nothing else, because the rest of an object is not changed by way of its status",
        ),
        (Heartbeat(resource="pods", nth=0), "nth is 0, children are counted from 1, or from -1 backwards"),
        (Drift(system="db", kind="roles", nth=0), "nth is 0, children are counted from 1, or from -1 backwards"),
        (Drift(system="db", kind="roles", change="changed"), "fields is empty, and so there is nothing to change"),
        (
            Drift(system="db", kind="roles", fields={"login": False}),
            "fields go with what is changed or created, not with what is deleted",
        ),
        (
            Drift(system="db", kind="roles", name="r", change="changed", fields={"login": False}),
            "a name goes with what is created or deleted; nth says what is changed",
        ),
        (TurnSystem(system="db", state="slow"), "a slow system needs seconds"),
        (TurnSystem(system="db", state="down", seconds=1.0), "only a slow system has seconds, not one that is down"),
        (Together(steps=()), "steps is empty, and so there is nothing to do"),
        (Together(steps=(Touch(target=WIDGET), Apply(object={}))), "object needs apiVersion, kind and metadata.name"),
    ],
)
def test_steps_that_make_no_sense(step: Step, problem: str) -> None:
    assert list(problems_of(step)) == [problem]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Apply(object={"kind": "Widget", "metadata": {"name": "sample"}}), "apply Widget/sample"),
        (Apply(object={}), "apply None/None"),
        (Patch(target=WIDGET, patch={"spec": {"replicas": 5}}), 'patch Widget/sample {"spec":{"replicas":5}}'),
        (
            Patch(target=DATABASE, patch={"stringData": {"password": "hunter2"}, "type": "Opaque"}),
            'patch Secret/database {"stringData":{"password":"…"},"type":"Opaque"}',
        ),
        (PatchStatus(target=WIDGET, patch={"status": {"size": None}}), 'patch-status Widget/sample {"status":{"size":null}}'),
        (Edit(resource="configmaps", patch={"data": {"a": "b"}}), 'edit configmaps number 1 {"data":{"a":"b"}}'),
        (Edit(resource="secrets", nth=-1, patch={"data": {"a": "b"}}), 'edit secrets number -1 {"data":{"a":"…"}}'),
        (Touch(target=WIDGET), "touch Widget/sample"),
        (Delete(target=WIDGET), "delete Widget/sample"),
        (Resync(resource="pods"), "resync pods"),
        (Recreate(resource="pods"), "recreate pods number -1"),
        (Recreate(resource="pods", foreign=True), "recreate pods number -1 as another user's"),
        (Remove(resource="pods"), "remove pods number -1"),
        (Heartbeat(resource="pods"), "heartbeat pods number 1"),
        (Lull(), "come to rest"),
        (Lull(touches=(WIDGET,)), "come to rest, touch Widget/sample"),
        (Rest(seconds=2.50), "rest 2.5 s"),
        (Drift(system="db", kind="roles"), "another user has deleted number 1 of the roles in db"),
        (
            Drift(system="db", kind="roles", notifies=False),
            "another user has deleted number 1 of the roles in db, and no notification is sent",
        ),
        (
            Drift(system="db", kind="roles", change="changed", fields={"login": False, "createdb": True}),
            "another user has changed number 1 of the roles in db: createdb, login",
        ),
        (
            Drift(system="db", kind="roles", change="created", name="{namespace}_a"),
            "another user has created {namespace}_a of the roles in db",
        ),
        (AwaitRepair(seconds=30.0), "ask for nothing until what drifted is repaired, for at most 30 s"),
        (TurnSystem(system="db", state="down"), "db is down"),
        (TurnSystem(system="db", state="slow", seconds=2.0), "db answers 2 s late"),
    ],
)
def test_a_step_in_a_few_words(step: Step, expected: str) -> None:
    assert describe(step) == expected


@pytest.mark.parametrize(
    ("patch", "is_removal"),
    [
        ({"spec": {"suspend": None}}, True),
        ({"spec": {"suspend": True}}, False),
        ({"spec": None}, True),
        ({"metadata": {"labels": {"app": None}}}, False),
    ],
)
def test_what_takes_something_out_of_the_primary(patch: Manifest, *, is_removal: bool) -> None:
    assert removes(Patch(target=WIDGET, patch=patch)) is is_removal
    assert not removes(Edit(resource="pods", patch=patch))


def test_what_only_makes_the_controller_look_again_is_no_workload() -> None:
    assert [is_workload(step) for step in (Touch(target=WIDGET), Resync(resource="pods"), Lull(), Rest(seconds=1.0))] == [
        True,
        False,
        False,
        True,
    ]


def test_one_thing_is_no_several_things_together() -> None:
    touch, delete = Touch(target=WIDGET), Delete(target=WIDGET)
    assert at_once([]) is None
    assert at_once([touch]) == touch
    assert at_once([touch, delete]) == Together(steps=(touch, delete))
    assert list(in_parts([Together(steps=(touch, delete)), touch])) == [touch, delete, touch]


def test_what_is_done_together_is_reported_in_order() -> None:
    step = Together(steps=(Touch(target=WIDGET), Delete(target=WIDGET)))
    assert describe(step) == "touch Widget/sample; delete Widget/sample"
    assert is_workload(step)


def test_a_secret_that_is_changed_together_with_others_is_masked() -> None:
    patch = Patch(target=DATABASE, patch={"stringData": {"password": "canary"}})
    written = masked_step(Together(steps=(patch, Touch(target=WIDGET))), Placeholders())
    assert "canary" not in repr(written)


def test_a_block_that_goes_together_with_others_is_removed() -> None:
    goes = Patch(target=WIDGET, patch={"spec": {"settings": None}})
    assert removes(Together(steps=(Touch(target=WIDGET), goes)))
    assert not removes(Together(steps=(Touch(target=WIDGET), Delete(target=WIDGET))))
