"""The gate under random schedules, and a few scripts.

A random schedule is a list of moves, methods of `Play`. It makes them one after the other, lets out what may leave after each, and
keeps a record; each property is a statement about the record. Time is a number that a move advances.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.engine.gate import Burst, Closing, Decide, Gate, Ruling, Waiting
from staleproof.core.engine.planned_fault import FaultRef
from staleproof.core.fault.decision import DROP, HOLD, PASS, Delay, Drop, Follow, FrameDecision, Hold, Repeat, Sever
from staleproof.core.history.entry import FaultIndex
from staleproof.core.history.frame import Frame

from .. import cluster

NEVER = 10.0**9
FAULTS = FAULT, OTHER = FaultRef(0, FaultIndex(0)), FaultRef(0, FaultIndex(1))
Out = int | str
Move = tuple[Any, ...]
"""A method of `Play`, and its arguments."""


def event(revision: int) -> Frame:
    return cluster.event("MODIFIED", "x", revision)


# --- the record ------------------------------------------------------------------------------------------------------------------


@dataclass
class Fate:
    """One frame in the gate: the rule it is under and when that lets it leave at the earliest."""

    revision: int
    rule: FrameDecision = PASS
    fault: FaultRef | None = None
    due: float = 0.0
    left_at: float | None = None

    @property
    def may_be_overtaken(self) -> bool:
        return isinstance(self.rule, Delay) and self.rule.overtaken


@dataclass
class Play:
    """A gate and what became of each frame. Revisions count the frames that arrived, from 1."""

    now: float = 0.0
    out: list[Out] = field(default_factory=list)  # numbers of frames, and how the stream ended
    rules: list[tuple[FrameDecision, FrameDecision]] = field(default_factory=list)
    fates: dict[int, Fate] = field(default_factory=dict)
    dropped: int = 0
    refused: int = 0
    discarded: int = 0
    closed: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.gate = Gate(self.decide)

    def decide(self, frame: Frame, nth: int, burst: bool) -> Ruling:  # noqa: FBT001  # the gate's question
        assert frame.revision == nth, "a frame keeps its number when it is asked about again"
        for fault, rule in enumerate(self.rules[nth - 1]):
            if fault not in self.closed and rule != PASS:
                return rule, FAULTS[fault]
        return PASS, None

    def make(self, moves: Sequence[Move]) -> "Play":
        for make, *arguments in moves:
            make(self, *arguments)
            self.release()
        return self

    # Each of these is a move.

    def receive(self, first: FrameDecision = PASS, second: FrameDecision = PASS) -> None:
        """A frame arrives, of which fault 0 says the first while it is open, and fault 1 the second; what is not Pass counts."""
        self.rules.append((first, second))
        number = len(self.rules)
        received = self.gate.receive(event(number), self.now)
        match received and received.decision:
            case Drop():
                self.dropped += 1
            case Sever(_, discard):
                self.refused += 1
                self.discard(ahead=discard)
            case None:
                self.refused += 1
            case _:
                assert received is not None
                assert [waiting.nth for waiting in received.waiting] == [number]
                self.fates[number] = fate = Fate(number)
                self.rule(fate)

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def close(self, number: int) -> None:
        """A fault closes: what it holds is asked about again."""
        self.closed.add(number)
        held = [fate for fate in self.waiting() if fate.fault == FAULTS[number] and isinstance(fate.rule, Hold)]
        assert self.gate.redecide(FAULTS[number], self.now).any is bool(held)
        for fate in held:
            self.rule(fate)
            if isinstance(fate.rule, Drop):
                del self.fates[fate.revision]
                self.dropped += 1
            elif isinstance(fate.rule, Sever):
                self.discard(behind=fate.revision, ahead=fate.rule.discard)
                return

    def upto(self, revision: int) -> None:
        self.gate.release_upto(revision, self.now)
        self.free(lambda fate: fate.revision <= revision)

    def all(self) -> None:
        """Everything is released."""
        self.gate.release_all(self.now)
        self.free(lambda fate: True)

    def end(self) -> None:
        """A fault ends the stream."""
        self.gate.sever("expired", FAULTS[0])
        self.discard()

    def upstream_ends(self) -> None:
        self.gate.upstream_ended("cut")

    # What they do to the record.

    def rule(self, fate: Fate) -> None:
        fate.rule, fate.fault = self.decide(event(fate.revision), fate.revision, burst=False)
        delay = fate.rule.seconds if isinstance(fate.rule, Delay) else 0.0
        fate.due = NEVER if isinstance(fate.rule, Hold) else self.now + delay

    def waiting(self) -> list[Fate]:
        return [fate for fate in self.fates.values() if fate.left_at is None]

    def free(self, which: Callable[[Fate], bool]) -> None:
        for fate in filter(which, self.waiting()):
            fate.due, fate.fault, fate.rule = self.now, None, Delay(0.0, fate.may_be_overtaken)

    def discard(self, *, behind: float = NEVER, ahead: bool = True) -> None:
        """The stream ends here: what is behind never leaves, and ahead only what others may have overtaken, if all is discarded."""
        loose = True
        for fate in self.waiting():
            loose = loose and fate.may_be_overtaken
            if fate.revision < behind and loose and ahead:
                fate.due = 0.0
            elif fate.revision >= behind or ahead:
                del self.fates[fate.revision]
                self.discarded += 1

    def release(self) -> None:
        for item in self.gate.release(self.now):
            if isinstance(item, Closing):
                self.out.append(f"{item.how} by {item.fault.number if item.fault else None}")
                continue
            assert item.left
            self.out.append(item.nth)
            self.fates[item.nth].left_at = self.now

    @property
    def left(self) -> list[int]:
        return [item for item in self.out if isinstance(item, int)]


ALL, END, UPSTREAM_ENDS = (Play.all,), (Play.end,), (Play.upstream_ends,)
SECONDS = st.integers(0, 4).map(float)
DECISION: st.SearchStrategy[FrameDecision] = st.one_of(
    st.just(PASS), st.just(HOLD), st.just(DROP), st.builds(Delay, SECONDS, st.booleans())
)
GOES_ON: st.SearchStrategy[Move] = st.one_of(
    st.tuples(st.just(Play.receive), DECISION, DECISION),
    st.tuples(st.just(Play.wait), SECONDS),
    st.tuples(st.just(Play.close), st.integers(0, 1)),
    st.tuples(st.just(Play.upto), st.integers(0, 12)),
    st.just(ALL),
)
MAY_END: st.SearchStrategy[Move] = st.one_of(
    st.tuples(st.just(Play.receive), DECISION, st.just(Sever("reset"))), st.just(END), st.just(UPSTREAM_ENDS)
)
MOVES = st.lists(st.one_of(GOES_ON, GOES_ON, GOES_ON, MAY_END), max_size=25)
MOVES_THAT_GO_ON = st.lists(GOES_ON, max_size=25)


# --- properties ------------------------------------------------------------------------------------------------------------------


@given(MOVES)
def test_a_frame_leaves_at_most_once(moves: list[Move]) -> None:
    left = Play().make(moves).left
    assert len(left) == len(set(left))


@given(MOVES)
def test_frames_leave_in_the_order_they_came_unless_one_may_be_overtaken(moves: list[Move]) -> None:
    play = Play().make(moves)
    for earlier, later in combinations(play.left, 2):
        assert earlier < later or play.fates[later].may_be_overtaken


@given(MOVES)
def test_no_frame_leaves_before_it_is_due(moves: list[Move]) -> None:
    for fate in Play().make(moves).fates.values():
        assert fate.left_at is None or fate.left_at >= fate.due


@given(MOVES)
def test_no_frame_stays_that_may_leave(moves: list[Move]) -> None:
    play = Play().make(moves)
    for fate in play.waiting():
        assert fate.due > play.now
        if not fate.may_be_overtaken:
            break


@given(MOVES)
def test_every_frame_is_accounted_for(moves: list[Move]) -> None:
    play = Play().make(moves)
    assert play.gate.discarded == play.discarded
    assert len(play.gate) == len(play.waiting())
    assert len(play.rules) == len(play.left) + len(play.waiting()) + play.dropped + play.refused + play.discarded
    for fault in FAULTS:
        assert play.gate.holds(fault) == any(fate.fault == fault for fate in play.waiting())


@given(MOVES_THAT_GO_ON)
def test_nothing_is_lost_unless_it_was_dropped(moves: list[Move]) -> None:
    play = Play().make([*moves, ALL])
    assert len(play.left) + play.dropped == len(play.rules)
    assert len(play.gate) == 0
    assert not play.gate.closed


@given(MOVES, MOVES)
def test_nothing_leaves_after_the_end(moves: list[Move], more: list[Move]) -> None:
    play = Play().make([*moves, END])
    before = list(play.out)
    assert play.gate.closed
    assert isinstance(before[-1], str)
    assert play.make(more).out == before


@given(MOVES)
def test_a_stream_ends_once(moves: list[Move]) -> None:
    play = Play().make(moves)
    ends = [item for item in play.out if isinstance(item, str)]
    assert ends == ([play.out[-1]] if play.gate.closed else [])


@given(MOVES_THAT_GO_ON, st.lists(GOES_ON, max_size=5))
def test_the_end_of_upstream_comes_after_every_frame_that_came_before_it(moves: list[Move], more: list[Move]) -> None:
    play = Play().make(moves)
    came = len(play.rules)
    play.make([UPSTREAM_ENDS, *more, ALL])
    assert play.out[-1] == "cut by None"
    assert len(play.left) == came - play.dropped


@given(MOVES)
def test_the_deadline_is_exact(moves: list[Move]) -> None:
    play = Play().make(moves)
    deadline = play.gate.deadline()
    if deadline is None:
        assert play.gate.release(NEVER - 1) == []
    else:
        assert deadline > play.now
        assert play.gate.release(deadline - 0.001) == []
        assert play.gate.release(deadline) != []


# --- scripts: (move, what leaves) ------------------------------------------------------------------------------------------------

FRAME = (Play.receive,)
HELD = (Play.receive, HOLD)
LATE = (Play.receive, Delay(2.0))
OVERTAKEN = (Play.receive, Delay(2.0, overtaken=True))
HELD_THEN_LATE = (Play.receive, HOLD, Delay(2.0))
CLOSE, CLOSE_OTHER = (Play.close, 0), (Play.close, 1)
SCRIPTS: dict[str, list[tuple[Move, list[Out]]]] = {
    "without faults frames pass": [(FRAME, [1]), (FRAME, [2]), (UPSTREAM_ENDS, ["cut by None"])],
    "everything behind a held frame waits": [(HELD, []), (FRAME, []), ((Play.wait, 9.0), []), (CLOSE, [1, 2])],
    "only the fault that holds lets go": [(HELD, []), (CLOSE_OTHER, []), (CLOSE, [1])],
    "another fault may take over": [((Play.receive, HOLD, HOLD), []), (CLOSE, []), (CLOSE_OTHER, [1])],
    "a held frame may turn out to be late": [(HELD_THEN_LATE, []), ((Play.wait, 3.0), []), (CLOSE, []), ((Play.wait, 2.0), [1])],
    "a held frame may be dropped after all": [((Play.receive, HOLD, DROP), []), (FRAME, []), (CLOSE, [2])],
    "a held frame may end the stream": [
        (HELD, []),
        ((Play.receive, HOLD, Sever("reset")), []),
        (FRAME, []),
        (CLOSE, ["reset by 1"]),
        (FRAME, []),
    ],
    "or end it behind those ahead": [
        (HELD, []),
        ((Play.receive, HOLD, Sever("clean", discard=False)), []),
        (HELD, []),
        (CLOSE, [1, "clean by 1"]),
    ],
    "a held frame may be overtaken after all": [
        ((Play.receive, HOLD, Delay(2.0, overtaken=True)), []),
        (FRAME, []),
        (CLOSE, [2]),
        ((Play.wait, 2.0), [1]),
    ],
    "late frames keep their order": [(LATE, []), ((Play.wait, 1.0), []), (FRAME, []), ((Play.wait, 1.0), [1, 2])],
    "unless one may be overtaken": [(OVERTAKEN, []), (FRAME, [2]), (LATE, []), (FRAME, []), ((Play.wait, 2.0), [1, 3, 4])],
    "a frame may take the place of the end": [(FRAME, [1]), ((Play.receive, Sever("expired")), ["expired by 0"])],
    "an end may wait for what is ahead": [
        (LATE, []),
        ((Play.receive, Sever("clean", discard=False)), []),
        (FRAME, []),
        ((Play.wait, 2.0), [1, "clean by 0"]),
    ],
    "the end discards what waits": [(HELD, []), (FRAME, []), (END, ["expired by 0"]), (ALL, [])],
    "but not what was overtaken": [(OVERTAKEN, []), (FRAME, [2]), (HELD, []), (END, [1, "expired by 0"])],
    "what no frame could overtake is discarded": [(HELD, []), (OVERTAKEN, []), (FRAME, []), (END, ["expired by 0"])],
    "the end of upstream waits": [(HELD, []), (UPSTREAM_ENDS, []), (FRAME, []), (CLOSE, [1, "cut by None"])],
    "a fault may come before the end of upstream": [(HELD, []), (UPSTREAM_ENDS, []), (END, ["expired by 0"])],
    "the end of upstream does not undo a fault's": [(END, ["expired by 0"]), (UPSTREAM_ENDS, []), (FRAME, [])],
    "up to a revision": [(HELD, []), (HELD, []), (HELD, []), ((Play.upto, 2), [1, 2]), ((Play.upto, 2), []), ((Play.upto, 9), [3])],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_script(script: list[tuple[Move, list[Out]]]) -> None:
    play, seen = Play(), []
    for move, _ in script:
        before = len(play.out)
        play.make([move])
        seen.append((move, play.out[before:]))
    assert seen == script


# --- single promises -------------------------------------------------------------------------------------------------------------


def ruling(*decisions: FrameDecision) -> Decide:
    """The nth frame gets the nth decision, whatever is asked when; what has no decision passes."""
    rulings = dict(enumerate(decisions, 1))
    return lambda frame, nth, burst: (rulings[nth], FAULT) if rulings.get(nth, PASS) != PASS else (PASS, None)


def feed(gate: Gate, *frames: Frame, now: float = 0.0) -> list[str]:
    """The frames arrive; what leaves then."""
    for frame in frames:
        gate.receive(frame, now)
    return out(gate, now)


def out(gate: Gate, now: float) -> list[str]:
    """What leaves, as words: `5`, `bookmark 5`, `clean`."""
    words: list[str] = []
    for item in gate.release(now):
        if isinstance(item, Closing):
            words.append(item.how)
        else:
            words.append(f"{'bookmark ' if item.frame.type == 'BOOKMARK' else ''}{item.frame.revision}")
    return words


def free(gate: Gate, fault: FaultRef = FAULT, now: float = 0.0, *, trickle: bool = False) -> list[str]:
    """The fault closes and no other takes over; what leaves then."""
    gate.decide = ruling()
    gate.redecide(fault, now, trickle=trickle)
    return out(gate, now)


def test_what_became_of_a_frame() -> None:
    gate = Gate(ruling(PASS, HOLD, DROP, Follow(), Sever("reset")), Burst(open=True, marked=True))
    seen = [gate.receive(frame, 0.0) for frame in (cluster.bookmark(4, initial_end=True), *map(event, range(5, 10)))]
    assert [received and (received.decision, received.fault, len(received.waiting), received.burst) for received in seen] == [
        (PASS, None, 1, True),
        (HOLD, FAULT, 1, False),
        (DROP, FAULT, 0, False),
        (Follow(), FAULT, 2, False),
        (Sever("reset"), FAULT, 0, False),
        None,
    ]


def test_a_stream_that_ends_in_place_of_a_frame_says_which() -> None:
    gate = Gate(ruling(Sever("truncated")))
    gate.receive(event(5), 0.0)
    assert gate.release(0.0) == [Closing("truncated", FAULT, event(5))]


def test_a_frame_without_a_revision_is_not_released_by_revision() -> None:
    gate = Gate(ruling(HOLD, HOLD))
    unreadable = Frame("UNREADABLE", "", "", "", None, initial_end=False, raw=b"?\n")
    feed(gate, event(1), unreadable)
    gate.release_upto(9, 0.0)
    assert out(gate, 0.0) == ["1"]


def test_the_first_end_of_a_stream_is_the_one_that_leaves() -> None:
    gate = Gate()
    gate.sever("reset", FAULT)
    gate.upstream_ended("clean")
    assert gate.release(0.0) == [Closing("reset", FAULT)]


def test_the_rules_may_be_replaced_and_frames_are_counted_from_there() -> None:
    numbers: list[int] = []

    def decide(frame: Frame, nth: int, burst: bool) -> Ruling:  # noqa: FBT001  # the gate's question
        numbers.append(nth)
        return HOLD, FAULT

    gate = Gate()
    feed(gate, event(1), event(2))
    gate.decide_with(decide)
    assert feed(gate, event(3)) == []
    assert numbers == [1]


def test_the_deadline_is_the_first_of_those_that_may_leave() -> None:
    gate = Gate(ruling(Delay(5.0, overtaken=True), Delay(3.0), Delay(1.0)))
    deadlines = []
    for revision in (1, 2, 3):
        gate.receive(event(revision), 10.0)
        deadlines.append(gate.deadline())
    assert deadlines == [15.0, 13.0, 13.0]  # the third waits behind the second


# --- initial events


@pytest.mark.parametrize(
    ("burst", "types", "expected"),
    [
        (Burst(), ["ADDED", "MODIFIED"], [False, False]),
        (Burst(open=True), ["ADDED", "ADDED", "MODIFIED", "ADDED"], [True, True, False, False]),
        (Burst(open=True), ["BOOKMARK", "ADDED"], [False, False]),
        (Burst(open=True, marked=True), ["ADDED", "MODIFIED", "BOOKMARK", "END", "ADDED"], [True, True, True, True, False]),
        (Burst(open=True, marked=True), ["ADDED", "ERROR", "ADDED"], [True, True, False]),
        (Burst(open=True, marked=True), ["END", "ADDED"], [True, False]),
    ],
)
def test_which_frames_are_initial_events(burst: Burst, types: list[str], expected: list[bool]) -> None:
    frames = [cluster.bookmark(5, initial_end=True) if type_ == "END" else cluster.event(type_, "x", 5) for type_ in types]
    assert [burst.has(frame) for frame in frames] == expected


def test_the_faults_are_reported_which_frames_are_initial_events() -> None:
    bursts: list[bool] = []

    def decide(frame: Frame, nth: int, burst: bool) -> Ruling:  # noqa: FBT001  # the gate's question
        bursts.append(burst)
        return (HOLD, FAULT) if len(bursts) < 4 else (PASS, None)

    gate = Gate(decide, Burst(open=True, marked=True))
    feed(gate, cluster.event("ADDED", "x", 5), cluster.bookmark(6, initial_end=True), event(7))
    gate.redecide(FAULT, 0.0)
    assert bursts == [True, True, False] * 2  # asked again, they still are


# --- what a fault adds


def test_a_repeated_frame_leaves_twice_and_a_followed_one_with_a_bookmark() -> None:
    gate = Gate(ruling(Repeat(), PASS, Follow()))
    assert feed(gate, event(5), event(6), event(7)) == ["5", "5", "6", "7", "bookmark 7"]


def test_what_is_held_is_repeated_and_followed_when_it_is_let_go() -> None:
    gate = Gate(ruling(HOLD, HOLD, HOLD))
    feed(gate, event(5), event(6), event(7))
    gate.decide = ruling(Repeat(), Follow())
    again = gate.redecide(FAULT, 0.0)
    assert [waiting.frame.revision for waiting in again.taken] == [5, 6]
    items = [item for item in gate.release(0.0) if isinstance(item, Waiting)]
    assert [(item.frame.type, item.frame.revision, item.added) for item in items] == [
        ("MODIFIED", 5, False),
        ("MODIFIED", 5, True),
        ("MODIFIED", 6, False),
        ("BOOKMARK", 6, True),
        ("MODIFIED", 7, False),
    ]


def test_what_another_fault_takes_or_drops_is_reported() -> None:
    gate = Gate(ruling(HOLD, HOLD, HOLD))
    feed(gate, event(5), event(6), event(7))
    gate.decide = ruling(HOLD, DROP)
    again = gate.redecide(FAULT, 0.0)
    assert [waiting.frame.revision for waiting in again.taken] == [5]
    assert [waiting.frame.revision for waiting in again.dropped] == [6]
    assert gate.redecide(OTHER, 0.0).any is False


# --- bookmarks and frames that were overtaken


def test_a_bookmark_behind_a_frame_that_was_overtaken_is_dropped() -> None:
    gate = Gate(ruling(Delay(1.0, overtaken=True)))
    gate.receive(event(5), 0.0)
    received = gate.receive(cluster.bookmark(5), 0.0)
    assert received is not None
    assert (received.decision, received.fault, received.waiting) == (DROP, FAULT, ())
    assert feed(gate, event(6), cluster.bookmark(6)) == ["6"]
    assert feed(gate, now=1.0) == ["5"]
    assert feed(gate, cluster.bookmark(6), now=1.0) == ["bookmark 6"]


def test_nor_is_one_added_there() -> None:
    gate = Gate(ruling(Delay(1.0, overtaken=True), Follow()))
    gate.receive(event(5), 0.0)
    received = gate.receive(event(6), 0.0)
    assert received is not None
    assert (received.decision, received.fault) == (PASS, None)  # so it did not fire
    assert out(gate, 0.0) == ["6"]


def test_nor_does_one_leave_there_that_was_held() -> None:
    gate = Gate(ruling(HOLD))
    feed(gate, event(5), cluster.bookmark(5), event(6))
    gate.decide = ruling(Delay(1.0, overtaken=True))
    again = gate.redecide(FAULT, 0.0)
    assert [waiting.frame.type for waiting in again.dropped] == ["BOOKMARK"]
    assert out(gate, 0.0) == ["6"]


# --- trickle


@pytest.mark.parametrize(("count", "pace"), [(3, 0.05), (100, 0.02)])
def test_frames_trickle_one_after_the_other_but_not_for_ever(count: int, pace: float) -> None:
    gate = Gate(ruling(*[HOLD] * count))
    feed(gate, *[event(revision) for revision in range(1, count + 1)])
    left = len(free(gate, now=1.0, trickle=True))
    assert left == 1
    assert gate.deadline() == pytest.approx(1.0 + pace)
    assert feed(gate, event(count + 1), now=1.0) == []  # no frame passes
    assert len(out(gate, 1.0 + pace * count)) == count


# --- the bound

SIZE = len(event(5).raw)


def test_at_the_bound_a_hold_forgets_and_the_stream_ends_when_it_closes() -> None:
    gate = Gate(ruling(HOLD, HOLD, HOLD, HOLD), most_bytes=2 * SIZE)
    assert feed(gate, event(5), event(6)) == []
    assert (gate.held_bytes, len(gate), gate.discarded) == (2 * SIZE, 2, 0)
    assert feed(gate, event(7), event(8)) == []
    assert (gate.held_bytes, len(gate), gate.discarded) == (0, 0, 4)
    assert gate.holds(FAULT)
    assert feed(gate, event(9)) == []  # passes, and would be out of order
    assert free(gate, OTHER) == []
    assert free(gate) == ["clean"]


def test_every_hold_must_close_first() -> None:
    faults = [FaultRef(0, FaultIndex(number)) for number in range(4)]
    gate = Gate(lambda frame, nth, burst: (HOLD, faults[nth - 1]), most_bytes=SIZE)
    feed(gate, event(5), event(6), event(7))
    assert [gate.holds(fault) for fault in faults] == [True, True, True, False]
    assert [free(gate, faults[number]) for number in (1, 3, 0)] == [[], [], []]
    assert free(gate, faults[2]) == ["clean"]


def test_at_the_bound_a_delay_ends_the_stream() -> None:
    gate = Gate(ruling(*[Delay(5.0)] * 9), most_bytes=2 * SIZE)
    assert feed(gate, event(5), event(6)) == []
    assert feed(gate, event(7), event(8)) == ["clean"]


def test_what_leaves_at_once_knows_no_bound() -> None:
    gate = Gate(most_bytes=SIZE)
    assert feed(gate, event(5), event(6), event(7)) == ["5", "6", "7"]


def test_what_was_overtaken_leaves_even_at_the_bound() -> None:
    gate = Gate(ruling(Delay(9.0, overtaken=True), PASS, HOLD, HOLD), most_bytes=2 * SIZE)
    assert feed(gate, event(5), event(6)) == ["6"]
    assert feed(gate, event(7), event(8)) == ["5"]
    assert free(gate) == ["clean"]


@pytest.mark.parametrize("how", ["release", "upstream"])
def test_a_gate_that_forgot_ends_cleanly_whatever_comes_first(how: str) -> None:
    gate = Gate(ruling(HOLD, HOLD), most_bytes=SIZE)
    feed(gate, event(5), event(6))
    if how == "release":
        gate.release_all(0.0)
    else:
        gate.upstream_ended("cut")
    assert out(gate, 0.0) == ["clean"]


def test_what_waits_is_counted_in_bytes() -> None:
    gate = Gate(ruling(HOLD, Repeat(), HOLD))
    feed(gate, event(5), event(6), event(7))
    assert (gate.held_bytes, len(gate)) == (4 * SIZE, 4)
    gate.release_upto(6, 0.0)
    out(gate, 0.0)
    assert (gate.held_bytes, len(gate)) == (SIZE, 1)
    gate.sever("reset")
    assert (gate.held_bytes, len(gate), gate.discarded) == (0, 0, 1)


def test_the_default_bound_is_64_mib() -> None:
    assert Gate().most_bytes == 64 * 1024 * 1024
