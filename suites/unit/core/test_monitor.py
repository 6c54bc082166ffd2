"""The properties of a stream: what may leave and what may not, one script each."""

from collections.abc import Callable

import pytest

from staleproof.core.frame import Frame
from staleproof.core.monitor import Monitor


def added(revision: int | None, uid: str = "") -> Frame:
    return Frame("ADDED", "a", f"pod-{uid}", uid or str(revision), revision, initial_end=False, raw=b"")


def modified(revision: int) -> Frame:
    return Frame("MODIFIED", "a", "x", "u", revision, initial_end=False, raw=b"")


def deleted(revision: int) -> Frame:
    return Frame("DELETED", "a", "x", "u", revision, initial_end=False, raw=b"")


def bookmark(revision: int | None) -> Frame:
    return Frame("BOOKMARK", "", "", "", revision, initial_end=False, raw=b"")


def end(revision: int) -> Frame:
    return Frame("BOOKMARK", "", "", "", revision, initial_end=True, raw=b"")


ERROR = Frame("ERROR", "", "", "", None, initial_end=False, raw=b"")
UNREADABLE = Frame("UNREADABLE", "", "", "", None, initial_end=False, raw=b"?")


Watch = Callable[[], Monitor]


def resumed(start: int) -> Watch:
    return lambda: Monitor(start, watch_list=False)


def watch_list() -> Monitor:
    return Monitor(None, watch_list=True)


def from_now() -> Monitor:
    """A plain WATCH without a revision: initial events without a mark at their end."""
    return Monitor(None, watch_list=False)


@pytest.mark.parametrize(
    ("watch", "frames"),
    [
        (resumed(5), []),
        (resumed(5), [added(6), modified(7), deleted(9), added(10)]),
        (resumed(5), [bookmark(5), bookmark(5), modified(6), bookmark(6), bookmark(8), modified(9)]),
        (resumed(5), [modified(6), ERROR]),
        (resumed(5), [UNREADABLE, modified(6), UNREADABLE, modified(7)]),
        (watch_list, [end(5)]),
        (watch_list, [added(5), added(3), added(4), end(5), modified(6), added(7)]),
        (watch_list, [added(5), ERROR]),
        (watch_list, [added(5), end(9), bookmark(9), added(10)]),
        (from_now, [added(5), added(3), modified(6), added(7), deleted(8)]),
        (from_now, [added(5), added(3), bookmark(5), modified(6)]),
        (from_now, [modified(1)]),
    ],
)
def test_innocent(watch: Watch, frames: list[Frame]) -> None:
    monitor = watch()
    assert [monitor.see(frame) for frame in frames] == [None] * len(frames)


@pytest.mark.parametrize(
    ("watch", "frames", "breach"),
    [
        # Ordered, Unique: events strictly rise
        (resumed(5), [modified(7), modified(6)], "Ordered, Unique: MODIFIED 6 after 7"),
        (resumed(5), [modified(7), modified(7)], "Ordered, Unique: MODIFIED 7 after 7"),
        (resumed(5), [modified(5)], "Ordered, Unique: MODIFIED 5 after 5"),
        (resumed(5), [added(3)], "Ordered, Unique: ADDED 3 after 5"),
        (resumed(5), [deleted(4)], "Ordered, Unique: DELETED 4 after 5"),
        (resumed(5), [added(None)], "Ordered, Unique: ADDED 0 after 5"),
        (watch_list, [added(3), end(9), modified(9)], "Ordered, Unique: MODIFIED 9 after 9"),
        (watch_list, [added(3), end(9), added(3)], "Ordered, Unique: ADDED 3 after 9"),
        (from_now, [modified(6), added(3)], "Ordered, Unique: ADDED 3 after 6"),
        (from_now, [added(5), bookmark(6), added(4)], "Ordered, Unique: ADDED 4 after 6"),  # a bookmark ends the initial events
        (from_now, [added(6), modified(6)], "Ordered, Unique: MODIFIED 6 after 6"),
        # Unique: an object comes once among the initial events
        (watch_list, [added(3, "u"), added(4), added(5, "u")], "Unique: a/pod-u came twice among the initial events"),
        (from_now, [added(3, "u"), added(3, "u")], "Unique: a/pod-u came twice among the initial events"),
        # Bookmarkable: never behind what was shown, nothing older after it
        (resumed(5), [bookmark(4)], "Bookmarkable: bookmark 4 after 5"),
        (resumed(5), [modified(7), bookmark(6)], "Bookmarkable: bookmark 6 after 7"),
        (resumed(5), [bookmark(9), bookmark(8)], "Bookmarkable: bookmark 8 after 9"),
        (resumed(5), [bookmark(None)], "Bookmarkable: bookmark 0 after 5"),
        (resumed(5), [bookmark(9), modified(8)], "Ordered, Unique: MODIFIED 8 after 9"),
        (resumed(5), [bookmark(9), modified(9)], "Ordered, Unique: MODIFIED 9 after 9"),
        (watch_list, [added(9), end(8)], "Bookmarkable: bookmark 8 after 9"),
        # Atomic: the initial events are one snapshot
        (watch_list, [added(3), modified(4)], "Atomic: MODIFIED 4 before the end of the initial events"),
        (watch_list, [added(3), deleted(4)], "Atomic: DELETED 4 before the end of the initial events"),
        (watch_list, [added(3), bookmark(4), modified(5)], "Atomic: MODIFIED 5 before the end of the initial events"),
        # frame rules
        (resumed(5), [ERROR, modified(6)], "nothing may follow an ERROR, but MODIFIED 6 did"),
        (resumed(5), [ERROR, ERROR], "nothing may follow an ERROR, but ERROR None did"),
        (watch_list, [ERROR, end(6)], "nothing may follow an ERROR, but BOOKMARK 6 did"),
    ],
)
def test_guilty(watch: Watch, frames: list[Frame], breach: str) -> None:
    monitor = watch()
    assert [monitor.see(frame) for frame in frames] == [None] * (len(frames) - 1) + [breach]


def test_the_newest_revision_counts_even_after_a_breach() -> None:
    monitor = resumed(5)()
    assert [monitor.see(frame) is None for frame in (modified(9), modified(3), modified(8), modified(10))] == [
        True,
        False,
        False,
        True,
    ]
