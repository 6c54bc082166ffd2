"""The properties of a stream: what may leave and what may not, one script each."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from staleproof.core.engine.gate import Burst
from staleproof.core.history.frame import Frame
from staleproof.core.history.monitor import Monitor

from ..cluster import bookmark, event

modified, deleted = (partial(event, type_, "x") for type_ in ("MODIFIED", "DELETED"))
end = partial(bookmark, initial_end=True)
ERROR = Frame("ERROR", "", "", "", None, initial_end=False, raw=b"")
UNREADABLE = Frame("UNREADABLE", "", "", "", None, initial_end=False, raw=b"?")
Watch = Callable[[], Monitor]


def added(revision: int | None, name: str = "") -> Frame:
    """Each revision is another object, unless they have one name."""
    return event("ADDED", name or str(revision), revision)


def resumed(start: int) -> Watch:
    return lambda: Monitor(start, watch_list=False)


def watch_list() -> Monitor:
    return Monitor(None, watch_list=True)


def from_now() -> Monitor:
    """A plain WATCH without a revision: initial events without a mark at their end."""
    return Monitor(None, watch_list=False)


def passed_on(monitor: Monitor, frames: Sequence[Frame]) -> list[str | None]:
    """Each frame comes and leaves at once; what that breaks."""
    burst = Burst(monitor.start is None, monitor.watch_list)
    found: list[str | None] = []
    for frame in frames:
        monitor.came(frame, initial=burst.has(frame))
        breach = monitor.see(frame)
        assert breach is None or str(breach).startswith(f"{breach.property}: ")
        found.append(str(breach) if breach else None)
    return found


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
    assert passed_on(monitor, frames) == [None] * len(frames)
    assert monitor.ended() is None


@pytest.mark.parametrize(
    ("watch", "frames", "breach"),
    [
        # Ordered: events rise
        (resumed(5), [modified(7), modified(6)], "Ordered: MODIFIED 6 after 7"),
        (watch_list, [added(3), end(9), added(2)], "Ordered: ADDED 2 after 3"),
        (from_now, [modified(6), added(3)], "Ordered: ADDED 3 after 6"),
        (from_now, [added(5), bookmark(6), added(4)], "Ordered: ADDED 4 after 5"),  # a bookmark ends the initial events
        # Unique: and strictly; an object comes once among the initial events
        (resumed(5), [modified(7), modified(7)], "Unique: MODIFIED 7 twice"),
        (watch_list, [added(3), end(9), added(3)], "Unique: ADDED 3 twice"),
        (from_now, [added(6), modified(6)], "Unique: MODIFIED 6 twice"),
        (watch_list, [added(3, "u"), added(4), added(5, "u")], "Unique: trial/u came twice among the initial events"),
        (from_now, [added(3, "u"), added(3, "u")], "Unique: trial/u came twice among the initial events"),
        # Resumable: a watch from a revision starts behind it
        (resumed(5), [modified(5)], "Resumable: MODIFIED 5 on a watch from 5"),
        (resumed(5), [added(3)], "Resumable: ADDED 3 on a watch from 5"),
        (resumed(5), [modified(6), deleted(4)], "Resumable: DELETED 4 on a watch from 5"),
        (resumed(5), [added(None)], "Resumable: ADDED 0 on a watch from 5"),
        # Bookmarkable: never behind what was shown, nothing older after it
        (resumed(5), [bookmark(4)], "Bookmarkable: bookmark 4 after 5"),
        (resumed(5), [modified(7), bookmark(6)], "Bookmarkable: bookmark 6 after 7"),
        (resumed(5), [bookmark(9), bookmark(8)], "Bookmarkable: bookmark 8 after 9"),
        (resumed(5), [bookmark(6), bookmark(None)], "Bookmarkable: bookmark 0 after 6"),
        (resumed(5), [bookmark(9), modified(8)], "Bookmarkable: MODIFIED 8 after bookmark 9"),
        (resumed(5), [bookmark(9), modified(9)], "Bookmarkable: MODIFIED 9 after bookmark 9"),
        (watch_list, [added(9), end(8)], "Bookmarkable: bookmark 8 after 9"),
        (watch_list, [added(3), end(9), modified(9)], "Bookmarkable: MODIFIED 9 after bookmark 9"),
        # Atomic: the initial events are one snapshot
        (watch_list, [added(3), modified(4)], "Atomic: MODIFIED 4 before the end of the initial events"),
        (watch_list, [added(3), deleted(4)], "Atomic: DELETED 4 before the end of the initial events"),
        (watch_list, [added(3), bookmark(4), modified(5)], "Atomic: MODIFIED 5 before the end of the initial events"),
        # Final
        (resumed(5), [ERROR, modified(6)], "Final: nothing may follow an ERROR, but MODIFIED 6 did"),
        (resumed(5), [ERROR, ERROR], "Final: nothing may follow an ERROR, but ERROR None did"),
        (watch_list, [ERROR, end(6)], "Final: nothing may follow an ERROR, but BOOKMARK 6 did"),
    ],
)
def test_guilty(watch: Watch, frames: list[Frame], breach: str) -> None:
    assert passed_on(watch(), frames) == [None] * (len(frames) - 1) + [breach]


def test_the_newest_revision_counts_even_after_a_breach() -> None:
    found = passed_on(resumed(5)(), [modified(9), modified(7), modified(8), modified(10)])
    assert [breach is None for breach in found] == [True, False, False, True]


# --- what came against what left -------------------------------------------------------------------------------------------------

Move = tuple[str, Frame]


def moves(what: str, *frames: Frame) -> list[Move]:
    return [(what, frame) for frame in frames]


came, initial, lost, left = (partial(moves, what) for what in ("came", "initial", "lost", "left"))


def made(monitor: Monitor, moves: Sequence[Move]) -> list[str]:
    """What is broken by these moves and by the end of the stream."""
    found = []
    for what, frame in moves:
        match what:
            case "left":
                found.append(monitor.see(frame))
            case "lost":
                monitor.lost(frame)
            case _:
                monitor.came(frame, initial=what == "initial")
    return [str(breach) for breach in (*found, monitor.ended()) if breach]


A, B, C = modified(6), modified(7), modified(8)


@pytest.mark.parametrize(
    ("watch", "moves", "breaches"),
    [
        # late is not lost
        (resumed(5), [*came(A, B), *left(A, B)], []),
        (resumed(5), [*came(A, B), *left(A)], []),
        (resumed(5), [*came(A, B, bookmark(7)), *left(A)], []),
        # an event that never leaves, and a newer one does
        (resumed(5), [*came(A, B), *left(B)], ["Reliable: event 6 never left, 7 did"]),
        (resumed(5), [*came(A), *lost(A), *came(B), *left(B)], ["Reliable: 6 never left, 7 did"]),
        (resumed(5), [*came(A), *lost(A), *came(bookmark(6)), *left(bookmark(6))], ["Reliable: 6 never left, 6 did"]),
        (resumed(5), [*came(A, B), *lost(B), *left(A)], []),  # the client resumes before it
        (resumed(5), [*came(A, B, C), *lost(B), *left(A, C)], ["Reliable: 7 never left, 8 did"]),
        (resumed(5), [*came(A), *lost(A)], []),
        (resumed(5), [*came(bookmark(6)), *lost(bookmark(6)), *came(B), *left(B)], []),  # a bookmark is not missed
        # reported once
        (resumed(5), [*came(A), *lost(A), *came(B, C), *left(B, C)], ["Reliable: 6 never left, 7 did"]),
        # overtaken
        (resumed(5), [*came(A, B), *left(B, A)], ["Ordered: MODIFIED 6 after 7"]),
        (resumed(5), [*came(A, bookmark(7)), *left(bookmark(7), A)], [
            "Bookmarkable: bookmark 7 before event 6",
            "Bookmarkable: MODIFIED 6 after bookmark 7",
        ]),
        # initial events
        (watch_list, [*initial(added(3), added(4), end(4)), *left(added(3), added(4), end(4))], []),
        (watch_list, [*initial(added(3), added(4), end(4)), *left(added(3))], []),
        (watch_list, [*initial(added(3), added(4), end(4)), *left(added(3), end(4))], [
            "Atomic: 1 initial events had not left before their end bookmark 4"
        ]),
        # live events that look like initial ones
        (watch_list, [*initial(added(3), end(4)), *left(added(3)), *came(added(5)), *left(added(5))], [
            "Atomic: ADDED 5 before the end of the initial events"
        ]),
        (from_now, [*initial(added(3)), *left(added(3)), *came(modified(6), added(7)), *left(modified(6), added(7))], []),
    ],
)  # fmt: skip
def test_what_came_and_what_left(watch: Watch, moves: list[Move], breaches: list[str]) -> None:
    assert made(watch(), moves) == breaches
