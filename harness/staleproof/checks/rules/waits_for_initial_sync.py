"""waits-for-initial-sync: not write before the caches have had their first complete list.

Fault-free runs never show how a controller starts, so whether it always waits cannot be learnt from them. Nor does every honest
write need a list: some are made at every start, some live on AlreadyExists, and one program may hold several controllers, each of
which waits for its own caches. What is wrong with a write is that it takes for missing what has only not been listed yet. So a
finding is a write to a primary's children while the very list that it needed was under way (`initial_lists`), and that was too
much:

1. a create while the first list of that resource was under way: more live children of the role than any reference had by then
   (`excess`), explained by the controller's own earlier ones, which this life has not been shown;
2. a delete of a child while the first list of its primary's resource was under way and the primary had not been shown: one that no
   reference made by that step (`excess`).

Known limits: writes before the list that happen to do no harm are not seen, nor is a status that was wrong for a moment.
"""

from collections.abc import Iterator

from staleproof.checks.facts.excess import SurplusCreate, SurplusDelete, surplus_writes
from staleproof.checks.facts.frontier import frontier
from staleproof.checks.facts.initial_lists import initial_lists
from staleproof.checks.facts.object_history import Incarnation, creations
from staleproof.checks.facts.own_writes import own_children
from staleproof.checks.facts.primary_view import primary_view
from staleproof.checks.requirement import Requirement
from staleproof.checks.story.phrases import short_name
from staleproof.checks.story.witnesses import inherited
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.entry import FaultFired
from staleproof.core.fault import Effect

_SLOWING: frozenset[Effect] = frozenset({"hides", "disconnects", "rejects", "slows", "slows-start"})


def check(trial: Trial) -> Iterator[Said]:
    for write in surplus_writes(trial):
        yield from _judge_create(trial, write) if isinstance(write, SurplusCreate) else _judge_delete(trial, write)
    if not _was_tempted(trial):
        yield NotExercised("no first list of the controller was slow while it had shown itself to have work to repeat")


def _judge_create(trial: Trial, create: SurplusCreate) -> Iterator[Finding]:
    asked, child = create.request.index, create.child
    unseen = [other for other in _unseen(trial, child.resource, asked) if other.role == child.role]
    if not initial_lists(trial).is_under_way(child.resource, before=asked) or not create.is_explained_by(unseen):
        return
    because = f"the controller created {create.name} before its first list of {child.resource} was complete: "
    because += f"{create.nth}, {create.excess}"
    yield Finding(because, inherited(trial, unseen, asked, child.created), f"though {child.resource} had not been listed yet")


def _judge_delete(trial: Trial, delete: SurplusDelete) -> Iterator[Finding]:
    asked = delete.request.index
    primary = primary_view(trial).primary_of(delete.child.uid)
    if primary is None or primary.is_gone(before=asked) or primary_view(trial).known(primary.uid, before=asked):
        return
    if initial_lists(trial).is_under_way(primary.resource, before=asked):
        because = f"the controller deleted {delete.name} before its first list of {primary.resource} was complete: {delete.left}"
        though = f"though {short_name(primary.first.entry)} had not been listed yet"
        yield Finding(because, inherited(trial, [], asked, delete.deleted), though)


def _unseen(trial: Trial, resource: str, index: int) -> list[Incarnation]:
    """Own children that were alive at a position, and that the life there had not been shown by then."""
    alive = [child for child in own_children(trial, before=index) if child.resource == resource]
    return [child for child in alive if not frontier(trial).is_known(child.uid, before=index + 1)]


def _was_tempted(trial: Trial) -> bool:
    """Whether one list was complete and another one was not, because of a fault that had fired in this life, and there was work
    that it did not show. Some milliseconds between two lists are no temptation."""
    owned = ((primary_view(trial).primary_of(child.uid), child.resource) for _, child in creations(trial))
    pairs = {(primary.resource, resource) for primary, resource in owned if primary is not None}
    return any(_is_lure(trial, *pair, index) for index in range(len(trial.entries)) for pair in pairs)


def _is_lure(trial: Trial, parents: str, children: str, index: int) -> bool:
    lists, then = initial_lists(trial), index + 1
    for known, slow in ((parents, children), (children, parents)):
        if lists.is_complete(known, before=then) and lists.is_under_way(slow, before=then) and _is_slowed(trial, slow, index):
            return slow == parents or bool(_unseen(trial, children, index))
    return False


def _is_slowed(trial: Trial, resource: str, index: int) -> bool:
    """Whether a fault that has fired in the life at a position kept the first list of a resource from it."""
    fired = (trial.plan.faults[entry.fault] for _, entry in trial.every(FaultFired, since=trial.life_began(index), until=index + 1))
    return any(fault.concerns(resource) and not _SLOWING.isdisjoint(fault.effects) for fault in fired)


REQUIREMENT = Requirement(
    slug="waits-for-initial-sync",
    must="The controller MUST not write before its caches have had their first complete list.",
    level="core",
    source="client-go tools/cache WaitForCacheSync; KEP-3157",
    faults=("SlowStart", "Hang", "Refuse", "Reject", "SlowAnswer"),
    remedy="start no worker until every cache has synced (WaitForCacheSync, or the bookmark that ends the initial events)",
    check=check,
)
