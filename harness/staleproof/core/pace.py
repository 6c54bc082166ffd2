"""How long a controller pauses before it goes on by itself, learnt from a fault-free run with long waits.

A controller may do a second thing some time after the first (RequeueAfter, a rate limit, a poll). A trial that ends in such a pause
would compare half-done work with whole, so the windows in which "nothing happens" counts as idle or settled follow its pace.
"""

from dataclasses import dataclass, field

from staleproof.core.entry import Answered, Asked, Committed, Delivered, Released, RequestId, Settled, StepBegan, StepEnded
from staleproof.core.history import History, is_work
from staleproof.core.plan import Resync, Settle
from staleproof.core.request import BOOKKEEPING

_REST_SECONDS = 2.0
_FACTOR_IDLE, _FACTOR_QUIET, _FACTOR_LIMIT = 1.5, 2.0, 10.0


def longest_pause(history: History) -> float:
    """The most seconds from what could have caused a write (a step, a frame shown, the answer to a write) to the write.

    A write is a write that the controller asks for; of several causes since its last write the first counts, because a controller
    may take them together after a while. A write is also whatever is committed in the trial's namespace: companions pause, too.
    Reads cause nothing. Only the time up to the settling counts: what comes after was asked for by the runner.
    """
    pauses = _Pauses()
    for entry in history.entries:
        match entry:
            case Settled():
                break
            case Asked() if is_work(entry):
                pauses.wrote(entry)
            case Committed() if _counts(entry, history):
                pauses.committed(entry.at)
            case Answered() if entry.request in pauses.writes:
                pauses.caused(entry.at)
            case StepBegan():
                pauses.began(entry.at)
            case Delivered(uid=uid) if uid:
                pauses.caused(entry.at)
    return pauses.longest


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
        if at - self.last > _REST_SECONDS:
            self.first = None
        self.caused(at)

    def wrote(self, entry: Asked) -> None:
        self.longest = max(self.longest, entry.at - (self.last if self.first is None else self.first))
        self.writes.add(entry.request)
        self.first, self.last = None, max(self.last, entry.at)

    def committed(self, at: float) -> None:
        self.longest = max(self.longest, at - self.last)
        self.last = max(self.last, at)


def _counts(entry: Committed, history: History) -> bool:
    return entry.namespace == history.header.namespace and entry.resource not in BOOKKEEPING


def lasted(history: History) -> tuple[float, ...]:
    """The seconds that each step of the trial's workload took, and at last those from the release to the end.

    A resync is no step of a workload; its time counts towards the step before.
    """
    began: dict[int, float] = {}
    took: list[float] = []
    released = history.entries[-1].at
    for entry in history.entries:
        match entry:
            case StepBegan():
                began[entry.step] = entry.at
            case StepEnded() if isinstance(history.header.plan.steps[entry.step - 1], Resync):
                took[-1:] = [seconds + entry.at - began[entry.step] for seconds in took[-1:]]
            case StepEnded():
                took.append(entry.at - began[entry.step])
            case Released():
                released = entry.at
    return (*took, history.entries[-1].at - released)


def paced(pause: float, *, resync: bool) -> Settle:
    """How long to wait for a controller whose longest pause has so many seconds."""
    usual = Settle()
    return Settle(
        idle_seconds=max(usual.idle_seconds, _FACTOR_IDLE * pause),
        quiet_seconds=max(usual.quiet_seconds, _FACTOR_QUIET * pause),
        limit_seconds=max(usual.limit_seconds, _FACTOR_LIMIT * pause),
        deadline_seconds=max(usual.deadline_seconds, _FACTOR_LIMIT * pause),
        resync=resync,
    )
