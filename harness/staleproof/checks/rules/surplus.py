"""Requirements about creates and deletes beyond those of fault-free runs: one for each reason of not knowing better.

What is too many is for `but_for` to say, and whether a reason explains it for `ignorance`. Here stands which reasons a requirement
is about, when a trial has put it to the test, and what the end shows besides.
"""

from collections.abc import Iterator

from staleproof.checks.ends.exits import given_restarts, lost_its_lease
from staleproof.checks.facts.object_history import creations, is_bare
from staleproof.checks.facts.own_writes import group_of, lost_writes, own_creates, own_deletes, unseen_children
from staleproof.checks.facts.primary_view import owned_resources
from staleproof.checks.facts.showings import is_held_up
from staleproof.checks.requirement import HIDDEN, RESTARTS, SEED, Requirement
from staleproof.checks.surplus import kept_roles
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said, Suspicion
from staleproof.checks.view.life import view
from staleproof.core.history.entry import Delivered, Exited, Listed

NONE_LEFT = "what the controller deletes is all gone without faults, too, so that it cannot delete too much of it"
_EXAMPLES = 3


def no_duplicate_create(trial: Trial) -> Iterator[Said]:
    """Not create another child for work already done but not yet seen done.

    A finding needs all of this:

    1. more live children of a role than any reference had had by the end of that step of the workload;
    2. the create was decided on while own, live creates of that role, from earlier decisions, were unseen (`own_writes`: a burst
       inside one reconciliation is one decision);
    3. those unseen creates explain it: without them it would not have been too many. An excess with another reason (a roll-out in
       another order, a count the references never wanted) is not staleness; nor is a child for another state of the primary, as
       long as no more are created in all than without faults.

    Known limits: a duplicate below the references' peak so far is not seen here, nor is one whose role no reference had.
    """
    if not own_creates(trial).looked:
        yield NotExercised("the controller was never made to look again while an own create was hidden from it")


NO_DUPLICATE_CREATE = Requirement(
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
    check=no_duplicate_create,
    explains_end=True,
)


def no_excess_delete(trial: Trial) -> Iterator[Said]:
    """Not delete more because own deletes have not been seen yet.

    A finding needs all of this:

    1. fewer live children of a role than any reference had once its peak was reached, and as many as that had been alive before (a
       controller that was kept from creating them has not deleted too many);
    2. the delete was decided on while own deletes of that resource and owner, from earlier decisions, were unseen; whatever their
       names: a controller that counts its children may take its own deletes of some for a reason to delete others;
    3. those unseen deletes explain it: had they not happened, as the controller must believe, it would not have been too many;
    4. nothing else explains it: without what another user deleted unseen, it would have been too many all the same.

    A deletecollection names no object, so it is not judged; what it deleted counts as own deletes all the same.

    Known limit: what the references emptied cannot be too little; where they left nothing this is not exercised.
    """
    left, looked = {group_of(role, "delete") for role in kept_roles(trial)}, own_deletes(trial).looked
    if not looked:
        yield NotExercised("the controller was never made to look again while an own delete was hidden from it")
    elif not looked & left:
        yield NotExercised(NONE_LEFT)


NO_EXCESS_DELETE = Requirement(
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
    check=no_excess_delete,
    explains_end=True,
)


def waits_for_initial_sync(trial: Trial) -> Iterator[Said]:
    """Not write before the caches have had their first complete list.

    Fault-free runs never show how a controller starts, so whether it always waits cannot be learnt from them. Nor does every honest
    write need a list: some are made at every start, some live on AlreadyExists, and one program may hold several controllers, each
    of which waits for its own caches. What is wrong with a write is that it takes for missing what has only not been listed yet. So
    a finding is a write to a primary's children while the very list that it needed was under way, and that was too much:

    1. a create while the first list of that resource was under way, explained by the controller's own earlier ones, which this life
       has not been shown;
    2. a delete of a child while the first list of its primary's resource was under way and the primary had not been shown.

    Known limits: writes before the list that happen to do no harm are not seen, nor is a status that was wrong for a moment.
    """
    if not any(_is_lure(trial, *pair, index) for index in range(len(trial.entries)) for pair in owned_resources(trial)):
        yield NotExercised("no first list of the controller was slow while it had shown itself to have work to repeat")


def _is_lure(trial: Trial, parents: str, children: str, index: int) -> bool:
    """Whether it had one list, which did not show the work that had been done, and lacked another because of a fault: some
    milliseconds between two lists are no temptation."""
    for known, slow in ((parents, children), (children, parents)):
        if view(trial, index + 1).has_first_list(known) and is_held_up(trial, slow, before=index + 1):
            return slow == parents or any(child.resource == children for child in unseen_children(trial, at=index))
    return False


WAITS_FOR_INITIAL_SYNC = Requirement(
    slug="waits-for-initial-sync",
    must="The controller MUST not write before its caches have had their first complete list.",
    level="core",
    source="client-go tools/cache WaitForCacheSync; KEP-3157",
    faults=("SlowStart", "Hang", "Refuse", "Reject", "SlowAnswer"),
    remedy="start no worker until every cache has synced (WaitForCacheSync, or the bookmark that ends the initial events)",
    kind="deed",
    wrong="a create or delete too many",
    reasons=("first list",),
    verbs=("create", "delete"),
    check=waits_for_initial_sync,
    outlives=frozenset({"slows-start"}),
)


def survives_restart(trial: Trial) -> Iterator[Said]:
    """Come back from a restart at any point without repeating or undoing work.

    The memory of the life before is lost: expectations, names, what was already done. Any of these is a finding:

    1. repeated: a create too many, which the live ones of an earlier life explain, and either this life had not been shown those,
       or what it created is still too much when the trial ends. An excess for a moment among children that it knew may be a
       roll-out in another order;
    2. undone: a delete of what an earlier life had created. One that the references made later proves nothing: what takes longer
       under a fault reaches the controller's own timers in an earlier step;
    3. it did not come back: the end state is not the references', and nothing but restarts had been done to it. Not if it has
       written nothing since and had less time than it takes to be elected: what its former life held has to run out first. A
       controller that exited by itself, as one that loses its lease has to, is started again, and then the same holds.

    What unseen writes of the same life explain has nothing to do with the restart: that is for `no-duplicate-create` and
    `no-excess-delete`.
    """
    restarts = tuple(trial.starts[1:])
    if not restarts:
        yield NotExercised("the controller was not restarted")
        return
    exits = [trial.entries[index] for index in given_restarts(trial)]
    lost = any(isinstance(entry, Exited) and lost_its_lease(entry) for entry in exits)
    # A controller that exits of its own accord relies on the restart: whatever made it exit is no other explanation.
    proof = f"it exited{' because it lost its lease' if lost else ''}, was started again, and did not come back" if exits else ""
    untested = "" if _had_work(trial) else "it had done nothing before it was restarted, or was not shown a primary since"
    yield Suspicion(restarts, "after it was restarted", proof=proof, untested=untested)


def _had_work(trial: Trial) -> bool:
    """Whether a life of which a primary was shown had work of an earlier one behind it."""
    work = [request.index for request, _ in creations(trial)]
    if is_bare(trial):
        work = [commit.by.index for commit in trial.commits if commit.by is not None]
    since = next((start for start in trial.starts[1:] if work and start > min(work)), len(trial.entries))
    listed = [entry.resource for _, entry in trial.every(Listed, since=since, until=trial.settled) if entry.items]
    delivered = [entry.stream for _, entry in trial.every(Delivered, since=since, until=trial.settled) if entry.uid]
    return not trial.primaries.isdisjoint([*listed, *map(trial.resource_of, delivered)])


SURVIVES_RESTART = Requirement(
    slug="survives-restart",
    must="The controller MUST come back from a restart at any point without repeating or undoing work.",
    level="core",
    source="KEP-5647; kubernetes/kubernetes#59848",
    faults=RESTARTS,
    remedy="derive everything from the API server after a start: list consistently, find own children by owner uid or by "
    "deterministic names, and keep nothing needed in memory only",
    kind="deed",
    wrong="a create or delete too many, or another end than without faults",
    reasons=("earlier life",),
    verbs=("create", "delete"),
    effects=frozenset({"restarts", "rewinds"}),
    check=survives_restart,
    outlives=frozenset({"restarts", "rewinds"}),
)


def survives_lost_answer(trial: Trial) -> Iterator[Said]:
    """Treat a write whose answer was lost as possibly done.

    The write was executed, and only we know. Any of these is a finding:

    1. a create too many, which the live ones whose answers were lost explain;
    2. a delete too many, which deletes whose answers were lost explain;
    3. the end state is not the references', and nothing but lost answers had been done to the controller.

    For 1 and 2 the repeated write must have been decided on without a look: the controller had not been shown what it had done, or
    it was still the decision in which the answer was lost (it tried again at once; `reconcile_epochs`).

    Not judged: a write that is repeated under the same name. It is refused, which is how deterministic names and preconditions
    work.
    """
    lost = lost_writes(trial)
    if not lost:
        yield NotExercised("no answer to a write of the controller was lost")
        return
    acts = tuple(request.answer_index for request in lost if request.answer_index is not None)
    yield Suspicion(acts[:_EXAMPLES], f"after the answer to its {lost[0].asked.verb} of {lost[0].asked.resource} was lost")


SURVIVES_LOST_ANSWER = Requirement(
    slug="survives-lost-answer",
    must="The controller MUST treat a write whose answer was lost as possibly done.",
    level="core",
    source="API machinery, pkg/api/errors: a timeout says nothing about whether the request was executed",
    faults=("LoseAnswer", "SlowAnswer"),
    remedy="catch the error, which is no reason to exit, and reconcile again: look before trying again, or try again "
    "under the same name and take AlreadyExists and NotFound for done",
    kind="deed",
    wrong="a create or delete too many, or another end than without faults",
    reasons=("lost answer",),
    verbs=("create", "delete"),
    effects=frozenset({"loses", "slows"}),
    check=survives_lost_answer,
    outlives=frozenset({"loses"}),
)
