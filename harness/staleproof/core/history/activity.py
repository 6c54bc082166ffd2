"""Is the controller idle? Is it quiet? The entries alone show it, so the runner waits for conditions and never sleeps.

Idle: every request has been answered, every commit has reached the streams that will show it (delivered, or withheld by a fault),
and for a while the controller neither changed anything nor was shown a change. Quiet: for a while no client, companions included,
changed anything in the trial's namespace. Bookkeeping (leases, events) does not count.

Rest is a fixed point of the state, not silence (`change`): a controller that writes again and again what is there already, or
fails again and again in the same way, is at rest. The first such write of a kind since the last change counts all the same. One
that does nothing but try what a fault rejects is at rest after `REJECTED_SECONDS`: it will go on like that as long as the fault.

Nor does one come to rest that makes again and again what is removed again and again (`most_removed`); the runner decides how long
that is waited for.

A controller is not idle before it watches again what it has to (`watches`). Nor is a new life before it has had the time in which
one was seen to begin its work, unless it has written something: workers of some runtimes start seconds after their watches. Of
several programs all must be idle.

Divergence from Kubernetes: a stream with a selector may never show a commit, so nothing waits for such streams; and nothing waits
for a commit longer than `OWED_SECONDS`, or for a watch longer than `MISSED_SECONDS`.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

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
from staleproof.core.history.watches import Watches
from staleproof.core.times import CALL_SECONDS, OWED_SECONDS, REJECTED_SECONDS

CalledAfter = tuple[str, str]
"""A resource, and a name or the beginning of generated ones."""


def called_after(entry: Committed) -> CalledAfter:
    """What an object is called after, of whichever incarnation."""
    metadata = entry.object["metadata"]
    return entry.resource, metadata.get("generateName") or metadata["name"]


@dataclass(slots=True)
class Activity:
    """A fold over entries with absolute times. `namespace` limits what counts to one trial; empty counts everything. `shared`: the
    namespace that the trial's primaries are in, if that is another (`scope`): streams of it carry what is the trial's.

    `watches`: those of the controller and of its further programs. `_began`: when the present life of a program did that has not
    yet written anything. `_seen`: when the last entry came.
    """

    namespace: str = ""
    shared: str = ""
    watches: Watches = field(default_factory=Watches)
    last_activity: float = 0.0
    last_write: float = 0.0
    _changes: Changes = field(default_factory=Changes)
    _void: set[tuple[int, str, WriteKind]] = field(default_factory=set)
    _first_rejected: float = float("inf")
    _in_flight: dict[RequestId, Asked] = field(default_factory=dict)
    _calls: dict[CallId, Called] = field(default_factory=dict)
    _reached: dict[StreamId, int] = field(default_factory=dict)
    _commits: dict[str, tuple[int, float]] = field(default_factory=dict)
    _seen: float = 0.0
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
        calls = any(now - call.at < CALL_SECONDS for call in self._calls.values())
        misses = self.watches.is_missing(now)
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

    def replaced(self, program: str = "") -> None:
        """Another program is put under test in its place, of which nothing is known yet."""
        self.restarted(program)
        self.watches.replaced(program)

    def restarted(self, program: str = "") -> None:
        """A new process has no streams, and no answer is owed to the old one."""
        self.watches.restarted(self._seen, program)
        self._reached = {number: revision for number, revision in self._reached.items() if number in self.watches.streams}
        of_others = {number: asked for number, asked in self._in_flight.items() if self.watches.program(asked.client) != program}
        self._in_flight = of_others
        if not self.watches.programs:  # else it is not known whose calls they are; the relay reports when their connections end
            self._calls.clear()

    def wakes(self, now: float, program: str = "") -> None:
        """The process of a new life has just been started."""
        self._began[program] = now

    def died(self, now: float, program: str = "") -> None:
        """It is gone: nothing can be expected of it."""
        self.restarted(program)
        self.touch(now)

    def born(self, now: float, program: str = "") -> None:
        """Its next life began: it is not idle before it watches what the last life watched."""
        self.watches.born(now, program)
        self.touch(now)

    def reachable(self, now: float, *, yes: bool) -> None:
        """Whether a client can connect at all."""
        self.watches.reachable(now, yes=yes)
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
            self._began.pop(self.watches.program(entry.client), None)

    def _called(self, entry: Called | Replied) -> None:
        """A controller that waits for an external system has work; one that only looks there, again and again, has none."""
        if isinstance(entry, Called):
            self._calls[entry.call] = entry
        elif (call := self._calls.pop(entry.call, None)) is not None and changes_something(call.verb):
            self.touch(entry.at)

    def _watched(self, entry: Opened | Closed | Refused | Exited) -> None:
        match entry:
            case Exited():
                self.watches.ended(entry.program)
                self.died(entry.at, entry.program)
            case Opened():
                self.watches.opened(entry)
                self.touch(entry.at)
            case Refused():
                self.touch(entry.at)
            case Closed():
                self.watches.closed(entry)
                self._reached.pop(entry.stream, None)

    def _kept_waiting(self, entry: Stalled | Resumed) -> None:
        """While a fault keeps a request waiting, no answer is owed."""
        if isinstance(entry, Resumed):
            self.watches.resumed(entry)
            self.touch(entry.at)
            return
        asked = self._in_flight.pop(entry.request, None)
        if asked is not None and is_work(asked):
            self.touch(asked.at)
        self.watches.stalled(entry)

    def _answered(self, entry: Answered | Listed) -> None:
        asked = self._in_flight.pop(entry.request, None)
        if isinstance(entry, Listed) and any(self._is_of_trial(item.namespace) for item in entry.items):
            self.watches.shown(entry.client)
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
        stream = self.watches.streams.get(entry.stream)
        if stream is None or not isinstance(entry, Delivered) or entry.type == "BOOKMARK":
            return
        if self._counts(stream.resource, entry.namespace):
            if self._is_of_trial(entry.namespace):
                self.watches.shown(stream.client)
            if not self._is_unmoved(stream.resource, entry):
                self.touch(entry.at)

    def _is_unmoved(self, resource: str, entry: Delivered) -> bool:
        """Whether the frame shows a commit that changed nothing, or one that truth has yet to show: then that counts."""
        if entry.revision is None or not self._is_of_trial(entry.namespace):
            return False
        return not self._changes.shown(resource, entry.revision)

    def _owed(self, now: float) -> bool:
        """Whether a recent commit has not arrived at a stream that will carry it."""
        for number, stream in self.watches.streams.items():
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
