"""What the controller under test has written itself, in any of the runs that are compared: only there can it be wrong.

The rest of an end is somebody else's: what companions make of its objects (revisions of a Deployment, ReplicaSets, their pods,
claims), what users and competitors write, what the API server puts there later. It is left out by what the controller's own commits
changed, and not by names of kinds. A create writes every field of the object; a delete, and the removal of the last finalizer,
write that it is there no more. Fields are those of a resource, whichever object it was: what a controller wrote to one of them it
might have written to another.
"""

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from staleproof.checks.trial import Trial, fact
from staleproof.core.history.flatten import changed_fields, without_items


@dataclass(frozen=True, slots=True)
class Footprint:
    """`counted`: the resources of which the controller created or ended objects; `paths`: by resource, the fields that it wrote,
    without the numbers of items."""

    counted: Set[str] = frozenset()
    paths: Mapping[str, Set[str]] = field(default_factory=dict)

    def has(self, resource: str, path: str) -> bool:
        """Whether it wrote this field of any such object."""
        return without_items(path) in self.paths.get(resource, ())

    def __or__(self, other: "Footprint") -> "Footprint":
        paths = {each: {*self.paths.get(each, ()), *other.paths.get(each, ())} for each in self.paths.keys() | other.paths.keys()}
        return Footprint(self.counted | other.counted, paths)


@fact
def own_footprint(trial: Trial) -> Footprint:
    """Of this run alone."""
    counted, paths = set[str](), defaultdict[str, set[str]](set)
    for commit in trial.commits:
        if commit.by is not None:
            resource = commit.entry.resource
            counted |= {resource} if commit.before is None or commit.deletes else set()
            paths[resource] |= changed_fields(commit.before or {}, commit.entry.object, trial.namespace)
    return Footprint(frozenset(counted), paths)


@fact
def footprint(trial: Trial) -> Footprint:
    """Of a trial and its references together."""
    found = own_footprint(trial)
    for reference in trial.references:
        found |= own_footprint(reference)
    return found
