"""What a trial left over beyond what any reference left."""

import pytest

from staleproof.checks.ends.leftovers import leftovers, let_go_at

from ..script import WIDGETS, Script, Workload, beside, losing, trial


def made(script: Script, **metadata: object) -> Script:
    return script.applied("w", metadata=metadata).creates("w-a", "w-b", metadata={"finalizers": ["x/y"]})


def kept(script: Script) -> Script:
    """A finalizer keeps the widget."""
    return made(script, finalizers=["x/y"]).terminating("w", WIDGETS).deletes("w-a", "w-b")


def gone(script: Script) -> Script:
    return made(script).removed("w", WIDGETS)


def cleaned(script: Script) -> Script:
    return made(script).deletes("w-a", "w-b").removed("w", WIDGETS)


def half_cleaned(script: Script) -> Script:
    return made(script).deletes("w-a").removed("w", WIDGETS)


def loose(script: Script) -> Script:
    """Nothing owns what it makes."""
    return script.creates("x", "y", resource="configmaps", owner="", generated="x-")


def owned_elsewhere(script: Script) -> Script:
    """A class owns it that no trial has."""
    owner = {"kind": "Class", "name": "shared", "uid": "elsewhere", "controller": True}
    return script.creates("x", "y", resource="configmaps", owner="", generated="x-", metadata={"ownerReferences": [owner]})


def tidied_elsewhere(script: Script) -> Script:
    return owned_elsewhere(script).deletes("x", "y", resource="configmaps")


def tidied(script: Script) -> Script:
    return loose(script).deletes("x", "y", resource="configmaps")


def half_tidied(script: Script) -> Script:
    return loose(script).deletes("x", resource="configmaps")


def shared(script: Script, *owners: str) -> Script:
    """Two widgets own a ConfigMap, and neither is its controller; it is made for the first of these. It waits for its finalizer."""
    script.names = ("w", "x")
    script.applied("w").applied("x")
    known: dict[str, object] = {"finalizers": ["x/y"]}
    script.creates("c", resource="configmaps", owner="", generated="", metadata=known | plain(script, *owners[:1]))
    known = script._objects["configmaps", "c"]["metadata"]
    return script.updates("c", "configmaps", subresource="", metadata=known | plain(script, *owners))


def plain(script: Script, *owners: str) -> dict[str, object]:
    return {"ownerReferences": [{"kind": "Widget", "name": name, "uid": script.uid(name, WIDGETS)} for name in owners]}


def still_shared(script: Script) -> Script:
    return shared(script, "x", "w").removed("w", WIDGETS)


def no_more_shared(script: Script) -> Script:
    return shared(script, "x", "w").removed("w", WIDGETS).deletes("c", resource="configmaps").removed("x", WIDGETS)


Told = list[tuple[str, list[str], int, bool]]
CASES: dict[str, tuple[Script, tuple[Workload, ...], Told]] = {
    "a primary that is not gone": (kept(trial()), (cleaned,), [("unfinished", ["w"], 0, False)]),
    "one that the references keep, too": (kept(trial()), (kept,), []),
    "children of an owner that is gone": (gone(trial()), (cleaned,), [("orphaned", ["w-a", "w-b"], 0, False)]),
    "some of them, in one reference": (gone(trial()), (cleaned, half_cleaned), [("orphaned", ["w-b"], 1, True)]),
    "some of them, in both": (gone(trial()), (half_cleaned,), [("orphaned", ["w-b"], 1, False)]),
    "what another owner has, too": (shared(trial(), "w", "x").removed("w", WIDGETS), (still_shared,), []),
    "what several had, who are all gone": (
        shared(trial(), "w", "x").removed("w", WIDGETS).removed("x", WIDGETS),
        (no_more_shared,),
        [("orphaned", ["c"], 0, False)],
    ),
    "what a garbage collector would take": (
        trial().applied("w").creates("w-a", "w-b").removed("w", WIDGETS),
        (cleaned,),
        [],
    ),
    "children in their grace period": (
        trial().applied("w").creates("w-a", "w-b").deletes("w-a", "w-b", grace=True).removed("w", WIDGETS),
        (cleaned,),
        [],
    ),
    "children that went later": (gone(trial()).released().settled().deletes("w-a", "w-b"), (cleaned,), []),
    "children that came later": (cleaned(trial()).released().settled().creates("w-c", owner=""), (cleaned,), []),
    "what has no owner": (loose(trial()), (tidied,), [("leaked", ["x", "y"], 0, False)]),
    "what has an owner that no trial has": (owned_elsewhere(trial()), (tidied_elsewhere,), [("leaked", ["x", "y"], 0, False)]),
    "the same, never deleted": (owned_elsewhere(trial()), (owned_elsewhere,), []),
    "some of it": (loose(trial()), (half_tidied,), [("leaked", ["y"], 1, False)]),
    "what a reference never deletes": (loose(trial()), (loose, tidied), []),
    "what others made": (trial().applied("x", "configmaps").applied("y", "configmaps"), (tidied,), []),
    "what it never heard that it had made": (
        Script(losing()).creates("x", resource="configmaps", owner="", generated="x-").loses_the_answer(),
        (tidied,),
        [],
    ),
}


@pytest.mark.parametrize(("script", "workloads", "expected"), CASES.values(), ids=CASES)
def test_what_is_left(script: Script, workloads: tuple[Workload, ...], expected: Told) -> None:
    found = leftovers(beside(script, *workloads))

    assert [(each.kind, [child.name for child in each.children], each.usual, each.unstable) for each in found] == expected


@pytest.mark.parametrize(
    ("script", "workload", "let_go"),
    [
        (made(trial()).terminating("w", WIDGETS).updates("w", subresource="", a=1).removed("w", WIDGETS), cleaned, "Asked"),
        (made(trial()).terminating("w", WIDGETS).updates("w", status=1).removed("w", WIDGETS), cleaned, None),
        (made(trial()).updates("w", subresource="", a=1).removed("w", WIDGETS), cleaned, None),
        (loose(trial()).updates("x", "configmaps", subresource="", a=1), tidied, None),
    ],
    ids=["it was updated", "its status was", "before its deletion", "no orphans"],
)
def test_where_the_controller_let_the_owner_go(script: Script, workload: Workload, let_go: str | None) -> None:
    found = beside(script, workload)
    index = let_go_at(found, leftovers(found)[0])

    assert (index and type(found.entries[index]).__name__) == let_go
