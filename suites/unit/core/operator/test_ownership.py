"""Whose child an object is."""

from typing import Any

import pytest

from staleproof.core.operator.ownership import owner_of

PLAIN = {"kind": "Widget", "name": "w", "uid": "u1"}
OTHER = {"kind": "Config", "name": "c", "uid": "u2", "controller": False}
CONTROLS = {"kind": "Gadget", "name": "g", "uid": "u3", "controller": True}


@pytest.mark.parametrize(
    ("references", "owner"),
    [
        ([PLAIN, CONTROLS], CONTROLS),
        ([CONTROLS], CONTROLS),
        ([PLAIN], PLAIN),
        ([OTHER], OTHER),
        ([PLAIN, OTHER], None),
        ([], None),
        (None, None),
    ],
    ids=["its controller", "the only one", "one that does not say so", "one that says it is none", "two", "none", "null"],
)
def test_whose_child_it_is(references: list[dict[str, Any]] | None, owner: dict[str, Any] | None) -> None:
    assert owner_of({"metadata": {"ownerReferences": references}}) == owner


def test_without_the_field_it_has_no_owner() -> None:
    assert owner_of({"metadata": {}}) is None
