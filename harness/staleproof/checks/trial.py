"""One history, indexed once: what every rule and every fact looks at.

A `Trial` pairs requests with their answers, says which resource a stream is of, where lives of the process and phases begin, when
faults were open, and whose each commit is. References are trials, too: a trial has them beside it, and each of them knows the trial
that it is compared with. What takes more than indexing is a *fact* (`fact`): a function of a trial that is worked out once for it.
"""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, TypeVar

from staleproof.core.fault import AnyFault
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import (
    Closed,
    Committed,
    Entry,
    FaultClosed,
    FaultFired,
    FaultIndex,
    FaultOpened,
    Opened,
    Released,
    RequestId,
    Settled,
    Started,
    StepBegan,
    StepEnded,
    StreamId,
)
from staleproof.core.history.history import History, HistoryRole, Position, Request, is_work, requests
from staleproof.core.history.provenance import Commit, commits_of
from staleproof.core.history.scope import PROBE
from staleproof.core.plan.step import is_workload

E = TypeVar("E", bound=Entry)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Span:
    """From where to where something lasted, as positions; `closed` is None for what never ended."""

    opened: Position
    closed: Position | None = None

    def lasted(self, since: int, until: int) -> bool:
        """Whether it began before `until` and had not ended by `since`."""
        return self.opened < until and (self.closed is None or self.closed > since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch(Span):
    """A watch of the controller: where it was opened and where it ended."""

    entry: Opened


@dataclass(frozen=True, slots=True)
class StepRun:
    """A step of the workload. `ended` is None for one that was interrupted; `idle`: the controller was idle at its end."""

    number: int
    began: Position
    ended: Position | None = None
    idle: bool = False


class Trial:
    """An indexed history. `references` are the fault-free runs that it is compared with; `ablated` the runs that only lack some of
    its faults, which show what the others bring about.

    Of these only some show how things come about. `alike` are those of the whole workload, step by step; the others have only an
    end. `calm` are those among them in which the controller was not restarted either.

    Positions are those of entries in the history; "before a position" leaves the entry there out.
    """

    def __init__(self, history: History, references: Sequence[History] = (), *, beside: "Trial | None" = None) -> None:
        self.history = history
        self.entries: Sequence[Entry] = history.entries
        self.plan = history.header.plan
        self.namespace = history.header.namespace
        self.beside = beside or self
        beside_it = tuple(_reference(reference, references, self) for reference in references)
        self.references = tuple(each for each in beside_it if each.role != "ablated")
        self.ablated = tuple(each for each in beside_it if each.role == "ablated")
        self.alike = tuple(each for each in self.references if each.role not in ("final", "slept"))
        self.calm = tuple(each for each in self.alike if each.role != "woken" or not each.starts[1:])
        self._facts: dict[Callable[[Trial], Any], Any] = {}

    @property
    def role(self) -> HistoryRole:
        """What it is to the runs beside it."""
        return self.history.header.role

    # --- entries

    @cached_property
    def _by_kind(self) -> Mapping[type, Sequence[Position]]:
        return grouped((type(entry), Position(index)) for index, entry in enumerate(self.entries))

    def positions(self, *kinds: type[Entry]) -> Sequence[Position]:
        """Of all entries of these kinds, in order."""
        if len(kinds) == 1:
            return self._by_kind.get(kinds[0], ())
        return sorted(index for kind in kinds for index in self._by_kind.get(kind, ()))

    def every(self, kind: type[E], *, since: int = 0, until: int | None = None) -> Iterator[tuple[Position, E]]:
        """(position, entry) of each entry of a kind between two positions, the first included."""
        places = self._by_kind.get(kind, ())
        stop = len(places) if until is None else bisect_left(places, until)
        for index in places[bisect_left(places, since) : stop]:
            entry = self.entries[index]
            assert isinstance(entry, kind)
            yield index, entry

    def first(self, kind: type[Entry]) -> Position | None:
        """The position of the first entry of a kind; None if there is none."""
        return next(iter(self.positions(kind)), None)

    def at(self, index: int) -> float:
        """Seconds since the trial began."""
        return self.entries[index].at

    def position_at(self, seconds: float) -> Position:
        """The first one so many seconds after the trial began, or later."""
        return Position(bisect_left(self.entries, seconds, key=lambda entry: entry.at))

    # --- requests

    @cached_property
    def requests(self) -> Sequence[Request]:
        """Every request of the controller with its answer, in the order sent."""
        return requests(self.entries)

    @cached_property
    def request_of(self) -> Mapping[RequestId, Request]:
        """By the request's number."""
        return {request.asked.request: request for request in self.requests}

    @cached_property
    def work(self) -> Sequence[Request]:
        """Writes that count, refused ones included (`is_work`)."""
        return [request for request in self.requests if is_work(request.asked)]

    @cached_property
    def idle(self) -> str:
        """Why the controller can have done nothing right or wrong, in words: it never wrote. Empty when it did."""
        return "" if self.work else "the controller never wrote anything"

    # --- streams

    @cached_property
    def streams(self) -> Mapping[StreamId, Watch]:
        """By the stream's number."""
        closed = {entry.stream: index for index, entry in self.every(Closed)}
        return {entry.stream: Watch(index, closed.get(entry.stream), entry=entry) for index, entry in self.every(Opened)}

    def resource_of(self, stream: StreamId) -> str:
        """What a stream is a watch of; empty for a stream that is not known."""
        return self.streams[stream].entry.resource if stream in self.streams else ""

    # --- lives, steps, phases

    @cached_property
    def starts(self) -> Sequence[Position]:
        """Where each life of the controller's process began."""
        return self.positions(Started)

    def life(self, index: int) -> int:
        """The number of the life, from 0, that a position belongs to."""
        return max(0, bisect_right(self.starts, index) - 1)

    def life_began(self, index: int) -> int:
        """Where the life that a position belongs to began; 0 for one that began before the trial."""
        return self.starts[self.life(index)] if self.starts else 0

    @cached_property
    def steps(self) -> Sequence[StepRun]:
        """Those that began, in order."""
        ended = {entry.step: (index, entry.idle) for index, entry in self.every(StepEnded)}
        began = {entry.step: index for index, entry in self.every(StepBegan)}
        return [StepRun(number, index, *ended.get(number, (None, False))) for number, index in began.items()]

    @cached_property
    def workload(self) -> Sequence[StepRun]:
        """Those that belong to the workload: any run of it has them in the same order."""
        return [step for step in self.steps if all(map(is_workload, self.plan.steps[step.number - 1 : step.number]))]

    def workload_step(self, number: int) -> int:
        """How many steps of the workload have begun when the step of this number has."""
        return number - sum(not is_workload(step) for step in self.plan.steps[:number])

    @cached_property
    def released(self) -> Position | None:
        """Where every fault had closed and all that was held had left; None if the trial did not come so far."""
        return self.first(Released)

    @cached_property
    def settled(self) -> Position | None:
        """Where the settling phase ended, converged or not; None if the trial did not come so far."""
        return self.first(Settled)

    @property
    def ending(self) -> tuple[Position, Position]:
        """Where the trial was released and where it had settled.

        Raises:
            ValueError: the trial did not come so far; a rule that `needs_end` is not asked then.
        """
        if self.released is None or self.settled is None:
            raise ValueError("the trial has no settling phase")
        return self.released, self.settled

    @cached_property
    def unwoken(self) -> Position:
        """Where the trial ended; or where the runner made something elsewhere to see whether the controller works (`Probed`): a
        controller that works out everything anew for any primary is woken by that."""
        probe = "namespaces", f"{self.namespace}{PROBE}"
        made = self.every(Committed, since=self.settled or 0)
        return next((index for index, entry in made if (entry.resource, entry.name) == probe), Position(len(self.entries)))

    @cached_property
    def usual_ending(self) -> tuple[Position, Position]:
        """Where the trial was released, and where the time was over that any controller is given: where it had settled, unless it
        was waited for longer.

        Raises:
            ValueError: as of `ending`.
        """
        released, settled = self.ending
        end = self.entries[settled]
        if not isinstance(end, Settled) or not end.overdue:
            return released, settled
        return released, next(Position(n) for n, entry in enumerate(self.entries) if entry.at >= end.at - end.overdue)

    # --- faults

    @cached_property
    def fired(self) -> Mapping[FaultIndex, AnyFault]:
        """The faults of the plan that did something, by their number."""
        return {entry.fault: self.plan.faults[entry.fault] for _, entry in self.every(FaultFired)}

    @cached_property
    def spans(self) -> Mapping[FaultIndex, Span]:
        """When each fault that opened was open, by its number."""
        closed = {entry.fault: index for index, entry in self.every(FaultClosed)}
        return {entry.fault: Span(index, closed.get(entry.fault)) for index, entry in self.every(FaultOpened)}

    def closing(self, fault: FaultIndex) -> Position:
        """Where a fault that opened closed; at the release, or the end of a trial that has none, if the history does not say."""
        end = Position(len(self.entries) - 1) if self.released is None else self.released
        closed = self.spans[fault].closed
        return end if closed is None else closed

    def faults_open_at(self, index: int) -> Iterator[Position]:
        """Where the faults opened that were open at a position."""
        return (span.opened for span in self.spans.values() if span.lasted(index, index))

    # --- commits

    @cached_property
    def primaries(self) -> frozenset[str]:
        """Resources that the workload applies."""
        return frozenset(primary.rpartition("/")[0] for primary in self.applied)

    @cached_property
    def applied(self) -> frozenset[str]:
        """Resource and name of what the workload applies, as `widgets.staleproof.dev/sample`."""
        return frozenset(self.history.header.primaries)

    @cached_property
    def commits(self) -> Sequence[Commit]:
        """All in the trial's namespace but bookkeeping: resource by resource, each in the order of its revisions."""
        mine = ((index, entry) for index, entry in self.every(Committed) if entry.namespace == self.namespace)
        return commits_of(mine, self.requests)

    @cached_property
    def commit_at(self) -> Mapping[int, Commit]:
        """By position."""
        return {commit.index: commit for commit in self.commits}


_Key = tuple[int, ...]
"""The histories of a comparison by their ids: the first is what is indexed. A trial in the cache keeps them alive."""
_TRIALS, _REFERENCES = 4, 12
_trials: OrderedDict[_Key, Trial] = OrderedDict()
_references: OrderedDict[_Key, Trial] = OrderedDict()


def indexed(history: History, references: Sequence[History] = ()) -> Trial:
    """The trial of this history beside these references: the same one, with all that was worked out for it, as long as it is among
    the last that were asked for."""
    key = (id(history), *map(id, references))
    return _kept(_trials, key, _TRIALS, lambda: Trial(history, references))


def with_references(history: History) -> Trial:
    """The same beside the references that the history has."""
    return indexed(history, history.references)


def _reference(history: History, references: Sequence[History], beside: Trial) -> Trial:
    """A reference of a trial. What is known of it follows from its history and from the references beside it, so trials that have
    the same ones share them."""
    key = (id(history), *map(id, references))
    return _kept(_references, key, _REFERENCES, lambda: Trial(history, beside=beside))


def _kept(cache: OrderedDict[_Key, Trial], key: _Key, most: int, make: Callable[[], Trial]) -> Trial:
    if key not in cache:
        cache[key] = make()
        while len(cache) > most:
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]


def fact(find: Callable[[Trial], T]) -> Callable[[Trial], T]:
    """A function of a trial that is worked out once for each trial, however often it is asked for."""

    @wraps(find)
    def found(trial: Trial) -> T:
        known = trial._facts
        if find not in known:
            known[find] = find(trial)
        result: T = known[find]
        return result

    return found
