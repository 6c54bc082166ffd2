"""What left the proxy is held against truth, and nothing is accused that could have been right."""

from collections.abc import Callable
from typing import Any, Literal, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.fault import AnyFault, DropFrame, HoldStream, NoEndBookmark, Reorder, RepeatFrame
from staleproof.core.history.entry import (
    Broke,
    Committed,
    Delivered,
    Dropped,
    Ended,
    Entry,
    EventType,
    Item,
    Listed,
    Opened,
    Withheld,
)
from staleproof.core.history.history import Header, History
from staleproof.core.history.monitor import Property
from staleproof.core.history.resource_version import Revision
from staleproof.core.history.watch_properties import breaches, unexplained
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply

NAMESPACE = "ns"
Commit = tuple[Literal["ADDED", "MODIFIED", "DELETED"], str, int]
A: Commit = ("ADDED", "a", 11)
A2: Commit = ("MODIFIED", "a", 12)
B: Commit = ("ADDED", "b", 13)
GONE: Commit = ("DELETED", "a", 14)
C: Commit = ("ADDED", "c", 15)
LEFT_OUT = "Reliable: stream 1 of pods: 12 was committed and never left, 13 did"
BEGAN = "Resumable: stream 1 of pods: 12 was committed and never left, 13 did; it began behind 11"
TRUTH = (A, A2, B, GONE, C)


class Tale:
    """What truth saw, and what one stream (number 1, pods, of all namespaces) was given. Everything happens in the order given."""

    def __init__(self, *truth: Commit, namespace: str = NAMESPACE) -> None:
        self.entries: list[Entry] = []
        for what, name, revision in truth:
            fields = {"namespace": namespace, "name": name, "uid": f"uid-{name}", "revision": revision, "object": {}}
            self.add(Committed, resource="pods", type=what, **fields)

    def add(self, entry: Any, **fields: Any) -> Self:  # noqa: ANN401
        self.entries.append(entry(at=0.1 * len(self.entries), **fields))
        return self

    def opens(self, start: str = "10", **fields: Any) -> Self:  # noqa: ANN401
        return self.add(Opened, stream=1, client="controller", resource="pods", start=start, **fields)

    def watch_list(self, **fields: Any) -> Self:  # noqa: ANN401
        return self.opens("", watch_list=True, bookmarks=True, **fields)

    def shows(self, *frames: tuple[EventType, str, int | None]) -> Self:
        for what, name, revision in frames:
            self.add(Delivered, stream=1, type=what, namespace=NAMESPACE, name=name, uid=f"uid-{name}", revision=revision)
        return self

    def drops(self, frame: Commit, *, fault: int | None = None) -> Self:
        return self.add(Dropped, stream=1, type=frame[0], revision=frame[2], fault=fault)

    def withholds(self, frame: Commit) -> Self:
        return self.add(Withheld, stream=1, type=frame[0], revision=frame[2], fault=0)

    def bookmark(self, revision: int, *, end: bool = False) -> Self:
        return self.add(Delivered, stream=1, type="BOOKMARK", revision=revision, initial_end=end)

    def lists(self, revision: int, *items: tuple[str, int], **fields: Any) -> Self:  # noqa: ANN401
        found = tuple(Item(NAMESPACE, name, f"uid-{name}" if name else "", Revision(at)) for name, at in items)
        return self.add(Listed, request=1, client="controller", resource="pods", revision=revision, items=found, **fields)

    def history(self, *faults: AnyFault, complete: bool = True) -> History:
        plan = Plan(scenario="test", steps=(Apply(object={}),), faults=faults)
        entries = (*self.entries, Ended(at=99.0)) if complete else tuple(self.entries)
        return History(Header(plan=plan, namespace=NAMESPACE), entries)

    def broken(self, *faults: AnyFault, complete: bool = True) -> list[Property]:
        return [breach.property for breach in breaches(self.history(*faults, complete=complete))]


def tale() -> Tale:
    return Tale(*TRUTH)


# --- right -----------------------------------------------------------------------------------------------------------------------


RIGHT = {
    "nothing": Tale(),
    "truth alone": tale(),
    "an idle stream": tale().opens(),
    "everything": tale().opens().shows(*TRUTH),
    "bookmarks": tale().opens().shows(A, A2).bookmark(12).shows(B).bookmark(13).bookmark(13),
    "a resumed stream": tale().opens("12").shows(B, GONE),
    "a stream from before the trial": tale().opens("1", since=12).shows(B, GONE, C),
    "initial events in any order": tale().opens("").shows(("ADDED", "b", 13), ("ADDED", "a", 12), GONE, C),
    "initial events from before the trial": tale().opens("0").shows(("ADDED", "old", 3), ("ADDED", "b", 13), GONE),
    "a WatchList": tale().watch_list().shows(("ADDED", "b", 13), ("ADDED", "a", 12)).bookmark(13, end=True).shows(GONE, C),
    "a WatchList with older objects": tale().watch_list().shows(("ADDED", "old", 5), A).bookmark(11, end=True).shows(A2, B),
    "an empty WatchList": tale().watch_list().bookmark(10, end=True).shows(*TRUTH),
    "lists": tale().lists(10).lists(11, ("a", 11)).lists(13, ("b", 13), ("a", 12)).lists(99, ("c", 15), ("b", 13)),
    "a list of the past": tale().lists(13, ("old", 2), ("a", 12), ("b", 13), fault=0),
}


@pytest.mark.parametrize("seen", RIGHT.values(), ids=RIGHT)
def test_what_is_right_is_not_accused(seen: Tale) -> None:
    assert seen.broken() == []
    assert seen.broken(complete=False) == []


UNKNOWN = {
    "a stream with a selector": tale().opens(selector="app=x").shows(A, B),
    "a stream of another namespace": tale().opens(namespace="elsewhere").bookmark(20),
    "an unreadable frame": tale().opens().shows(A, ("UNREADABLE", "", None), B),
    "truth that broke": tale().add(Broke, where="truth", why="the direct watch on pods broke").opens().shows(A, B),
    "initial events without an end": tale().opens("").shows(A, B),
    "a stream that was never opened": tale().shows(A, A, A),
    "initial events with a selector": tale().watch_list(selector="app=x").shows(A).bookmark(13, end=True),
    "initial events as Table": tale()
    .watch_list()
    .shows(("ADDED", "b", 13))
    .add(Delivered, stream=1, type="ADDED", revision=12)
    .bookmark(13, end=True),
    "a list with a selector": tale().lists(13, selector="app=x"),
    "a list of another namespace": tale().lists(13, namespace="elsewhere"),
    "a list as Table": tale().lists(13, ("", 12)),
    "a list in pages": tale().lists(13, more=True).lists(13, ("b", 13)),
}


@pytest.mark.parametrize("seen", UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_known_is_not_accused(seen: Tale) -> None:
    assert seen.broken() == []


def test_truth_may_be_behind_at_the_end() -> None:
    """An incomplete trial: truth has not seen what the stream and the list show already."""
    seen = Tale(A).watch_list().shows(("ADDED", "b", 13)).bookmark(14, end=True).shows(C).lists(14, ("b", 13))
    assert seen.broken(complete=False) == []


def test_of_cluster_scoped_resources_truth_may_be_behind_even_in_a_complete_trial() -> None:
    assert Tale(A, namespace="").lists(14, ("b", 13)).broken() == []


def test_a_stream_that_another_plan_announces_again_goes_on() -> None:
    assert tale().opens().shows(A, A2).opens(since=12).shows(B).broken() == []
    assert tale().opens().shows(A).opens(since=12).shows(B).broken() == ["Reliable"]


def test_initial_events_from_before_the_trial_are_judged_once_they_have_ended() -> None:
    """It was taken for a live stream; its end shows that nothing had been out of order."""
    begun = tale().watch_list(since=13).shows(A, ("ADDED", "old", 5))
    assert begun.broken() == ["Resumable"]
    assert tale().watch_list(since=13).shows(A, ("ADDED", "old", 5)).bookmark(14, end=True).shows(C).broken() == []
    assert tale().watch_list(since=9).shows(A).bookmark(11, end=True).shows(B).broken() == ["Reliable"]


# --- wrong -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "what"),
    [
        (tale().opens().shows(A, B), LEFT_OUT),
        (tale().opens().shows(A).bookmark(13), LEFT_OUT),
        (tale().opens("1", since=11).shows(B), LEFT_OUT),
        (tale().opens("11").shows(B), BEGAN),
        (tale().opens("10").drops(A).shows(A2), "Reliable: stream 1 of pods: 11 was committed and never left, 12 did"),
        (tale().opens("0").shows(A, A2, GONE), "Reliable: stream 1 of pods: 13 was committed and never left, 14 did"),
        (tale().watch_list().shows(A).bookmark(11, end=True).shows(B), LEFT_OUT),
        (tale().opens("11").shows(A, A2), "Resumable: stream 1 of pods: ADDED 11 on a watch from 11"),
        (tale().opens().shows(A, A2, A2, B), "Unique: stream 1 of pods: MODIFIED 12 twice"),
        (tale().opens().shows(A, B, A2, GONE), "Ordered: stream 1 of pods: MODIFIED 12 after 13"),
        (tale().opens().shows(A).withholds(A2).shows(B), "Ordered: stream 1 of pods: event 12 waited, and 13 overtook it"),
        (tale().opens().bookmark(12).shows(A, A2), "Bookmarkable: stream 1 of pods: ADDED 11 after bookmark 12"),
        (tale().opens().shows(A, A2).bookmark(11), "Bookmarkable: stream 1 of pods: bookmark 11 after 12"),
        (
            tale().watch_list().shows(("ADDED", "a", 12)).shows(GONE),
            "Atomic: stream 1 of pods: DELETED 14 before the end of the initial events",
        ),
        (tale().watch_list().shows(A, A), "Unique: stream 1 of pods: ns/a came twice among the initial events"),
        (
            tale().opens().add(Delivered, stream=1, type="ERROR", revision=None).shows(A),
            "Final: stream 1 of pods: nothing may follow an ERROR, but ADDED 11 did",
        ),
    ],
)
def test_what_a_stream_did_wrong_is_named(seen: Tale, what: str) -> None:
    found = breaches(seen.history())
    assert [str(breach) for breach in found] == [what]


def burst(*shown: tuple[str, int], at: int) -> Tale:
    return tale().watch_list().shows(*(("ADDED", name, revision) for name, revision in shown)).bookmark(at, end=True)


@pytest.mark.parametrize(
    ("shown", "at", "what"),
    [
        ([("a", 12)], 13, "uid uid-b is not in it, truth has it at 13"),
        ([("a", 11), ("b", 13)], 13, "uid uid-a is in it at 11, truth has it at 12"),
        ([("a", 12), ("b", 13)], 14, "uid uid-a is in it, which was gone by then"),
        ([("b", 13), ("c", 15), ("x", 14)], 15, "uid uid-x is in it at 14, which was never committed"),
        ([], 90, "uid uid-b is not in it, truth has it at 13"),
    ],
)
def test_a_snapshot_that_mixes_times_is_none(shown: list[tuple[str, int]], at: int, what: str) -> None:
    (of_list,) = breaches(tale().lists(at, *shown).history())
    (of_burst,) = breaches(burst(*shown, at=at).history())
    assert str(of_list) == f"Atomic: list 1 of pods at {at}: {what}"
    assert str(of_burst) == f"Atomic: stream 1 of pods: its initial events at {at}: {what}"


# --- hostile faults --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        (DropFrame(resource="pods"), tale().opens().shows(A).drops(A2, fault=0).shows(B)),
        (DropFrame(resource="pods"), tale().opens().drops(A, fault=0).shows(A2)),
        (RepeatFrame(resource="pods"), tale().opens().shows(A, A, A2)),
        (Reorder(resource="pods"), tale().opens().shows(A2, A, B)),
        (Reorder(resource="pods"), tale().opens().withholds(A).shows(A2)),
        (NoEndBookmark(resource="pods"), tale().watch_list().shows(("ADDED", "a", 12), ("ADDED", "b", 13), GONE, C)),
    ],
)
def test_a_hostile_fault_explains_the_property_that_it_names_and_no_other(fault: AnyFault, seen: Tale) -> None:
    assert seen.broken(fault) == [type(fault).breaks]
    assert unexplained(seen.history(fault)) == ()
    for other in (HoldStream(resource="pods"), DropFrame(resource="pods"), RepeatFrame(resource="pods")):
        if type(other) is not type(fault):
            assert unexplained(seen.history(other)) == breaches(seen.history(other))


# --- any stream ------------------------------------------------------------------------------------------------------------------


@st.composite
def commits(draw: st.DrawFn) -> list[Commit]:
    """Objects come, change and go; other resources take revisions in between."""
    made: list[Commit] = []
    live: set[str] = set()
    revision = 10
    for name in draw(st.lists(st.sampled_from("abcd"), min_size=3, max_size=20)):
        revision += draw(st.integers(1, 3))
        what: EventType = "ADDED" if name not in live else draw(st.sampled_from(["MODIFIED", "DELETED"]))
        (live.discard if what == "DELETED" else live.add)(name)
        made.append((what, name, revision))  # type: ignore[arg-type]  # no bookmark, no error
    return made


def state(truth: list[Commit], at: int) -> list[tuple[str, int]]:
    found: dict[str, int] = {}
    for what, name, revision in truth:
        if revision <= at:
            found.pop(name, None)
            if what != "DELETED":
                found[name] = revision
    return list(found.items())


@st.composite
def watched(draw: st.DrawFn) -> tuple[Tale, list[Commit]]:
    """A stream that is right, of some truth, and the live events that it has shown."""
    truth = draw(commits())
    start = draw(st.integers(10, truth[-1][2]))
    how: Callable[[], Tale] = draw(st.sampled_from([lambda: resumed(truth, start), lambda: initial(truth, start)]))
    seen, shown = how(), [commit for commit in truth if commit[2] > start]
    for commit in shown:
        seen.shows(commit)
        if draw(st.booleans()):
            seen.bookmark(commit[2])
    return seen, shown


def resumed(truth: list[Commit], start: int) -> Tale:
    return Tale(*truth).opens(str(start))


def initial(truth: list[Commit], start: int) -> Tale:
    seen = Tale(*truth).watch_list()
    return seen.shows(*(("ADDED", name, revision) for name, revision in state(truth, start))).bookmark(start, end=True)


@given(watched())
def test_no_stream_that_is_right_is_accused(made: tuple[Tale, list[Commit]]) -> None:
    seen, _ = made
    assert breaches(seen.history()) == ()
    for length in range(len(seen.entries)):
        beginning = History(seen.history().header, tuple(seen.entries[:length]))
        assert breaches(beginning) == ()


@given(watched(), st.data())
def test_a_stream_that_lacks_an_event_is_always_accused(made: tuple[Tale, list[Commit]], data: st.DataObject) -> None:
    seen, shown = made
    lost = data.draw(st.sampled_from([*shown[:-1], None]))
    seen.entries = [e for e in seen.entries if lost is None or not (isinstance(e, Delivered) and e.revision == lost[2])]
    assert (breaches(seen.history()) != ()) is (lost is not None)
