"""When the controller was shown something of a resource: an event, a whole list, or a watch that begins with the present state. And
whether a fault keeps the first list from it.

The bookmark that ends the initial events of a WatchList makes them a whole list. Bookmarks otherwise show nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import view
from staleproof.core.fault import Effect
from staleproof.core.history.entry import Delivered, FaultFired, Listed, Opened, Started

ShowingKind = Literal["event", "list", "watch"]
_SLOWING: frozenset[Effect] = frozenset({"hides", "disconnects", "rejects", "slows", "slows-start"})


@dataclass(frozen=True, slots=True)
class Showing:
    """At which position, and of what kind: `watch` for one that is opened without a revision to go on from."""

    index: int
    kind: ShowingKind


@fact
def showings(trial: Trial) -> Mapping[str, Sequence[Showing]]:
    """By resource, in order."""
    found: dict[str, list[Showing]] = defaultdict(list)
    for index in trial.positions(Delivered, Listed, Opened):
        match trial.entries[index]:
            case Delivered(initial_end=True) as entry:
                found[trial.resource_of(entry.stream)].append(Showing(index, "list"))
            case Delivered() as entry if entry.uid:
                found[trial.resource_of(entry.stream)].append(Showing(index, "event"))
            case Listed() as entry:
                found[entry.resource].append(Showing(index, "list"))
            case Opened(watch_list=False, start="" | "0") as entry:
                found[entry.resource].append(Showing(index, "watch"))
    return found


def is_shown(trial: Trial, resource: str, kinds: Iterable[ShowingKind], *, since: int, until: int) -> bool:
    """Whether the life that the position `since` belongs to was shown any of these kinds behind it and before `until`."""
    end = min([until, *(start for start in trial.positions(Started) if start > since)])
    return any(since < each.index < end and each.kind in kinds for each in showings(trial).get(resource, ()))


def is_held_up(trial: Trial, resource: str, *, before: int) -> bool:
    """Whether the first list of a resource is under way while a fault that has fired in this life keeps it from the controller."""
    if not view(trial, before).awaits_first_list(resource):
        return False
    fired = trial.every(FaultFired, since=trial.life_began(before - 1), until=before)
    faults = (trial.plan.faults[entry.fault] for _, entry in fired)
    return any(fault.concerns(resource) and not _SLOWING.isdisjoint(fault.effects) for fault in faults)
