"""Which of its own writes the controller had not been shown yet, at every decision: a fold over the history.

Reconcile boundaries cannot be seen on the wire, and a burst of writes inside one reconciliation is fine although none of them has
been seen. So writes are grouped into decisions: a new one begins when the owner is shown again, when the controller writes the
owner (as a reconciliation does at its end), when a step begins, when the controller starts. What counts as unseen for a write are
own writes that were answered before its decision began; not those of which it never heard the end (`survives-lost-answer`). To take
two decisions for one is the error to prefer: it excuses.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Evidence
from staleproof.core.entry import Answered, Asked, Delivered, Entry, Listed, Opened, Started, StepBegan
from staleproof.core.history import Request


@dataclass(slots=True)
class _Behind:
    """Own unseen writes of one group, by uid: from earlier decisions, and from the present one."""

    earlier: dict[str, Child] = field(default_factory=dict)
    present: dict[str, Child] = field(default_factory=dict)

    def decide(self) -> None:
        self.earlier.update(self.present)
        self.present.clear()

    def forget(self, uid: str) -> None:
        self.earlier.pop(uid, None)
        self.present.pop(uid, None)


class OwnWrites:
    """Creates or deletes of children. Call `advance` with each entry in order; ask in between.

    `looked` has the groups (`group_of`) whose owner was shown to the controller while own writes of earlier decisions were unseen:
    there it was made to decide on an old view.
    """

    def __init__(self, evidence: Evidence, verb: Literal["create", "delete"]) -> None:
        self._verb = verb
        self._namespace = evidence.history.header.namespace
        self._primaries = evidence.primaries
        self._frontier = Frontier()
        self._streams: dict[int, str] = {}
        self._asked: dict[int, Asked] = {}
        self._behind: dict[Role, _Behind] = defaultdict(_Behind)
        self._answers: dict[int, list[Child]] = defaultdict(list)
        self._ends: dict[int, list[Child]] = defaultdict(list)
        self._groups: dict[str, set[Role]] = defaultdict(set)
        self._indirect: set[Role] = set()
        self._done: dict[str, Child] = {}
        self._unseen: dict[str, dict[str, Child]] = defaultdict(dict)
        self._named: dict[tuple[str, str], str] = {}
        self.looked: set[Role] = set()
        for child in evidence.population.children.values():
            self._plan(child, evidence)

    def _plan(self, child: Child, evidence: Evidence) -> None:
        """Note at which entries something happens to this child."""
        request = write_of(child, self._verb)
        if request is None or request.answer_index is None or not request.succeeded:
            return
        group = group_of(child.role, self._verb)
        self._answers[request.answer_index].append(child)
        self._groups[child.owner_uid].add(group)
        owner = evidence.population.children.get(child.owner_uid)
        if owner is None or owner.named.resource not in self._primaries:
            self._indirect.add(group)
        if self._verb == "create" and child.deleted is not None:
            told = child.deleter.answer_index if child.deleter else None
            self._ends[min(child.deleted, child.deleted if told is None else told)].append(child)

    def behind(self, child: Child) -> Collection[Child]:
        """Own writes of its group, of earlier decisions, that have not been shown. What was created and deleted does not count."""
        return self._behind[group_of(child.role, self._verb)].earlier.values()

    def advance(self, index: int, entry: Entry) -> None:
        self._frontier.advance(entry)
        step = _STEPS.get(type(entry))
        if step is not None:
            step(self, entry)
        for child in self._answers.get(index, ()):
            self._done[child.uid] = child
            self._named[child.named.resource, child.named.name] = child.uid
            if not self._is_seen(child):
                self._remember(child)
        for child in self._ends.get(index, ()):
            self._done.pop(child.uid, None)
            self._forget(child)

    def _opened(self, entry: Opened) -> None:
        self._streams[entry.stream] = entry.resource

    def _started(self, entry: Started) -> None:
        """A new life has seen nothing, also not what its predecessor had seen."""
        for child in self._done.values():
            self._remember(child)
        self._decide(self._behind)

    def _step(self, entry: StepBegan) -> None:
        self._decide(self._behind)

    def _delivered(self, entry: Delivered) -> None:
        resource = self._streams.get(entry.stream, "")
        if entry.initial_end:
            self._drop(list(self._unseen[resource].values()))
        elif entry.uid:
            self._drop([self._done[entry.uid]] if entry.uid in self._done else [])
            self._show([entry.uid], resource)

    def _listed(self, entry: Listed) -> None:
        self._drop(list(self._unseen[entry.resource].values()))
        self._show([item.uid for item in entry.items], entry.resource)

    def _ask(self, entry: Asked) -> None:
        self._asked[entry.request] = entry

    def _answered(self, entry: Answered) -> None:
        asked = self._asked.pop(entry.request, None)
        if asked is None:
            return
        if asked.verb == "get":
            child = self._done.get(entry.uid or self._named.get((asked.resource, asked.name), ""))
            self._drop([child] if child is not None else [])
        elif asked.verb in ("update", "patch") and entry.uid in self._groups:
            self._decide(self._groups[entry.uid])

    def _show(self, uids: Iterable[str], resource: str) -> None:
        """An owner, or a primary above it, was shown: the controller decides anew."""
        groups = {group for uid in uids if uid in self._groups for group in self._groups[uid]}
        if resource in self._primaries:
            groups |= self._indirect
        self._decide(groups)
        self.looked |= {group for group in groups if self._behind[group].earlier}

    def _decide(self, groups: Iterable[Role]) -> None:
        for group in list(groups):
            self._behind[group].decide()

    def _drop(self, children: Iterable[Child]) -> None:
        """Take those off that have been seen by now."""
        for child in children:
            if self._is_seen(child):
                self._forget(child)

    def _remember(self, child: Child) -> None:
        self._unseen[child.role.resource][child.uid] = child
        self._behind[group_of(child.role, self._verb)].present[child.uid] = child

    def _forget(self, child: Child) -> None:
        self._unseen[child.role.resource].pop(child.uid, None)
        self._behind[group_of(child.role, self._verb)].forget(child.uid)

    def _is_seen(self, child: Child) -> bool:
        revision = 0 if self._verb == "create" else child.delete_revision or 0
        listed = child.create_revision if self._verb == "create" else revision
        frontier = self._frontier
        return frontier.has_seen(child.uid, revision) or frontier.has_listed(child.role.resource, self._namespace, listed)


def group_of(role: Role, verb: Literal["create", "delete"]) -> Role:
    """What is decided on together: for creates a role, for deletes all of an owner's children of that resource."""
    return role if verb == "create" else role._replace(stem="")


def write_of(child: Child, verb: Literal["create", "delete"]) -> Request | None:
    """The controller's own create or delete of a child."""
    return child.creator if verb == "create" else child.deleter


_STEPS: dict[type, Callable[[OwnWrites, Any], None]] = {
    Opened: OwnWrites._opened,
    Started: OwnWrites._started,
    StepBegan: OwnWrites._step,
    Delivered: OwnWrites._delivered,
    Listed: OwnWrites._listed,
    Asked: OwnWrites._ask,
    Answered: OwnWrites._answered,
}
