"""no-cross-object-writes: touch only objects that it owns or is asked to manage.

A finding needs a write that was carried out, after a fault had fired, on an object that is none of these:

1. of the workload, or owned by it at whatever depth, before or after the write (adopting and releasing is managing); owners that
   are gone by then are owners;
2. one that a competing write of a fault had made;
3. mentioned by name in an object of the workload, or in one that it owns: then the controller was asked to manage it;
4. like one that a reference wrote to: of the same resource, and owned by nobody of the workload either.

It is provisional: what a controller may touch is known from two runs only, and it may have good reasons that show under a fault.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.requirement import LATE, RESTARTS, Requirement
from staleproof.checks.story.phrases import full_name
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import Trial, written
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.entry import Competed, FaultFired
from staleproof.core.history import Request
from staleproof.core.plan import Manifest


def check(trial: Trial) -> Iterator[Said]:
    fired = trial.first(FaultFired)
    if trial.idle:
        yield NotExercised(trial.idle)
        return
    if fired is None:
        yield NotExercised("no fault touched the controller, so it had no reason to do anything unusual")
        return
    usual = {each.resource for reference in trial.references for _, each in _strange_writes(reference)}
    found: dict[str, Request] = {}
    for request, each in _strange_writes(trial):
        if request.index > fired and each.resource not in usual and each.uid not in found:
            found[each.uid] = request
            yield _finding(trial, request, each)


def _finding(trial: Trial, request: Request, each: Incarnation) -> Finding:
    is_made = each.first.heard is not None and each.first.heard.index == request.index
    verb = "deleted" if request.asked.verb.startswith("delete") else "created" if is_made else "wrote to"
    name = full_name(each.first.entry)
    because = f"the controller {verb} {name}, which the workload neither owns nor mentions; no fault-free run did"
    later = (commit.index for commit in each.commits if commit.index > request.index and not is_made)
    return Finding(because, context(trial, [], request.index, next(later, request.index)), "which is not its own")


def _strange_writes(trial: Trial) -> list[tuple[Request, Incarnation]]:
    """What the controller wrote to that is neither the workload's nor mentioned there, nor made by a competing write."""
    made, ours = object_history(trial).objects, _ours(trial)
    excused = ours | {entry.uid for _, entry in trial.every(Competed)}
    wrote = [(request, made.get(uid)) for request in trial.work if request.succeeded for uid, _ in written(request)]
    strange = [(request, each) for request, each in wrote if each is not None and each.uid not in excused]
    mentioned = {word for uid in ours for word in _mentions(made[uid])} if strange else ()
    return [(request, each) for request, each in strange if each.name not in mentioned]


def _ours(trial: Trial) -> set[str]:
    """uids of the workload and of what it owned at any time."""
    made = object_history(trial).objects
    owners = {uid: set(_owners(each)) for uid, each in made.items()}
    ours = {uid for uid, each in made.items() if f"{each.resource}/{each.name}" in trial.history.header.primaries}
    while more := {uid for uid in owners.keys() - ours if owners[uid] & ours}:
        ours |= more
    return ours


def _owners(each: Incarnation) -> Iterator[str]:
    """The uids of all that ever owned it, controllers or not."""
    for commit in each.commits:
        for reference in commit.entry.object["metadata"].get("ownerReferences") or ():
            yield str(reference.get("uid"))


def _mentions(each: Incarnation) -> Iterator[str]:
    """Every word in it but those of its status."""
    for commit in each.commits:
        yield from _words({key: value for key, value in commit.entry.object.items() if key != "status"})


def _words(value: Manifest | Any) -> Iterator[str]:  # noqa: ANN401  # JSON
    """All strings in it, and those that their paths and lists are made of."""
    match value:
        case Mapping():
            for key, inner in value.items():
                yield str(key)
                yield from _words(inner)
        case list():
            for inner in value:
                yield from _words(inner)
        case str():
            yield value
            yield from value.replace("/", " ").replace(",", " ").split()


REQUIREMENT = Requirement(
    slug="no-cross-object-writes",
    must="The controller MUST touch only objects that it owns or is asked to manage.",
    level="provisional",
    source="Kubernetes documentation, Owners and Dependents; Controllers",
    faults=(*LATE, *RESTARTS),
    remedy="check the controller owner reference, by uid, before every write to a child",
    check=check,
)
