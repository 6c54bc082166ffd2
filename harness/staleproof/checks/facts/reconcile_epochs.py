"""When the controller last decided anew about an owner's children: a fold, with the boundaries that `own_writes` has.

A new decision begins when the owner, or a primary above it, is shown again; when the controller has written the owner, as a
reconciliation does at its end; when a step begins; when the controller starts; and when a list of the children is shown. Within one
decision a controller makes what it found missing, and nothing twice.
"""

from collections.abc import Iterable

from staleproof.checks.facts.object_history import Child
from staleproof.checks.trial import Evidence
from staleproof.core.entry import Answered, Asked, Delivered, Entry, Listed, Opened, Started, StepBegan, StepEnded


class Decisions:
    """Call `advance` with each entry in order; ask in between."""

    def __init__(self, evidence: Evidence) -> None:
        self._children = evidence.population.children
        self._primaries = evidence.primaries
        self._streams: dict[int, str] = {}
        self._asked: dict[int, Asked] = {}
        self._last: dict[str, int] = {}
        self._all = -1

    def advance(self, index: int, entry: Entry) -> None:
        match entry:
            case Started() | StepBegan() | StepEnded():
                self._all = index
            case Opened():
                self._streams[entry.stream] = entry.resource
            case Delivered() if entry.uid:
                self._show([entry.uid], self._streams.get(entry.stream, ""), index)
            case Listed():
                self._show([item.uid for item in entry.items], entry.resource, index)
                self._last[entry.resource] = index
            case Asked(verb="update" | "patch"):
                self._asked[entry.request] = entry
            case Answered() if entry.request in self._asked and entry.uid:
                self._last[entry.uid] = index

    def is_same(self, child: Child, since: int) -> bool:
        """Whether what was decided on this child's owner at that position is still being carried out."""
        return max(self._all, self._last.get(child.owner_uid, -1), self._last.get(child.named.resource, -1)) < since

    def _show(self, uids: Iterable[str], resource: str, index: int) -> None:
        if resource in self._primaries:
            self._all = index  # also of another one: here it is one decision taken for two that excuses
        for uid in uids:
            self._last[uid] = index
