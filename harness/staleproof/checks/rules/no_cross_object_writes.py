"""no-cross-object-writes: touch only objects that it owns or is asked to manage.

A finding needs a write that was carried out, after a fault had fired, on an object that is none of these:

1. of the workload, or owned by it at whatever depth, before or after the write (adopting and releasing is managing); owners that
   are gone by then are owners;
2. one that a competing write of a fault had made;
3. mentioned by name in an object of the workload, or in one that it owns: then the controller was asked to manage it;
4. like one that a reference wrote to: of the same resource, and owned by nobody of the workload either.

It is provisional: what a controller may touch is known from two runs only, and it may have good reasons that show under a fault.
"""

from collections.abc import Iterator

from staleproof.checks.but_for import unheard_of
from staleproof.checks.deeds.foreign_writes import foreign_writes
from staleproof.checks.facts.object_history import Incarnation
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name
from staleproof.checks.requirement import LATE, RESTARTS, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.history.entry import FaultFired
from staleproof.core.history.history import Request


def check(trial: Trial) -> Iterator[Said]:
    fired = trial.first(FaultFired)
    if trial.idle:
        yield NotExercised(trial.idle)
        return
    if fired is None:
        yield NotExercised("no fault touched the controller, so it had no reason to do anything unusual")
        return
    told: set[str] = set()
    for request, each in unheard_of(trial, foreign_writes, lambda write: write[1].resource):
        if request.index > fired and each.uid not in told:
            told.add(each.uid)
            yield _finding(trial, request, each)


def _finding(trial: Trial, request: Request, each: Incarnation) -> Finding:
    is_made = each.first.heard is not None and each.first.heard.index == request.index
    verb = "deleted" if request.asked.verb.startswith("delete") else "created" if is_made else "wrote to"
    name = full_name(each.first.entry)
    because = f"the controller {verb} {name}, which the workload neither owns nor mentions; no fault-free run did"
    later = (commit.index for commit in each.commits if commit.index > request.index and not is_made)
    return Finding(because, context(trial, [], request.index, next(later, request.index)), "which is not its own")


REQUIREMENT = Requirement(
    slug="no-cross-object-writes",
    must="The controller MUST touch only objects that it owns or is asked to manage.",
    level="provisional",
    source="Kubernetes documentation, Owners and Dependents; Controllers",
    faults=(*LATE, *RESTARTS),
    remedy="check the controller owner reference, by uid, before every write to a child",
    kind="deed",
    wrong="a write to what is neither owned nor mentioned",
    check=check,
)
