"""Whose each commit is, and what the object was before."""

import msgspec
import pytest

from staleproof.checks.trial import LEADER, Trial
from staleproof.core.entry import Answered

from .report_script import trial
from .script import WIDGETS, Script, reference


def makers(script: Script, name: str) -> list[str]:
    """Of the commits of a name: the verb of the controller's request, with ? if it never heard the answer; - for somebody else."""
    commits = [commit for commit in Trial(script.ends()).commits if commit.entry.name == name]
    return [(c.by.asked.verb + ("" if c.heard else "?")) if c.by else "-" for c in commits]


def unheard(script: Script) -> Script:
    """The controller never hears the answer to what it did last."""
    assert isinstance(script.entries[-1], Answered)
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], outcome="unknown", executed=True)
    return script


@pytest.mark.parametrize(
    ("script", "name", "expected"),
    [
        (trial().wants(1).says(1).wants(2).says(2), "w", ["-", "update", "-", "update"]),
        (trial().wants(1).creates("w-a").removed("w-a"), "w-a", ["create", "-"]),
        (trial().wants(1).made("w-b").deletes("w-b"), "w-b", ["-", "delete"]),
        (trial().wants(1).creates("w-a").deletes("w-a", grace=True), "w-a", ["create", "delete"]),
        (trial().wants(1).creates("w-a", "w-b").deletes_all(), "w-b", ["create", "deletecollection"]),
        (trial().wants(1).creates("w-a").refused("create", "w-a", "AlreadyExists"), "w-a", ["create"]),
        (trial().wants(1).updates("w"), "w", ["-"]),
        (trial().wants(1).says(1).updates("w"), "w", ["-", "update"]),
        (trial().wants(1).terminating("w", WIDGETS).updates("w"), "w", ["-", "-"]),
        (unheard(trial().wants(1).says(1)), "w", ["-", "update?"]),
        (unheard(trial().wants(1).creates("w-a")), "w-a", ["create?"]),
        (unheard(trial().wants(1).creates("w-b").deletes("w-b")), "w-b", ["create", "delete?"]),
    ],
    ids=[
        "its own are those that an answer names",
        "what it created somebody else removed",
        "what somebody else made it deleted",
        "a deletion that is not over yet",
        "a deletecollection deletes each",
        "a refused create made nothing",
        "a write that changes nothing does not make somebody else's change its own",
        "nor its own change that of the second write",
        "nor somebody else's deletion its own",
        "a status write whose answer was lost",
        "a create whose answer was lost",
        "a delete whose answer was lost",
    ],
)
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
