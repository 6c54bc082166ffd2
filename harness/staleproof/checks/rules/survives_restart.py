"""survives-restart: come back from a restart at any point without repeating or undoing work.

The memory of the life before is lost: expectations, names, what was already done. Any of these is a finding:

1. repeated: a create that makes more live children of a role than any reference had by then (`but_for`), which the live ones of
   an earlier life explain, and either this life had not been shown those, or what it created is still too much when the trial
   ends. An excess for a moment among children that it knew may be a roll-out in another order;
2. undone: a delete of what an earlier life had created, which no reference made by that step (`but_for`);
3. it did not come back: the end state is not the references', and nothing but restarts had been done to it (`Suspicion`). Not if
   it has written nothing since and had less time than it takes to be elected: what its former life held has to run out first.
   A controller that exited by itself, as one that loses its lease has to, is started again, and then the same holds.

A delete that the references made later proves nothing: what takes longer under a fault reaches the controller's own timers in an
earlier step.

What unseen writes of the same life explain has nothing to do with the restart: that is for `no-duplicate-create` and
`no-excess-delete`.
"""

from collections.abc import Iterator

from staleproof.checks.ends.exits import given_restarts, lost_its_lease
from staleproof.checks.facts.object_history import creations, is_bare
from staleproof.checks.requirement import RESTARTS, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said, Suspicion
from staleproof.core.history.entry import Delivered, Exited, Listed


def check(trial: Trial) -> Iterator[Said]:
    restarts = tuple(trial.starts[1:])
    if not restarts:
        yield NotExercised("the controller was not restarted")
        return
    untested = "" if _had_work(trial) else "it had done nothing before it was restarted, or was not shown a primary since"
    yield Suspicion(restarts, "after it was restarted", proof=_proof(trial), untested=untested)


def _proof(trial: Trial) -> str:
    """Who exits of its own accord relies on the restart: whatever made it exit is no other explanation."""
    exits = [trial.entries[index] for index in given_restarts(trial)]
    lost = any(isinstance(entry, Exited) and lost_its_lease(entry) for entry in exits)
    return f"it exited{' because it lost its lease' if lost else ''}, was started again, and did not come back" if exits else ""


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
    kind="deed",
    wrong="a create or delete too many, or another end than without faults",
    reasons=("earlier life",),
    verbs=("create", "delete"),
    effects=frozenset({"restarts", "rewinds"}),
    check=check,
    outlives=frozenset({"restarts", "rewinds"}),
)
