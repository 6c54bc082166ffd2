"""What a garbage collector would take."""

from typing import Any

import pytest

from staleproof.checks.facts.garbage import without_garbage
from staleproof.core.plan.manifest import Manifest


def made(uid: str, *owners: str, kind: str = "Pod", **metadata: Any) -> tuple[str, Manifest]:  # noqa: ANN401  # JSON
    """An object and its owners, which are Pods unless their uid says Node."""
    references = [{"kind": "Node" if owner == "node" else "Pod", "name": owner, "uid": owner} for owner in owners]
    return "pods", {"kind": kind, "metadata": {"name": uid, "uid": uid, "ownerReferences": references, **metadata}}


GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
CASES: dict[str, tuple[list[tuple[str, Manifest]], list[str]]] = {
    "what has no owner stays": ([made("a")], ["a"]),
    "so does what has an owner": ([made("a"), made("b", "a")], ["a", "b"]),
    "what has none any more goes": ([made("b", "a")], []),
    "and what that one owned": ([made("c", "b"), made("b", "a")], []),
    "one owner is enough": ([made("a"), made("b", "a", "x")], ["a", "b"]),
    "a finalizer keeps it": ([made("b", "a", finalizers=["x/y"])], ["b"]),
    "an owner of a kind that is not in the namespace": ([made("b", "node")], ["b"]),
    "an owner in its grace period is gone": ([made("a", **GOING), made("b", "a")], []),
    "and one that waits for the collector": ([made("a", finalizers=["foregroundDeletion"], **GOING), made("b", "a")], []),
    "not one that leaves them behind": ([made("a", finalizers=["orphan"], **GOING), made("b", "a")], ["a", "b"]),
    "nor one that waits for another user": ([made("a", finalizers=["x/y"], **GOING), made("b", "a")], ["a", "b"]),
}


@pytest.mark.parametrize(("objects", "left"), CASES.values(), ids=CASES)
def test_what_is_left(objects: list[tuple[str, Manifest]], left: list[str]) -> None:
    assert [obj["metadata"]["uid"] for _, obj in without_garbage(objects, {"Pod"})] == left
