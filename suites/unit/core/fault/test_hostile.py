"""Hostile faults: which frames and reads they act on, and that they never pass for legal ones."""

import pytest

from staleproof.core.fault import DropFrame, NoEndBookmark, Reorder, RepeatFrame, StaleRead
from staleproof.core.fault.decision import DROP, PASS, Delay, FrameDecision, FromPast, Repeat, RequestDecision
from staleproof.core.fault.model import Fault

from .asking import ADDED, BOOKMARK, DELETED, INITIAL_END, MODIFIED, PODS, WATCH, place, request


@pytest.mark.parametrize(
    ("fault", "decision", "breaks"),
    [
        (DropFrame(resource="pods"), DROP, "Reliable"),
        (RepeatFrame(resource="pods"), Repeat(), "Unique"),
        (Reorder(resource="pods", by_seconds=2.0), Delay(2.0, overtaken=True), "Ordered"),
    ],
)
def test_live_events_only(fault: Fault, decision: FrameDecision, breaks: str) -> None:
    assert [fault.on_frame(frame, place()) for frame in (ADDED, MODIFIED, DELETED)] == [decision] * 3
    assert [fault.on_frame(frame, place()) for frame in (BOOKMARK, INITIAL_END)] == [PASS] * 2
    assert fault.on_frame(ADDED, place(burst=True)) == PASS
    assert fault.breaks == breaks


def test_the_nth_of_a_stream() -> None:
    assert [DropFrame(resource="pods", nth=2).on_frame(MODIFIED, place(nth)) for nth in (1, 2, 3)] == [PASS, DROP, PASS]


def test_only_the_bookmark_that_ends_the_initial_events_is_left_out() -> None:
    fault = NoEndBookmark(resource="pods")
    assert [fault.on_frame(frame, place(burst=True)) for frame in (ADDED, BOOKMARK, INITIAL_END)] == [PASS, PASS, DROP]
    assert fault.breaks == "Atomic"


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        (f"GET {PODS}", FromPast(2)),
        (f"GET {PODS}/x", FromPast(2)),
        (f"GET {PODS}/x/status", PASS),
        (f"GET {PODS}?resourceVersion=0", PASS),  # legal: PastSnapshot
        (f"GET {PODS}?resourceVersion=5", PASS),
        (f"GET {PODS}?continue=abc", PASS),
        (WATCH, PASS),
        (f"POST {PODS}", PASS),
    ],
)
def test_consistent_reads_are_stale(line: str, decision: RequestDecision) -> None:
    assert StaleRead(resource="pods", as_of_step=2).on_request(request(line), 1) == decision
