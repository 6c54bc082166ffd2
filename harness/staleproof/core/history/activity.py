"""Is the controller idle? Is it quiet? The entries alone show it, so the runner waits for conditions and never sleeps.

Idle: every request has been answered, every commit has reached the streams that will show it (delivered, or withheld by a fault),
and for a while the controller neither changed anything nor was shown a change. Quiet: for a while no client, companions included,
changed anything in the trial's namespace. Bookkeeping (leases, events) does not count.

Rest is a fixed point of the state, not silence (`change`): a controller that writes again and again what is there already, or
fails again and again in the same way, is at rest. The first such write of a kind since the last change counts all the same. One
that does nothing but try what a fault rejects is at rest after `REJECTED_SECONDS`: it will go on like that as long as the fault.

Nor does one come to rest that makes again and again what is removed again and again (`most_removed`); the runner decides how long
that is waited for.

A controller whose watch was ended (by a fault, by upstream) is not idle before it watches again: client-go waits up to a minute.
Two watches of one resource that look at other namespaces or labels are two informers, and each must come back that a life opened by
itself.
Nor is a new life idle before it watches what a life opens by itself, nor before it has had the time in which one was seen to begin
its work, unless it has written something: workers of some runtimes start seconds after their watches. Some watches are only opened
when they are first needed (controller-runtime does that), and nothing shows when that is: a watch opened after the life was shown
an object of the trial.

Of several programs each has lives and watches of its own, and all must be idle. The controller, and whichever client is no further
program, is program "".

Divergence from Kubernetes: a stream with a selector may never show a commit, so nothing waits for such streams; and nothing waits
for a commit longer than `OWED_SECONDS`, or for a watch longer than `MISSED_SECONDS`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from staleproof.core.external import changes_something
from staleproof.core.history.change import Changes, WriteKind, write_kind
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Called,
    CallId,
    Closed,
    Committed,
    Competed,
    Delivered,
    Dropped,
    Entry,
    Exited,
    Listed,
    Opened,
    Refused,
    Replied,
    RequestId,
    Resumed,
    Stalled,
    StreamId,
    Withheld,
)
from staleproof.core.history.history import is_work
from staleproof.core.history.request import BOOKKEEPING, WRITES
from staleproof.core.history.resource_version import Revision
from staleproof.core.times import CALL_SECONDS, EXPECTED_SECONDS, MISSED_SECONDS, OWED_SECONDS, REJECTED_SECONDS

CalledAfter = tuple[str, str]
"""A resource, and a name or the beginning of generated ones."""


def called_after(entry: Committed) -> CalledAfter:
    """What an object is called after, of whichever incarnation."""
    metadata = entry.object["metadata"]
    return entry.resource, metadata.get("generateName") or metadata["name"]


class _Watch(NamedTuple):
    """What a program watches. Without `namespace` and `selector`: any watch of the resource."""

    program: str
    resource: str
    namespace: str | None = None
    selector: str | None = None


@dataclass(slots=True)
class Activity:
    """A fold over entries with absolute times. `namespace` limits what counts to one trial; empty counts everything. `shared`: the
    namespace that the trial's primaries are in, if that is another (`scope`): streams of it carry what is the trial's.

    `programs`: the further programs of the subject. `_starting`: those of which a new life has not opened any watch yet, though the
    one before it had some. `_unasked`: what some life watched before it was shown anything of a trial; `_shown`: the programs of
    which the present life was. `_missed`: the watches that must come back, and since when; `_expected`: those of them that a new
    life is only expected to open, because lives before it did. `_seen`: when the last entry came. `_began`: when the present life
    of a program did that has not yet written anything.
    """

    namespace: str = ""
    shared: str = ""
    programs: frozenset[str] = frozenset()
    streams: dict[StreamId, Opened] = field(default_factory=dict)
    last_activity: float = 0.0
    last_write: float = 0.0
    _changes: Changes = field(default_factory=Changes)
    _void: set[tuple[int, str, WriteKind]] = field(default_factory=set)
    _first_rejected: float = float("inf")
    _in_flight: dict[RequestId, Asked] = field(default_factory=dict)
    _calls: dict[CallId, Called] = field(default_factory=dict)
    _reached: dict[StreamId, int] = field(default_factory=dict)
    _commits: dict[str, tuple[int, float]] = field(default_factory=dict)
    _missed: dict[_Watch, float] = field(default_factory=dict)
    _expected: set[_Watch] = field(default_factory=set)
    _seen: float = 0.0
    _had: set[tuple[str, str]] = field(default_factory=set)
    _unasked: set[_Watch] = field(default_factory=set)
    _shown: set[str] = field(default_factory=set)
    _starting: set[str] = field(default_factory=set)
    _is_cut_off: bool = False
    _began: dict[str, float] = field(default_factory=dict)
    _removed: Counter[CalledAfter] = field(default_factory=Counter)
    _begins_seconds: float = 0.0

    def see(self, entry: Entry) -> None:
        self._seen = max(self._seen, entry.at)
        match entry:
            case Asked() if self._counts(entry.resource, entry.namespace):
                self._asked(entry)
            case Answered() | Listed():
                self._answered(entry)
            case Delivered() | Withheld() | Dropped():
                self._moved(entry)
            case Committed() | Competed():
                self._committed(entry)
            case Stalled() | Resumed():
                self._kept_waiting(entry)
            case Called() | Replied():
                self._called(entry)
            case Opened() | Closed() | Refused() | Exited():
                self._watched(entry)

    def idle_since(self, now: float) -> float | None:
        """Since when the controller has had nothing to do and changed nothing; None while something is under way."""
        begins = any(now < at + self._begins_seconds for at in self._began.values())  # a new life may not have come to its work yet
        misses = not self._is_cut_off and any(now - at < self._patience(watch) for watch, at in self._missed.items())
        calls = any(now - call.at < CALL_SECONDS for call in self._calls.values())
        if self._in_flight or calls or begins or self._owed(now) or misses or self._changes.awaits(now - OWED_SECONDS):
            return None
        return self.last_activity

    def quiet_since(self, now: float) -> float | None:
        """Since when no client has changed anything; None while something is under way."""
        return None if self.idle_since(now) is None else self.last_write

    def begin(
        self, namespace: str, now: float, *, shared: str = "", moves: Collection[str] = (), begins_seconds: float = 0.0
    ) -> None:
        """A trial begins: from now on only its namespace counts, in which nothing has been written yet. `moves`: the fields that
        move by themselves; `begins_seconds`: how long a new life may take before it writes anything."""
        self._begins_seconds, self.shared = begins_seconds, shared
        self.namespace, self.last_activity, self.last_write = namespace, now, now
        self._changes = Changes(moves)
        for of_before in (self._commits, self._in_flight):
            of_before.clear()
        self._forget_what_was_in_vain()

    def begin_step(self, now: float) -> None:
        """A step of the workload begins, so the controller has something to do, and may do again what it did in vain before."""
        self._changes.done.clear()
        self._removed.clear()
        self._forget_what_was_in_vain()
        self.touch(now)

    @property
    def done(self) -> Collection[WriteKind]:
        """The kinds of writes by which the controller has changed anything since the present step began."""
        return self._changes.done

    @property
    def most_removed(self) -> int:
        """The most objects of one name, or named after one, that were removed since the present step began."""
        return max(self._removed.values(), default=0)

    def program(self, client: str) -> str:
        """The program that a client is."""
        return client if client in self.programs else ""

    @property
    def is_starting(self) -> bool:
        """Whether a new life of any program has yet to open its first watch."""
        return bool(self._starting)

    def has_streams(self, program: str = "") -> bool:
        """Whether the present life of the program watches anything."""
        return any(True for _ in self._streams_of(program))

    def watches_again(self, program: str = "") -> bool:
        """Whether the present life watches all that the lives before it watched by themselves; False for the first one."""
        return self.is_known(program) and self._by_itself(program) <= {stream.resource for stream in self._streams_of(program)}

    def is_known(self, program: str = "") -> bool:
        """Whether some life has watched anything by itself."""
        return bool(self._by_itself(program))

    def watches(self, resource: str) -> bool:
        """Whether the present life of any program does, or one before it did so by itself."""
        return resource in {watch.resource for watch in self._unasked} | {stream.resource for stream in self.streams.values()}

    def _by_itself(self, program: str) -> set[str]:
        """The resources that some life watched before it was shown anything of a trial."""
        return {watch.resource for watch in self._unasked if watch.program == program}

    def _streams_of(self, program: str) -> Iterator[Opened]:
        return (stream for stream in self.streams.values() if self.program(stream.client) == program)

    def _watch(self, stream: Opened) -> _Watch:
        return _Watch(self.program(stream.client), stream.resource, stream.namespace, stream.selector)

    def replaced(self, program: str = "") -> None:
        """Another program is put under test in its place, of which nothing is known yet."""
        self.restarted(program)
        self._unasked = {watch for watch in self._unasked if watch.program != program}
        self._had = {each for each in self._had if each[0] != program}

    def restarted(self, program: str = "") -> None:
        """A new process has no streams, and those of the old one are not waited for. What the old one was expected to watch, and
        had not asked for in all the time that it was waited for, is expected of none any more."""
        due = [] if self._is_cut_off or program in self._starting else [each for each in self._expected if each.program == program]
        never = {(program, each.resource) for each in due if self._seen - self._missed[each] >= EXPECTED_SECONDS}
        self._had -= never
        self._unasked = {watch for watch in self._unasked if (watch.program, watch.resource) not in never}
        self._starting.discard(program)
        self._shown.discard(program)
        over = [number for number, stream in self.streams.items() if self.program(stream.client) == program]
        for number in over:
            del self.streams[number]
            self._reached.pop(number, None)
        self._forget_missed(lambda watch: watch.program == program)
        self._in_flight = {number: asked for number, asked in self._in_flight.items() if self.program(asked.client) != program}
        if not self.programs:  # else it is not known whose calls they are; the relay reports when their connections have ended
            self._calls.clear()

    def wakes(self, now: float, program: str = "") -> None:
        """The process of a new life has just been started."""
        self._began[program] = now

    def dies(self, program: str = "") -> None:
        """The program's process is about to be ended on purpose: its next life will watch what it watches now, as far as it does so
        by itself."""
        now = {stream.resource for stream in self._streams_of(program)}
        now |= {watch.resource for watch in self._missed if watch.program == program}
        self._will_have(program, self._by_itself(program) & now)

    def died(self, now: float, program: str = "") -> None:
        """It is gone: nothing can be expected of it."""
        self.restarted(program)
        self.touch(now)

    def _exited(self, now: float, program: str) -> None:
        """It ended by itself, and its streams before it. What it opens by itself, its next life will open, too."""
        self._will_have(program, self._by_itself(program))
        self.died(now, program)

    def born(self, now: float, program: str = "") -> None:
        """Its next life began: it is not idle before it watches what the last life watched."""
        had = [each for each in self._had if each[0] == program]
        self._forget_missed(lambda watch: watch.program == program)
        self._missed |= {_Watch(*each): now for each in had}
        self._expected |= {_Watch(*each) for each in had}
        self._starting = self._starting - {program} | ({program} if had else set())
        self.touch(now)

    def _will_have(self, program: str, resources: Iterable[str]) -> None:
        self._had = {each for each in self._had if each[0] != program} | {(program, resource) for resource in resources}

    def reachable(self, now: float, *, yes: bool) -> None:
        """Whether a client can connect at all; while it cannot, no watch is waited for."""
        self._is_cut_off = not yes
        self._missed = dict.fromkeys(self._missed, now)
        self.touch(now)

    def expect(self, resource: str, revision: int, at: float) -> None:
        """An answer has shown this commit of another user's, so truth and streams will, too; the controller may react."""
        if self._counts(resource, self.namespace):
            self._commits[resource] = max((revision, at), self._commits.get(resource, (0, 0.0)))
            self._changes.expect(resource, Revision(revision))

    def _committed(self, entry: Committed | Competed) -> None:
        """Companions may react to it, whether the controller is shown it or not."""
        if isinstance(entry, Competed):
            self.expect(entry.resource, entry.revision or 0, entry.at)
            return
        if entry.resource in BOOKKEEPING:
            return
        changed = bool(self.namespace) and self._changes.committed(entry)  # elsewhere, too: an answer may say that it is ours
        if self._counts(entry.resource, entry.namespace):
            self._commits[entry.resource] = max((entry.revision, entry.at), self._commits.get(entry.resource, (0, 0.0)))
        if self._is_of_trial(entry.namespace) and entry.type == "DELETED":
            self._removed[called_after(entry)] += 1
        if self._is_of_trial(entry.namespace) and changed:
            self._forget_what_was_in_vain()
            self.last_write = max(self.last_write, entry.at)
            self.touch(entry.at)

    def _asked(self, entry: Asked) -> None:
        self._in_flight[entry.request] = entry
        if is_work(entry):
            self._began.pop(self.program(entry.client), None)

    def _called(self, entry: Called | Replied) -> None:
        """A controller that waits for an external system has work; one that only looks there, again and again, has none."""
        if isinstance(entry, Called):
            self._calls[entry.call] = entry
        elif (call := self._calls.pop(entry.call, None)) is not None and changes_something(call.verb):
            self.touch(entry.at)

    def _watched(self, entry: Opened | Closed | Refused | Exited) -> None:
        match entry:
            case Exited():
                self._exited(entry.at, entry.program)
            case Opened():
                self.streams[entry.stream] = entry
                watch = self._watch(entry)
                if watch.program not in self._shown:
                    self._unasked.add(watch)
                self._opened(watch, entry.at)
                self.touch(entry.at)
            case Refused():
                self.touch(entry.at)
            case Closed():
                stream = self.streams.pop(entry.stream, None)
                self._reached.pop(entry.stream, None)
                if stream is not None and entry.how != "client":
                    self._ended(stream, entry.at)

    def _ended(self, stream: Opened, at: float) -> None:
        """It must come back, or another one of the resource if no life opened it by itself."""
        watch, still_open = self._watch(stream), set(map(self._watch, self.streams.values()))
        if watch in self._unasked and watch not in still_open:
            self._misses(watch, at)
        elif (watch.program, watch.resource) not in {(other.program, other.resource) for other in still_open}:
            self._misses(_Watch(watch.program, watch.resource), at)

    def _opened(self, watch: _Watch, at: float) -> None:
        """A new life that opens its first watch, or one that was expected, has the time for the next."""
        comes = _Watch(watch.program, watch.resource)
        if watch.program in self._starting or comes in self._expected:
            self._missed |= {each: at for each in self._expected if each.program == watch.program}
        self._starting.discard(watch.program)
        self._forget_missed(lambda each: each in (watch, comes))

    def _misses(self, watch: _Watch, at: float) -> None:
        self._missed[watch] = at
        self._expected.discard(watch)

    def _forget_missed(self, forgets: Callable[[_Watch], bool]) -> None:
        self._missed = {watch: at for watch, at in self._missed.items() if not forgets(watch)}
        self._expected &= self._missed.keys()

    def _patience(self, watch: _Watch) -> float:
        """A client that lost a watch may wait long before it tries again; one that has begun asks for one after the other."""
        return EXPECTED_SECONDS if watch in self._expected and watch.program not in self._starting else MISSED_SECONDS

    def _kept_waiting(self, entry: Stalled | Resumed) -> None:
        if isinstance(entry, Stalled):
            self._stalled(entry)
        else:
            self._resumed(entry)

    def _stalled(self, entry: Stalled) -> None:
        """A fault keeps the request waiting, so no answer is owed."""
        asked = self._in_flight.pop(entry.request, None)
        if asked is not None and is_work(asked):
            self.touch(asked.at)
        self._expected -= {watch for watch in self._expected if watch.resource == entry.resource}
        if entry.verb == "watch":
            self._forget_missed(lambda watch: watch.resource == entry.resource)

    def _resumed(self, entry: Resumed) -> None:
        if entry.verb == "watch":
            watching = {self.program(stream.client) for stream in self.streams.values() if stream.resource == entry.resource}
            for program in {watch.program for watch in self._unasked if watch.resource == entry.resource} or {""}:
                if program not in watching:
                    self._misses(_Watch(program, entry.resource), entry.at)
        self.touch(entry.at)

    def _answered(self, entry: Answered | Listed) -> None:
        asked = self._in_flight.pop(entry.request, None)
        if isinstance(entry, Listed) and any(self._is_of_trial(item.namespace) for item in entry.items):
            self._shown.add(self.program(entry.client))
        if asked is None or asked.verb not in WRITES or not isinstance(entry, Answered):
            return
        changed = self._changes.answered(asked, entry) if self.namespace else True
        if changed is None:
            return  # the commit counts
        latest = entry.at
        if changed:
            self._forget_what_was_in_vain()
        elif entry.fault is None:
            void = (entry.code, asked.name, write_kind(asked))
            if void in self._void:
                return
            self._void.add(void)
        else:
            self._first_rejected = min(self._first_rejected, entry.at)
            latest = min(entry.at, self._first_rejected + REJECTED_SECONDS)
        if is_work(asked):
            self.last_write = max(self.last_write, min(asked.at, latest))
        self.touch(latest)

    def _forget_what_was_in_vain(self) -> None:
        self._void.clear()
        self._first_rejected = float("inf")

    def _moved(self, entry: Delivered | Withheld | Dropped) -> None:
        if entry.revision is not None:
            self._reached[entry.stream] = max(entry.revision, self._reached.get(entry.stream, 0))
        stream = self.streams.get(entry.stream)
        if stream is None or not isinstance(entry, Delivered) or entry.type == "BOOKMARK":
            return
        if self._counts(stream.resource, entry.namespace):
            if self._is_of_trial(entry.namespace):
                self._shown.add(self.program(stream.client))
            if not self._is_unmoved(stream.resource, entry):
                self.touch(entry.at)

    def _is_unmoved(self, resource: str, entry: Delivered) -> bool:
        """Whether the frame shows a commit that changed nothing, or one that truth has yet to show: then that counts."""
        if entry.revision is None or not self._is_of_trial(entry.namespace):
            return False
        return not self._changes.shown(resource, entry.revision)

    def _owed(self, now: float) -> bool:
        """Whether a recent commit has not arrived at a stream that will carry it."""
        for number, stream in self.streams.items():
            revision, at = self._commits.get(stream.resource, (0, 0.0))
            covers = not stream.selector and stream.namespace in ("", self.namespace, self.shared) and at >= stream.at
            if covers and now - at < OWED_SECONDS and self._reached.get(number, 0) < revision:
                return True
        return False

    def _counts(self, resource: str, namespace: str) -> bool:
        return resource not in BOOKKEEPING and (not self.namespace or namespace in ("", self.namespace))

    def _is_of_trial(self, namespace: str) -> bool:
        return bool(namespace) and namespace == self.namespace

    def touch(self, at: float) -> None:
        """Something happened that the controller may still have to react to."""
        self.last_activity = max(self.last_activity, at)
