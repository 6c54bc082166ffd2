"""survives-lost-answer: treat a write whose answer was lost as possibly done.

The write was executed, and only we know. Any of these is a finding:

1. a create that makes more live children of a role than any reference had by then (`overdone`), which the live ones whose answers
   were lost explain;
2. a delete that no reference made by that step (`undone`), which deletes whose answers were lost explain;
3. the end state is not the references', and nothing but lost answers had been done to the controller (`convergence`).

For 1 and 2 the repeated write must have been decided on without a look: the controller had not been shown what it had done, or it
was still the decision in which the answer was lost (it tried again at once). Then it counts as one decision what `own_writes` does.

Not judged: a write that is repeated under the same name. It is refused, which is how deterministic names and preconditions work.
"""

from collections.abc import Iterator, Sequence

from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.liveness import Suspicion, other_workload, verdict_on
from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.overdone import Overdone, overdone
from staleproof.checks.facts.own_work import Lives, OwnWork, own_work, uid_of
from staleproof.checks.facts.reconcile_epochs import Decisions
from staleproof.checks.facts.undone import Undone, undone
from staleproof.checks.story.phrases import listing
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, inconclusive, not_exercised
from staleproof.core.fault import AnyFault, LoseAnswer, SlowAnswer
from staleproof.core.history import Request

SLUG = "survives-lost-answer"
_TOLD = 3


def check(evidence: Evidence) -> Verdict:
    work = own_work(evidence)
    if not work.lost:
        return not_exercised(SLUG, "no answer to a write of the controller was lost")
    findings, other = list(_Look(evidence, work).judge()), other_workload(evidence)
    if findings and other:
        return inconclusive(SLUG, f"{findings[0].because}, but {other}")
    if findings:
        return failed(SLUG, findings[:MOST_FINDINGS])
    first = min(work.lost.values(), key=lambda request: request.index)
    acts = [request.answer_index for request in work.lost.values() if request.answer_index is not None]
    charge = f"after the answer to its {first.asked.verb} of {first.asked.resource} was lost"
    return verdict_on(SLUG, evidence, Suspicion(tuple(acts[:_TOLD]), _is_ours, charge))


def _is_ours(fault: AnyFault) -> bool:
    return isinstance(fault, LoseAnswer | SlowAnswer)


class _Look:
    def __init__(self, evidence: Evidence, work: OwnWork) -> None:
        self._evidence, self._work = evidence, work
        self._frontier, self._decisions = Frontier(), Decisions(evidence)
        self._lives = Lives(evidence.history.entries)
        children = evidence.population.children
        written = [(request, children[uid]) for request in work.lost.values() if (uid := uid_of(request)) in children]
        self._created = [child for request, child in written if work.creates.get(child.uid) == request]
        self._deleted = [child for request, child in written if work.deletes.get(child.uid) == request]

    def judge(self) -> Iterator[Finding]:
        """What was repeated, in order."""
        creates, deletes = overdone(self._evidence, self._work), undone(self._evidence, self._work)
        for index, entry in enumerate(self._evidence.history.entries):
            if index in creates:
                yield from self._repeated(creates[index])
            if index in deletes:
                yield from self._deleted_another(deletes[index])
            self._frontier.advance(entry)
            self._decisions.advance(index, entry)

    def _repeated(self, create: Overdone) -> Iterator[Finding]:
        asked, child = create.request.index, create.child
        lost = [other for other in self._created if other.role == child.role and self._is_unheard(other, asked)]
        if not create.is_explained_by(lost):
            return
        because = f"{create.name(self._evidence)} is {create.nth(self._evidence)}, made after the answer to an earlier create was "
        because += f"lost; {create.excess}"
        names = listing([other.named.name for other in lost])
        yield Finding(SLUG, because, self._witnesses(lost, asked, child.created), f"though {names} may have been created")

    def _is_unheard(self, other: Child, asked: int) -> bool:
        """Alive, and created by a request whose answer was lost before, without a look since."""
        request = self._work.creates[other.uid]
        if not self._was_lost_before(request, asked) or not other.created < asked:
            return False
        if request.answer_index is None or (other.deleted is not None and other.deleted < asked):
            return False
        return other.uid not in self._frontier.known or self._decisions.is_same(other, request.answer_index)

    def _deleted_another(self, delete: Undone) -> Iterator[Finding]:
        asked, child = delete.request.index, delete.child
        lost = [other for other in self._deleted if self._is_unheard_delete(other, child, asked)]
        if not lost or delete.live + len(lost) < delete.kept:
            return
        because = f"the controller deleted {delete.name(self._evidence)} after the answer to an earlier delete was lost: "
        because += delete.left(self._evidence)
        though = f"though {listing([other.named.name for other in lost])} may have been deleted"
        yield Finding(SLUG, because, self._witnesses(lost, asked, delete.deleted), though)

    def _is_unheard_delete(self, other: Child, child: Child, asked: int) -> bool:
        request = self._work.deletes[other.uid]
        alike = other is not child and other.owner_uid == child.owner_uid and other.named.resource == child.named.resource
        if not alike or not self._was_lost_before(request, asked) or other.deleted is None or not other.deleted < asked:
            return False
        is_seen = self._frontier.has_seen(other.uid, other.delete_revision or 0)
        return not is_seen or self._decisions.is_same(other, request.answer_index or 0)

    def _was_lost_before(self, request: Request, asked: int) -> bool:
        """In the same life: another one would not have heard the answer anyway."""
        answered = request.answer_index
        return answered is not None and answered < asked and self._lives.at(answered) == self._lives.at(asked)

    def _witnesses(self, lost: Sequence[Child], asked: int, committed: int) -> tuple[int, ...]:
        unheard = {id(child): child for child in lost}.values()
        requests = [self._work.creates.get(c.uid) if c in self._created else self._work.deletes.get(c.uid) for c in unheard]
        answers = [request.answer_index for request in requests if request is not None and request.answer_index is not None]
        return context(self._evidence, answers, asked, committed)
