"""What others can do to what a controller wrote: only what is the controller's own, and may be another."""

from typing import Any

import pytest

from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.step import Edit, PatchStatus
from staleproof.draw.mutations.foreign_edits import edits, resets, set_aside


def config(**data: Any) -> Manifest:  # noqa: ANN401  # JSON
    return {"kind": "ConfigMap", "data": data}


def patch_of(*children: Manifest, stable: bool = True) -> Manifest | None:
    found = list(edits("some", children, stable=stable))
    assert len(found) <= 1
    assert all((edit.resource, edit.nth) == ("some", 1) for edit in found)
    return found[0].patch if found else None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("first", "first-edited"),
        ("3", "5"),
        ("10Gi", "22Gi"),
        ("1h", "4h"),
        ("100%", "99%"),
        ('{"a": 1}', '{"a": 1}\n'),
        ("a: 1\nb: 2", "a: 1\nb: 2\n"),
    ],
)
def test_a_text_becomes_another_of_its_sort(before: str, after: str) -> None:
    assert patch_of(config(a=before)) == {"data": {"a": after}}


def test_the_first_thing_that_says_something_is_changed() -> None:
    assert patch_of(config(b="x", a="")) == {"data": {"b": "x-edited"}}
    assert patch_of(config()) is patch_of() is patch_of({"kind": "Pod", "spec": {"containers": []}}) is None
    assert patch_of({"kind": "Job", "data": "x", "spec": {"replicas": True}}) is None


def test_a_workload_gets_more_replicas_than_any_plan_asks_for() -> None:
    assert patch_of({"kind": "Deployment", "spec": {"replicas": 3}}) == {"spec": {"replicas": 7}}
    assert patch_of({"kind": "Deployment", "spec": {"replicas": 9}}) == {"spec": {"replicas": 10}}


def test_what_a_secret_holds_is_not_known() -> None:
    assert patch_of({"kind": "Secret", "data": {"key": "sha256:0"}}) == {"data": {"key": "ZWRpdGVk"}}


def test_where_any_child_may_be_the_first_all_have_what_is_changed() -> None:
    first, second, bare = config(a="x", b="y"), config(b="z"), {"kind": "ConfigMap"}
    assert patch_of(first, second) == {"data": {"a": "x-edited"}}
    assert patch_of(first, second, stable=False) == {"data": {"b": "y-edited"}}
    assert patch_of(first, bare, stable=False) is None


def test_of_a_status_that_goes_which_the_controller_wrote_and_which_says_something() -> None:
    target = Target("example.com/v1", "Widget", "w")
    found = resets(target, {"size": 3, "failed": 0, "phase": "Ready", "conditions": [{}]}, {"size", "failed", "conditions"})
    assert found == [PatchStatus(target=target, patch={"status": {field: None}}) for field in ("size", "conditions")]


def test_an_edit_is_a_step() -> None:
    assert list(edits("configmaps", [config(a="b")], stable=True)) == [
        Edit(resource="configmaps", patch={"data": {"a": "b-edited"}})
    ]


@pytest.mark.parametrize(
    ("children", "goes"),
    [
        ([{"labels": {"a": "b"}, "ownerReferences": [{"uid": "1"}]}], ["labels", "ownerReferences"]),
        ([{"labels": {"a": "b"}}, {"labels": {}, "ownerReferences": [{"uid": "1"}]}], []),
        ([{"ownerReferences": [{"uid": "1"}]}, {"labels": {"a": "b"}, "ownerReferences": [{"uid": "2"}]}], ["ownerReferences"]),
        ([], []),
    ],
)
def test_a_child_is_set_aside_by_what_all_of_them_have(children: list[Manifest], goes: list[str]) -> None:
    found = list(set_aside("pods", [{"metadata": metadata} for metadata in children]))
    assert found == [Edit(resource="pods", nth=-1, patch={"metadata": {field: None}}) for field in goes]
    assert all(edit.sets_aside for edit in found)
    assert not Edit(resource="pods", patch={"spec": {"replicas": 7}}).sets_aside
