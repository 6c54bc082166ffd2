"""Gate, Schedule and Monitor together: whatever legal faults do to a watch, it stays a watch, and the client catches up.

The machine moves the API server, the client, the clock and the plan; `wire` is the proxy between them. After each move:

- the monitor has not complained about what left, nor has `watch_rules`, which judges each stream once it has ended;
- a client that has listed knows exactly the state of its own revision: late, or of another past, but never a mixture.

And in the end, once everything is released, the client knows exactly what the server knows.

With one hostile fault in the plan, no property is broken but the one that the fault names, and monitor and rules agree about every
single stream; each run ends with a scene in which the fault must break it. That the machines can fail is shown by gates with a
planted error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import msgspec
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from staleproof.core.engine.gate import Closing, Received, Redecided, Waiting
from staleproof.core.engine.planned_fault import FaultRef
from staleproof.core.fault import AnyFault, Window
from staleproof.core.history.frame import Frame

from .cluster import NAMES, NAMESPACE, PATH, RESOURCE, Kind, Reflector, Server, bookmark
from .fault_strategies import SECONDS, hostile_faults, opening_faults, read_faults, stream_faults
from .wire import NotingGate, Stream, StrictSchedule, Wire

STEPS = 3
EXAMPLES = 3 * settings().max_examples
SETTINGS = settings(max_examples=EXAMPLES, stateful_step_count=30)

STREAM = stream_faults(RESOURCE, steps=STEPS, namespace=NAMESPACE, name="a")
LEGAL = st.one_of(STREAM, STREAM, opening_faults(RESOURCE, steps=STEPS), read_faults(RESOURCE, steps=STEPS))
HOSTILE = hostile_faults(RESOURCE, window=st.builds(Window, st.integers(1, 2)))
KINDS: st.SearchStrategy[Kind] = st.sampled_from(["watch-list", "list-0", "list", "watch"])
TESTED_WITH: dict[str, st.SearchStrategy[Kind]] = {"NoEndBookmark": st.just("watch-list"), "StaleRead": st.just("list")}


@dataclass
class World:
    """How a run begins: what is there, which client watches, whether from before the first step, how many bytes a gate may keep."""

    objects: set[str]
    client: Reflector
    early: bool
    most_bytes: int


def worlds(kinds: st.SearchStrategy[Kind]) -> st.SearchStrategy[World]:
    clients = st.builds(Reflector, kinds, bookmarks=st.booleans(), from_zero=st.booleans())
    bounds = st.sampled_from([600, 64 * 1024 * 1024])  # a few frames, or the default
    return st.builds(World, st.sets(st.sampled_from(NAMES)), clients, st.booleans(), bounds)


class _Watching(RuleBasedStateMachine):
    """The moves. What must hold is what the two machines below say."""

    wire: Wire
    make_gate: Callable[..., NotingGate] = NotingGate

    def __init__(self) -> None:
        super().__init__()
        self.server = Server()
        self.step = 0

    def start(self, faults: list[AnyFault], world: World) -> None:
        for name in sorted(world.objects):
            self.server.put(name)
        gate = partial(self.make_gate, most_bytes=world.most_bytes)
        self.wire = Wire(StrictSchedule(faults, NAMESPACE), self.server, world.client, gate)
        if world.early:
            self.wire.ask()
        self.next_step()

    @rule(name=st.sampled_from(NAMES))
    def commit(self, name: str) -> None:
        """Someone creates or updates an object."""
        self.wire.feed([self.server.put(name)])
        self.wire.ask()

    @rule(names=st.lists(st.sampled_from(NAMES), min_size=2, max_size=6))
    def commit_many(self, names: list[str]) -> None:
        """Events that arrive in one piece, with a bookmark for those who want one."""
        events = [self.server.delete(name) if name in self.server.now else self.server.put(name) for name in names]
        self.wire.feed([*events, *self.bookmarks()])
        self.wire.ask()

    @rule(name=st.sampled_from(NAMES))
    def remove(self, name: str) -> None:
        if name in self.server.now:
            self.wire.feed([self.server.delete(name)])
            self.wire.ask()

    @rule(elsewhere=st.integers(0, 3))
    def bookmark(self, elsewhere: int) -> None:
        """The revision moves on with objects of other resources, or not at all."""
        self.server.revision += elsewhere
        self.wire.feed(self.bookmarks())

    def bookmarks(self) -> list[Frame]:
        stream = self.wire.stream
        wanted = stream is not None and stream.request.flag("allowWatchBookmarks")
        return [bookmark(self.server.revision)] if wanted else []

    @rule(name=st.sampled_from(NAMES))
    def write(self, name: str) -> None:
        self.wire.write(PATH)
        if name not in self.server.now:
            self.commit(name)

    @rule(seconds=SECONDS)
    def time_passes(self, seconds: float) -> None:
        self.wire.wait(seconds)
        self.wire.ask()

    @precondition(lambda self: self.step < STEPS)
    @rule()
    def next_step(self) -> None:
        self.step += 1
        self.wire.apply(self.wire.schedule.begin_step(self.step, self.wire.now, revision=self.server.revision))
        self.wire.ask()

    @rule(how=st.sampled_from(["clean", "cut", "expired", "client"]), again=st.booleans())
    def stream_ends(self, how: Literal["clean", "cut", "expired", "client"], again: bool) -> None:  # noqa: FBT001  # drawn
        """Upstream, the runner's poke, or the client itself."""
        match how:
            case "client":
                self.wire.leave()
            case "expired":
                self.wire.sever(how)
            case _:
                self.wire.upstream_ends(how)
        if again:
            self.wire.ask()

    @rule(behind=st.integers(0, 3))
    def release_upto(self, behind: int) -> None:
        if self.wire.stream is not None:
            self.wire.stream.gate.release_upto(self.server.revision - behind, self.wire.now)
            self.wire.flush()

    @invariant()
    def the_deadline_lies_ahead(self) -> None:
        due = self.wire.stream.gate.deadline() if self.wire.stream is not None else None
        assert due is None or due > self.wire.now

    @invariant()
    def the_bound_is_kept(self) -> None:
        gate = self.wire.stream.gate if self.wire.stream is not None else None
        assert gate is None or gate.held_bytes <= gate.most_bytes
        assert gate is None or (gate.held_bytes == 0) == (len(gate) == 0)

    def catch_up(self) -> Stream:
        """The release: from here nothing is in the client's way."""
        wire = self.wire
        wire.release()
        for _ in range(6):  # a bare list, a 410 or a refusal, and the watch, each perhaps with an answer that is still on its way
            wire.wait(10.0)
            wire.ask()
        assert wire.stream is not None
        assert len(wire.stream.gate) == 0
        return wire.stream


class Legal(_Watching):
    @initialize(faults=st.lists(LEGAL, min_size=1, max_size=5), world=worlds(KINDS))
    def begin(self, faults: list[AnyFault], world: World) -> None:
        self.start(faults, world)

    @invariant()
    def no_property_is_broken(self) -> None:
        for stream in (*self.wire.streams, self.wire.stream):
            assert stream is None or stream.breaches == set()
            dropped = [] if stream is None else stream.gate.dropped
            assert all(frame.type == "BOOKMARK" and not frame.initial_end for frame in dropped)
        for ended in self.wire.streams:
            assert ended.passage.broken() == set()
        self.wire.streams.clear()

    @invariant()
    def the_client_knows_one_state(self) -> None:
        client = self.wire.client
        assert client.resume is None or client.known == self.server.state_at(client.resume)

    def teardown(self) -> None:
        self.catch_up()
        assert self.wire.client.known == self.server.now
        self.no_property_is_broken()


class Hostile(_Watching):
    """`hostile` is the one fault that is."""

    hostile: str

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.fault = data.draw(HOSTILE[self.hostile])
        faults = data.draw(st.permutations([*data.draw(st.lists(LEGAL, max_size=2)), self.fault]))
        self.number = next(number for number, fault in enumerate(faults) if fault is self.fault)
        self.start(faults, data.draw(worlds(TESTED_WITH.get(self.hostile, KINDS))))

    @invariant()
    def nothing_else_is_broken(self) -> None:
        if found := self.judged(self.wire):
            assert found == {self.fault.breaks}
            assert self.number in self.wire.fired

    @staticmethod
    def judged(wire: Wire) -> set[str]:
        """What the streams that have ended broke."""
        found: set[str] = set()
        for ended in wire.streams:
            broken = ended.passage.broken()
            assert ended.breaches == broken
            found |= broken
        wire.streams.clear()
        return found

    def teardown(self) -> None:
        """A list heals what the fault has done."""
        self.catch_up()
        self.wire.sever("expired")
        self.nothing_else_is_broken()
        self.catch_up()
        assert self.wire.client.known == self.server.now
        self.last_scene()

    def last_scene(self) -> None:
        """Alone, acting on one object, and with a stream that goes on far enough, it does break what it says."""
        name = "" if self.hostile in ("NoEndBookmark", "StaleRead") else "a"
        fields = {"name": name, "window": Window()} | ({"nth": None} if "nth" in self.fault.__struct_fields__ else {})
        fault = msgspec.structs.replace(self.fault, **fields)
        kind: Kind = "list" if self.hostile == "StaleRead" else "watch-list"
        wire = Wire(StrictSchedule([fault], NAMESPACE), self.server, Reflector(kind, bookmarks=True, from_zero=False), NotingGate)
        wire.apply(wire.schedule.begin_step(1, 0.0, revision=self.server.revision))
        self.server.put("c")
        wire.ask()
        stale = wire.client.known != self.server.now
        for name in ("a", "b"):
            wire.feed([self.server.put(name)])
        wire.wait(10.0)
        wire.sever("clean")
        assert self.judged(wire) == ({fault.breaks} if fault.breaks else set())
        assert stale is (self.hostile in ("NoEndBookmark", "StaleRead"))


TestLegal = Legal.TestCase
TestLegal.settings = SETTINGS


def hostile(name: str) -> type[Hostile]:
    return type(name, (Hostile,), {"hostile": name})


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_fault_breaks_what_it_says_and_nothing_else(name: str) -> None:
    run_state_machine_as_test(hostile(name), settings=settings(SETTINGS, max_examples=EXAMPLES // 3))


# --- gates with a planted error: each must be found ------------------------------------------------------------------------------


class LetsBookmarksPass(NotingGate):
    def receive(self, frame: Frame, now: float) -> Received | None:
        received = super().receive(frame, now)
        if frame.type == "BOOKMARK" and not frame.initial_end and len(self):
            self._queue.rotate(1)
            self._queue[0].due = now
        return received


class LosesWhatItHeld(NotingGate):
    def redecide(self, fault: FaultRef, now: float, *, trickle: bool = False) -> Redecided:
        again = super().redecide(fault, now, trickle=trickle)
        if again.any:
            self._take_all()
        return again


class GoesOnBehindTheBound(NotingGate):
    def _check_bound(self, now: float) -> None:
        if self.held_bytes > self.most_bytes:
            self._take_all()


class ReleasesBackwards(NotingGate):
    def release(self, now: float) -> list[Waiting | Closing]:
        return sorted(super().release(now), key=lambda item: isinstance(item, Waiting) and -item.nth)


class SendsLateBookmarks(NotingGate):
    def _is_late(self, frame: Frame) -> bool:
        return False


class DiscardsWhatWasOvertaken(NotingGate):
    def _forget(self) -> None:
        self.discarded += len(self._take_all())


class KeepsWhatNobodyOvertook(NotingGate):
    def _forget(self) -> None:
        self._append([waiting for waiting in self._take_all() if waiting.overtaken])
        for waiting in self._queue:
            waiting.due = 0.0


@pytest.mark.power
@pytest.mark.parametrize(
    ("gate", "machine"),
    [
        (LetsBookmarksPass, Legal),
        (LosesWhatItHeld, Legal),
        (GoesOnBehindTheBound, Legal),
        (ReleasesBackwards, Legal),
        (SendsLateBookmarks, hostile("Reorder")),
        (DiscardsWhatWasOvertaken, hostile("Reorder")),
        (KeepsWhatNobodyOvertook, hostile("Reorder")),
    ],
)
def test_a_gate_with_an_error_is_found(gate: type[NotingGate], machine: type[_Watching]) -> None:
    planted = type(gate.__name__, (machine,), {"make_gate": gate})
    same = settings(
        SETTINGS, derandomize=True, database=None, max_examples=5_000, phases=[Phase.generate], report_multiple_bugs=False
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(planted, settings=same)
