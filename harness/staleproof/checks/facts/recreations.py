"""Primaries that were deleted and created again under the same name, and whether the controller learnt of that late: a fold.

Late means that a lagging view could have misled it: news of the new incarnation, or of the end of the one before it, was withheld
by a fault; a list showed the one in place of the other, so that the end was never shown; it was restarted meanwhile, so that it
never saw either happen; or a step began and it still took the one for the other. Some milliseconds on a healthy stream are not.
"""

import itertools
from dataclasses import dataclass

from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.object_history import Child, Population
from staleproof.core.entry import Answered, Asked, Delivered, Entry, Listed, Settled, Started, StepBegan, StepEnded, Withheld
from staleproof.core.history import History
from staleproof.core.request import WRITES


@dataclass(slots=True)
class Succession:
    """One incarnation of a primary that took the name of another. Positions are None for what has not happened.

    Attributes:
        late: where the controller was first seen to be late with it.
        shown: where this life was shown the new one.
        rested: where the controller had been idle since, or had written something about the new one: whatever it was about when it
            was shown has been done, because a controller does one thing at a time about a name.
    """

    before: Child
    after: Child
    late: int | None = None
    shown: int | None = None
    rested: int | None = None


def successions(history: History, made: Population) -> list[Succession]:
    """By resource and name as the workload has them, in the order of creation."""
    found = []
    for primary in history.header.primaries:
        resource, _, name = primary.rpartition("/")
        lives = [c for c in made.children.values() if (c.named.resource, c.named.name, c.owner_uid) == (resource, name, "")]
        ordered = sorted(lives, key=lambda child: child.create_revision)
        found += [Succession(before, after) for before, after in itertools.pairwise(ordered)]
    return found


class Reuse:
    """Call `advance` with each entry in order; ask `of` in between."""

    def __init__(self, history: History, made: Population) -> None:
        self.found = successions(history, made)
        self.frontier = Frontier()
        self._namespace = history.header.namespace
        self._made = made.children
        self._writes: set[int] = set()

    def advance(self, index: int, entry: Entry) -> None:
        for one in self.found:
            if one.late is None and self._is_late(one, index, entry):
                one.late = index
            if isinstance(entry, Started):
                one.shown = one.rested = None
        self.frontier.advance(entry)
        for one in self.found:
            if isinstance(entry, Delivered | Listed) and one.shown is None and one.after.uid in self.frontier.shown:
                one.shown = index
            elif one.shown is not None and one.rested is None and (_is_rest(entry) or self._is_about(one, entry)):
                one.rested = index

    def _is_about(self, one: Succession, entry: Entry) -> bool:
        """Whether it is told of a write to the new one, or to a child of it."""
        match entry:
            case Asked(verb=verb) if verb in WRITES:
                self._writes.add(entry.request)
            case Answered(outcome="ok") if entry.request in self._writes and entry.uid:
                child = self._made.get(entry.uid)
                return one.after.uid in (entry.uid, child.owner_uid if child is not None else "")
        return False

    def _is_late(self, one: Succession, index: int, entry: Entry) -> bool:
        match entry:
            case Withheld(fault=int(), uid=one.after.uid):
                return True
            case Withheld(fault=int(), uid=one.before.uid, type="DELETED"):
                return True
            case Listed(items=items):
                return self._mistakes(one) and any(item.uid == one.after.uid for item in items)
            case Started() | StepBegan():
                return one.after.created < index and one.after.uid not in self.frontier.known
        return False

    def _mistakes(self, one: Succession) -> bool:
        """Whether it takes the one before for the one that is there."""
        return self.frontier.present(one.before.named.resource, self._namespace, one.before.named.name) == one.before.uid

    def of(self, uid: str) -> Succession | None:
        """The one in which this is the new incarnation."""
        return next((one for one in self.found if one.after.uid == uid), None)

    def after(self, uid: str) -> Succession | None:
        """The one in which this is the old incarnation."""
        return next((one for one in self.found if one.before.uid == uid), None)


def _is_rest(entry: Entry) -> bool:
    return (isinstance(entry, StepEnded) and entry.idle) or (isinstance(entry, Settled) and entry.ok)
