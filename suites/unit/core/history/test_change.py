"""Which commits and which writes change anything. Literal entries: objects are Widgets with a status."""

from typing import Any, Literal

import pytest

from staleproof.core.history.change import Changes, changed_paths, essential, moved
from staleproof.core.history.entry import Answered, Asked, Committed, RequestId
from staleproof.core.history.resource_version import Revision

WIDGETS = "widgets.staleproof.dev"


def widget(**status: object) -> dict[str, Any]:
    return {"metadata": {"name": "w", "uid": "u"}, "status": status}


def committed(revision: int, type_: Literal["ADDED", "MODIFIED", "DELETED"] = "MODIFIED", **status: object) -> Committed:
    return Committed(
        at=1.0, resource=WIDGETS, type=type_, namespace="n", name="w", uid="u", revision=Revision(revision), object=widget(**status)
    )


def asked(verb: str = "update", namespace: str = "n", *, dry_run: bool = False) -> Asked:
    return Asked(
        at=1.0,
        request=RequestId(1),
        client="c",
        verb=verb,
        resource=WIDGETS,
        namespace=namespace,
        subresource="status",
        dry_run=dry_run,
    )


def answered(revision: int | None, outcome: Literal["ok", "fail", "unknown"] = "ok") -> Answered:
    return Answered(
        at=2.0, request=RequestId(1), outcome=outcome, uid="u", revision=None if revision is None else Revision(revision)
    )


@pytest.mark.parametrize(
    ("before", "after", "paths"),
    [
        ({"ready": 1}, {"ready": 1}, set()),
        ({"ready": 1}, {"ready": 2}, {"status.ready"}),
        ({}, {"ready": None}, {"status.ready"}),
        ({"ready": 1}, {}, {"status.ready"}),
        ({"seen": "2026-01-01T00:00:01Z"}, {"seen": "2026-01-01T00:00:02Z"}, set()),
        ({}, {"seen": "2026-01-01T00:00:02Z"}, {"status.seen"}),
        ({"retries": 1}, {"retries": 2}, set()),
        ({"beats": 1, "ready": 1}, {"beats": 2, "ready": 2}, {"status.ready"}),  # it moves by itself
        ({"names": ["b", "a"]}, {"names": ["a", "b"]}, set()),
    ],
)
def test_what_differs(before: dict[str, object], after: dict[str, object], paths: set[str]) -> None:
    moves = [moved(WIDGETS, "status.beats")]
    assert essential(WIDGETS, widget(**before), widget(**after), moves) == paths
    assert essential("pods", widget(beats=1), widget(beats=2), moves) == {"status.beats"}


def test_a_field_that_is_null_is_not_one_that_is_missing() -> None:
    assert changed_paths({"a": None}, {}) == {"a"}


def test_commits() -> None:
    changes = Changes()
    assert changes.committed(committed(1, "ADDED", ready=1))
    assert not changes.committed(committed(2, ready=1))
    assert changes.committed(committed(3, ready=2))
    assert changes.committed(committed(4, "DELETED", ready=2))
    assert [changes.shown(WIDGETS, Revision(revision)) for revision in (1, 2, 3, 4, 5)] == [True, False, True, True, None]


@pytest.mark.parametrize(
    ("request_", "answer", "expected"),
    [
        (asked(), answered(2), True),  # its commit was heard of first
        (asked(), answered(3), False),  # a time only
        (asked(), answered(9), None),  # its commit has yet to be heard of
        (asked(), answered(2, "fail"), False),
        (asked(), answered(None, "unknown"), True),
        (asked("delete"), answered(None), True),
        (asked(dry_run=True), answered(9), False),
        (asked(namespace=""), answered(9), True),  # no stream will show it
    ],
)
def test_answers(request_: Asked, answer: Answered, expected: object) -> None:
    changes = Changes()
    for entry in (committed(1, "ADDED", seen="2026-01-01T00:00:01Z"), committed(2, seen="2026-01-01T00:00:01Z", ready=1)):
        changes.committed(entry)
    changes.committed(committed(3, seen="2026-01-01T00:00:09Z", ready=1))
    assert changes.answered(request_, answer) is expected
    assert changes.awaits(1.0) is (expected is None)
    assert (("update", WIDGETS, "status") in changes.done) is (expected is True and request_.verb == "update")


def test_a_write_that_leaves_things_as_they_were_is_answered_with_the_revision_of_an_earlier_one() -> None:
    changes = Changes()
    changes.committed(committed(1, "ADDED", ready=1))
    assert [changes.answered(asked(), answered(1)) for _ in range(3)] == [True, False, False]


def test_what_another_user_commits_counts_and_is_no_work_of_the_controller() -> None:
    changes = Changes()
    changes.committed(committed(1, "ADDED", ready=1))
    changes.expect(WIDGETS, Revision(2))
    assert changes.committed(committed(2, ready=1))  # only an annotation of ours, which is not compared
    assert changes.shown(WIDGETS, Revision(2))
    assert changes.answered(asked(), answered(2)) is False
    assert not changes.done


def test_a_commit_that_was_waited_for_says_what_the_write_did() -> None:
    changes = Changes()
    changes.committed(committed(1, "ADDED", ready=1))
    assert changes.answered(asked(), answered(2)) is None
    changes.committed(committed(2, ready=2))
    assert not changes.awaits(0.0)
    assert changes.done == {("update", WIDGETS, "status")}
