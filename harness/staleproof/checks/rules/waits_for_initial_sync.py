"""waits-for-initial-sync: not write before the caches have had their first complete list.

Fault-free runs never show how a controller starts, so whether it always waits cannot be learnt from them. Nor does every honest
write need a list: some are made at every start, some live on AlreadyExists, and one program may hold several controllers, each of
which waits for its own caches. What is wrong with a write is that it takes for missing what has only not been listed yet. So a
finding is a write to a primary's children while the very list that it needed was under way (`initial_lists`), and that was too
much:

1. a create while the first list of that resource was under way: more live children of the role than any reference had by then
   (`overdone`), explained by the controller's own earlier ones, which this life has not been shown;
2. a delete of a child while the first list of its primary's resource was under way and the primary had not been shown: one that no
   reference made by that step (`undone`).

Known limits: writes before the list that happen to do no harm are not seen, nor is a status that was wrong for a moment.
"""

from collections.abc import Collection, Iterator

from staleproof.checks.facts.initial_lists import InitialLists
from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.overdone import Overdone, overdone
from staleproof.checks.facts.own_work import Lives, OwnWork, own_work
from staleproof.checks.facts.primary_view import Views
from staleproof.checks.facts.undone import Undone, undone
from staleproof.checks.story.phrases import short_name
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import Entry, FaultFired, Started
from staleproof.core.fault import AnyFault, Coalesce, Hang, HoldStream, Refuse, Reject, SlowAnswer, SlowStart

SLUG = "waits-for-initial-sync"
_TOLD = 3
_SLOWING = (Coalesce, Hang, HoldStream, Refuse, Reject, SlowAnswer, SlowStart)


def check(evidence: Evidence) -> Verdict:
    work = own_work(evidence)
    look, creates, deletes = _Look(evidence, work), overdone(evidence, work), undone(evidence, work)
    findings: list[Finding] = []
    for index, entry in enumerate(evidence.history.entries):
        if index in creates:
            findings += look.judge_create(creates[index])
        if index in deletes:
            findings += look.judge_delete(deletes[index])
        look.advance(index, entry)
    if findings:
        return failed(SLUG, findings[:MOST_FINDINGS])
    if not look.tempted:
        return not_exercised(SLUG, "no first list of the controller was slow while it had shown itself to have work to repeat")
    return passed(SLUG)


class _Look:
    """`tempted`: one list was complete and another one was not, because of a fault that had fired in this life, and there was work
    that it did not show. Some milliseconds between two lists are no temptation."""

    def __init__(self, evidence: Evidence, work: OwnWork) -> None:
        self._evidence, self._work = evidence, work
        self._children = evidence.population.children
        self._lists, self._views = InitialLists(), Views(evidence)
        self._lives = Lives(evidence.history.entries)
        self._pairs = {(p.named.resource, self._children[uid].named.resource) for uid in work.creates if (p := self._primary(uid))}
        self._slowing: list[AnyFault] = []
        self.tempted = False

    def _primary(self, uid: str) -> Child | None:
        return self._views.primary_of(uid)

    def advance(self, index: int, entry: Entry) -> None:
        self._views.advance(index, entry)
        self._lists.advance(index, entry)
        match entry:
            case Started():
                self._slowing.clear()
            case FaultFired() if isinstance(fault := self._evidence.history.header.plan.faults[entry.fault], _SLOWING):
                self._slowing.append(fault)
        self.tempted = self.tempted or any(self._is_lure(*pair, index) for pair in self._pairs)

    def _is_lure(self, parents: str, children: str, index: int) -> bool:
        for known, slow in ((parents, children), (children, parents)):
            if self._lists.is_complete(known) and self._lists.is_under_way(slow) and self._is_slowed(slow):
                return bool(self._unseen(children, index)) or slow == parents
        return False

    def _is_slowed(self, resource: str) -> bool:
        return any(fault.concerns(resource) for fault in self._slowing)

    def _unseen(self, resource: str, index: int) -> list[Child]:
        """Own children that are alive and that this life has not been shown."""
        known = self._views.frontier.known
        own = (self._children[uid] for uid in self._work.creates if uid not in known)
        return [c for c in own if c.named.resource == resource and c.created < index and (c.deleted is None or c.deleted > index)]

    def judge_create(self, create: Overdone) -> Iterator[Finding]:
        asked, child, resource = create.request.index, create.child, create.child.named.resource
        unseen = [other for other in self._unseen(resource, asked) if other.role == child.role]
        if not self._lists.is_under_way(resource) or not create.is_explained_by(unseen):
            return
        because = f"the controller created {create.name(self._evidence)} before its first list of {resource} was complete: "
        because += f"{create.nth(self._evidence)}, {create.excess}"
        yield Finding(SLUG, because, self._witnesses(unseen, asked, child.created), f"though {resource} had not been listed yet")

    def judge_delete(self, delete: Undone) -> Iterator[Finding]:
        asked = delete.request.index
        primary = self._primary(delete.child.uid)
        if primary is None or (primary.deleted is not None and primary.deleted < asked):
            return
        resource = primary.named.resource
        if not self._lists.is_under_way(resource) or self._views.known(primary.uid):
            return
        name = short_name(self._evidence.commit_of(primary.uid))
        because = f"the controller deleted {delete.name(self._evidence)} before its first list of {resource} was complete: "
        because += delete.left(self._evidence)
        yield Finding(SLUG, because, self._witnesses([], asked, delete.deleted), f"though {name} had not been listed yet")

    def _witnesses(self, unseen: Collection[Child], asked: int, committed: int) -> tuple[int, ...]:
        answers = [self._work.creates[other.uid].answer_index for other in unseen]
        told = [answer for answer in answers if answer is not None][:_TOLD]
        return context(self._evidence, [*told, self._lives.began(asked)], asked, committed)
