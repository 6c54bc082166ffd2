"""Writes of the controller to what is neither the workload's nor mentioned there.

What any object of the workload, or any that it owns, mentions by name outside of its status, the controller was asked to manage.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from staleproof.checks.facts.belongings import uids_of_workload
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Competed
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import written
from staleproof.core.plan.manifest import Manifest


@fact
def foreign_writes(trial: Trial) -> Sequence[tuple[Request, Incarnation]]:
    """Those that committed something, with what was written: neither the workload's nor mentioned there, nor made by a competing
    write. A controller may apply what is there already when it starts, and no fault-free run starts it anew. A status is a report:
    a controller of several kinds makes it anew of whatever is there."""
    made, ours = object_history(trial).objects, uids_of_workload(trial)
    excused = ours | {entry.uid for _, entry in trial.every(Competed)}
    committed = {commit.heard.index for commit in trial.commits if commit.heard is not None}
    acts = (request for request in trial.work if request.succeeded and request.asked.subresource != "status")
    effective = (request for request in acts if request.index in committed)
    wrote = [(request, made.get(uid)) for request in effective for uid, _ in written(request)]
    foreign = [(request, each) for request, each in wrote if each is not None and each.uid not in excused]
    said = [commit.entry.object for uid in ours for commit in made[uid].commits] if foreign else []
    mentioned = {word for obj in said for key, value in obj.items() if key != "status" for word in _words({key: value})}
    return [(request, each) for request, each in foreign if each.name not in mentioned]


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
