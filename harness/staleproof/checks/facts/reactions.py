"""What the controller did about what users wanted: about each new primary and each change of one, and where it did it first."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from staleproof.checks.facts.belongings import head_of
from staleproof.checks.facts.external_calls import external_calls
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Delivered, Listed
from staleproof.core.history.history import Position
from staleproof.core.history.provenance import Commit, uid_of


@dataclass(frozen=True, slots=True)
class Reaction:
    """To a primary that was made, or of which the user wanted something else.

    Attributes:
        commit, of: what the user did, and to what.
        shown: where that was shown to the controller.
        first: where it then first asked for a write about the primary or what belongs to it, or called something outside about it.
        child: where it first asked for a write, which was done, to something that belongs to the primary.

    None of them comes behind the user's next change of that primary; they are None if they did not come.
    """

    commit: Commit
    of: Incarnation
    shown: Position
    first: Position | None
    child: Position | None


@fact
def reactions(trial: Trial) -> Sequence[Reaction]:
    """In the order of the changes. What was not shown is left out."""
    made = object_history(trial)
    found = []
    for of in made.objects.values():
        if f"{of.resource}/{of.name}" in trial.applied:
            changes = [commit for commit in of.commits if commit.by is None and _asks(commit)]
            ends = [commit.index for commit in of.commits if commit.by is None and (_asks(commit) or commit.deletes)]
            for commit in changes:
                shown = _shown(trial, of, commit)
                until = next((index for index in ends if index > commit.index), len(trial.entries))
                if shown is not None and shown < until:
                    found.append(Reaction(commit, of, shown, *_done(trial, of, shown, until)))
    return sorted(found, key=lambda each: each.commit.index)


def _asks(commit: Commit) -> bool:
    """Whether it makes the object, or asks for something else than before."""
    before = commit.before
    return not commit.deletes and (before is None or before.get("spec") != commit.entry.object.get("spec"))


def _shown(trial: Trial, of: Incarnation, commit: Commit) -> Position | None:
    """Where an event or a list first showed that state, or a newer one."""
    revision = commit.entry.revision
    events = (
        index
        for index, entry in trial.every(Delivered, since=commit.index)
        if entry.uid == of.uid and (entry.revision or 0) >= revision
    )
    lists = (
        index
        for index, entry in trial.every(Listed, since=commit.index)
        if any(item.uid == of.uid and (item.revision or 0) >= revision for item in entry.items)
    )
    return min([*itertools.islice(events, 1), *itertools.islice(lists, 1)], default=None)


def _done(trial: Trial, of: Incarnation, since: int, until: int) -> tuple[Position | None, Position | None]:
    """What it first did about the primary between two positions, and to what belongs to it."""
    own = [request for request in trial.work if since < request.index < until]
    named = (of.resource, of.name)
    about = [
        request
        for request in own
        if (request.asked.resource, request.asked.name) == named or (uid_of(request) and head_of(trial, uid_of(request)) == of.uid)
    ]
    calls = [call.index for call in external_calls(trial) if since < call.index < until and call.of == named]
    children = [
        request.index
        for request in own
        if request.succeeded and uid_of(request) not in ("", of.uid) and head_of(trial, uid_of(request)) == of.uid
    ]
    first = sorted([*(request.index for request in about), *calls])
    return next(iter(first), None), next(iter(children), None)
