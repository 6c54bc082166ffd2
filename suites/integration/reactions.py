"""What a client did after a fault, read from the history of its trial: whether it asked again, resumed, listed, or waited.

Only requests for the resource of the fault count, and only those after the fault fired.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from staleproof.core.history.entry import (
    Answered,
    Asked,
    Broke,
    Closed,
    Entry,
    FaultFired,
    FaultMissed,
    FaultRefused,
    Listed,
    Opened,
    Refused,
    RequestId,
    Settled,
    Started,
    StreamId,
)
from staleproof.core.history.history import History
from staleproof.core.history.request import WRITES

BACK_OFF_SECONDS = 0.3
"""A client that waits longer than this before it asks again backs off, however slow the machine is."""
_AT_ONCE_SECONDS = 0.02  # the effects of a fault and that it fired are recorded together, in no fixed order


@dataclass(frozen=True, slots=True)
class Reaction:
    """One cell of the table."""

    fired: str  # "" when it did; else why not
    did: tuple[str, ...]
    converged: str  # "" when it did; else what was missing
    broke: tuple[str, ...]

    def __str__(self) -> str:
        if self.fired:
            return f"not fired: {self.fired}"
        return f"{', '.join(self.did) or 'nothing to see'}; {'converged' if not self.converged else 'NOT converged'}"


def reaction(history: History, fault: int, resource: str) -> Reaction:
    """What the client did about the plan's fault of this index."""
    entries = history.entries
    settled = [entry for entry in entries if isinstance(entry, Settled)]
    converged = "" if settled and settled[-1].ok else (settled[-1].why if settled else "the trial did not end")
    broke = tuple(entry.why for entry in entries if isinstance(entry, Broke))
    fired = next((entry for entry in entries if isinstance(entry, FaultFired) and entry.fault == fault), None)
    if fired is None:
        return Reaction(_why_not(entries, fault), (), converged, broke)
    return Reaction("", tuple(dict.fromkeys(_did(entries, fired.at - _AT_ONCE_SECONDS, resource))), converged, broke)


def _why_not(entries: tuple[Entry, ...], fault: int) -> str:
    reports = [entry for entry in entries if isinstance(entry, FaultMissed | FaultRefused) and entry.fault == fault]
    row = f" (row {reports[-1].row})" if reports and isinstance(reports[-1], FaultRefused) and reports[-1].row else ""
    return f"{reports[-1].why}{row}" if reports else "no reason was given"


def _did(entries: tuple[Entry, ...], since: float, resource: str) -> Iterator[str]:
    """What it did, in order; `lost` is the moment at which the client last lost a watch or an answer."""
    streams = {entry.stream for entry in entries if isinstance(entry, Opened) and entry.resource == resource}
    writes = {e.request for e in entries if isinstance(e, Asked) and e.resource == resource and e.verb in WRITES}
    lost: float | None = None
    for entry in entries:
        if entry.at < since:
            continue
        word = _word(entry, resource, after_a_loss=lost is not None)
        if word:
            yield word + (" after a wait" if lost is not None and entry.at - lost > BACK_OFF_SECONDS else "")
        if _is_loss(entry, resource, streams, writes):
            lost = entry.at
        elif word:
            lost = None


def _is_loss(entry: Entry, resource: str, streams: set[StreamId], writes: set[RequestId]) -> bool:
    match entry:
        case Closed(stream=stream, how=how):
            return stream in streams and how != "client"
        case Refused():
            return entry.resource == resource
        case Answered(request=request, outcome=outcome):
            return outcome != "ok" and request in writes
    return False


def _word(entry: Entry, resource: str, *, after_a_loss: bool) -> str:
    match entry:
        case Started(at=at) if at > 0.0:  # at 0 it began the trial
            return "started again"
        case Answered(code=409):
            return "met a conflict"
        case Refused() if entry.resource == resource:
            return "asked for a watch"
        case Opened() if entry.since is None and entry.resource == resource:
            return "WatchList" if entry.watch_list else "watched on" if entry.start not in ("", "0") else "watched"
        case Listed() if entry.resource == resource:
            return "listed"
        case Asked(verb=verb) if after_a_loss and entry.resource == resource and verb not in ("list", "get"):
            return "wrote again"
    return ""
