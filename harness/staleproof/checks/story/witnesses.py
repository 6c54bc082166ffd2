"""Which entries tell the story of a write that was made on an old view."""

from collections.abc import Sequence

from staleproof.checks.trial import Evidence
from staleproof.core.entry import Delivered, Listed, Opened


def context(evidence: Evidence, before: Sequence[int], asked: int, committed: int) -> tuple[int, ...]:
    """What had happened unseen, the faults open then, the last thing shown of a primary, the write, its commit; in order."""
    opened = evidence.faults_open_at(asked)
    return tuple(sorted({*before, *opened, *_last_shown_primary(evidence, asked), asked, committed}))


def _last_shown_primary(evidence: Evidence, asked: int) -> list[int]:
    entries = evidence.history.entries
    streams = {entry.stream: entry.resource for entry in entries if isinstance(entry, Opened)}
    for index in range(asked - 1, -1, -1):
        match entries[index]:
            case Delivered() as entry if entry.uid and streams.get(entry.stream) in evidence.primaries:
                return [index]
            case Listed() as entry if entry.resource in evidence.primaries:
                return [index]
    return []
