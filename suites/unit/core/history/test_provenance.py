"""Whose each commit is, and what the object was before."""

from typing import Any, TypeVar

import msgspec
import pytest

from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Answered, Asked, Committed, Entry
from staleproof.core.history.provenance import LEADER

from ...checks.script import WIDGETS, Script, reference, trial

E = TypeVar("E", bound=Entry)


def makers(script: Script, name: str) -> list[str]:
    """Of the commits of a name: the verb of the controller's request, with ? if it never heard the answer; - for another user."""
    commits = [commit for commit in Trial(script.ends()).commits if commit.entry.name == name]
    return [(c.by.asked.verb + ("" if c.heard else "?")) if c.by else "-" for c in commits]


def unheard(script: Script) -> Script:
    """The controller never hears the answer to what it did last."""
    assert isinstance(script.entries[-1], Answered)
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], outcome="unknown", executed=True)
    return script


def last(script: Script, kind: type[E]) -> tuple[int, E]:
    """The last entry of this kind, and where it is."""
    return next((number, entry) for number, entry in reversed(list(enumerate(script.entries))) if isinstance(entry, kind))


def overtaken(script: Script, **changed: Any) -> Script:  # noqa: ANN401  # JSON
    """What the controller did last, which changed nothing, was answered with what another user committed after it was asked for."""
    _, committed = last(script.applied("w", **changed), Committed)
    at, answered = last(script, Answered)
    script.entries[at] = msgspec.structs.replace(answered, revision=committed.revision)
    return script


_METADATA = last(trial().wants(1), Committed)[1].object["metadata"]
GROWN = {**_METADATA, "generation": _METADATA["generation"] + 1}
CASES = {
    "its own are those that an answer names": (trial().wants(1).says(1).wants(2).says(2), "w", ["-", "update", "-", "update"]),
    "what it created another user removed": (trial().wants(1).creates("w-a").removed("w-a"), "w-a", ["create", "-"]),
    "what another user made it deleted": (trial().wants(1).made("w-b").deletes("w-b"), "w-b", ["-", "delete"]),
    "a deletion that is not over yet": (trial().wants(1).creates("w-a").deletes("w-a", grace=True), "w-a", ["create", "delete"]),
    "a deletecollection deletes each": (
        trial().wants(1).creates("w-a", "w-b").deletes_all(),
        "w-b",
        ["create", "deletecollection"],
    ),
    "an eviction deletes, though its answer names no object": (trial().wants(1).made("w-b").evicts("w-b"), "w-b", ["-", "create"]),
    "what is made again under that name another user removed": (
        trial().wants(1).made("w-b").evicts("w-b").made("w-b").removed("w-b"),
        "w-b",
        ["-", "create", "-", "-"],
    ),
    "one eviction after another": (
        trial().wants(1).made("w-b").evicts("w-b").made("w-b").evicts("w-b"),
        "w-b",
        ["-", "create", "-", "create"],
    ),
    "a binding puts a pod on a node, though its answer names no object": (
        trial().wants(1).made("w-b").binds("w-b"),
        "w-b",
        ["-", "create"],
    ),
    "a binding whose answer was lost": (unheard(trial().wants(1).made("w-b").binds("w-b")), "w-b", ["-", "create?"]),
    "nothing else is done by a binding": (
        trial().wants(1).made("w-b").binds("w-b").applied("w-b", "pods", status={"phase": "Running"}),
        "w-b",
        ["-", "create", "-"],
    ),
    "what is made again under that name another user binds": (
        trial().wants(1).made("w-b").binds("w-b").removed("w-b").made("w-b").applied("w-b", "pods", spec={"nodeName": "n"}),
        "w-b",
        ["-", "create", "-", "-", "-"],
    ),
    "a refused binding did nothing": (
        trial()
        .wants(1)
        .made("w-b")
        .fails("create", "w-b", subresource="binding", code=409)
        .applied("w-b", "pods", spec={"nodeName": "n"}),
        "w-b",
        ["-", "-"],
    ),
    "a refused create made nothing": (trial().wants(1).creates("w-a").refused("create", "w-a", "AlreadyExists"), "w-a", ["create"]),
    "a write that changes nothing does not make another user's change its own": (trial().wants(1).updates("w"), "w", ["-"]),
    "nor its own change that of the second write": (trial().wants(1).says(1).updates("w"), "w", ["-", "update"]),
    "nor another user's deletion its own": (trial().wants(1).terminating("w", WIDGETS).updates("w"), "w", ["-", "-"]),
    "nor another user's status that overtook it": (
        overtaken(trial().wants(1).updates("w", subresource=""), status={"at": 1}),
        "w",
        ["-", "-"],
    ),
    "nor another user's spec that overtook a status write": (overtaken(trial().wants(1).updates("w"), spec=2), "w", ["-", "-"]),
    "but a status that is no subresource, as the generation shows": (
        overtaken(trial().wants(1).updates("w", subresource=""), status={"at": 1}, metadata=GROWN),
        "w",
        ["-", "update"],
    ),
    "and what is neither": (overtaken(trial().wants(1).updates("w", subresource=""), spec=2), "w", ["-", "update"]),
    "a status write whose answer was lost": (unheard(trial().wants(1).says(1)), "w", ["-", "update?"]),
    "a create whose answer was lost": (unheard(trial().wants(1).creates("w-a")), "w-a", ["create?"]),
    "a delete whose answer was lost": (unheard(trial().wants(1).creates("w-b").deletes("w-b")), "w-b", ["create", "delete?"]),
}


@pytest.mark.parametrize(("script", "name", "expected"), CASES.values(), ids=CASES)
def test_whose_a_commit_is(script: Script, name: str, expected: list[str]) -> None:
    assert makers(script, name) == expected


def test_before_is_the_object_until_then_in_the_order_of_revisions() -> None:
    script = trial().wants(1).says(1)
    late = next(i for i, entry in enumerate(script.entries) if type(entry).__name__ == "Committed")
    script.entries.append(script.entries.pop(late))  # truth's watch was late with the first
    first, last = Trial(script.ends()).commits

    assert [commit.generation for commit in (first, last)] == [1, 1]
    assert first.index > last.index
    assert first.before is None
    assert last.before == first.entry.object


def test_other_namespaces_and_bookkeeping_do_not_count() -> None:
    script = trial().applied("leader", "leases.coordination.k8s.io")
    script.applied("lock", "configmaps", metadata={"annotations": {LEADER: "me"}})
    script.entries += reference(1).applied("w").entries

    assert Trial(script.ends()).commits == []


def test_deleted_is_deletion_timestamp_set() -> None:
    found = Trial(trial().wants(1).creates("w-a").terminating("w-a").removed("w-a").ends())

    assert [commit.deletes for commit in found.commits if commit.entry.name == "w-a"] == [False, True, True]
    assert all(found.commit_at[commit.index] is commit for commit in found.commits)


def test_an_update_that_insists_on_a_revision_did_not_make_it() -> None:
    script = overtaken(trial().wants(1).updates("w", subresource=""), spec=2)
    at, asked = last(script, Asked)
    script.entries[at] = msgspec.structs.replace(asked, precondition_revision=str(last(script, Committed)[1].revision))
    assert makers(script, "w") == ["-", "-"]


def test_of_two_writes_that_were_answered_with_a_revision_that_one_made_it_which_can_have() -> None:
    script = trial().wants(1).updates("w", subresource="")
    at, answered = last(script, Answered)
    _, made = last(script.says(1), Answered)
    script.entries[at] = msgspec.structs.replace(answered, revision=made.revision)
    assert [commit.by.asked.subresource for commit in Trial(script.ends()).commits if commit.by] == ["status"]
