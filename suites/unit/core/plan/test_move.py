"""A move and the JSON merge patches that it is made of."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.plan.move import Move, collide, merge_patch, merged

SCALARS = st.booleans() | st.integers(0, 2) | st.sampled_from(["a", "b"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3), max_leaves=8
)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3)


@given(OBJECTS, OBJECTS)
def test_the_patch_between_two_objects_makes_one_of_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert merged(before, merge_patch(before, after)) == after
    assert merged(after, merge_patch(after, before)) == before


@given(OBJECTS)
def test_nothing_is_patched_where_nothing_differs(same: dict[str, Any]) -> None:
    assert merge_patch(same, same) == {}


def test_one_is_not_true() -> None:
    assert merge_patch({"on": 1}, {"on": True}) == {"on": True}


def test_a_block_that_is_replaced_by_another_loses_what_it_had() -> None:
    assert merge_patch({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}) == {"a": {"x": None, "y": 3}}


def test_people_read_what_it_does() -> None:
    move = Move(path="spec.replicas", kind="up", do={"spec": {"replicas": 4}}, undo={"spec": {"replicas": 3}}, was="3", becomes="4")
    assert str(move) == "spec.replicas up (3 → 4)"
    assert move.name == "up spec.replicas"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a": {"x": 1}}, {"a": {"y": 2}}, False),
        ({"a": {"x": 1}}, {"a": {"x": {"z": 2}}}, True),
        ({"a": [1]}, {"a": [1, 2]}, True),
        ({"a": None}, {"a": {"x": 1}}, True),
        ({"a": 1}, {"b": 1}, False),
    ],
)
def test_patches_of_the_same_field_collide(one: dict[str, Any], other: dict[str, Any], expected: bool) -> None:  # noqa: FBT001  # a row
    assert collide(one, other) is collide(other, one) is expected
