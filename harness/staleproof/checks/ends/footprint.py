"""What the controller under test has written itself, in any of the runs that are compared: only there can it be wrong.

The rest of an end is somebody else's: what companions make of its objects (revisions of a Deployment, ReplicaSets, their pods,
claims), what users and competitors write, what the API server puts there later. It is left out by what the controller's own commits
changed, and not by names of kinds. A create writes every field of the object; a delete writes that it is there no more, and who
sets or removes finalizers says how long it is there. Fields are those of a resource, whichever object it was: what a controller
wrote to one of them it might have written to another.
"""

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from staleproof.checks.but_for import in_references
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.flatten import changed_fields, without_items
from staleproof.core.history.provenance import Commit

_FINALIZERS = ("metadata.finalizers", "metadata.finalizers#", "metadata.finalizers[]")


@dataclass(frozen=True, slots=True)
class Footprint:
    """What was written.

    Attributes:
        counted: the resources of which the controller created or deleted objects, or set finalizers.
        paths: by resource, the fields that it wrote, without the numbers of items.
    """

    counted: Set[str] = frozenset()
    paths: Mapping[str, Set[str]] = field(default_factory=dict)

    def has(self, resource: str, path: str) -> bool:
        """Whether it wrote this field of any such object."""
        return without_items(path) in self.paths.get(resource, ())

    def __or__(self, other: "Footprint") -> "Footprint":
        paths = {each: {*self.paths.get(each, ()), *other.paths.get(each, ())} for each in self.paths.keys() | other.paths.keys()}
        return Footprint(self.counted | other.counted, paths)


def _begins_or_ends(commit: Commit) -> bool:
    """Whether the object is there from then on, or gone, or asked to go."""
    was_leaving = commit.before is not None and "deletionTimestamp" in commit.before["metadata"]
    return commit.before is None or commit.entry.type == "DELETED" or (commit.deletes and not was_leaving)


@fact
def own_footprint(trial: Trial) -> Footprint:
    """Of this run alone."""
    counted, paths = set[str](), defaultdict[str, set[str]](set)
    for commit in trial.commits:
        if commit.by is not None:
            resource, changed = commit.entry.resource, changed_fields(commit.before or {}, commit.entry.object, trial.namespace)
            counted |= {resource} if _begins_or_ends(commit) or not changed.isdisjoint(_FINALIZERS) else set()
            paths[resource] |= changed
    return Footprint(frozenset(counted), paths)


@fact
def footprint(trial: Trial) -> Footprint:
    """Of a trial and its references together."""
    return reduce(or_, in_references(trial, own_footprint), own_footprint(trial))
