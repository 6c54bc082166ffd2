"""Legal faults about frames: what each decides, and when it ends a stream."""

from typing import get_args

import pytest

from staleproof.core.fault import (
    AddBookmarks,
    DelayStream,
    DropBookmarks,
    HideOwnWrite,
    HoldStream,
    OwnWrite,
    Place,
    Release,
    Seat,
    SeverStream,
    Skew,
    SlowStart,
)
from staleproof.core.fault.decision import (
    DROP,
    HOLD,
    PASS,
    AnswerDecision,
    Cut,
    Delay,
    End,
    Follow,
    FrameDecision,
    Refusal,
    Sever,
    Wait,
)
from staleproof.core.fault.model import Fault

from .asking import ADDED, BOOKMARK, DELETED, INITIAL_END, MODIFIED, PODS, WATCH, WATCH_LIST, place, request

LATE = Delay(0.5)


@pytest.mark.parametrize(
    ("fault", "decisions", "on_open", "on_close"),
    [
        # fault, (first frame: an event; second: a bookmark; third: the end of the initial events), on_open, on_close
        (HoldStream(resource="pods"), (HOLD, HOLD, HOLD), None, None),
        (HoldStream(resource="pods", release="trickle"), (HOLD, HOLD, HOLD), None, None),
        (HoldStream(resource="pods", release="relist"), (HOLD, HOLD, HOLD), None, "expired"),
        (HoldStream(resource="pods", release="resume"), (HOLD, HOLD, HOLD), None, "clean"),
        (HideOwnWrite(resource="pods"), (HOLD, HOLD, HOLD), None, None),
        (HideOwnWrite(resource="pods", release="relist"), (HOLD, HOLD, HOLD), None, "expired"),
        (HideOwnWrite(resource="pods", release="resume"), (HOLD, HOLD, HOLD), None, "clean"),
        (DelayStream(resource="pods", by_seconds=0.5), (LATE, LATE, LATE), None, None),
        (Skew(by_seconds={"pods": 0.5}), (LATE, LATE, LATE), None, None),
        (SeverStream(resource="pods"), (PASS, PASS, PASS), "clean", None),
        (SeverStream(resource="pods", how="truncated"), (PASS, PASS, PASS), "truncated", None),
        (SeverStream(resource="pods", how="reset", nth=2), (PASS, Sever("reset"), PASS), None, None),
        (SeverStream(resource="pods", how="truncated", nth=1), (Sever("truncated"), PASS, PASS), None, None),
        (DropBookmarks(resource="pods"), (PASS, DROP, PASS), None, None),
        (AddBookmarks(resource="pods"), (Follow(), PASS, PASS), None, None),
        (SlowStart(resource="pods"), (PASS, PASS, PASS), None, None),
    ],
    ids=repr,
)
def test_live_frames(
    fault: Fault, decisions: tuple[FrameDecision, FrameDecision, FrameDecision], on_open: End | None, on_close: End | None
) -> None:
    assert tuple(fault.on_frame(frame, place(nth)) for nth, frame in enumerate([ADDED, BOOKMARK, INITIAL_END], 1)) == decisions
    assert (fault.on_open, fault.on_close) == (on_open, on_close)


@pytest.mark.parametrize(
    ("fault", "decisions"),
    [
        # an initial event, the bookmark that ends them
        (HoldStream(resource="pods"), (PASS, PASS)),
        (DropBookmarks(resource="pods"), (PASS, PASS)),
        (AddBookmarks(resource="pods"), (PASS, PASS)),
        (SlowStart(resource="pods", by_seconds=2.0), (Delay(2.0), Delay(2.0))),
        (SlowStart(resource="pods", by_seconds=2.0, then="closes"), (Delay(2.0), Sever("clean", discard=False))),
    ],
    ids=repr,
)
def test_initial_frames(fault: Fault, decisions: tuple[FrameDecision, FrameDecision]) -> None:
    frames = [ADDED, INITIAL_END]
    assert (
        tuple(fault.on_frame(frame, place(nth, burst=True, watch=WATCH_LIST)) for nth, frame in enumerate(frames, 1)) == decisions
    )


def test_only_a_trickle_trickles() -> None:
    assert [how for how in get_args(Release) if HoldStream(resource="pods", release=how).trickles] == ["trickle"]


def test_only_hiding_an_own_write_waits_for_a_trigger() -> None:
    write = OwnWrite("update", 2)
    assert HideOwnWrite(resource="pods", write=write).trigger == write
    assert HideOwnWrite(resource="pods").trigger == OwnWrite("create", 1)
    assert HoldStream(resource="pods").trigger is None


# --- skew


@pytest.mark.parametrize(
    ("by_seconds", "watch", "lag"),
    [
        ({"pods": 2.0}, "GET /api/v1/pods?watch=1", 2.0),
        ({"pods": 2.0}, "GET /api/v1/services?watch=1", None),
        ({"pods": 2.0, "*": 1.0}, "GET /api/v1/pods?watch=1", 2.0),
        ({"pods": 2.0, "*": 1.0}, "GET /api/v1/services?watch=1", 1.0),
        ({"*": 1.0}, "GET /api/v1/events?watch=1", None),
    ],
)
def test_each_resource_lags_by_its_own_seconds(by_seconds: dict[str, float], watch: str, lag: float | None) -> None:
    fault, seat = Skew(by_seconds=by_seconds), Seat(request(watch))
    assert fault.concerns_stream(seat) is (lag is not None)
    if lag is not None:
        assert fault.on_frame(MODIFIED, Place(seat, 1)) == Delay(lag)


def test_a_skew_of_one_resource_leaves_the_others_alone() -> None:
    assert not Skew(resource="pods", by_seconds={"*": 1.0}).concerns("services")


# --- bookmarks


@pytest.mark.parametrize("frame", [ADDED, MODIFIED, DELETED])
def test_a_bookmark_is_added_only_for_a_client_that_asks_for_bookmarks(frame: object) -> None:
    fault, silent = AddBookmarks(resource="pods"), place(watch="GET /api/v1/pods?watch=1&resourceVersion=5")
    assert fault.on_frame(frame, place()) == Follow()  # type: ignore[arg-type]  # a frame
    refused = fault.on_frame(frame, silent)  # type: ignore[arg-type]  # a frame
    assert refused == Refusal("18", "the client did not ask for bookmarks (allowWatchBookmarks)")


# --- a slow start of a LIST


@pytest.mark.parametrize(
    ("then", "nth", "decision"), [("ends", 1, Wait(2.0)), ("ends", 2, Wait(2.0)), ("closes", 1, Cut()), ("closes", 2, Wait(2.0))]
)
def test_the_answer_to_a_list(then: str, nth: int, decision: AnswerDecision) -> None:
    fault = SlowStart(resource="pods", by_seconds=2.0, then=then)  # type: ignore[arg-type]  # from a table
    assert fault.on_answer(request(f"GET {PODS}"), nth) == decision


@pytest.mark.parametrize(
    ("line", "concerns"),
    [
        (f"GET {PODS}", True),
        (f"GET {PODS}?resourceVersion=0", True),
        (f"GET {PODS}?resourceVersion=5", False),
        (f"GET {PODS}?continue=abc", False),  # a further page
        (f"GET {PODS}/x", False),
        (WATCH, False),
    ],
)
def test_a_slow_start_is_about_initial_lists(line: str, *, concerns: bool) -> None:
    assert SlowStart(resource="pods").concerns_request(request(line)) is concerns
