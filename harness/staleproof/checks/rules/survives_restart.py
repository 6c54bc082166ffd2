"""survives-restart: come back from a restart at any point without repeating or undoing work.

The memory of the life before is lost: expectations, names, what was already done. Any of these is a finding:

1. repeated: a create that makes more live children of a role than any reference had by then (`excess`), which the live ones of
   an earlier life explain, and either this life had not been shown those, or what it created is still too much when the trial
   ends. An excess for a moment among children that it knew may be a roll-out in another order;
2. undone: a delete of what an earlier life had created, which no reference made by that step (`excess`);
3. it did not come back: the end state is not the references', and nothing but restarts had been done to it (`Suspicion`). Not if
   it has written nothing since and had less time than it takes to be elected: what its former life held has to run out first.
   A controller that exited by itself, as one that loses its lease has to, is started again, and then the same holds.

Under `other_circumstances` (the user's steps came to something else; a child was set aside) an excess proves nothing. Nor does a
delete that the references made later: what takes longer under a fault reaches the controller's own timers in an earlier step.

What unseen writes of the same life explain has nothing to do with the restart: that is for `no-duplicate-create` and
`no-excess-delete`.
"""

from collections.abc import Iterable, Iterator

from staleproof.checks.facts.baseline import ends_with_more
from staleproof.checks.facts.excess import SurplusCreate, SurplusDelete, own_deletes_in_all, surplus_writes
from staleproof.checks.facts.exits import given_restarts, lost_its_lease
from staleproof.checks.facts.frontier import frontier
from staleproof.checks.facts.liveness import other_circumstances
from staleproof.checks.facts.object_history import Incarnation, creations, is_bare
from staleproof.checks.facts.own_writes import is_inherited, own_children, own_creates, own_deletes
from staleproof.checks.facts.witnesses import inherited
from staleproof.checks.requirement import RESTARTS, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said, Suspicion, unless
from staleproof.core.entry import Delivered, Exited, Listed
from staleproof.core.history import Request


def check(trial: Trial) -> Iterator[Said]:
    restarts = tuple(trial.starts[1:])
    if not restarts:
        yield NotExercised("the controller was not restarted")
        return
    untested = "" if _had_work(trial) else "it had done nothing before it was restarted, or was not shown a primary since"
    end = Suspicion(restarts, frozenset({"restarts", "rewinds"}), "after it was restarted", proof=_proof(trial), untested=untested)
    yield from unless(other_circumstances(trial), list(_findings(trial))) or [end]


def _proof(trial: Trial) -> str:
    """Who exits of its own accord relies on the restart: whatever made it exit is no other explanation."""
    exits = [trial.entries[index] for index in given_restarts(trial)]
    lost = any(isinstance(entry, Exited) and lost_its_lease(entry) for entry in exits)
    return f"it exited{' because it lost its lease' if lost else ''}, was started again, and did not come back" if exits else ""


def _findings(trial: Trial) -> Iterator[Finding]:
    for write in surplus_writes(trial):
        yield from _repeated(trial, write) if isinstance(write, SurplusCreate) else _undone(trial, write)


def _repeated(trial: Trial, create: SurplusCreate) -> Iterator[Finding]:
    asked, child = create.request.index, create.child
    alive = [other for other in own_children(trial, before=asked) if other.role == child.role]
    earlier = [other for other in alive if is_inherited(trial, other, at=asked)]
    unseen = [other for other in earlier if not frontier(trial).is_known(other.uid, before=asked)]
    behind = (other.creator for other in own_creates(trial).behind(child, before=asked))
    if _is_of_this_life(trial, behind, asked) or not create.explained_by(earlier):
        return
    if create.explained_by(unseen) or _stays(trial, child):
        because = f"restarted, the controller made {create.name} {create.nth}; {create.excess}"
        shown = "had not been shown" if unseen else "had been shown"
        though = f"though it {shown} the {len(unseen or earlier)} that it had created in an earlier life"
        yield Finding(because, inherited(trial, unseen or earlier, asked, child.created), though)


def _stays(trial: Trial, child: Incarnation) -> bool:
    """Whether it is there in the end, with more of its role than any reference ended with."""
    settled, role = trial.settled, child.role
    is_there = child.deleted is None and settled is not None
    return is_there and ends_with_more(trial, role, until=settled) and ends_with_more(trial, role)


def _undone(trial: Trial, delete: SurplusDelete) -> Iterator[Finding]:
    asked, child = delete.request.index, delete.child
    usual = max((own_deletes_in_all(reference)[child.role] for reference in trial.calm), default=0)
    behind = (other.deleter for other in own_deletes(trial).behind(child, before=asked))
    if _is_of_this_life(trial, behind, asked) or own_deletes_in_all(trial)[child.role] <= usual:
        return
    if is_inherited(trial, child, at=asked):
        because = f"restarted, the controller deleted {delete.name}: {delete.left}"
        though = "though an earlier life had created it, and no fault-free run took it back"
        yield Finding(because, inherited(trial, [child], asked, delete.deleted), though)


def _is_of_this_life(trial: Trial, behind: Iterable[Request | None], asked: int) -> bool:
    """Whether unseen writes of this very life, from an earlier decision, may be the reason."""
    return any(request is not None and trial.life(request.index) == trial.life(asked) for request in behind)


def _had_work(trial: Trial) -> bool:
    """Whether a life of which a primary was shown had work of an earlier one behind it."""
    work = [request.index for request, _ in creations(trial)]
    if is_bare(trial):
        work = [commit.by.index for commit in trial.commits if commit.by is not None]
    written = min(work, default=len(trial.entries))
    since = next((start for start in trial.starts[1:] if start > written), len(trial.entries))
    listed = (
        entry.items for _, entry in trial.every(Listed, since=since, until=trial.settled) if entry.resource in trial.primaries
    )
    delivered = (entry for _, entry in trial.every(Delivered, since=since, until=trial.settled) if entry.uid)
    return any(listed) or any(trial.resource_of(entry.stream) in trial.primaries for entry in delivered)


REQUIREMENT = Requirement(
    slug="survives-restart",
    must="The controller MUST come back from a restart at any point without repeating or undoing work.",
    level="core",
    source="KEP-5647; kubernetes/kubernetes#59848",
    faults=RESTARTS,
    remedy="derive everything from the API server after a start: list consistently, find own children by owner uid or by "
    "deterministic names, and keep nothing needed in memory only",
    check=check,
    outlives=frozenset({"restarts", "rewinds"}),
)
