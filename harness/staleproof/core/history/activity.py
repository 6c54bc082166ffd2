"""Is the controller idle? Is it quiet? The entries alone tell, so the runner waits for conditions and never sleeps.

Idle: every request has been answered, every commit has reached the streams that will show it (delivered, or withheld by a fault),
and for a while the controller neither changed anything nor was shown a change. Quiet: for a while nobody, companions included,
changed anything in the trial's namespace. Bookkeeping (leases, events) does not count.

Rest is a fixed point of the state, not silence (`change`): a controller that writes again and again what is there already, or
fails again and again in the same way, is at rest. The first such write of a kind since the last change counts all the same. One
that does nothing but try what a fault rejects is at rest after `REJECTED_SECONDS`: it will go on like that as long as the fault.

A controller whose watch was ended (by a fault, by upstream) is not idle before it watches again: client-go waits up to a minute.
Two watches of one resource that look at other namespaces or labels are two informers, and each must come back that a life opened by
itself.
Nor is a new life idle before it watches what a life opens by itself, nor before it has had the time in which one was seen to begin
its work, unless it has written something: workers of some runtimes start seconds after their watches. Some watches are only opened
when they are first needed (controller-runtime does that), and nothing tells when that is: a watch opened after the life was shown
an object of the trial.

Divergence from Kubernetes: a stream with a selector may never show a commit, so nothing waits for such streams; and nothing waits
for a commit longer than `OWED_SECONDS`, or for a watch longer than `MISSED_SECONDS`.
"""

from collections.abc import Collection
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
from staleproof.core.times import CALL_SECONDS, MISSED_SECONDS, OWED_SECONDS, REJECTED_SECONDS


class _Watch(NamedTuple):
    """What a client watches. Without `namespace` and `selector`: any watch of the resource."""

    resource: str
    namespace: str | None = None
    selector: str | None = None


def _watch(stream: Opened) -> _Watch:
    return _Watch(stream.resource, stream.namespace, stream.selector)


@dataclass(slots=True)
class Activity:
    """A fold over entries with absolute times. `namespace` limits what counts to one trial; empty counts everything. `shared`: the
    namespace that the trial's primaries are in, if that is another (`scope`): streams of it carry what is the trial's.

    `is_starting`: a new life has not opened any watch yet, though the one before it had some. `_unasked`: what some
    life watched before it was shown anything of a trial; `_is_shown`: the present life was. `_missed`: the watches that must come
    back, and since when.
    """

    namespace: str = ""
    shared: str = ""
    streams: dict[StreamId, Opened] = field(default_factory=dict)
    last_activity: float = 0.0
    last_write: float = 0.0
    is_starting: bool = False
    _changes: Changes = field(default_factory=Changes)
    _void: set[tuple[int, str, WriteKind]] = field(default_factory=set)
    _first_rejected: float = float("inf")
    _in_flight: dict[RequestId, Asked] = field(default_factory=dict)
    _calls: dict[CallId, Called] = field(default_factory=dict)
    _reached: dict[StreamId, int] = field(default_factory=dict)
    _commits: dict[str, tuple[int, float]] = field(default_factory=dict)
    _missed: dict[_Watch, float] = field(default_factory=dict)
    _had: set[str] = field(default_factory=set)
    _unasked: set[_Watch] = field(default_factory=set)
    _is_shown: bool = False
    _is_cut_off: bool = False
    _began: float = float("-inf")
    _begins_seconds: float = 0.0

    def see(self, entry: Entry) -> None:
        match entry:
            case Asked() if self._counts(entry.resource, entry.namespace):
                self._in_flight[entry.request] = entry
                self._began = float("-inf") if is_work(entry) else self._began
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
        begins = now < self._began + self._begins_seconds  # a new life may not have come to its work yet
        misses = not self._is_cut_off and any(now - at < MISSED_SECONDS for at in self._missed.values())
        calls = any(now - call.at < CALL_SECONDS for call in self._calls.values())
        if self._in_flight or calls or begins or self._owed(now) or misses or self._changes.awaits(now - OWED_SECONDS):
            return None
        return self.last_activity

    def quiet_since(self, now: float) -> float | None:
        """Since when nobody has changed anything; None while something is under way."""
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
        self._forget_what_was_in_vain()
        self.touch(now)

    @property
    def done(self) -> Collection[WriteKind]:
        """The kinds of writes by which the controller has changed anything since the present step began."""
        return self._changes.done

    @property
    def watches_again(self) -> bool:
        """Whether the present life watches all that the lives before it watched by themselves; False for the first one."""
        return bool(self._unasked) and self._by_itself <= {stream.resource for stream in self.streams.values()}

    @property
    def is_known(self) -> bool:
        """Whether some life has watched anything by itself."""
        return bool(self._unasked)

    def watches(self, resource: str) -> bool:
        """Whether the present life does, or one before it did so by itself."""
        return resource in self._by_itself or any(stream.resource == resource for stream in self.streams.values())

    @property
    def _by_itself(self) -> set[str]:
        """The resources that some life watched before it was shown anything of a trial."""
        return {watch.resource for watch in self._unasked}

    def replaced(self) -> None:
        """Another controller is put under test, of which nothing is known yet."""
        self.restarted()
        self._unasked.clear()
        self._had.clear()

    def restarted(self) -> None:
        """A new process has no streams, and those of the old one are not waited for."""
        self.is_starting = self._is_shown = False
        self.streams.clear()
        self._reached.clear()
        self._missed.clear()
        self._in_flight.clear()
        self._calls.clear()

    def wakes(self, now: float) -> None:
        """The process of a new life has just been started."""
        self._began = now

    def dies(self) -> None:
        """The controller's process is about to be ended on purpose: its next life will watch what it watches now, as far as it does
        so by itself."""
        self._had = self._by_itself & (
            {stream.resource for stream in self.streams.values()} | {watch.resource for watch in self._missed}
        )

    def died(self, now: float) -> None:
        """It is gone: nothing can be expected of it."""
        self.restarted()
        self.touch(now)

    def _exited(self, now: float) -> None:
        """It ended by itself, and its streams before it. What it opens by itself, its next life will open, too."""
        self._had = self._by_itself
        self.died(now)

    def born(self, now: float) -> None:
        """Its next life began: it is not idle before it watches what the last life watched."""
        self._missed = {_Watch(resource): now for resource in self._had}
        self.is_starting = bool(self._had)
        self.touch(now)

    def reachable(self, now: float, *, yes: bool) -> None:
        """Whether a client can connect at all; while it cannot, no watch is waited for."""
        self._is_cut_off = not yes
        self._missed = dict.fromkeys(self._missed, now)
        self.touch(now)

    def expect(self, resource: str, revision: int, at: float) -> None:
        """The API server has told of this commit of another user's, so truth and streams will, too; the controller may react."""
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
        changes = bool(self.namespace) and self._changes.committed(entry)  # elsewhere, too: an answer may say that it is ours
        if self._counts(entry.resource, entry.namespace):
            self._commits[entry.resource] = max((entry.revision, entry.at), self._commits.get(entry.resource, (0, 0.0)))
        if self._is_of_trial(entry.namespace) and changes:
            self._forget_what_was_in_vain()
            self.last_write = max(self.last_write, entry.at)
            self.touch(entry.at)

    def _called(self, entry: Called | Replied) -> None:
        """A controller that waits for an external system has work; one that only looks there, again and again, has none."""
        if isinstance(entry, Called):
            self._calls[entry.call] = entry
        elif (call := self._calls.pop(entry.call, None)) is not None and changes_something(call.verb):
            self.touch(entry.at)

    def _watched(self, entry: Opened | Closed | Refused | Exited) -> None:
        match entry:
            case Exited():
                self._exited(entry.at)
            case Opened():
                self.streams[entry.stream] = entry
                self.is_starting = False
                if not self._is_shown:
                    self._unasked.add(_watch(entry))
                self._missed.pop(_Watch(entry.resource), None)
                self._missed.pop(_watch(entry), None)
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
        watch, others = _watch(stream), set(map(_watch, self.streams.values()))
        if watch in self._unasked and watch not in others:
            self._missed[watch] = at
        elif stream.resource not in {other.resource for other in others}:
            self._missed[_Watch(stream.resource)] = at

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
        if entry.verb == "watch":
            self._missed = {watch: at for watch, at in self._missed.items() if watch.resource != entry.resource}

    def _resumed(self, entry: Resumed) -> None:
        if entry.verb == "watch" and all(stream.resource != entry.resource for stream in self.streams.values()):
            self._missed[_Watch(entry.resource)] = entry.at
        self.touch(entry.at)

    def _answered(self, entry: Answered | Listed) -> None:
        asked = self._in_flight.pop(entry.request, None)
        self._is_shown |= isinstance(entry, Listed) and any(self._is_of_trial(item.namespace) for item in entry.items)
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
            self._is_shown |= self._is_of_trial(entry.namespace)
            if not self._is_unmoved(stream.resource, entry):
                self.touch(entry.at)

    def _is_unmoved(self, resource: str, entry: Delivered) -> bool:
        """Whether the frame shows a commit that changed nothing, or one of which truth has yet to tell: then that counts."""
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
