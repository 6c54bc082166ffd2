"""The rhythm of a controller, learnt from a fault-free run with long waits: how long it pauses before it goes on by itself, and
what moves by itself even when it is at rest.

A controller may do a second thing some time after the first (RequeueAfter, a rate limit, a poll). A trial that ends in such a pause
would compare half-done work with whole, so the windows in which "nothing happens" counts as idle or settled follow its pace. What
changes nothing (`core.history.change`) is no second thing: a controller that polls at rest is not waited for.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from staleproof.core.history.change import essential, is_unmoved, moved, void_writes
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Delivered,
    Listed,
    Opened,
    Probed,
    Released,
    RequestId,
    Settled,
    Started,
    StepBegan,
    StepEnded,
)
from staleproof.core.history.history import History, Position, Request, is_work, requests
from staleproof.core.history.provenance import Commit, commits_of
from staleproof.core.history.request import BOOKKEEPING
from staleproof.core.plan.plan import Settle
from staleproof.core.plan.step import is_workload
from staleproof.core.times import COUNTED_REST_SECONDS, IDLE_FACTOR, LIMIT_FACTOR, QUIET_FACTOR, REST_SECONDS

_MOST_MOVES, _LATE = 3, 1 / 3
"""What moves by itself has moved so often in the last two thirds of a run that did not come to rest."""


def longest_pause(history: History, moves: Collection[str] = ()) -> float:
    """The most seconds from what could have caused a write (a step, a frame shown, the answer to a write) to the write.

    A write is a write that the controller asks for and that changes anything; of several causes since its last write the first
    counts, because a controller may take them together after a while. A write is also whatever is committed in the trial's
    namespace: companions pause, too. Reads cause nothing. Only the time up to the settling counts: what comes after was asked for
    by the runner. `moves`: fields that move by themselves.
    """
    pauses, still = _Pauses(), _Still(history, moves)
    for entry in history.entries:
        match entry:
            case Settled():
                break
            case Asked() if is_work(entry) and entry.request not in still.requests:
                pauses.wrote(entry)
            case Committed() if _counts(entry, history) and not still.commits(entry):
                pauses.committed(entry.at)
            case Answered() if entry.request in pauses.writes:
                pauses.caused(entry.at)
            case StepBegan():
                pauses.began(entry.at)
            case Delivered(uid=uid) if uid and not still.shows(entry):
                pauses.caused(entry.at)
    return pauses.longest


def longest_period(history: History) -> float:
    """The most seconds that nothing happened, nothing was shown and nothing asked, before the controller asked for something by
    itself: what it polls, collects, renews or looks at again comes as late as that. Reads count, and so do leases."""
    longest, last = 0.0, None
    for entry in history.entries:
        match entry:
            case Settled():
                break
            case Asked():
                longest = max(longest, entry.at - last) if last is not None else longest
                last = entry.at
            case Delivered(type="BOOKMARK", initial_end=False):
                continue
            case Answered() | Listed() | Committed() | Delivered() | Opened() | Closed() | Started() | StepBegan():
                last = entry.at
    return longest


def restless_fields(history: History) -> tuple[str, ...]:
    """The fields that moved again and again in a fault-free run that never came to rest, as `Settle.moves` spells them; none if it
    did come to rest."""
    settled = next((entry for entry in history.entries if isinstance(entry, Settled)), None)
    if settled is None or settled.ok:
        return ()
    times = Counter[str]()
    for commit in _commits(history, requests(history.entries)):
        entry = commit.entry
        if entry.type == "MODIFIED" and commit.before is not None and entry.at >= _LATE * settled.at:
            times.update(moved(entry.resource, path) for path in essential(entry.resource, commit.before, entry.object))
    return tuple(sorted(field for field, count in times.items() if count >= _MOST_MOVES))


def writes_at_rest(history: History, moves: Collection[str] = ()) -> float:
    """Writes an hour in a fault-free run when nothing changes any more: from a second after the last change to the settling. 0 if
    there was no such time."""
    still, writes = _Still(history, moves), list[float]()
    last = ended = 0.0
    for entry in history.entries:
        match entry:
            case Settled():
                ended = entry.at
                break
            case Asked() if is_work(entry) and entry.namespace == history.header.namespace:
                writes.append(entry.at)
            case Committed() if _counts(entry, history) and not still.commits(entry):
                last = entry.at
            case StepBegan():
                last = entry.at
    began = last + COUNTED_REST_SECONDS
    return 3600 * sum(at >= began for at in writes) / (ended - began) if ended > began else 0.0


class _Still:
    """What changed nothing in a history: requests, and commits by resource and revision."""

    def __init__(self, history: History, moves: Collection[str]) -> None:
        all_requests = requests(history.entries)
        commits = _commits(history, all_requests)
        self.requests = {each.asked.request for each in void_writes(all_requests, commits, moves)}
        self._unmoved = {
            (each.entry.resource, each.entry.revision) for each in commits if is_unmoved(each.entry, each.before, moves)
        }
        self._resources = {entry.stream: entry.resource for entry in history.entries if isinstance(entry, Opened)}

    def commits(self, entry: Committed) -> bool:
        return (entry.resource, entry.revision) in self._unmoved

    def shows(self, frame: Delivered) -> bool:
        """Whether a frame shows such a commit."""
        return frame.revision is not None and (self._resources.get(frame.stream, ""), frame.revision) in self._unmoved


@dataclass(slots=True)
class _Pauses:
    """`first`: the first cause since the controller's last write, if there was one; `last`: whatever happened last."""

    longest: float = 0.0
    first: float | None = None
    last: float = 0.0
    writes: set[RequestId] = field(default_factory=set)

    def caused(self, at: float) -> None:
        self.first = at if self.first is None else self.first
        self.last = max(self.last, at)

    def began(self, at: float) -> None:
        """A controller that has been at rest for so long acts because of the step, not because of what came before."""
        if at - self.last > REST_SECONDS:
            self.first = None
        self.caused(at)

    def wrote(self, entry: Asked) -> None:
        self.longest = max(self.longest, entry.at - (self.last if self.first is None else self.first))
        self.writes.add(entry.request)
        self.first, self.last = None, max(self.last, entry.at)

    def committed(self, at: float) -> None:
        self.longest = max(self.longest, at - self.last)
        self.last = max(self.last, at)


def _commits(history: History, all_requests: Sequence[Request]) -> list[Commit]:
    mine = ((Position(i), e) for i, e in enumerate(history.entries) if isinstance(e, Committed) and _counts(e, history))
    return commits_of(mine, all_requests)


def _counts(entry: Committed, history: History) -> bool:
    return entry.namespace == history.header.namespace and entry.resource not in BOOKKEEPING


def lasted(history: History) -> tuple[float, ...]:
    """The seconds that each step of the trial's workload took, and at last those from the release to the end.

    A resync is no step of a workload; its time counts towards the step before. What was waited beyond the usual time is left out:
    runs that last minutes for that are asked for by themselves.
    """
    began: dict[int, float] = {}
    took: list[float] = []
    released = history.entries[-1].at
    for entry in history.entries:
        match entry:
            case StepBegan():
                began[entry.step] = entry.at
            case StepEnded() if not is_workload(history.header.plan.steps[entry.step - 1]):
                took[-1:] = [seconds + entry.at - began[entry.step] for seconds in took[-1:]]
            case StepEnded():
                took.append(entry.at - began[entry.step])
            case Released():
                released = entry.at
    return (*took, history.entries[-1].at - released - overdue_seconds(history))


def overdue_seconds(history: History) -> float:
    """What was waited beyond the time that every controller is given."""
    return sum(entry.overdue for entry in history.entries if isinstance(entry, Settled | Probed))


def paced(pause: float, *, resync: bool, begins: float = 0.0, moves: tuple[str, ...] = ()) -> Settle:
    """How long to wait for a controller whose longest pause has so many seconds. `begins`: the seconds in which a new life comes to
    its work, if it is late with that; `moves`: fields that move by themselves."""
    usual = Settle()
    return Settle(
        idle_seconds=max(usual.idle_seconds, IDLE_FACTOR * pause),
        quiet_seconds=max(usual.quiet_seconds, QUIET_FACTOR * pause),
        limit_seconds=max(usual.limit_seconds, LIMIT_FACTOR * pause, LIMIT_FACTOR * begins),
        deadline_seconds=max(usual.deadline_seconds, LIMIT_FACTOR * pause, LIMIT_FACTOR * begins),
        resync=resync,
        begins_seconds=IDLE_FACTOR * begins,
        moves=moves,
    )
