"""Self-check on a whole history: was every stream that the controller was shown a watch, and every list a snapshot?

Checks what left the proxy for the six properties of a watch that etcd defines and its robustness tests check: what a stream shows
by itself (`monitor`), and what only truth shows, the commits that the harness's own direct watches saw. A breach in
a legal plan is a bug of staleproof, not of the controller; a hostile fault breaks the property that it names, and no other.

In doubt nothing is broken. Streams with a selector, of another namespace, or with an unreadable frame are not compared with truth;
nor is anything once the direct watches broke. A stream must show what was committed between the first revision that it surely shows
and the last that it has shown. Objects that truth never saw change may have existed before.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from staleproof.core.history.entry import Broke, Committed, Delivered, Dropped, Entry, Listed, Opened, StreamId, Withheld
from staleproof.core.history.frame import UNREADABLE, Frame
from staleproof.core.history.history import History
from staleproof.core.history.monitor import Breach, Monitor, Property
from staleproof.core.history.resource_version import revision

_UNKNOWN = -1
Versions = dict[str, int | None]
"""uid to revision; None: gone."""


def breaches(history: History) -> tuple[Breach, ...]:
    """The properties of a watch that each stream broke, each once a stream, and the lists that are no snapshots."""
    check = _Check(history.header.namespace)
    for entry in history.entries:
        check.advance(entry)
    return tuple(check.found(complete=history.complete))


def unexplained(history: History) -> tuple[Breach, ...]:
    """The breaches that no hostile fault of the plan explains."""
    named = {fault.breaks for fault in history.header.plan.faults}
    return tuple(breach for breach in breaches(history) if breach.property not in named)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A collection as the controller was shown it at one revision; `what` says where."""

    what: str
    revision: int
    versions: Versions


@dataclass(slots=True)
class _Stream:
    """One stream so far. `base` is the revision after which every event must come, once that is known.

    A stream that was open before the trial and began with initial events may still be among them: if their end comes, what seemed
    wrong before it was not.
    """

    opened: Opened
    number: StreamId
    monitor: Monitor
    marked: bool
    base: int = _UNKNOWN
    covered: int = _UNKNOWN
    in_burst: bool = False
    readable: bool = True
    first: int | None = None
    events: set[int] = field(default_factory=set)
    dropped: set[int] = field(default_factory=set)
    late: set[int] = field(default_factory=set)
    burst: Versions = field(default_factory=dict)
    complete: bool = False  # everything of its initial events was delivered in this history
    resumes: bool = False  # the client said where it begins
    broken: dict[Property, Breach] = field(default_factory=dict)
    snapshot: _Snapshot | None = None

    @property
    def what(self) -> str:
        return f"stream {self.number} of {self.opened.resource}"

    def see(self, entry: Delivered) -> None:
        if entry.type == UNREADABLE:
            self.readable = False
        if entry.initial_end and self.marked and not self.in_burst:
            # The initial events of a stream from before the trial end only now, so it was judged too early.
            self.monitor, self.broken, self.base = Monitor(None, watch_list=True), {}, _UNKNOWN
        frame = Frame(entry.type, entry.namespace, entry.name, entry.uid, entry.revision, entry.initial_end, b"")
        if self.in_burst and entry.type == "ADDED":
            self.monitor.came(frame, initial=True)
        breach = self.monitor.see(frame)
        if breach is not None:
            self.broken.setdefault(breach.property, Breach(breach.property, f"{self.what}: {breach.what}"))
        if entry.revision is not None:
            self._reach(entry, entry.revision)

    def gap(self, commits: Sequence[int]) -> Breach | None:
        """A breach by the first commit that the stream has passed without showing it; None if it need not show all."""
        if self.base == _UNKNOWN or self.opened.selector or not self.readable:
            return None
        passed = commits[bisect_right(commits, self.base) : bisect_right(commits, self.covered)]
        missed = next((commit for commit in passed if commit not in self.events), None)
        if missed is None:
            return None
        if missed in self.late:
            return Breach("Ordered", f"{self.what}: event {missed} waited, and {self.covered} overtook it")
        resumed = self.resumes and missed not in self.dropped and (self.first is None or missed < self.first)
        what = f"{self.what}: {missed} was committed and never left, {self.covered} did"
        return Breach("Resumable" if resumed else "Reliable", f"{what}; it began behind {self.base}" if resumed else what)

    def _reach(self, entry: Delivered, at: int) -> None:
        if self.in_burst and entry.type == "ADDED":
            self.burst[entry.uid] = at
        elif self.in_burst and (entry.initial_end or not (self.marked and entry.type == "BOOKMARK")):
            self.in_burst = False
            self._end_burst(at, marked=entry.initial_end)
        elif self.base == _UNKNOWN and not self.in_burst:
            self.base = at
        if entry.type != "BOOKMARK":
            self.events.add(at)
            self.first = self.first or at
        self.covered = max(self.covered, at)

    def _end_burst(self, at: int, *, marked: bool) -> None:
        """Only a marked end says at which revision the state was read."""
        self.base = at
        if marked and self.complete and not self.opened.selector and self.readable and "" not in self.burst:
            what = f"{self.what}: its initial events"
            self.snapshot = _Snapshot(what, at, self.burst)
        self.burst = {}


@dataclass(slots=True)
class _Check:
    """A fold over the entries; what needs truth is judged at the end. `namespace` is the trial's."""

    namespace: str
    _streams: dict[StreamId, _Stream] = field(default_factory=dict)
    _commits: dict[str, list[Committed]] = field(default_factory=lambda: defaultdict(list))
    _lists: dict[str, list[_Snapshot]] = field(default_factory=lambda: defaultdict(list))
    _paged: set[tuple[str, str, str]] = field(default_factory=set)
    _truth_broke: bool = False

    def advance(self, entry: Entry) -> None:
        step = _STEPS.get(type(entry))
        if step is not None:
            step(self, entry)

    def found(self, *, complete: bool) -> Iterator[Breach]:
        for stream in self._streams.values():
            yield from stream.broken.values()
        if self._truth_broke:
            return
        for resource, commits in self._commits.items():
            commits.sort(key=_revision)
            revisions = [commit.revision for commit in commits]
            streams = [stream for stream in self._streams.values() if stream.opened.resource == resource]
            yield from (gap for stream in streams if (gap := stream.gap(revisions)) is not None)
            shown = [stream.snapshot for stream in streams if stream.snapshot is not None]
            yield from _mixed([*shown, *self._lists[resource]], commits, complete=complete)

    def _opened(self, entry: Opened) -> None:
        if entry.stream in self._streams or not self._is_mine(entry.namespace):
            return  # announced again by the next plan of the same history, or not recorded
        start = None if entry.watch_list else revision(entry.start)
        marked, carried = entry.watch_list and entry.bookmarks, entry.since is not None
        if start is None and not (carried and marked):
            stream = _Stream(entry, entry.stream, Monitor(None, watch_list=marked), marked, in_burst=True, complete=not carried)
        else:
            base = entry.since if entry.since is not None else start
            stream = _Stream(entry, entry.stream, Monitor(base, watch_list=False), marked, base=base or 0, resumes=not carried)
            stream.covered = stream.base
        self._streams[entry.stream] = stream

    def _delivered(self, entry: Delivered) -> None:
        stream = self._streams.get(entry.stream)
        if stream is None:
            return
        if stream.late and entry.revision is not None:
            stream.late.discard(entry.revision)
        stream.see(entry)

    def _kept(self, entry: Withheld | Dropped) -> None:
        stream = self._streams.get(entry.stream)
        if stream is not None and entry.revision is not None and entry.type != "BOOKMARK":
            (stream.late if isinstance(entry, Withheld) else stream.dropped).add(entry.revision)

    def _committed(self, entry: Committed) -> None:
        self._commits[entry.resource].append(entry)

    def _listed(self, entry: Listed) -> None:
        """Whole lists only: nothing says which page of a list a page is."""
        collection = (entry.client, entry.resource, entry.namespace)
        if entry.more:
            self._paged.add(collection)
        if collection in self._paged or entry.selector or entry.revision is None or not self._is_mine(entry.namespace):
            return
        versions: Versions = {item.uid: item.revision for item in entry.items}
        if "" not in versions:
            self._lists[entry.resource].append(_Snapshot(f"list {entry.request} of {entry.resource}", entry.revision, versions))

    def _broke(self, entry: Broke) -> None:
        self._truth_broke = self._truth_broke or entry.where == "truth"

    def _is_mine(self, namespace: str) -> bool:
        return not self.namespace or namespace in ("", self.namespace)


def _mixed(shown: list[_Snapshot], commits: list[Committed], *, complete: bool) -> Iterator[Breach]:
    """Compare each snapshot of a resource with what truth knows of its revision.

    Truth has surely seen everything of namespaced resources in a complete trial; otherwise everything up to its last commit.
    """
    horizon = math.inf if complete and commits[-1].namespace else commits[-1].revision
    known: Versions = {}
    live: Versions = {}
    ahead = iter(commits)
    commit = next(ahead, None)
    for snapshot in sorted(shown, key=_revision):
        if snapshot.revision > horizon:
            return
        while commit is not None and commit.revision <= snapshot.revision:
            live.pop(commit.uid, None)
            known[commit.uid] = None
            if commit.type != "DELETED":
                known[commit.uid] = live[commit.uid] = commit.revision
            commit = next(ahead, None)
        wrong = _difference(snapshot.versions, live, known, commits)
        if wrong:
            yield Breach("Atomic", f"{snapshot.what} at {snapshot.revision}: {wrong}")


def _difference(shown: Versions, live: Versions, known: Versions, commits: list[Committed]) -> str:
    """How the snapshot differs from truth, in words; empty when it does not."""
    if shown == live:
        return ""
    for uid, version in live.items():
        if shown.get(uid) != version:
            found = f"is in it at {shown[uid]}" if uid in shown else "is not in it"
            return f"uid {uid} {found}, truth has it at {version}"
    first, last = commits[0].revision, commits[-1].revision
    for uid, version in shown.items():
        if uid in known and uid not in live:
            return f"uid {uid} is in it, which was gone by then"
        if uid not in known and version is not None and first <= version <= last:
            return f"uid {uid} is in it at {version}, which was never committed"
    return ""


def _revision(of: Committed | _Snapshot) -> int:
    return of.revision


_STEPS: dict[type, Callable[[_Check, Any], None]] = {
    Opened: _Check._opened,
    Delivered: _Check._delivered,
    Withheld: _Check._kept,
    Dropped: _Check._kept,
    Committed: _Check._committed,
    Listed: _Check._listed,
    Broke: _Check._broke,
}
