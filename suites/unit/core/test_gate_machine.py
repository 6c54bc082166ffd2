"""Gate, Schedule and Monitor together: whatever legal faults do to a watch, it stays a watch, and the client catches up.

The machine plays three parts. The API server commits changes to a handful of objects and serves a watch as kube-apiserver does: the
current state first (a WatchList, unordered, closed by a marked bookmark), then events of rising revision and bookmarks, which may
repeat a revision. The client does what a reflector does: it resumes from the last revision that it was shown, and starts again with
the current state after a 410. Between them are the parts under test. After each move:

- the monitor has not complained about what left;
- the client never knows of a revision that the server has not reached.

And in the end, once everything is released, the client knows exactly what the server knows.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from staleproof.core.fault import (
    AnyFault,
    DelayStream,
    Drop,
    DropBookmarks,
    Expire,
    HideOwnWrite,
    HoldStream,
    OwnWrite,
    SeverStream,
    Window,
)
from staleproof.core.frame import Frame, expired, read_frame
from staleproof.core.gate import Closing, Gate
from staleproof.core.monitor import Monitor
from staleproof.core.request import ApiRequest, parse
from staleproof.core.schedule import Change, FaultCloses, FaultOpens, Schedule

STEPS = 4
RESOURCE = "widgets.example.com"
PATH = "/apis/example.com/v1/namespaces/trial/widgets"
WATCH_LIST = f"{PATH}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
NAMES = ["a", "b", "c", "d"]

SECONDS = st.sampled_from([0.5, 1.0, 3.0])
WINDOWS = st.builds(
    lambda first, length, seconds: Window(first, length and first + length, seconds),
    st.integers(1, STEPS),
    st.none() | st.integers(1, 2),
    st.none() | SECONDS,
)
RELEASES = st.sampled_from(["events", "relist", "resume"])
NTH = st.none() | st.integers(1, 6)
FAULTS: st.SearchStrategy[AnyFault] = st.one_of(
    st.builds(HoldStream, resource=st.just(RESOURCE), window=WINDOWS, release=RELEASES),
    st.builds(
        HideOwnWrite,
        resource=st.just(RESOURCE),
        window=WINDOWS,
        release=RELEASES,
        write=st.builds(OwnWrite, st.just("create"), st.integers(1, 2)),
    ),
    st.builds(DelayStream, resource=st.just(RESOURCE), window=WINDOWS, by_seconds=SECONDS),
    st.builds(SeverStream, resource=st.just(RESOURCE), window=WINDOWS, how=st.sampled_from(["clean", "reset"]), nth=NTH),
    st.builds(Expire, resource=st.just(RESOURCE), window=WINDOWS, nth=NTH),
    st.builds(DropBookmarks, resource=st.just(RESOURCE), window=WINDOWS),
)


def request(method: str, target: str) -> ApiRequest:
    parsed = parse(method, target)
    assert parsed is not None
    return parsed


def event(type_: str, name: str, revision: int) -> Frame:
    return Frame(type_, "trial", name, f"uid-{name}", revision, initial_end=False, raw=b"")


def bookmark(revision: int, *, initial_end: bool = False) -> Frame:
    return Frame("BOOKMARK", "", "", "", revision, initial_end, raw=b"")


class Stream:
    """One watch on its way: its gate, its monitor, and what the client asked for."""

    def __init__(self, asked: ApiRequest, schedule: Schedule) -> None:
        self.request = asked
        self.gate = Gate(schedule.decide_for(RESOURCE))
        self.monitor = Monitor(asked.start, watch_list=asked.is_watch_list)


class Reflector:
    """What the client knows. `resume` is where its next watch starts; None: with the current state."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.resume: int | None = None
        self._initial: dict[str, int] = {}

    def take(self, stream: Stream, frame: Frame) -> None:
        if stream.request.is_watch_list and self.resume is None:
            self._take_initial(frame)
            return
        if frame.type == "DELETED":
            self.known.pop(frame.name)
        elif frame.is_event:
            self.known[frame.name] = frame.revision or 0
        self.resume = frame.revision

    def _take_initial(self, frame: Frame) -> None:
        if frame.initial_end:
            self.known, self._initial, self.resume = self._initial, {}, frame.revision
        else:
            self._initial[frame.name] = frame.revision or 0

    def ended(self, how: str) -> None:
        self._initial = {}
        if how == "expired":
            self.resume = None


class Watching(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now, self.step, self.revision = 0.0, 0, 100
        self.truth: dict[str, int] = {}
        self.log: list[Frame] = []
        self.client = Reflector()
        self.stream: Stream | None = None
        self.schedule = Schedule()
        self.deadlines: list[float] = []

    # --- the API server

    @initialize(faults=st.lists(FAULTS, max_size=4), objects=st.sets(st.sampled_from(NAMES)))
    def begin(self, faults: list[AnyFault], objects: set[str]) -> None:
        self.schedule = Schedule(faults, "trial")
        for name in sorted(objects):
            self.commit(name)

    @rule(name=st.sampled_from(NAMES))
    def commit(self, name: str) -> None:
        """Someone creates or updates an object."""
        self.revision += 1
        frame = event("MODIFIED" if name in self.truth else "ADDED", name, self.revision)
        self.truth[name] = self.revision
        self.log.append(frame)
        self.arrive(frame)

    @rule(name=st.sampled_from(NAMES))
    def remove(self, name: str) -> None:
        if name in self.truth:
            self.revision += 1
            del self.truth[name]
            self.log.append(event("DELETED", name, self.revision))
            self.arrive(self.log[-1])

    @rule(others=st.integers(0, 3))
    def bookmark(self, others: int) -> None:
        """The revision moves on with objects of other resources, or not at all."""
        self.revision += others
        self.arrive(bookmark(self.revision))

    @precondition(lambda self: self.stream is not None)
    @rule(how=st.sampled_from(["clean", "cut"]))
    def upstream_ends(self, how: str) -> None:
        assert self.stream is not None
        self.stream.gate.upstream_ended("clean" if how == "clean" else "cut")
        self.flush()

    # --- the client

    @precondition(lambda self: self.stream is None)
    @rule()
    def watch(self) -> None:
        """The client opens its watch, unless that is refused with 410."""
        target = WATCH_LIST if self.client.resume is None else f"{PATH}?watch=1&resourceVersion={self.client.resume}"
        asked = request("GET", target)
        if self.schedule.is_expired(asked):
            self.client.ended("expired")
            return
        self.stream = Stream(asked, self.schedule)
        for frame in self.initial() if asked.is_watch_list else self.missed(asked.start or 0):
            self.arrive(frame)

    def missed(self, start: int) -> list[Frame]:
        return [past for past in self.log if (past.revision or 0) > start]

    def initial(self) -> list[Frame]:
        """The current state, by name: not the order of revisions."""
        return [event("ADDED", name, self.truth[name]) for name in sorted(self.truth)] + [bookmark(self.revision, initial_end=True)]

    @rule(name=st.sampled_from(NAMES))
    def write(self, name: str) -> None:
        """The controller's own create: the schedule hears of it before it is committed."""
        self.apply(self.schedule.asked(request("POST", PATH), self.now))
        if name not in self.truth:
            self.commit(name)

    # --- the proxy

    @rule(seconds=SECONDS)
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.apply(self.schedule.tick(self.now))
        self.flush()

    @precondition(lambda self: self.step < STEPS)
    @rule()
    def next_step(self) -> None:
        self.step += 1
        self.apply(self.schedule.begin_step(self.step, self.now))

    @rule()
    def resync(self) -> None:
        """The runner's poke."""
        if self.stream is not None:
            self.stream.gate.sever("expired")
            self.flush()

    def apply(self, changes: list[Change]) -> None:
        for change in changes:
            match change:
                case FaultOpens(fault, _, ends):
                    if self.stream is not None and ends is not None:
                        self.stream.gate.sever(ends, fault)
                case FaultCloses(fault, ends):
                    if self.stream is not None and ends is not None and self.stream.gate.holds(fault):
                        self.stream.gate.sever(ends, fault)
                    elif self.stream is not None:
                        self.stream.gate.redecide(fault, self.now)
            self.flush()

    def arrive(self, frame: Frame) -> None:
        if self.stream is None:
            return
        if isinstance(self.stream.gate.receive(frame, self.now), Drop):
            assert frame.type == "BOOKMARK", "a legal fault drops no event"
            assert not frame.initial_end
        self.flush()

    def flush(self) -> None:
        if self.stream is None:
            return
        stream = self.stream
        for item in stream.gate.release(self.now):
            if isinstance(item, Closing):
                self.end(stream, item)
                return
            assert stream.monitor.see(item) is None
            self.client.take(stream, item)
            if item.initial_end:
                self.schedule.listed(stream.request)

    def end(self, stream: Stream, closing: Closing) -> None:
        self.stream = None
        self.client.ended(closing.how)
        if closing.how == "expired":
            assert stream.monitor.see(read_frame(expired(stream.request.start, self.revision))) is None
            self.schedule.expire(stream.request)

    # --- what must hold

    @invariant()
    def the_client_is_never_ahead(self) -> None:
        assert (self.client.resume or 0) <= self.revision
        assert all(revision <= self.revision for revision in self.client.known.values())

    @invariant()
    def the_deadline_lies_ahead(self) -> None:
        due = self.stream.gate.deadline() if self.stream is not None else None
        assert due is None or due > self.now

    def teardown(self) -> None:
        """The release: from here the client catches up, in one more watch or after one 410."""
        self.apply(self.schedule.release())
        if self.stream is not None:
            self.stream.gate.release_all(self.now)
            self.flush()
        for _ in range(2):
            if self.stream is None:
                self.watch()
        assert self.stream is not None
        assert self.client.known == self.truth
        assert len(self.stream.gate) == 0


TestWatching = Watching.TestCase
TestWatching.settings = settings(max_examples=150, stateful_step_count=40)
