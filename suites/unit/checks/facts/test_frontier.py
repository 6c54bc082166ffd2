"""What the controller had been shown, entry by entry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from staleproof.checks.facts.frontier import Frontier, frontier, frontiers
from staleproof.checks.facts.selections import Selections
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Delivered,
    Entry,
    EventType,
    Item,
    Listed,
    Opened,
    RequestId,
    Settled,
    Started,
    StreamId,
)
from staleproof.core.history.resource_version import Revision

from ..script import trial

PODS, GONE = "pods", 1000


@dataclass(frozen=True)
class Shown:
    """By uid the newest revision shown, GONE for an end, None for a uid that was only told; by name the uid believed to be there;
    how far streams and lists reached; how new the newest whole list was."""

    seen: Mapping[str, int | None] = field(default_factory=dict)
    present: Mapping[str, str] = field(default_factory=dict)
    newest: int = 0
    listed: int = -1


def opened(stream: int = 1, **fields: Any) -> Opened:  # noqa: ANN401
    return Opened(at=0, stream=StreamId(stream), client="c", resource=PODS, **fields)


def event(what: EventType, name: str, uid: str, revision: int, *, stream: int = 1, namespace: str = "ns") -> Delivered:
    return Delivered(at=0, stream=StreamId(stream), type=what, namespace=namespace, name=name, uid=uid, revision=Revision(revision))


def bookmark(revision: int, *, initial_end: bool = False) -> Delivered:
    return Delivered(at=0, stream=StreamId(1), type="BOOKMARK", revision=Revision(revision), initial_end=initial_end)


def listed(revision: int, *items: Item, **fields: Any) -> Listed:  # noqa: ANN401
    return Listed(at=0, request=RequestId(1), client="c", resource=PODS, revision=Revision(revision), items=items, **fields)


def item(name: str, uid: str, revision: int = 5) -> Item:
    return Item("ns", name, uid, Revision(revision))


def asked(verb: str, name: str = "", *, subresource: str = "") -> Asked:
    return Asked(
        at=0, request=RequestId(7), client="c", verb=verb, resource=PODS, namespace="ns", name=name, subresource=subresource
    )


def answered(code: int = 200, **fields: Any) -> Answered:  # noqa: ANN401
    return Answered(at=0, request=RequestId(7), outcome="ok" if code < 300 else "fail", code=code, namespace="ns", **fields)


def folded(entries: Sequence[Entry], truth: Sequence[Committed] = ()) -> Frontier:
    found = Frontier(Selections(truth, "ns"))
    for index, entry in enumerate(entries):
        found.advance(index, entry)
    return found


def shown(seen: Frontier, *, before: int) -> Shown:
    uids = {
        uid: GONE if seen.has_seen(uid, GONE, before=before) else seen.shown(uid, before=before)
        for uid in ("u0", "u1", "u2", "u3")
        if seen.is_known(uid, before=before) or seen.has_seen(uid, GONE, before=before)
    }
    present = {name: uid for name in ("a", "b", "c", "old") if (uid := seen.present(PODS, "ns", name, before=before))}
    whole = max((r for r in range(100) if seen.has_listed(PODS, "ns", r, before=before)), default=-1)
    return Shown(uids, present, seen.newest(PODS, before=before), whole)


A1, B2 = event("ADDED", "a", "u1", 7), event("ADDED", "b", "u2", 8)
CASES: dict[str, tuple[Sequence[Entry], Shown]] = {
    "a frame shows its object at its revision": ([opened(), A1], Shown({"u1": 7}, {"a": "u1"}, 7)),
    "an older frame takes nothing back": (
        [opened(), event("MODIFIED", "a", "u1", 9), event("MODIFIED", "a", "u1", 7)],
        Shown({"u1": 9}, {"a": "u1"}, 9),
    ),
    "a deletion shows the end": ([opened(), A1, event("DELETED", "a", "u1", 8)], Shown({"u1": GONE}, {}, 8)),
    "another incarnation shows the end of the one before": (
        [opened(), A1, event("ADDED", "a", "u2", 9)],
        Shown({"u1": GONE, "u2": 9}, {"a": "u2"}, 9),
    ),
    "a bookmark moves the stream but shows no object": ([opened(), bookmark(50)], Shown(newest=50)),
    "a frame of an unknown stream shows nothing": ([A1], Shown()),
    "a stream that was open before has been shown that far": ([opened(since=40)], Shown(newest=40)),
    "a list shows what is in it and that the rest is gone": (
        [opened(), A1, B2, listed(9, item("a", "u1", 7))],
        Shown({"u1": 7, "u2": GONE}, {"a": "u1"}, 9, listed=9),
    ),
    "a list of one namespace says nothing of another": (
        [opened(), event("ADDED", "a", "u1", 7, namespace="elsewhere"), B2, listed(9, namespace="ns")],
        Shown({"u1": 7, "u2": GONE}, {}, 9, listed=9),
    ),
    "a list in pages is not whole before its last page": (
        [opened(), event("ADDED", "c", "u3", 4), listed(9, item("a", "u1"), more=True)],
        Shown({"u1": 5, "u3": 4}, {"a": "u1", "c": "u3"}, 9),
    ),
    "a list in pages is whole with its last page": (
        [opened(), event("ADDED", "c", "u3", 4), listed(9, item("a", "u1"), more=True), listed(9, item("b", "u2"))],
        Shown({"u1": 5, "u2": 5, "u3": GONE}, {"a": "u1", "b": "u2"}, 9, listed=9),
    ),
    "the end of the initial events makes them a list": (
        [
            opened(2),
            event("ADDED", "old", "u0", 5, stream=2),
            opened(watch_list=True),
            A1,
            bookmark(9, initial_end=True),
        ],
        Shown({"u0": GONE, "u1": 7}, {"a": "u1"}, 9, listed=9),
    ),
    "a stream that ends in its initial events shows the end of nothing": (
        [opened(watch_list=True), A1, Closed(at=0, stream=StreamId(1), how="cut")],
        Shown({"u1": 7}, {"a": "u1"}, 7),
    ),
    "a get shows an object": ([asked("get", "a"), answered(name="a", uid="u1", revision=7)], Shown({"u1": 7}, {"a": "u1"})),
    "a get shows an absence": (
        [asked("get", "a"), answered(name="a", uid="u1", revision=7), asked("get", "a"), answered(404)],
        Shown({"u1": GONE}),
    ),
    "that something unknown is not there says nothing": ([asked("get", "a"), answered(404)], Shown()),
    "the answer to an own write tells the uid and shows nothing": (
        [asked("create"), answered(201, name="a", uid="u1", revision=7)],
        Shown({"u1": None}),
    ),
    "the answer to a write of a subresource tells the uid as well": (
        [asked("update", "a", subresource="status"), answered(name="a", uid="u1", revision=7)],
        Shown({"u1": None}),
    ),
    "an answer without a question tells nothing": ([answered(uid="u1")], Shown()),
    "a refusal tells nothing": ([asked("create"), answered(409, uid="u1")], Shown()),
    "a new life knows nothing": ([opened(), A1, listed(9, item("a", "u1")), Started(at=0, life=2)], Shown()),
    "what is none of its business changes nothing": ([Settled(at=0, ok=True)], Shown()),
}


def made(name: str, uid: str, revision: int, app: str, what: Literal["ADDED", "MODIFIED", "DELETED"] = "ADDED") -> Committed:
    stored = {"metadata": {"name": name, "namespace": "ns", "labels": {"app": app}}}
    return Committed(
        at=0, resource=PODS, type=what, namespace="ns", name=name, uid=uid, revision=Revision(revision), object=stored, managers=()
    )


TRUTH = [
    made("a", "u1", 7, "x"),
    made("a", "u1", 20, "y", "MODIFIED"),
    made("b", "u2", 8, "y"),
    made("c", "u3", 9, "x"),
    made("c", "u3", 15, "x", "DELETED"),
]
"""`a` leaves app=x at 20, `b` never is in it, `c` is until its end at 15."""
X = opened(2, selector="app=x")
A1_OF_X, C3_OF_X = event("ADDED", "a", "u1", 7, stream=2), event("ADDED", "c", "u3", 9, stream=2)
A1_LEFT = event("DELETED", "a", "u1", 20, stream=2)
WITH_SELECTOR: dict[str, tuple[Sequence[Entry], Shown]] = {
    "a list shows its items": ([listed(10, item("a", "u1", 7), selector="app=x")], Shown({"u1": 7}, {"a": "u1"}, 10)),
    "and nothing of others": ([opened(), B2, listed(9, selector="app=x")], Shown({"u2": 8}, {"b": "u2"}, 9)),
    "and that what it had shown is gone": (
        [X, C3_OF_X, listed(16, selector="app=x")],
        Shown({"u3": GONE}, {}, 16),
    ),
    "or has left": ([X, A1_OF_X, listed(25, selector="app=x")], Shown({"u1": GONE}, {}, 25)),
    "but for another stream": ([opened(), A1, X, A1_OF_X, listed(25, selector="app=x")], Shown({"u1": 7}, {"a": "u1"}, 25)),
    "a list that is older than the event takes nothing back": (
        [X, C3_OF_X, listed(8, selector="app=x")],
        Shown({"u3": 9}, {"c": "u3"}, 9),
    ),
    "initial events are such a list": (
        [opened(), B2, opened(1, selector="app=x", watch_list=True), A1, bookmark(12, initial_end=True)],
        Shown({"u1": 7, "u2": 8}, {"a": "u1", "b": "u2"}, 12),
    ),
    "an event shows that it has left": ([X, A1_OF_X, A1_LEFT], Shown({"u1": GONE}, {}, 20)),
    "but another stream has it": (
        [X, A1_OF_X, opened(1, selector="app=y"), event("ADDED", "a", "u1", 20), A1_LEFT],
        Shown({"u1": 20}, {"a": "u1"}, 20),
    ),
    "an event shows the end": ([X, C3_OF_X, event("DELETED", "c", "u3", 15, stream=2)], Shown({"u3": GONE}, {}, 15)),
    "it comes back": ([X, A1_OF_X, A1_LEFT, event("ADDED", "a", "u1", 21, stream=2)], Shown({"u1": 21}, {"a": "u1"}, 21)),
}


@pytest.mark.parametrize(("entries", "expected"), WITH_SELECTOR.values(), ids=WITH_SELECTOR.keys())
def test_what_was_shown_with_a_selector(entries: Sequence[Entry], expected: Shown) -> None:
    assert shown(folded(entries, TRUTH), before=len(entries)) == expected


ABSENT = {"app=x": {"u1", "u3"}, "app=z": set(), "metadata.name=b": {"u2"}, "spec.nodeName=n": {"u1", "u2", "u3"}}
"""What an empty list at 16 may have shown not to be there, by its selector; the last of them cannot be read."""


@pytest.mark.parametrize(("selector", "absent"), ABSENT.items(), ids=ABSENT)
def test_a_list_shows_the_absence_of_what_it_may_have_held(selector: str, absent: set[str]) -> None:
    found = folded([listed(16, selector=selector)], TRUTH)
    last = {"u1": 7, "u2": 8, "u3": 15}

    assert {uid for uid, revision in last.items() if found.has_seen(uid, revision, before=1)} == absent
    assert {uid for uid, revision in last.items() if found.is_presumed(uid, revision, before=1)} == absent
    assert not any(found.has_seen(uid, 17, before=1) for uid in last)


@pytest.mark.parametrize("selector", ["", "app=x", "app=y", "spec.nodeName=n"])
def test_a_list_looks_for_what_surely_fits(selector: str) -> None:
    found = folded([listed(5, selector=selector), Started(at=0, life=2)], TRUTH)

    assert [found.has_looked_for("u1", PODS, "ns", before=at) for at in (0, 1, 2)] == [False, selector in ("", "app=x"), False]
    assert not found.has_looked_for("u1", "nodes", "ns", before=1)


@pytest.mark.parametrize(("entries", "expected"), CASES.values(), ids=CASES.keys())
def test_what_was_shown(entries: Sequence[Entry], expected: Shown) -> None:
    assert shown(folded(entries), before=len(entries)) == expected


@pytest.mark.parametrize("entries", [entries for entries, _ in CASES.values()], ids=CASES.keys())
def test_what_is_asked_later_of_a_position_is_answered_as_it_was_then(entries: Sequence[Entry]) -> None:
    whole = folded(entries)

    for end in range(len(entries) + 1):
        assert shown(whole, before=end) == shown(folded(entries[:end]), before=end)


def test_an_object_is_seen_up_to_what_was_shown_of_it() -> None:
    seen = folded([opened(), A1, asked("create"), answered(201, name="b", uid="u2", revision=8)])

    assert [seen.has_seen("u1", revision, before=4) for revision in (7, 8)] == [True, False]
    assert [seen.has_seen(uid, 0, before=4) for uid in ("u1", "u2", "u3")] == [True, False, False]


def test_lists_say_nothing_of_other_resources_and_namespaces() -> None:
    seen = folded([opened(), listed(9, namespace="ns")])

    assert not seen.has_listed("nodes", "", 1, before=2)
    assert not seen.has_listed(PODS, "elsewhere", 9, before=2)


def test_each_client_has_a_frontier_of_its_own_and_the_first_is_the_controllers() -> None:
    script = trial().applied("w").creates("w-a").adds(Opened, stream=9, client="another", resource="nodes", since=300)
    script.adds(Delivered, stream=9, type="ADDED", name="n", uid="u9", revision=301)
    found, end = Trial(script.ends()), len(script.entries)

    assert list(frontiers(found)) == ["controller", "another"]
    assert [each.newest("nodes", before=end) for each in frontiers(found).values()] == [0, 301]
    assert frontier(found) is frontiers(found)["controller"]
    assert not frontier(Trial(trial().unfinished())).is_known("u9", before=end)
