"""survives-restart: come back from a restart at any point without repeating or undoing work.

The memory of the life before is lost: expectations, names, what was already done. Any of these is a finding:

1. repeated: a create that makes more live children of a role than any reference had by then (`overdone`), which the live ones of
   an earlier life explain, and either this life had not been shown those, or what it created is still too much when the trial
   ends. An excess for a moment among children that it knew may be a roll-out in another order;
2. undone: a delete of what an earlier life had created, which no reference made by that step (`undone`);
3. it did not come back: the end state is not the references', and nothing but restarts had been done to it (`convergence`). Not if
   it has written nothing since and had less time than it takes to be elected: what its former life held has to run out first.

Where the user's steps came to something else than in the references, an excess is no wonder and proves nothing. Nor does a delete
that the references made later: what takes longer under a fault reaches the controller's own timers in an earlier step.

What unseen writes of the same life explain has nothing to do with the restart: that is for `no-duplicate-create` and
`no-excess-delete`.
"""

from collections.abc import Collection, Iterator
from typing import Literal

from staleproof.checks.facts.baseline import final_objects, group
from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.liveness import Suspicion, other_workload, verdict_on
from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.overdone import Overdone, overdone
from staleproof.checks.facts.own_work import Lives, OwnWork, own_work
from staleproof.checks.facts.own_writes import OwnWrites, write_of
from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.undone import Undone, undone
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Outcome, Verdict, failed, inconclusive, not_exercised
from staleproof.core.entry import Delivered, Listed, Opened, Settled
from staleproof.core.fault import AnyFault, Kill, PastSnapshot, Restart

SLUG = "survives-restart"
_TOLD = 3


def check(evidence: Evidence) -> Verdict:
    look = _Look(evidence, own_work(evidence))
    if not look.restarts:
        return not_exercised(SLUG, "the controller was not restarted")
    findings, other = list(look.judge()), other_workload(evidence)
    if findings and other:
        return inconclusive(SLUG, f"{findings[0].because}, but {other}")
    if findings:
        return failed(SLUG, findings[:MOST_FINDINGS])
    end = verdict_on(SLUG, evidence, Suspicion(tuple(look.restarts), _is_ours, "after it was restarted"))
    if end.outcome is Outcome.PASS and not look.had_work:
        return not_exercised(SLUG, "it had done nothing before it was restarted, or was not shown a primary since")
    return end


def _is_ours(fault: AnyFault) -> bool:
    return isinstance(fault, Kill | Restart | PastSnapshot)


class _Look:
    def __init__(self, evidence: Evidence, work: OwnWork) -> None:
        self._evidence, self._work = evidence, work
        self._children = evidence.population.children
        self._lives = Lives(evidence.history.entries)
        self.restarts = self._lives.starts[1:]

    @property
    def had_work(self) -> bool:
        """Whether a life of which a primary was shown had work of an earlier one behind it."""
        entries = self._evidence.history.entries
        streams = {entry.stream: entry.resource for entry in entries if isinstance(entry, Opened)}
        written = min((request.index for request in self._work.creates.values()), default=len(entries))
        settled = next((index for index, entry in enumerate(entries) if isinstance(entry, Settled)), len(entries))
        for index in range(next((start for start in self.restarts if start > written), settled), settled):
            match entries[index]:
                case Listed() as entry if entry.resource in self._evidence.primaries and entry.items:
                    return True
                case Delivered() as entry if entry.uid and streams.get(entry.stream) in self._evidence.primaries:
                    return True
        return False

    def judge(self) -> Iterator[Finding]:
        """What is repeated and what is undone, in order."""
        creates, deletes = overdone(self._evidence, self._work), undone(self._evidence, self._work)
        created, deleted = OwnWrites(self._evidence, "create"), OwnWrites(self._evidence, "delete")
        frontier = Frontier()
        for index, entry in enumerate(self._evidence.history.entries):
            if index in creates and not self._is_of_this_life(created, "create", creates[index].child, index):
                yield from self._repeated(creates[index], frontier.known)
            if index in deletes and not self._is_of_this_life(deleted, "delete", deletes[index].child, index):
                yield from self._undone(deletes[index])
            created.advance(index, entry)
            deleted.advance(index, entry)
            frontier.advance(entry)

    def _is_of_this_life(self, own: OwnWrites, verb: Literal["create", "delete"], child: Child, index: int) -> bool:
        """Whether unseen writes of this very life, from an earlier decision, may be the reason."""
        requests = [write_of(other, verb) for other in own.behind(child)]
        return any(request is not None and self._lives.at(request.index) == self._lives.at(index) for request in requests)

    def _repeated(self, create: Overdone, known: Collection[str]) -> Iterator[Finding]:
        asked, child = create.request.index, create.child
        earlier = [other for other in self._earlier(asked) if other.role == child.role and _is_live(other, asked)]
        unseen = [other for other in earlier if other.uid not in known]
        if not create.is_explained_by(earlier) or not (create.is_explained_by(unseen) or self._stays(child)):
            return
        because = f"restarted, the controller made {create.name(self._evidence)} {create.nth(self._evidence)}; {create.excess}"
        shown = "had not been shown" if unseen else "had been shown"
        though = f"though it {shown} the {len(unseen or earlier)} that it had created in an earlier life"
        yield Finding(SLUG, because, self._witnesses(unseen or earlier, asked, child.created), though)

    def _stays(self, child: Child) -> bool:
        """Whether it is there in the end, with more of its role than any reference ended with."""
        settled = next((i for i, entry in enumerate(self._evidence.history.entries) if isinstance(entry, Settled)), None)
        if child.deleted is not None or settled is None:
            return False
        role = child.role._replace(owner=child.role.owner.partition("#")[0])  # as the end state has it
        most = max(self._evidence.baseline.counts.get(role, ()), default=0)
        return all(self._left(role, until) > most for until in (settled, None))

    def _left(self, role: Role, until: int | None) -> int:
        history, names = self._evidence.history, self._evidence.names
        return len(group(final_objects(history, until=until), history.header.namespace, names).get(role, ()))

    def _undone(self, delete: Undone) -> Iterator[Finding]:
        asked, child = delete.request.index, delete.child
        if child not in self._earlier(asked) or not self._is_deleted_more_often(child.role):
            return
        because = f"restarted, the controller deleted {delete.name(self._evidence)}: {delete.left(self._evidence)}"
        though = "though an earlier life had created it, and no fault-free run took it back"
        yield Finding(SLUG, because, self._witnesses([child], asked, delete.deleted), though)

    def _is_deleted_more_often(self, role: Role) -> bool:
        """Whether it deleted more objects of a role, in all, than in any reference."""
        own = sum(self._children[uid].role == role for uid in self._work.deletes)
        made = self._evidence.reference_populations
        usual = [sum(c.role == role and c.deleter is not None for c in each.children.values()) for each in made]
        return own > max(usual, default=0)

    def _earlier(self, asked: int) -> list[Child]:
        """What the controller had created in an earlier life than the one that asks."""
        life = self._lives.at(asked)
        return [self._children[uid] for uid, request in self._work.creates.items() if self._lives.at(request.index) < life]

    def _witnesses(self, earlier: list[Child], asked: int, committed: int) -> tuple[int, ...]:
        answers = [self._work.creates[other.uid].answer_index for other in earlier]
        told = [answer for answer in answers if answer is not None][:_TOLD]
        return context(self._evidence, [*told, self._lives.began(asked)], asked, committed)


def _is_live(child: Child, index: int) -> bool:
    return child.created < index and (child.deleted is None or child.deleted > index)
