"""What was done to the controller in a trial: the faults that fired, the streams that ended, and how long it may need after that.

A client that was turned away waits longer each time before it tries again, and a controller that was kept from seeing something may
look again after ever longer times. Both are right. So an end that came too soon proves nothing: after n ends of its streams a
client is given the n-th wait of client-go's reflector (0.8 s, doubled up to 30 s), twice over for its jitter; after an outage a
controller is given twice its length, because a wait that grows from try to try by a factor of two is never longer. That is so only
when each try follows the wait of the one before; who is woken in between by something else counts more failures than it waits for,
so a controller whose requests failed, rejected or for a reason of its own, is given what client-go's rate limiter makes of their
number.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from staleproof.checks.trial import Evidence
from staleproof.core.entry import (
    Answered,
    Asked,
    Closed,
    Delivered,
    FaultClosed,
    FaultFired,
    FaultOpened,
    Opened,
    Refused,
    Released,
    Started,
)
from staleproof.core.fault import AnyFault, Coalesce, Hang, HoldStream, PastSnapshot, Pause, Refuse, Reject
from staleproof.core.history import is_work
from staleproof.core.request import BOOKKEEPING

LOST = ("clean", "truncated", "reset", "cut")
EXPIRED = ("expired", "gone")
_OUTAGES = (HoldStream, Refuse, Hang, Coalesce, PastSnapshot, Pause, Reject)
_FIRST_WAIT, _LONGEST_WAIT, _JITTER = 0.8, 30.0, 2.0
_OUTAGE_FACTOR = 2.0
_LIMITER_FIRST, _LIMITER_LONGEST = 0.005, 1000.0  # workqueue.DefaultTypedControllerRateLimiter, for each item
_SHOWS_ITS_PACE = 2
_NOT_FOUND, _ASKS_OR_REMOVES = 404, ("get", "delete")
_ELECTION_SECONDS = 20.0
"""client-go's default lease of 15 s has to run out, and is tried for every 2 s, give or take."""


def fired(evidence: Evidence) -> dict[int, AnyFault]:
    """The faults of the plan that did something, by their number."""
    faults = evidence.history.header.plan.faults
    return {entry.fault: faults[entry.fault] for entry in evidence.history.entries if isinstance(entry, FaultFired)}


def tags_of(faults: Iterable[AnyFault]) -> str:
    """Their names in plans, each once."""
    return ", ".join(dict.fromkeys(fault.tag for fault in faults))


def spans(evidence: Evidence) -> dict[int, tuple[int, int]]:
    """By the number of each fault that opened: the positions where it did and where it closed, at the latest the release."""
    entries = evidence.history.entries
    end = next((i for i, entry in enumerate(entries) if isinstance(entry, Released)), len(entries) - 1)
    closed = {entry.fault: i for i, entry in enumerate(entries) if isinstance(entry, FaultClosed)}
    return {entry.fault: (i, closed.get(entry.fault, end)) for i, entry in enumerate(entries) if isinstance(entry, FaultOpened)}


def ended_streams(evidence: Evidence, hows: tuple[str, ...], until: int) -> Iterator[tuple[int, str]]:
    """(position, resource) of each stream of the trial that ended in one of these ways, before a position."""
    streams: dict[int, str] = {}
    for index, entry in enumerate(evidence.history.entries[:until]):
        match entry:
            case Opened() if entry.resource not in BOOKKEEPING and entry.namespace in ("", evidence.history.header.namespace):
                streams[entry.stream] = entry.resource
            case Closed() if entry.stream in streams and entry.how in hows:
                yield index, streams[entry.stream]


def patience(evidence: Evidence, settled: int) -> tuple[float, int]:
    """The seconds that a client may need to catch up, and the position from where they count."""
    entries = evidence.history.entries[:settled]
    life = max((i for i, entry in enumerate(entries) if isinstance(entry, Started)), default=0)
    since = max((i for i, entry in enumerate(entries) if isinstance(entry, Released)), default=life)
    turned_away: Counter[str] = Counter()
    for index, resource in [*ended_streams(evidence, (*LOST, *EXPIRED), settled), *_refusals(evidence, settled)]:
        if index > life:
            turned_away[resource] += 1
            since = max(since, index)
    most = max(turned_away.values(), default=0)
    wait = _JITTER * min(_FIRST_WAIT * 2.0 ** (min(most, 10) - 1), _LONGEST_WAIT) if most else 0.0
    return max(wait, _OUTAGE_FACTOR * _longest_outage(evidence), _limited(evidence, life, since, settled)), since


def retry_wait(failures: int) -> float:
    """Seconds that client-go's default rate limiter waits after so many failures of an item: 5 ms, doubled, up to 1000 s."""
    return min(_LIMITER_FIRST * 2.0 ** min(failures - 1, 30), _LIMITER_LONGEST) if failures else 0.0


def _limited(evidence: Evidence, life: int, since: int, settled: int) -> float:
    """Seconds from `since` until client-go's rate limiter has tried once more whatever failed in this life.

    Whether requests were about one object or many cannot be seen, so all are counted. What it is shown may make it try sooner, and
    again fail; after that each try follows the wait of the one before. Whoever then fails twice is not waiting for anything.
    """
    entries = evidence.history.entries
    shown = [i for i, entry in enumerate(entries[:settled]) if isinstance(entry, Delivered) and entry.uid]
    caught_up = max([since, *shown[-1:]])
    failed = [index for index in _failures(evidence, settled) if index > life]
    before = [index for index in failed if index <= caught_up]
    counted = failed if len(failed) - len(before) < _SHOWS_ITS_PACE else before
    begins = max([caught_up, *counted[-1:]])
    return entries[begins].at - entries[since].at + retry_wait(len(counted)) if counted else 0.0


def _failures(evidence: Evidence, until: int) -> Iterator[int]:
    """Positions of the answers that tell of a failure.

    Whoever asks whether something exists, or removes it, and hears that it does not exist, has not failed.
    """
    asked: dict[int, Asked] = {}
    for index, entry in enumerate(evidence.history.entries[:until]):
        match entry:
            case Asked() if entry.resource not in BOOKKEEPING:
                asked[entry.request] = entry
            case Answered(request=request, outcome="fail" | "unknown", code=code) if request in asked:
                if code != _NOT_FOUND or asked[request].verb not in _ASKS_OR_REMOVES:
                    yield index


def awaits_election(evidence: Evidence, settled: int) -> str:
    """Whether a life that was started again may only be waiting for the lease of the one before, in words; empty if not.

    Or it has not come so far: a process that has not asked for anything at all is still starting. Leases are often kept in other
    namespaces, so that an election cannot be seen. Whoever has asked for a write was elected.
    """
    entries = evidence.history.entries
    lives = [index for index, entry in enumerate(entries[:settled]) if isinstance(entry, Started)]
    if len(lives) < 2:
        return ""
    wrote = any(isinstance(entry, Asked) and is_work(entry) for entry in entries[lives[-1] : settled])
    had = entries[settled].at - entries[lives[-1]].at
    if not any(isinstance(entry, Asked | Opened | Refused) for entry in entries[lives[-1] : settled]):
        return f"{had:.1f} s after its last start it had not asked for anything yet"
    return "" if wrote or had > _ELECTION_SECONDS else f"{had:.1f} s after its last start it may still wait to be elected"


def _refusals(evidence: Evidence, until: int) -> Iterator[tuple[int, str]]:
    """A WatchList that is refused is not repeated later but replaced at once, by a LIST."""
    for index, entry in enumerate(evidence.history.entries[:until]):
        if isinstance(entry, Refused) and not entry.watch_list:
            yield index, entry.resource


def _longest_outage(evidence: Evidence) -> float:
    entries, open_for = evidence.history.entries, spans(evidence)
    faults = fired(evidence)
    outages = [open_for[number] for number, fault in faults.items() if isinstance(fault, _OUTAGES) and number in open_for]
    return max((entries[closed].at - entries[opened].at for opened, closed in outages), default=0.0)
