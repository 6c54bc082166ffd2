"""Which collections a life of the controller was still listing for the first time, at every moment.

A list begins with a LIST, with a WATCH that asks for the initial state (WatchList), or when either is refused. It is complete with
its last page, with the bookmark that ends the initial events, or when an ordinary watch is opened: that goes on from a list, or has
no end that could be seen. A stream that was open before the trial had been listed then. Whichever list of a collection comes first
counts, a live one with a selector, too: when in doubt it is complete.
"""

from dataclasses import dataclass, field

from staleproof.checks.facts.timeline import Timeline
from staleproof.checks.trial import Trial, fact
from staleproof.core.fault import Effect
from staleproof.core.history.entry import Asked, Delivered, FaultFired, Listed, Opened, Refused, Started

_SLOWING: frozenset[Effect] = frozenset({"hides", "disconnects", "rejects", "slows", "slows-start"})


@dataclass(frozen=True, slots=True)
class InitialLists:
    """Every question names a position and is about what had happened before it, in the life that it belongs to."""

    _begun: Timeline[str, bool] = field(default_factory=lambda: Timeline(default=False))
    _complete: Timeline[str, bool] = field(default_factory=lambda: Timeline(default=False))

    def is_complete(self, resource: str, *, before: int) -> bool:
        return self._complete.before(before, resource)

    def is_under_way(self, resource: str, *, before: int) -> bool:
        """Begun by this life, and never complete in it."""
        return self._begun.before(before, resource) and not self.is_complete(resource, before=before)


def is_held_up(trial: Trial, resource: str, *, before: int) -> bool:
    """Whether the first list of a resource is under way while a fault that has fired in this life keeps it from the controller."""
    if not initial_lists(trial).is_under_way(resource, before=before):
        return False
    fired = trial.every(FaultFired, since=trial.life_began(before - 1), until=before)
    faults = (trial.plan.faults[entry.fault] for _, entry in fired)
    return any(fault.concerns(resource) and not _SLOWING.isdisjoint(fault.effects) for fault in faults)


@fact
def initial_lists(trial: Trial) -> InitialLists:
    """Of the controller under test."""
    lists = InitialLists()
    for index, entry in enumerate(trial.entries):
        match entry:
            case Started():
                lists._begun.forget(index)
                lists._complete.forget(index)
            case Asked(verb="list") | Refused() | Opened():
                lists._begun.note(index, entry.resource, value=True)
        match entry:
            case Opened() if not entry.watch_list or entry.since is not None:
                lists._complete.note(index, entry.resource, value=True)
            case Listed(more=False):
                lists._complete.note(index, entry.resource, value=True)
            case Delivered(initial_end=True):
                lists._complete.note(index, trial.resource_of(entry.stream), value=True)
    return lists
