"""What one stream reports about itself. Whatever faults do to its frames is played by `test_gate_machine`."""

from collections.abc import Callable

from staleproof.core.control import StreamState
from staleproof.core.engine.gate import Gate, Received
from staleproof.core.engine.schedule import Schedule
from staleproof.core.engine.watch_stream import HangUp, Output, WatchStream
from staleproof.core.fault import AddBookmarks, AnyFault, DropFrame, HoldStream, Reorder, Window
from staleproof.core.history.entry import Broke, Closed, Delivered, FaultFired, Opened, StreamId, Withheld
from staleproof.core.history.frame import Frame

from ..cluster import bookmark, event
from ..fault.asking import WATCH, request

SIX, SEVEN = (event("MODIFIED", f"p{revision}", revision).raw for revision in (6, 7))


class Played:
    """A watch that resumes after revision 5, in the first step of a plan."""

    def __init__(self, *faults: AnyFault, gate: type[Gate] = Gate) -> None:
        self.schedule = Schedule(faults)
        self.watch = WatchStream(StreamId(1), "c", request(WATCH), self.schedule, 0.0, gate)
        self.outputs: list[Output] = []
        self.begin_step(1)

    def begin_step(self, step: int) -> None:
        for change in self.schedule.begin_step(step, 0.0):
            self.does(lambda watch: watch.on_change(change, 0.0))  # noqa: B023  # called at once

    def feed(self, *lines: bytes) -> None:
        for line in lines:
            self.does(lambda watch: watch.feed(line, 0.0))  # noqa: B023  # called at once

    def does(self, what: Callable[[WatchStream], None]) -> None:
        what(self.watch)
        self.outputs += self.watch.take(0.0)

    def of(self, *kinds: type) -> list[Output]:
        return [output for output in self.outputs if isinstance(output, kinds)]


def test_what_is_dropped_when_a_hold_closes_breaks_what_its_fault_names() -> None:
    played = Played(HoldStream(resource="pods", window=Window(1, 2)), DropFrame(resource="pods", name="p6"))
    played.feed(SIX)
    played.begin_step(2)  # the hold closes, and the other fault drops what it held
    played.feed(bookmark(6).raw, SEVEN)
    assert played.of(bytes) == [bookmark(6).raw, SEVEN]
    assert played.of(Broke) == []


def test_a_client_that_leaves_has_been_denied_nothing() -> None:
    played = Played(Reorder(resource="pods", name="p6", by_seconds=9.0))
    played.feed(SIX, SEVEN)
    played.does(lambda watch: watch.left_by_client(0.0))
    assert played.of(Broke, Closed) == [Closed(at=0.0, stream=StreamId(1), how="client", discarded=1)]


def test_a_frame_that_a_fault_added_is_told_apart() -> None:
    played = Played(AddBookmarks(resource="pods"))
    played.feed(SIX)
    delivered = [entry for entry in played.outputs if isinstance(entry, Delivered)]
    assert [(entry.type, entry.fault) for entry in delivered] == [("MODIFIED", None), ("BOOKMARK", 0)]


def test_a_stream_follows_the_plan_that_replaces_its_own() -> None:
    played = Played(HoldStream(resource="pods"))
    played.feed(SIX)
    assert [(entry.fault, entry.revision) for entry in played.outputs if isinstance(entry, Withheld)] == [(0, 6)]
    assert played.of(bytes) == []
    played.does(lambda watch: watch.follow(Schedule(plan=1), 0.0))
    assert played.of(bytes) == [SIX]
    assert [entry.since for entry in played.outputs if isinstance(entry, Opened)] == [None, 6]


def test_where_a_hostile_fault_has_acted_the_client_must_list_before_the_next_plan() -> None:
    played = Played(DropFrame(resource="pods", name="p6"))
    played.feed(SIX)
    assert len(played.of(FaultFired)) == 1
    following = Schedule(plan=1)
    played.does(lambda watch: watch.follow(following, 0.0))
    assert played.outputs[-2:] == [HangUp.CLEAN, Closed(at=0.0, stream=StreamId(1), how="expired")]
    assert following.expiries.of(request(WATCH)) is not None


def test_a_stream_that_begins_in_the_past_goes_on_from_there() -> None:
    played = Played()
    past = event("ADDED", "p3", 3).raw
    played.does(lambda watch: watch.feed_past(past, 4, 0.0))
    played.feed(SIX)
    assert played.of(bytes) == [past, SIX]
    assert [entry.revision for entry in played.outputs if isinstance(entry, Delivered)] == [3, 6]


def test_what_is_held_is_counted() -> None:
    played = Played(HoldStream(resource="pods"))
    played.feed(SIX, SEVEN)
    assert played.watch.state == StreamState(1, "c", "pods", "trial", held=2, held_bytes=len(SIX + SEVEN))


class Forgets(Gate):
    def receive(self, frame: Frame, now: float) -> Received | None:
        received = super().receive(frame, now)
        self._take_all()
        return received


def test_bytes_that_are_lost_without_a_fault_are_noticed() -> None:
    played = Played(gate=Forgets)
    played.feed(SIX)
    played.does(lambda watch: watch.upstream_ended("clean"))
    (broke,) = (entry.why for entry in played.outputs if isinstance(entry, Broke))
    assert broke == "stream 1 of pods: Reliable: the bytes that left are not those that came, though no fault acted on them"
