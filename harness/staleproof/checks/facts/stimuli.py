"""What may make a controller write, and when it writes: the moments of a history that tell whether it is at rest.

A cause is a step of the workload, something shown (an event, a list), or the answer to a write. An echo tells nothing new but may
wake a controller all the same: a stream that opens, an event of a state that was shown before. A bookmark tells of nothing that
happened. Bookkeeping is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from staleproof.core.entry import Answered, Asked, Delivered, Entry, Listed, Opened, Started, StepBegan
from staleproof.core.history import is_work
from staleproof.core.request import BOOKKEEPING

Kind = Literal["cause", "echo", "write", "bookmark"]


@dataclass(frozen=True, slots=True)
class Moment:
    """`rested`: seconds since the last of them before it that was no bookmark."""

    index: int
    at: float
    kind: Kind
    rested: float


def moments(entries: Sequence[Entry]) -> list[Moment]:
    """In order."""
    found: list[Moment] = []
    fold = _Fold()
    last = entries[0].at if entries else 0.0
    for index, entry in enumerate(entries):
        kind = fold.kind_of(entry)
        if kind is not None:
            found.append(Moment(index, entry.at, kind, entry.at - last))
            last = last if kind == "bookmark" else entry.at
    return found


@dataclass(slots=True)
class _Fold:
    """What has to be remembered: requests for writes, streams of bookkeeping, versions that were shown."""

    _works: set[int] = field(default_factory=set)
    _bookkeeping: set[int] = field(default_factory=set)
    _versions: set[tuple[str, int | None]] = field(default_factory=set)

    def kind_of(self, entry: Entry) -> Kind | None:
        match entry:
            case Started():
                self._versions.clear()
            case Asked() if is_work(entry):
                self._works.add(entry.request)
                return "write"
            case Answered() if entry.request in self._works:
                return "cause"
            case Opened():
                return self._opened(entry)
            case Delivered() if entry.stream not in self._bookkeeping:
                return self._delivered(entry)
            case Listed() if entry.resource not in BOOKKEEPING:
                return "cause"
            case StepBegan():
                return "cause"
        return None

    def _opened(self, entry: Opened) -> Kind | None:
        if entry.resource not in BOOKKEEPING:
            return "echo"
        self._bookkeeping.add(entry.stream)
        return None

    def _delivered(self, entry: Delivered) -> Kind:
        if entry.type == "BOOKMARK":
            return "cause" if entry.initial_end else "bookmark"
        version = (entry.uid, entry.revision)
        known = version in self._versions
        self._versions.add(version)
        return "echo" if known else "cause"
