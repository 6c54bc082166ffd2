"""What a fault-free run showed of a controller."""

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.operator.observed import ChildKind, Observed, Written
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.move import Liveness, Move
from staleproof.core.plan.step import Edit, Patch, PatchStatus

from ..structs import OBJECT, TEXT, anything

SAMPLE: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w"},
    "spec": {"replicas": 3, "image": "x"},
}


RESOURCES = st.lists(TEXT, max_size=2).map(tuple)
WRITTEN = st.lists(
    st.builds(Written, st.integers(1, 9), TEXT, st.sampled_from(["create", "patch"]), TEXT, st.integers(1, 9)), max_size=2
).map(tuple)
ANY = st.builds(
    Observed,
    OBJECT,
    TEXT,
    RESOURCES,
    st.lists(st.builds(ChildKind, TEXT, st.integers(), st.integers(), st.booleans(), st.booleans()), max_size=2).map(tuple),
    manifests=st.lists(OBJECT, max_size=2).map(tuple),
    before=st.lists(OBJECT, max_size=2).map(tuple),
    pause_seconds=st.floats(0, 1e9),
    changes=st.lists(st.builds(Move, path=TEXT, kind=st.just("set"), do=OBJECT, undo=OBJECT), max_size=2).map(tuple),
    edits=st.lists(anything(Edit), max_size=2).map(tuple),
    resets=st.lists(anything(PatchStatus), max_size=2).map(tuple),
    watched=RESOURCES,
    has_metrics=st.booleans(),
    life=WRITTEN,
    death=WRITTEN,
)


def observed(sample: dict[str, Any] = SAMPLE, path: tuple[str, ...] = ("spec", "replicas")) -> Observed:
    return Observed(sample, "widgets.example.com", path, ())


def test_a_step_finds_the_primary_by_what_its_manifest_says() -> None:
    assert observed().target == Target("example.com/v1", "Widget", "w")


@pytest.mark.parametrize(
    ("sample", "path", "replicas"),
    [
        (SAMPLE, ("spec", "replicas"), 3),
        (SAMPLE, ("spec", "size"), 1),
        (SAMPLE, ("spec", "nodes", "count"), 1),
        (SAMPLE, ("spec", "image"), 1),
        (SAMPLE, ("spec", "image", "count"), 1),
        (SAMPLE, (), 1),
    ],
    ids=["said", "not said", "not said at all", "no number", "not an object", "no such path"],
)
def test_what_a_sample_does_not_say_is_one_replica(sample: dict[str, Any], path: tuple[str, ...], replicas: int) -> None:
    assert observed(sample, path).replicas == replicas


def test_scaling_keeps_everything_else_and_the_sample_itself() -> None:
    before = copy.deepcopy(SAMPLE)

    assert observed().scaled(5)["spec"] == {"replicas": 5, "image": "x"}
    assert observed(path=("spec", "nodes", "count")).scaled(5)["spec"] == {"replicas": 3, "image": "x", "nodes": {"count": 5}}
    assert observed(path=()).scaled(5) == SAMPLE
    assert before == SAMPLE


def test_scaling_is_a_merge_patch() -> None:
    assert observed(path=("spec", "nodes", "count")).scale(0) == Patch(
        target=Target("example.com/v1", "Widget", "w"), patch={"spec": {"nodes": {"count": 0}}}
    )


@given(ANY)
def test_what_one_worker_has_seen_another_can_read(seen: Observed) -> None:
    assert msgspec.json.decode(msgspec.json.encode(seen), type=Observed) == seen


def test_of_the_kinds_that_a_controller_treats_alike_the_first_is_typical() -> None:
    kinds = [ChildKind(each, 1, 0, stable_names=True) for each in ("roles", "secrets", "services")]
    wrote = [Written(1, each.resource, "create", "", 1) for each in kinds]
    changed = Written(2, "secrets", "update", "", 1)
    watched = ("widgets", "roles", "secrets", "services", "leases")
    edits = tuple(Edit(resource=each.resource, patch={"data": {"a": "b"}}) for each in kinds)
    seen = Observed(SAMPLE, "widgets", (), tuple(kinds), watched=watched, life=(*wrote, changed), death=tuple(wrote), edits=edits)
    typical = seen.typical()
    assert typical.edits == edits[:2]
    assert [each.resource for each in typical.children] == ["roles", "secrets"]
    assert typical.watched == ("widgets", "roles", "secrets", "leases")
    assert typical.life == (*wrote[:2], changed)
    assert typical.death == tuple(wrote[:2])
    assert typical.typical() == typical


def test_the_best_of_what_it_passes_on_is_its_change() -> None:
    ways: tuple[tuple[str, Liveness], ...] = ("a", ""), ("b", "at once"), ("c", "later")
    dead, live, other = (
        Move(path=f"spec.{key}", kind="set", do={"spec": {key: 1}}, undo={"spec": {key: None}}, live=live) for key, live in ways
    )
    seen = Observed(SAMPLE, "widgets", (), (), changes=(dead, live, other))
    assert seen.live == (live, other)
    assert seen.change == seen.do(live) == Patch(target=seen.target, patch={"spec": {"b": 1}})
    assert seen.undo(live).patch == {"spec": {"b": None}}
    assert Observed(SAMPLE, "widgets", (), (), changes=(dead,)).change is None


def test_the_primary_is_watched_still_where_a_child_of_its_own_resource_is_treated_like_another() -> None:
    children = tuple(ChildKind(each, 1, 0, stable_names=True, stays=1) for each in ("configmaps", "widgets.example.com"))
    life = tuple(Written(1, each.resource, "create", "", 1) for each in children)
    seen = Observed(SAMPLE, "widgets.example.com", (), children, watched=("widgets.example.com", "configmaps"), life=life)
    assert seen.typical().watched == seen.watched
    assert seen.typical().life == seen.life
