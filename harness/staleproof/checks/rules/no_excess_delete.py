"""no-excess-delete: not delete more because own deletes have not been seen yet.

A finding needs all of this:

1. fewer live children of a role than any reference had once its peak was reached, and as many as that had been alive before (a
   controller that was kept from creating them has not deleted too many);
2. the delete was decided on while own deletes of that resource and owner, from earlier decisions, were unseen (`own_writes`);
   whatever their names: a controller that counts its children may take its own deletes of some for a reason to delete others;
3. those unseen deletes explain it: had they not happened, as the controller must believe, it would not have been too many;
4. nothing else explains it: without what somebody else deleted unseen, it would have been too many all the same.

A deletecollection names no object, so it is not judged; what it deleted counts as own deletes all the same.

Known limit: what the references emptied cannot be too little; where they left nothing this is not exercised.
"""

from collections.abc import Iterator

from staleproof.checks.facts.excess import fewest_ever
from staleproof.checks.facts.object_history import Incarnation, deletions, object_history
from staleproof.checks.facts.own_writes import group_of, own_deletes, taken_unseen
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name, kind_of, listing, of_owner
from staleproof.checks.requirement import HIDDEN, SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.history import Request
from staleproof.core.wording import plural


def check(trial: Trial) -> Iterator[Said]:
    for request, child in deletions(trial):
        if request.asked.verb == "delete":
            yield from _judge(trial, request, child)
    left = {group_of(role, "delete") for role, fewest in fewest_ever(trial).items() if fewest}
    looked = own_deletes(trial).looked
    if looked and not looked & left:
        yield NotExercised("what the controller deletes is all gone without faults, too, so that it cannot delete too much of it")
    elif not looked:
        yield NotExercised("the controller was never made to look again while an own delete was hidden from it")


def _judge(trial: Trial, request: Request, child: Incarnation) -> Iterator[Finding]:
    made, fewest, deleted = object_history(trial), fewest_ever(trial).get(child.role, 0), child.deleted
    assert deleted is not None
    live = made.live_after(child.role, deleted)
    is_below = live < fewest <= made.peak_until(child.role, deleted)
    unseen = own_deletes(trial).behind(child, before=request.index) if is_below else []
    if not unseen or live + len(unseen) < fewest or live + len(taken_unseen(trial, child.role, before=request.index)) >= fewest:
        return
    commit = child.first.entry
    if child.role.stem == child.name:
        because = f"{full_name(commit)} was deleted; fault-free runs never were without it"
    else:
        left = plural(live, f"live {kind_of(commit)}")
        because = f"deleting {full_name(commit)} left {left}{of_owner(child.role.owner)}; fault-free runs never went below {fewest}"
    though = f"though it had not been shown its own deletes of {listing([other.name for other in unseen])}"
    answered = [other.deleter.answer_index for other in unseen if other.deleter]
    yield Finding(because, context(trial, answered, request.index, deleted), though)


REQUIREMENT = Requirement(
    slug="no-excess-delete",
    must="The controller MUST not delete more because it has not yet seen its own deletes.",
    level="core",
    source=f"KEP-5647; {SEED}, section Expectations pattern",
    faults=HIDDEN,
    remedy="expect own deletes by uid until the cache shows them, "
    "or choose victims so that a repeated decision picks the same ones",
    check=check,
    explains_end=True,
)
