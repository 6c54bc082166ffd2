"""Which resources were late while something of another one was shown: children older than their parents, or the other way round."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Closed, Delivered, Started, StreamId, Withheld
from staleproof.core.history.request import BOOKKEEPING

_Frames = dict[StreamId, set[tuple[str, int | None]]]
"""Stream → uid and revision of each frame that is kept on it."""


@dataclass(slots=True)
class Lag:
    """A resource was behind from the withheld event on; of those `ahead` something was shown meanwhile, first at `shown`."""

    behind: str
    withheld: int
    ahead: list[str] = field(default_factory=list)
    shown: int = -1


@fact
def lags(trial: Trial) -> Sequence[Lag]:
    """In the order in which they began, up to the end of the settling phase; those with nothing ahead are left out.

    A resource has caught up when no late event waits any more and nothing that was committed is unseen.
    """
    found: list[Lag] = []
    late: dict[str, Lag] = {}
    kept: _Frames = {}
    for index, entry in enumerate(trial.entries[: trial.settled]):
        match entry:
            case Started():
                kept.clear()
            case Closed():
                kept.pop(entry.stream, None)
            case Withheld() if entry.uid and entry.namespace == trial.namespace:
                found += _withhold(trial, index, entry, kept, late)
            case Delivered() if entry.uid and entry.namespace == trial.namespace:
                kept.get(entry.stream, set()).discard((entry.uid, entry.revision))
                _show(late, trial.resource_of(entry.stream), index)
        for resource in [resource for resource in late if not _is_late(trial, resource, kept, index)]:
            del late[resource]
    return [lag for lag in found if lag.ahead]


def _withhold(trial: Trial, index: int, entry: Withheld, kept: _Frames, late: dict[str, Lag]) -> Sequence[Lag]:
    """The lag that begins here, if one does."""
    resource = trial.resource_of(entry.stream)
    if resource in BOOKKEEPING:
        return []
    kept.setdefault(entry.stream, set()).add((entry.uid, entry.revision))
    if resource in late:
        return []
    late[resource] = Lag(resource, index)
    return [late[resource]]


def _show(late: dict[str, Lag], resource: str, index: int) -> None:
    for lag in late.values():
        if resource not in (lag.behind, *lag.ahead, *BOOKKEEPING):
            lag.shown = index if not lag.ahead else lag.shown
            lag.ahead.append(resource)


def _is_late(trial: Trial, resource: str, kept: _Frames, index: int) -> bool:
    waits = any(frames and trial.resource_of(stream) == resource for stream, frames in kept.items())
    return waits or bool(pending_events(trial).before(index + 1, resource))
