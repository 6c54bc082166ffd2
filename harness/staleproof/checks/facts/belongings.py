"""What belongs to the workload, and which of the controller's writes went to something else.

An object belongs to the workload that the workload applies, or that is owned by one that does, at whatever depth and at any time;
owners that are gone are owners. What any of them mentions by name outside of its status, the controller was asked to manage.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.trial import Trial, fact
from staleproof.core.entry import Competed
from staleproof.core.history import Request
from staleproof.core.plan import Manifest
from staleproof.core.provenance import written


@fact
def foreign_writes(trial: Trial) -> Sequence[tuple[Request, Incarnation]]:
    """Those that succeeded, with what was written: neither the workload's nor mentioned there, nor made by a competing write."""
    made, ours = object_history(trial).objects, _ours(trial)
    excused = ours | {entry.uid for _, entry in trial.every(Competed)}
    wrote = [(request, made.get(uid)) for request in trial.work if request.succeeded for uid, _ in written(request)]
    foreign = [(request, each) for request, each in wrote if each is not None and each.uid not in excused]
    mentioned = {word for uid in ours for word in _mentions(made[uid])} if foreign else ()
    return [(request, each) for request, each in foreign if each.name not in mentioned]


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
