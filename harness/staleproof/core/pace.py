"""How long a controller pauses before it goes on by itself: learnt from a fault-free run that was watched patiently.

A controller may do a second thing some time after the first (RequeueAfter, a rate limit, a poll). A trial that ends in such a pause
would compare half-done work with whole, so the windows in which "nothing happens" counts as idle or settled follow its pace.
"""

from staleproof.core.entry import Answered, Asked, Committed, Delivered, Settled, StepBegan
from staleproof.core.history import History, is_work
from staleproof.core.plan import Settle
from staleproof.core.request import BOOKKEEPING

_FACTOR_IDLE, _FACTOR_QUIET, _FACTOR_LIMIT = 1.5, 2.0, 10.0


def longest_pause(history: History) -> float:
    """Seconds from the last thing that could have caused a write (a step, a frame shown, the answer to a write) to it; the longest.

    A write is what the controller asks for, or what anybody commits in the trial's namespace: companions pause, too. Reads are the
    controller's own doing and cause nothing. Only up to the settling: what comes after was asked for by the runner.
    """
    last, longest = 0.0, 0.0
    writes: set[int] = set()
    for entry in history.entries:
        match entry:
            case Settled():
                break
            case Asked() if is_work(entry):
                longest, last = max(longest, entry.at - last), entry.at
                writes.add(entry.request)
            case Committed() if _counts(entry, history):
                longest, last = max(longest, entry.at - last), max(last, entry.at)
            case Answered() if entry.request in writes:
                last = entry.at
            case StepBegan():
                last = entry.at
            case Delivered(uid=uid) if uid:
                last = entry.at
    return longest


def _counts(entry: Committed, history: History) -> bool:
    return entry.namespace == history.header.namespace and entry.resource not in BOOKKEEPING


def paced(pause: float, *, resync: bool) -> Settle:
    """How long to wait for a controller that pauses so long."""
    usual = Settle()
    return Settle(
        idle_seconds=max(usual.idle_seconds, _FACTOR_IDLE * pause),
        quiet_seconds=max(usual.quiet_seconds, _FACTOR_QUIET * pause),
        limit_seconds=max(usual.limit_seconds, _FACTOR_LIMIT * pause),
        deadline_seconds=max(usual.deadline_seconds, _FACTOR_LIMIT * pause),
        resync=resync,
    )
