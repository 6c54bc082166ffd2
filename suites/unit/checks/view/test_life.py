"""What a life of the controller had been shown, entry by entry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pytest

from staleproof.checks.trial import Trial
from staleproof.checks.view.life import View, view, withheld_between
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Delivered,
    Dropped,
    Entry,
    EventType,
    Item,
    Listed,
    Opened,
    Refused,
    RequestId,
    Settled,
    Started,
    StreamId,
    Withheld,
)
from staleproof.core.history.resource_version import Revision

from ..script import WIDGETS, Script, trial

PODS, GONE = "pods", 1000


@dataclass(frozen=True)
class Shown:
    """By uid the newest revision shown, GONE for an end, None for a uid only from an answer; by name the uid believed to be there;
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


def viewed(entries: Sequence[Entry], truth: Sequence[Committed] = (), *, before: int | None = None) -> View:
    """What was known before an entry, or in the end; what had been committed is recorded behind them all."""
    history = replace(trial().unfinished(), entries=(*entries, *truth))
    return view(Trial(history), len(entries) if before is None else before)


def shown(seen: View) -> Shown:
    known = {uid: seen.of(uid) for uid in ("u0", "u1", "u2", "u3")}
    uids = {uid: GONE if each.has_seen(GONE) else each.shown for uid, each in known.items() if each.is_known or each.has_seen(GONE)}
    present = {name: uid for name in ("a", "b", "c", "old") if (uid := seen.present(PODS, name))}
    listed_at = max((r for r in range(100) if seen.has_listed(PODS, r)), default=-1)
    return Shown(uids, present, seen.newest(PODS), listed_at)


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
    assert shown(viewed(entries, TRUTH)) == expected


ABSENT = {"app=x": {"u1", "u3"}, "app=z": set(), "metadata.name=b": {"u2"}, "spec.nodeName=n": {"u1", "u2", "u3"}}
"""What an empty list at 16 may have shown not to be there, by its selector; the last of them cannot be read."""


@pytest.mark.parametrize(("selector", "absent"), ABSENT.items(), ids=ABSENT)
def test_a_list_shows_the_absence_of_what_it_may_have_held(selector: str, absent: set[str]) -> None:
    found = viewed([listed(16, selector=selector)], TRUTH)
    last = {"u1": 7, "u2": 8, "u3": 15}

    assert {uid for uid, revision in last.items() if found.of(uid).has_seen(revision)} == absent
    assert not any(found.of(uid).has_met(revision) for uid, revision in last.items())
    assert not any(found.of(uid).has_seen(17) for uid in last)


@pytest.mark.parametrize("selector", ["", "app=x", "app=y", "spec.nodeName=n"])
def test_a_list_looks_for_what_surely_fits(selector: str) -> None:
    entries: list[Entry] = [listed(5, selector=selector), Started(at=0, life=2)]
    found = [viewed(entries, TRUTH, before=at) for at in (0, 1, 2)]

    assert [each.has_looked_for("u1", PODS) for each in found] == [False, selector in ("", "app=x"), False]
    assert not found[1].has_looked_for("u1", "nodes")


@pytest.mark.parametrize(("entries", "expected"), CASES.values(), ids=CASES.keys())
def test_what_was_shown(entries: Sequence[Entry], expected: Shown) -> None:
    assert shown(viewed(entries)) == expected


@pytest.mark.parametrize("entries", [entries for entries, _ in CASES.values()], ids=CASES.keys())
def test_what_is_asked_later_of_a_position_is_answered_as_it_was_then(entries: Sequence[Entry]) -> None:
    for end in range(len(entries) + 1):
        assert shown(viewed(entries, before=end)) == shown(viewed(entries[:end]))


def test_an_object_is_seen_up_to_what_was_shown_of_it() -> None:
    seen = viewed([opened(), A1, asked("create"), answered(201, name="b", uid="u2", revision=8)])

    assert [seen.of("u1").has_seen(revision) for revision in (7, 8)] == [True, False]
    assert [seen.of(uid).has_seen(0) for uid in ("u1", "u2", "u3")] == [True, False, False]


def test_a_list_says_nothing_of_other_resources_and_namespaces() -> None:
    assert not viewed([opened(), listed(9, namespace="ns")]).has_listed("nodes", 1)
    assert not viewed([opened(), listed(9, namespace="elsewhere")]).has_listed(PODS, 9)


def test_a_version_was_shown_or_passed_over() -> None:
    seen = viewed([opened(), A1, event("MODIFIED", "a", "u1", 9)])

    assert [seen.has_shown("u1", revision) for revision in (7, 8, 9)] == [True, False, True]


PAST = {
    "a newer state was known": ([opened(), event("ADDED", "a", "u1", 9), listed(7, item("a", "u1", 7), fault=0)], 7),
    "and comes again": (
        [opened(), event("ADDED", "a", "u1", 9), listed(7, item("a", "u1", 7), fault=0), event("MODIFIED", "a", "u1", 8)],
        8,
    ),
    "none was known": ([listed(7, item("a", "u1", 7), fault=0)], 0),
    "no fault made it old": ([opened(), event("ADDED", "a", "u1", 9), listed(7, item("a", "u1", 7))], 0),
    "another life was shown it": (
        [opened(), event("ADDED", "a", "u1", 9), listed(7, item("a", "u1", 7), fault=0), Started(at=0, life=2)],
        0,
    ),
}


@pytest.mark.parametrize(("entries", "back"), PAST.values(), ids=PAST)
def test_a_list_of_the_past_takes_an_object_back(entries: Sequence[Entry], back: int) -> None:
    assert viewed(entries).of("u1").back == back


def test_a_view_is_of_the_client_that_was_first_heard_of() -> None:
    script = trial().applied("w").creates("w-a").adds(Opened, stream=9, client="another", resource="nodes", since=300)
    script.adds(Delivered, stream=9, type="ADDED", name="n", uid="u9", revision=301)
    seen = view(Trial(script.ends()), len(script.entries))

    assert (seen.newest("nodes"), seen.of("u9").is_known) == (0, False)
    assert seen.newest(WIDGETS) > 0
    assert not view(Trial(trial().unfinished()), 0).of("u9").is_known


# --- frames that are kept

BOOKMARK = {"stream": 1, "type": "BOOKMARK", "revision": 107}


def held() -> Script:
    return trial().wants(1).hold().creates("w-a", "w-b")


KEPT = {
    "nothing was held": (trial().wants(1).creates("w-a"), set(), None),
    "what is held is kept": (held(), {"pods"}, 102),
    "until it leaves": (held().let_go(), set(), None),
    "a stream that ended keeps nothing": (held().relist(), set(), None),
    "a life that ended keeps nothing": (held().restarted(), set(), None),
    "a dropped bookmark is not kept": (trial().adds(Withheld, **BOOKMARK).adds(Dropped, **BOOKMARK), set(), None),
    "nor one that was never held": (trial().adds(Dropped, **BOOKMARK), set(), None),
    "another stream of the resource may have shown more": (held().watches_apart(), {"pods"}, None),
    "another stream that keeps something, too": (
        held().watches_apart().adds(Withheld, stream=9, type="ADDED", uid="u", name="w-b", revision=103),
        {"pods"},
        103,
    ),
}


@pytest.mark.parametrize(("script", "resources", "oldest"), KEPT.values(), ids=KEPT)
def test_what_is_kept(script: Script, resources: set[str], oldest: int | None) -> None:
    seen = view(Trial(script.unfinished()), len(script.entries))

    assert (seen.withheld(), seen.oldest_withheld("pods")) == (resources, oldest)


def test_what_was_kept_at_some_time() -> None:
    script = held().let_go()
    found = Trial(script.unfinished())
    first, *_, last = [i for i, entry in enumerate(script.entries) if isinstance(entry, Withheld)]
    gone = len(script.entries) - 1

    assert [view(found, index).withheld() for index in (first, first + 1, gone, gone + 1)] == [set(), {"pods"}, {"pods"}, set()]
    assert [withheld_between(found, *span) for span in [(0, first), (0, first + 1), (last, gone), (gone, gone + 1)]] == [
        set(),
        {"pods"},
        {"pods"},
        set(),
    ]
    assert withheld_between(found, last, last) == set()


# --- first lists

LIST = Asked(at=0, request=RequestId(1), client="c", verb="list", resource="pods")
WATCH_LIST = Opened(at=0, stream=StreamId(7), client="c", resource="pods", watch_list=True, bookmarks=True)
BEGUN = (
    (LIST,),
    (WATCH_LIST,),
    (Refused(at=0, client="c", resource="pods", watch_list=True, code=422),),
    (LIST, Listed(at=0, request=RequestId(1), client="c", resource="pods", revision=Revision(1), more=True)),
)
COMPLETE = (
    (LIST, Listed(at=0, request=RequestId(1), client="c", resource="pods", revision=Revision(1))),
    (WATCH_LIST, Delivered(at=0, stream=StreamId(7), type="BOOKMARK", revision=Revision(1), initial_end=True)),
    (Opened(at=0, stream=StreamId(7), client="c", resource="pods", start="5"),),
    (Opened(at=0, stream=StreamId(7), client="c", resource="pods", watch_list=True),),  # it has no end that could be seen
    (Opened(at=0, stream=StreamId(7), client="c", resource="pods", watch_list=True, since=Revision(5)),),
)


def first_list(*entries: Entry, resource: str = "pods") -> str:
    """How far it has come."""
    seen = viewed(entries)
    under_way, complete = seen.awaits_first_list(resource), seen.has_first_list(resource)
    assert not (under_way and complete)
    return "under way" if under_way else "complete" if complete else "not begun"


@pytest.mark.parametrize("entries", BEGUN)
def test_a_first_list_that_was_begun_is_under_way(entries: tuple[Entry, ...]) -> None:
    assert first_list(*entries) == "under way"


@pytest.mark.parametrize("entries", COMPLETE)
def test_until_it_is_complete_in_this_life(entries: tuple[Entry, ...]) -> None:
    again = Started(at=1, life=2)

    assert [first_list(*entries), first_list(*entries, LIST)] == ["complete", "complete"]
    assert [first_list(*entries, again), first_list(*entries, again, LIST)] == ["not begun", "under way"]


def test_a_list_that_was_never_asked_for_is_neither() -> None:
    assert first_list(LIST, resource="secrets") == "not begun"
