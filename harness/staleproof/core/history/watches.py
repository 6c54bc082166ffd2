"""Which watches does each program have open, and which have yet to come back?

A watch that ended (by a fault, by upstream) must come back: client-go waits up to a minute. Two watches of one resource that look
at other namespaces or labels are two informers, and each must come back that a life opened by itself.

A new life is expected to open what a life opens by itself. Some watches are only opened when they are first needed
(controller-runtime does that), and nothing shows when that is: a watch opened after the life was shown an object of the trial.

Of several programs each has lives and watches of its own. The controller, and whichever client is no further program, is
program "".
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from staleproof.core.history.entry import Closed, Opened, Resumed, Stalled, StreamId
from staleproof.core.times import EXPECTED_SECONDS, MISSED_SECONDS


class _Watch(NamedTuple):
    """What a program watches. Without `namespace` and `selector`: any watch of the resource."""

    program: str
    resource: str
    namespace: str | None = None
    selector: str | None = None


@dataclass(slots=True)
class Watches:
    """A fold over what happens to streams and lives, with absolute times.

    `programs`: the further programs of the subject. `streams`: the open watches, by their numbers. `_starting`: the programs of
    which a new life has not opened any watch yet, though the one before it had some. `_unasked`: what some life watched before it
    was shown anything of a trial; `_shown`: the programs of which the present life was. `_missed`: the watches that must come back,
    and since when; `_expected`: those of them that a new life is only expected to open, because lives before it did.
    """

    programs: frozenset[str] = frozenset()
    streams: dict[StreamId, Opened] = field(default_factory=dict)
    _missed: dict[_Watch, float] = field(default_factory=dict)
    _expected: set[_Watch] = field(default_factory=set)
    _had: set[tuple[str, str]] = field(default_factory=set)
    _unasked: set[_Watch] = field(default_factory=set)
    _shown: set[str] = field(default_factory=set)
    _starting: set[str] = field(default_factory=set)
    _is_cut_off: bool = False

    def program(self, client: str) -> str:
        """The program that a client is."""
        return client if client in self.programs else ""

    @property
    def is_starting(self) -> bool:
        """Whether a new life of any program has yet to open its first watch."""
        return bool(self._starting)

    def is_missing(self, now: float) -> bool:
        """Whether a watch has yet to come back, and has not been waited for too long."""
        return not self._is_cut_off and any(now - at < self._patience(watch) for watch, at in self._missed.items())

    def is_open(self, program: str = "") -> bool:
        """Whether the present life of the program watches anything."""
        return any(True for _ in self._streams_of(program))

    def is_known(self, program: str = "") -> bool:
        """Whether some life has watched anything by itself."""
        return bool(self._by_itself(program))

    def are_back(self, program: str = "") -> bool:
        """Whether the present life watches all that the lives before it watched by themselves; False for the first one."""
        return self.is_known(program) and self._by_itself(program) <= {stream.resource for stream in self._streams_of(program)}

    def include(self, resource: str) -> bool:
        """Whether the present life of any program watches it, or one before it did so by itself."""
        return resource in {watch.resource for watch in self._unasked} | {stream.resource for stream in self.streams.values()}

    def opened(self, stream: Opened) -> None:
        """A new life that opens its first watch, or one that was expected, has the time for the next."""
        self.streams[stream.stream] = stream
        watch = self._watch(stream)
        if watch.program not in self._shown:
            self._unasked.add(watch)
        comes = _Watch(watch.program, watch.resource)
        if watch.program in self._starting or comes in self._expected:
            self._missed |= {each: stream.at for each in self._expected if each.program == watch.program}
        self._starting.discard(watch.program)
        self._forget_missed(lambda each: each in (watch, comes))

    def closed(self, entry: Closed) -> None:
        """The watch must come back, unless the client ended it, or another one of the resource if no life opened it by itself."""
        stream = self.streams.pop(entry.stream, None)
        if stream is None or entry.how == "client":
            return
        watch, still_open = self._watch(stream), set(map(self._watch, self.streams.values()))
        if watch in self._unasked and watch not in still_open:
            self._misses(watch, entry.at)
        elif (watch.program, watch.resource) not in {(other.program, other.resource) for other in still_open}:
            self._misses(_Watch(watch.program, watch.resource), entry.at)

    def stalled(self, entry: Stalled) -> None:
        """A fault keeps the request waiting, so the watch cannot come back, and what comes late is no watch that never comes."""
        self._expected -= {watch for watch in self._expected if watch.resource == entry.resource}
        if entry.verb == "watch":
            self._forget_missed(lambda watch: watch.resource == entry.resource)

    def resumed(self, entry: Resumed) -> None:
        if entry.verb != "watch":
            return
        watching = {self.program(stream.client) for stream in self.streams.values() if stream.resource == entry.resource}
        for program in {watch.program for watch in self._unasked if watch.resource == entry.resource} or {""}:
            if program not in watching:
                self._misses(_Watch(program, entry.resource), entry.at)

    def shown(self, client: str) -> None:
        """The present life was shown an object of the trial."""
        self._shown.add(self.program(client))

    def will_end(self, program: str = "") -> None:
        """The program's process is about to be ended on purpose: its next life will watch what it watches now, as far as it does so
        by itself."""
        now = {stream.resource for stream in self._streams_of(program)}
        now |= {watch.resource for watch in self._missed if watch.program == program}
        self._will_have(program, self._by_itself(program) & now)

    def ended(self, program: str) -> None:
        """It ended by itself, and its streams before it. What it opens by itself, its next life will open, too."""
        self._will_have(program, self._by_itself(program))

    def restarted(self, at: float, program: str = "") -> None:
        """A new process has no streams, and those of the old one are not waited for. What the old one was expected to watch, and
        had not asked for in all the time that it was waited for, is expected of none any more. `at`: when the last entry came."""
        due = [] if self._is_cut_off or program in self._starting else [each for each in self._expected if each.program == program]
        never = {(program, each.resource) for each in due if at - self._missed[each] >= EXPECTED_SECONDS}
        self._had -= never
        self._unasked = {watch for watch in self._unasked if (watch.program, watch.resource) not in never}
        self._starting.discard(program)
        self._shown.discard(program)
        self.streams = {number: stream for number, stream in self.streams.items() if self.program(stream.client) != program}
        self._forget_missed(lambda watch: watch.program == program)

    def replaced(self, program: str = "") -> None:
        """Another program is in its place, of which nothing is known yet."""
        self._unasked = {watch for watch in self._unasked if watch.program != program}
        self._had = {each for each in self._had if each[0] != program}

    def born(self, at: float, program: str = "") -> None:
        """Its next life began, which is expected to watch what the last life watched."""
        had = [each for each in self._had if each[0] == program]
        self._forget_missed(lambda watch: watch.program == program)
        self._missed |= {_Watch(*each): at for each in had}
        self._expected |= {_Watch(*each) for each in had}
        self._starting = self._starting - {program} | ({program} if had else set())

    def reachable(self, at: float, *, yes: bool) -> None:
        """Whether a client can connect at all; while it cannot, no watch is waited for."""
        self._is_cut_off = not yes
        self._missed = dict.fromkeys(self._missed, at)

    def _by_itself(self, program: str) -> set[str]:
        """The resources that some life watched before it was shown anything of a trial."""
        return {watch.resource for watch in self._unasked if watch.program == program}

    def _streams_of(self, program: str) -> Iterator[Opened]:
        return (stream for stream in self.streams.values() if self.program(stream.client) == program)

    def _watch(self, stream: Opened) -> _Watch:
        return _Watch(self.program(stream.client), stream.resource, stream.namespace, stream.selector)

    def _will_have(self, program: str, resources: Iterable[str]) -> None:
        self._had = {each for each in self._had if each[0] != program} | {(program, resource) for resource in resources}

    def _misses(self, watch: _Watch, at: float) -> None:
        self._missed[watch] = at
        self._expected.discard(watch)

    def _forget_missed(self, forgets: Callable[[_Watch], bool]) -> None:
        self._missed = {watch: at for watch, at in self._missed.items() if not forgets(watch)}
        self._expected &= self._missed.keys()

    def _patience(self, watch: _Watch) -> float:
        """A client that lost a watch may wait long before it tries again; one that has begun asks for one after the other."""
        return EXPECTED_SECONDS if watch in self._expected and watch.program not in self._starting else MISSED_SECONDS
