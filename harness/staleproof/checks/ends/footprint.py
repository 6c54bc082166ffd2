"""What the controller under test has written itself, in any of the runs that are compared: only there can it be wrong.

The rest of an end is another user's: what companions make of its objects (revisions of a Deployment, ReplicaSets, their pods,
claims), what users and competitors write, what the API server puts there later. It is left out by what the controller's own commits
changed, and not by names of kinds. A create writes every field of the object; a delete writes that it is there no more, and a
controller that sets or removes finalizers says how long it is there. Fields are those of a resource, whichever object it was: what
a controller wrote to one of them it might have written to another. How many objects there are is its own matter for each kind of
owner: a controller that makes pods for a Widget has no hand in the pods of a ReplicaSet.

A status is a report and no state (`state`): what it says is held against the objects that it is about (`ends.counts`,
`ends.conditions`).
"""

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import NamedTuple

from staleproof.checks.but_for import in_references
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.flatten import changed_fields, without_items
from staleproof.core.history.provenance import Commit
from staleproof.core.operator.ownership import owner_of

_FINALIZERS = ("metadata.finalizers", "metadata.finalizers#", "metadata.finalizers[]")


class Counted(NamedTuple):
    """Objects of a resource that an object of this kind owns; empty: objects without an owner."""

    resource: str
    owner_kind: str


@dataclass(frozen=True, slots=True)
class Footprint:
    """What was written.

    Attributes:
        counted: of what the controller created or deleted objects, or set finalizers or the owner.
        paths: by resource, the fields that it wrote, without the numbers of items.
    """

    counted: Set[Counted] = frozenset()
    paths: Mapping[str, Set[str]] = field(default_factory=dict)

    def counts(self, role: Role) -> bool:
        """Whether it has a hand in how many objects of the role there are."""
        return Counted(role.resource, role.owner.partition("/")[0].partition(" ")[0]) in self.counted

    def has(self, resource: str, path: str) -> bool:
        """Whether it wrote this field of any such object."""
        return without_items(path) in self.paths.get(resource, ())

    def __or__(self, other: "Footprint") -> "Footprint":
        paths = {each: {*self.paths.get(each, ()), *other.paths.get(each, ())} for each in self.paths.keys() | other.paths.keys()}
        return Footprint(self.counted | other.counted, paths)

    @property
    def state(self) -> "Footprint":
        """Without what it only reports."""
        paths = {of: {path for path in written if not is_status(path)} for of, written in self.paths.items()}
        return Footprint(self.counted, {of: written for of, written in paths.items() if written})


def is_status(path: str) -> bool:
    """Whether a field is part of a status."""
    return path == "status" or path.startswith(("status.", "status["))


def _begins_or_ends(commit: Commit) -> bool:
    """Whether the object is there from then on, or gone, or asked to go."""
    was_leaving = commit.before is not None and "deletionTimestamp" in commit.before["metadata"]
    return commit.before is None or commit.entry.type == "DELETED" or (commit.deletes and not was_leaving)


@fact
def own_footprint(trial: Trial) -> Footprint:
    """Of this run alone."""
    counted, paths = set[Counted](), defaultdict[str, set[str]](set)
    for commit in trial.commits:
        if commit.by is not None:
            resource, changed = commit.entry.resource, changed_fields(commit.before or {}, commit.entry.object, trial.namespace)
            owners = [owner_of(each) or {} for each in (commit.before, commit.entry.object) if each is not None]
            kinds = {str(owner.get("kind", "")) for owner in owners}
            is_counted = _begins_or_ends(commit) or not changed.isdisjoint(_FINALIZERS) or len(kinds) > 1
            counted |= {Counted(resource, kind) for kind in kinds} if is_counted else set()
            paths[resource] |= changed
    return Footprint(frozenset(counted), paths)


@fact
def footprint(trial: Trial) -> Footprint:
    """Of a trial and its references."""
    return reduce(or_, in_references(trial, own_footprint), own_footprint(trial))
