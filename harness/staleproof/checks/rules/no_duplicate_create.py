"""no-duplicate-create: not create another child for work already done but not yet seen done.

A finding needs all of this:

1. more live children of a role than any reference had had by the end of that step of the workload (`but_for`);
2. the create was decided on while own, live creates of that role, from earlier decisions, were unseen (`own_writes`: a burst inside
   one reconciliation is one decision);
3. those unseen creates explain it: without them it would not have been too many. An excess with another reason (a roll-out in
   another order, a count the references never wanted) is not staleness; nor is a child for another state of the primary, as long as
   no more are created in all than without faults.

Known limits: a duplicate below the references' peak so far is not seen here, nor is one whose role no reference had.
"""

from collections.abc import Iterator

from staleproof.checks.facts.own_writes import own_creates
from staleproof.checks.requirement import HIDDEN, SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said


def check(trial: Trial) -> Iterator[Said]:
    if not own_creates(trial).looked:
        yield NotExercised("the controller was never made to look again while an own create was hidden from it")


REQUIREMENT = Requirement(
    slug="no-duplicate-create",
    must="The controller MUST not create another child for work it has already done but not yet seen done.",
    level="core",
    source=f"KEP-5647; {SEED}, section Expectations pattern",
    faults=HIDDEN,
    remedy="remember own writes until the cache has them (expectations, ConsistencyStore, read-your-writes client) "
    "or use deterministic names",
    kind="deed",
    wrong="a create too many",
    reasons=("hidden",),
    verbs=("create",),
    check=check,
    explains_end=True,
)
