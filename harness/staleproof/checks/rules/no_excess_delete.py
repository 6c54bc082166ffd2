"""no-excess-delete: not delete more because own deletes have not been seen yet.

A finding needs all of this:

1. fewer live children of a role than any reference had once its peak was reached, and as many as that had been alive before (a
   controller that was kept from creating them has not deleted too many; `but_for`);
2. the delete was decided on while own deletes of that resource and owner, from earlier decisions, were unseen (`own_writes`);
   whatever their names: a controller that counts its children may take its own deletes of some for a reason to delete others;
3. those unseen deletes explain it: had they not happened, as the controller must believe, it would not have been too many;
4. nothing else explains it: without what somebody else deleted unseen, it would have been too many all the same.

A deletecollection names no object, so it is not judged; what it deleted counts as own deletes all the same.

Known limit: what the references emptied cannot be too little; where they left nothing this is not exercised.
"""

from collections.abc import Iterator

from staleproof.checks.but_for import kept_roles
from staleproof.checks.facts.own_writes import group_of, own_deletes
from staleproof.checks.requirement import HIDDEN, SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said


def check(trial: Trial) -> Iterator[Said]:
    left, looked = {group_of(role, "delete") for role in kept_roles(trial)}, own_deletes(trial).looked
    if looked and not looked & left:
        yield NotExercised("what the controller deletes is all gone without faults, too, so that it cannot delete too much of it")
    elif not looked:
        yield NotExercised("the controller was never made to look again while an own delete was hidden from it")


REQUIREMENT = Requirement(
    slug="no-excess-delete",
    must="The controller MUST not delete more because it has not yet seen its own deletes.",
    level="core",
    source=f"KEP-5647; {SEED}, section Expectations pattern",
    faults=HIDDEN,
    remedy="expect own deletes by uid until the cache shows them, "
    "or choose victims so that a repeated decision picks the same ones",
    kind="deed",
    wrong="a delete too many",
    reasons=("hidden",),
    verbs=("delete",),
    check=check,
    explains_end=True,
)
