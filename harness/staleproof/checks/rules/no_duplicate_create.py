"""no-duplicate-create: not create another child for work already done but not yet seen done.

A finding needs all of this:

1. more live children of a role than any reference had had by the end of that step of the workload;
2. the create was decided on while own, live creates of that role, from earlier decisions, were unseen (`own_writes`: a burst inside
   one reconciliation is one decision);
3. those unseen creates explain it: without them it would not have been too many. An excess with another reason (a roll-out in
   another order, a count the references never wanted) is not staleness; nor is a child for another state of the primary, as long as
   no more are created in all than without faults (`excess`).

Known limits: a duplicate below the references' peak so far is not seen here, nor is one whose role no reference had.
"""

from collections.abc import Iterator

from staleproof.checks.facts.excess import most_ever, surplus_creates
from staleproof.checks.facts.liveness import set_aside
from staleproof.checks.facts.object_history import Incarnation, creations
from staleproof.checks.facts.own_writes import own_creates
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import span
from staleproof.checks.requirement import HIDDEN, SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said, unless
from staleproof.core.history import Request


def check(trial: Trial) -> Iterator[Said]:
    for request, child in creations(trial):
        yield from unless(set_aside(trial), list(_judge(trial, request, child)))
    if not own_creates(trial).looked:
        yield NotExercised("the controller was never made to look again while an own create was hidden from it")


def _judge(trial: Trial, request: Request, child: Incarnation) -> Iterator[Finding]:
    create = surplus_creates(trial).get(request.index)
    unseen = create.explained_by(own_creates(trial).behind(child, before=request.index)) if create is not None else []
    if create is None or not unseen:
        return
    by_then = " by then" if create.most < most_ever(trial).get(child.role, 0) else ""
    because = f"{create.name} is {create.nth}; fault-free runs never had more than {create.most}{by_then}"
    though = f"though it had not been shown its own creates {span([other.create_revision for other in unseen])}"
    answered = [other.creator.answer_index for other in unseen if other.creator]
    yield Finding(because, context(trial, answered, request.index, child.created), though)


REQUIREMENT = Requirement(
    slug="no-duplicate-create",
    must="The controller MUST not create another child for work it has already done but not yet seen done.",
    level="core",
    source=f"KEP-5647; {SEED}, section Expectations pattern",
    faults=HIDDEN,
    remedy="remember own writes until the cache has them (expectations, ConsistencyStore, read-your-writes client) "
    "or use deterministic names",
    check=check,
    explains_end=True,
)
