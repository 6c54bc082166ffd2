"""The gate under random schedules, and a few scripts.

A random schedule is a list of moves. `Play` makes them one after the other, lets out what may leave after each, and keeps a record;
each property is a statement about the record. Time is a number that a move advances.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.fault import DROP, HOLD, PASS, Decision, Delay, Drop, Hold, Sever
from staleproof.core.frame import Frame
from staleproof.core.gate import Closing, Gate, Ruling, Waiting

NEVER = 10.0**9


def event(revision: int) -> Frame:
    return Frame("MODIFIED", "a", "x", "u", revision, initial_end=False, raw=b"%d\n" % revision)


# --- moves -----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Receive:
    """A frame arrives. Its nth rule is what fault n says about it while that fault is open; the first that is not Pass counts."""

    rules: tuple[Decision, Decision] = (PASS, PASS)


@dataclass(frozen=True)
class Wait:
    seconds: float


@dataclass(frozen=True)
class Close:
    """A fault closes: what it holds is asked about again."""

    fault: int


@dataclass(frozen=True)
class Upto:
    revision: int


@dataclass(frozen=True)
class All:
    """Everything is released."""


@dataclass(frozen=True)
class End:
    """A fault or a command ends the stream."""


@dataclass(frozen=True)
class UpstreamEnds:
    pass


Move = Receive | Wait | Close | Upto | All | End | UpstreamEnds

SECONDS = st.integers(0, 4).map(float)
DECISION: st.SearchStrategy[Decision] = st.one_of(
    st.just(PASS), st.just(HOLD), st.just(DROP), st.builds(Delay, SECONDS, st.booleans())
)
GOES_ON: st.SearchStrategy[Move] = st.one_of(
    st.builds(Receive, st.tuples(DECISION, DECISION)),
    st.builds(Wait, SECONDS),
    st.builds(Close, st.integers(0, 1)),
    st.builds(Upto, st.integers(0, 12)),
    st.just(All()),
)
MAY_END: st.SearchStrategy[Move] = st.one_of(
    st.builds(Receive, st.tuples(DECISION, st.just(Sever("reset")))), st.just(End()), st.just(UpstreamEnds())
)
MOVES = st.lists(st.one_of(GOES_ON, GOES_ON, GOES_ON, MAY_END), max_size=25)
MOVES_THAT_GO_ON = st.lists(GOES_ON, max_size=25)


# --- the record ------------------------------------------------------------------------------------------------------------------


@dataclass
class Fate:
    """One frame in the gate: the rule it is under and when that lets it leave at the earliest."""

    revision: int
    rule: Decision = PASS
    fault: int | None = None
    due: float = 0.0
    left_at: float | None = None

    @property
    def may_be_overtaken(self) -> bool:
        return isinstance(self.rule, Delay) and self.rule.overtaken


@dataclass
class Play:
    """A gate and what became of each frame. Revisions count the frames that arrived, from 1."""

    now: float = 0.0
    out: list[Frame | Closing] = field(default_factory=list)
    rules: list[tuple[Decision, Decision]] = field(default_factory=list)
    fates: dict[int, Fate] = field(default_factory=dict)
    dropped: int = 0
    refused: int = 0
    discarded: int = 0
    closed: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.gate = Gate(self.decide)

    def decide(self, frame: Frame, nth: int) -> Ruling:
        assert frame.revision == nth, "a frame keeps its number when it is asked about again"
        for fault, rule in enumerate(self.rules[nth - 1]):
            if fault not in self.closed and rule != PASS:
                return rule, fault
        return PASS, None

    def make(self, moves: Sequence[Move]) -> "Play":
        for move in moves:
            self.move(move)
            self.release()
        return self

    def move(self, move: Move) -> None:
        match move:
            case Receive(rules):
                self.receive(rules)
            case Wait(seconds):
                self.now += seconds
            case Close(fault):
                self.close(fault)
            case Upto(revision):
                self.gate.release_upto(revision, self.now)
                self.free(lambda fate: fate.revision <= revision)
            case All():
                self.gate.release_all(self.now)
                self.free(lambda fate: True)
            case End():
                self.gate.sever("expired", 0)
                self.discard()
            case UpstreamEnds():
                self.gate.upstream_ended("cut")

    def receive(self, rules: tuple[Decision, Decision]) -> None:
        self.rules.append(rules)
        number = len(self.rules)
        match self.gate.receive(event(number), self.now):
            case Waiting(nth=nth):
                assert nth == number
                self.fates[number] = fate = Fate(number)
                self.rule(fate)
            case Drop():
                self.dropped += 1
            case None:
                self.refused += 1
                if self.gate.discarded > self.discarded:
                    self.discard()

    def rule(self, fate: Fate) -> None:
        fate.rule, fate.fault = self.decide(event(fate.revision), fate.revision)
        delay = fate.rule.seconds if isinstance(fate.rule, Delay) else 0.0
        fate.due = NEVER if isinstance(fate.rule, Hold) else self.now + delay

    def close(self, fault: int) -> None:
        self.closed.add(fault)
        held = [fate for fate in self.waiting() if fate.fault == fault and isinstance(fate.rule, Hold)]
        assert self.gate.redecide(fault, self.now) is bool(held)
        for fate in held:
            self.rule(fate)
            if isinstance(fate.rule, Drop):
                del self.fates[fate.revision]
                self.dropped += 1
            elif isinstance(fate.rule, Sever):
                self.discard()
                return

    def waiting(self) -> list[Fate]:
        return [fate for fate in self.fates.values() if fate.left_at is None]

    def free(self, which: Callable[[Fate], bool]) -> None:
        for fate in filter(which, self.waiting()):
            fate.due, fate.fault, fate.rule = self.now, None, Delay(0.0, fate.may_be_overtaken)

    def discard(self) -> None:
        for fate in self.waiting():
            del self.fates[fate.revision]
            self.discarded += 1

    def release(self) -> None:
        for item in self.gate.release(self.now):
            self.out.append(item)
            if isinstance(item, Frame):
                self.fates[item.revision or 0].left_at = self.now

    @property
    def left(self) -> list[int]:
        return [item.revision or 0 for item in self.out if isinstance(item, Frame)]


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
    for fault in (0, 1):
        assert play.gate.holds(fault) == any(fate.fault == fault for fate in play.waiting())


@given(MOVES_THAT_GO_ON)
def test_nothing_is_lost_unless_it_was_dropped(moves: list[Move]) -> None:
    play = Play().make([*moves, All()])
    assert len(play.left) + play.dropped == len(play.rules)
    assert len(play.gate) == 0
    assert not play.gate.closed


@given(MOVES, MOVES)
def test_nothing_leaves_after_the_end(moves: list[Move], more: list[Move]) -> None:
    play = Play().make([*moves, End()])
    before = list(play.out)
    assert play.gate.closed
    assert isinstance(before[-1], Closing)
    assert play.make(more).out == before


@given(MOVES)
def test_a_stream_ends_once(moves: list[Move]) -> None:
    play = Play().make(moves)
    ends = [item for item in play.out if isinstance(item, Closing)]
    assert ends == ([play.out[-1]] if play.gate.closed else [])


@given(MOVES_THAT_GO_ON, st.lists(GOES_ON, max_size=5))
def test_the_end_of_upstream_comes_after_every_frame_that_came_before_it(moves: list[Move], more: list[Move]) -> None:
    play = Play().make(moves)
    came = len(play.rules)
    play.make([UpstreamEnds(), *more, All()])
    assert play.out[-1] == Closing("cut", None)
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

HELD = Receive((HOLD, PASS))
LATE = Receive((Delay(2.0), PASS))
OVERTAKEN = Receive((Delay(2.0, overtaken=True), PASS))
SCRIPTS: dict[str, list[tuple[Move, list[int | Closing]]]] = {
    "without faults frames pass": [(Receive(), [1]), (Receive(), [2]), (UpstreamEnds(), [Closing("cut")])],
    "everything behind a held frame waits": [(HELD, []), (Receive(), []), (Wait(9.0), []), (Close(0), [1, 2])],
    "only the fault that holds lets go": [(HELD, []), (Close(1), []), (Close(0), [1])],
    "another fault may take over": [(Receive((HOLD, HOLD)), []), (Close(0), []), (Close(1), [1])],
    "a held frame may turn out to be late": [(Receive((HOLD, Delay(2.0))), []), (Wait(3.0), []), (Close(0), []), (Wait(2.0), [1])],
    "a held frame may be dropped after all": [(Receive((HOLD, DROP)), []), (Receive(), []), (Close(0), [2])],
    "a held frame may end the stream": [
        (HELD, []),
        (Receive((HOLD, Sever("reset"))), []),
        (Receive(), []),
        (Close(0), [Closing("reset", 1)]),
        (Receive(), []),
    ],
    "a held frame may be overtaken after all": [
        (Receive((HOLD, Delay(2.0, overtaken=True))), []),
        (Receive(), []),
        (Close(0), [2]),
        (Wait(2.0), [1]),
    ],
    "late frames keep their order": [(LATE, []), (Wait(1.0), []), (Receive(), []), (Wait(1.0), [1, 2])],
    "unless one may be overtaken": [(OVERTAKEN, []), (Receive(), [2]), (LATE, []), (Receive(), []), (Wait(2.0), [1, 3, 4])],
    "a frame may take the place of the end": [(Receive(), [1]), (Receive((Sever("expired"), PASS)), [Closing("expired", 0)])],
    "the end discards what waits": [(HELD, []), (Receive(), []), (End(), [Closing("expired", 0)]), (All(), [])],
    "the end of upstream waits": [(HELD, []), (UpstreamEnds(), []), (Receive(), []), (Close(0), [1, Closing("cut")])],
    "a fault may come before the end of upstream": [(HELD, []), (UpstreamEnds(), []), (End(), [Closing("expired", 0)])],
    "the end of upstream does not undo a fault's": [(End(), [Closing("expired", 0)]), (UpstreamEnds(), []), (Receive(), [])],
    "up to a revision": [(HELD, []), (HELD, []), (HELD, []), (Upto(2), [1, 2]), (Upto(2), []), (Upto(9), [3])],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_script(script: list[tuple[Move, list[int | Closing]]]) -> None:
    play, seen = Play(), []
    for move, _ in script:
        before = len(play.out)
        play.make([move])
        seen.append((move, [item.revision if isinstance(item, Frame) else item for item in play.out[before:]]))
    assert seen == script


def test_a_frame_without_a_revision_is_not_released_by_revision() -> None:
    gate = Gate(lambda frame, nth: (HOLD, 0))
    unreadable = Frame("UNREADABLE", "", "", "", None, initial_end=False, raw=b"?\n")
    gate.receive(event(1), 0.0)
    gate.receive(unreadable, 0.0)
    gate.release_upto(9, 0.0)
    assert gate.release(0.0) == [event(1)]


def test_the_first_end_of_a_stream_is_the_one_that_leaves() -> None:
    gate = Gate()
    gate.sever("reset", 0)
    gate.upstream_ended("clean")
    assert gate.release(0.0) == [Closing("reset", 0)]


def test_the_rules_may_be_replaced() -> None:
    gate = Gate()
    gate.receive(event(1), 0.0)
    gate.decide_with(lambda frame, nth: (HOLD, nth))
    gate.receive(event(2), 0.0)
    assert gate.release(0.0) == [event(1)]
    assert gate.last_fault == 1  # frames are counted from here


def test_the_deadline_is_the_first_of_those_that_may_leave() -> None:
    seconds = {1: Delay(5.0, overtaken=True), 2: Delay(3.0), 3: Delay(1.0)}
    gate = Gate(lambda frame, nth: (seconds[nth], 0))
    deadlines = []
    for nth in seconds:
        gate.receive(event(nth), 10.0)
        deadlines.append(gate.deadline())
    assert deadlines == [15.0, 13.0, 13.0]  # the third waits behind the second
