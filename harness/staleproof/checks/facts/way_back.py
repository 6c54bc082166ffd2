"""What is left where the workload asks in the end for what it asked for at first, and for something else in between."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.revisions import without_past_revisions
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.flatten import flatten
from staleproof.core.history.provenance import is_bookkeeping
from staleproof.core.plan.but_for import present
from staleproof.core.plan.step import Delete, in_parts

_KEPT = frozenset({"persistentvolumeclaims", "persistentvolumes"})
"""What is kept on purpose: data."""


class Left(NamedTuple):
    """A resource of which there are other objects than when the same was asked for at first.

    Attributes:
        before, after: how many the controller had made that were there then, and are there in the end.
        objects: those that came, or went.
    """

    resource: str
    before: int
    after: int
    objects: tuple[Incarnation, ...]


@fact
def way_back(trial: Trial) -> int | None:
    """The end of the first step after which the workload asked for what it asks for in the end, if it asked for something else in
    between and the controller had come to rest; None if it did not, or made something anew."""
    steps = trial.plan.steps
    if any(isinstance(part, Delete) for part in in_parts(steps)):
        return None
    wanted = [present(steps[:number]) for number in range(1, len(steps) + 1)]
    first = next((number for number, each in enumerate(wanted, 1) if each == wanted[-1]), 0)
    run = next((run for run in trial.steps if run.number == first and run.idle), None)
    return run.ended if run is not None and any(each != wanted[-1] for each in wanted[first:]) else None


def left_behind(trial: Trial, since: int, until: int) -> list[Left]:
    """What the controller made and is there at one of these positions only, by resource, where the number differs. What keeps data
    or shows earlier states does not count, nor what is a record of each change (`_are_records`)."""
    before, after = _there(trial, since), _there(trial, until)
    counts = [Counter(each.resource for each in there) for there in (before, after)]
    differ = sorted(each for each in counts[0] | counts[1] if counts[0][each] != counts[1][each])
    differ = [each for each in differ if not _are_records(trial, [one for one in after if one.resource == each])]
    differing = {each.uid for each in before} ^ {each.uid for each in after}
    return [
        Left(resource, counts[0][resource], counts[1][resource], _of(resource, differing, (*before, *after))) for resource in differ
    ]


def _of(resource: str, uids: Collection[str], objects: Collection[Incarnation]) -> tuple[Incarnation, ...]:
    found = {each.uid: each for each in objects if each.resource == resource and each.uid in uids}
    return tuple(found.values())


def _are_records(trial: Trial, objects: Sequence[Incarnation]) -> bool:
    """Whether they are numbered one by one as they were made, one for an owner in each step that changed what is wanted.

    So are the CertificateRequests of cert-manager, and the Revisions of Knative. The last of these steps brings one, too: what the
    way back makes no other of is no record of the way.
    """
    wanted = [present(trial.plan.steps[:number]) for number in range(len(trial.plan.steps) + 1)]
    changes = [number for number in range(1, len(wanted)) if wanted[number] != wanted[number - 1]]
    by_owner = grouped((each.owner_uid, each) for each in objects)
    return bool(by_owner) and all(_are_numbered(trial, each, changes) for each in by_owner.values())


def _are_numbered(trial: Trial, objects: Sequence[Incarnation], changes: Sequence[int]) -> bool:
    ordered = sorted(objects, key=lambda each: each.create_revision)
    made = [max((step.number for step in trial.steps if step.began < each.created), default=0) for each in ordered]
    flats = [dict(flatten(each.last.entry.object, {}, trial.namespace)) for each in ordered]
    upwards = [str(number) for number in range(1, len(ordered) + 1)]
    is_numbered = any([str(flat.get(path)) for flat in flats] == upwards for path in flats[0])
    return len(ordered) > 1 and made == list(changes) and is_numbered


def _there(trial: Trial, before: int) -> list[Incarnation]:
    """What the controller made and is live at this position."""
    made = (each for each in object_history(trial).objects.values() if each.creator is not None and each.is_live(before=before))
    objects = [each for each in made if each.resource not in _KEPT and not is_bookkeeping(each.resource, each.last.entry.object)]
    shown = {each.uid: next(commit for commit in reversed(each.commits) if commit.index < before) for each in objects}
    now = [(each.resource, shown[each.uid].entry.object) for each in objects]
    current = {obj["metadata"]["uid"] for _, obj in without_past_revisions(now)}
    return [each for each in objects if each.uid in current]
