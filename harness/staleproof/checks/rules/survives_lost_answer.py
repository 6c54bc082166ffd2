"""survives-lost-answer: treat a write whose answer was lost as possibly done.

The write was executed, and only we know. Any of these is a finding:

1. a create that makes more live children of a role than any reference had by then (`excess`), which the live ones whose answers
   were lost explain;
2. a delete that no reference made by that step (`excess`), which deletes whose answers were lost explain;
3. the end state is not the references', and nothing but lost answers had been done to the controller (`Suspicion`).

For 1 and 2 the repeated write must have been decided on without a look: the controller had not been shown what it had done, or it
was still the decision in which the answer was lost (it tried again at once). `reconcile_epochs` says what counts as one decision.

Not judged: a write that is repeated under the same name. It is refused, which is how deterministic names and preconditions work.
"""

from collections.abc import Iterator

from staleproof.checks.facts.excess import SurplusCreate, SurplusDelete, surplus_writes
from staleproof.checks.facts.liveness import other_circumstances
from staleproof.checks.facts.own_writes import lost_writes, unheard_creates, unheard_deletes
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import listing
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said, Suspicion, unless

_TOLD = 3


def check(trial: Trial) -> Iterator[Said]:
    lost = lost_writes(trial)
    if not lost:
        yield NotExercised("no answer to a write of the controller was lost")
        return
    acts = tuple(request.answer_index for request in lost if request.answer_index is not None)
    charge = f"after the answer to its {lost[0].asked.verb} of {lost[0].asked.resource} was lost"
    end = Suspicion(acts[:_TOLD], frozenset({"loses", "slows"}), charge)
    yield from unless(other_circumstances(trial), list(_findings(trial))) or [end]


def _findings(trial: Trial) -> Iterator[Finding]:
    for write in surplus_writes(trial):
        yield from _repeated(trial, write) if isinstance(write, SurplusCreate) else _deleted_another(trial, write)


def _repeated(trial: Trial, create: SurplusCreate) -> Iterator[Finding]:
    asked, child = create.request.index, create.child
    lost = {at: other for at, other in unheard_creates(trial, before=asked).items() if other.role == child.role}
    if create.explained_by(lost.values()):
        because = f"{create.name} is {create.nth}, made after the answer to an earlier create was lost; {create.excess}"
        though = f"though {listing([other.name for other in lost.values()])} may have been created"
        yield Finding(because, context(trial, lost, asked, child.created), though)


def _deleted_another(trial: Trial, delete: SurplusDelete) -> Iterator[Finding]:
    asked, child = delete.request.index, delete.child
    unheard = {at: other for at, other in unheard_deletes(trial, before=asked).items() if other is not child}
    lost = {at: o for at, o in unheard.items() if (o.owner_uid, o.resource) == (child.owner_uid, child.resource)}
    if lost and delete.live + len(lost) >= delete.kept:
        because = f"the controller deleted {delete.name} after the answer to an earlier delete was lost: {delete.left}"
        though = f"though {listing([other.name for other in lost.values()])} may have been deleted"
        yield Finding(because, context(trial, lost, asked, delete.deleted), though)


REQUIREMENT = Requirement(
    slug="survives-lost-answer",
    must="The controller MUST treat a write whose answer was lost as possibly done.",
    level="core",
    source="API machinery, pkg/api/errors: a timeout says nothing about whether the request was executed",
    faults=("LoseAnswer", "SlowAnswer"),
    remedy="look before trying again, or try again under the same name and take AlreadyExists and NotFound for done",
    check=check,
    outlives=frozenset({"loses"}),
)
