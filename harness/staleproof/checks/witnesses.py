"""Which entries tell the story of a write that was made on an old view."""

from collections.abc import Sequence

from staleproof.checks.evidence import Evidence
from staleproof.core.entry import Delivered, FaultOpened, Listed, Opened


def context(evidence: Evidence, before: Sequence[int], asked: int, committed: int) -> tuple[int, ...]:
    """What had happened unseen, the faults open then, the last thing shown of a primary, the write, its commit; in order."""
    entries = evidence.history.entries
    opened = [i for i, entry in enumerate(entries[:asked]) if isinstance(entry, FaultOpened)]
    shown = _last_shown_primary(evidence, asked)
    return tuple(sorted({*before, *opened, *shown, asked, committed}))


def _last_shown_primary(evidence: Evidence, asked: int) -> list[int]:
    primaries = {primary.rpartition("/")[0] for primary in evidence.history.header.primaries}
    streams: dict[int, str] = {}
    last: list[int] = []
    for index, entry in enumerate(evidence.history.entries[:asked]):
        match entry:
            case Opened():
                streams[entry.stream] = entry.resource
            case Delivered() if entry.uid and streams.get(entry.stream) in primaries:
                last = [index]
            case Listed() if entry.resource in primaries:
                last = [index]
    return last
