"""What a status says by type, and whether it says so at the end of a trial: conditions, a phase, whether it is ready.

Other runs show it only where there is the same to report on: where all but what the controller itself reports is as a
fault-free run left it (`Besides`). Of a condition its status counts, of a type that every fault-free run ends with; its reason, its
message and its time are about the way. Conditions that were only ever appended to, or that hold a type twice, are a history of what
happened: no two runs have the same.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from staleproof.checks.but_for import in_references
from staleproof.checks.ends.footprint import Footprint, footprint, is_status
from staleproof.checks.ends.hull import Difference, baseline
from staleproof.checks.ends.states import final_objects
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.flatten import MISSING

_PHASES = frozenset({"phase", "state"})
_READY = frozenset({"ready", "available", "healthy", "synced", "reconciled"})


@dataclass(frozen=True, slots=True)
class Besides:
    """All but what the controller itself reports."""

    own: Footprint

    def counts(self, role: Role) -> bool:
        return True

    def has(self, resource: str, path: str) -> bool:
        return not (is_status(path) and self.own.has(resource, path))


@dataclass(frozen=True, slots=True)
class Types:
    """What the controller itself says by type, in every fault-free run: by resource, the fields."""

    fields: Mapping[str, Set[str]]

    def counts(self, role: Role) -> bool:
        return False

    def has(self, resource: str, path: str) -> bool:
        return path in self.fields.get(resource, ())


@fact
def types(trial: Trial) -> Types:
    """Those that every reference ended with, and that are no history."""
    own, fields = footprint(trial), defaultdict[str, set[str]](set)
    for role, values in baseline(trial).values.items():
        every = {path: found for path, found in values.items() if _is_by_type(path) and own.has(role.resource, path)}
        paths = {path for path, found in every.items() if all(isinstance(each, str | bool) for each in found.values())}
        paths = {path for path in paths if repr(MISSING) not in values[path]}
        fields[role.resource] |= {path for path in paths if role.resource not in histories(trial) or not _is_condition(path)}
    return Types({resource: found for resource, found in fields.items() if found})


def misreports(trial: Trial, until: int) -> Sequence[Difference]:
    """What is said by type before a position and was said by no fault-free run, although everything else is as in these. Empty,
    too, where something else is not (`otherwise`)."""
    if not types(trial).fields or otherwise(trial, until):
        return ()
    state = final_objects(trial, until=until)
    return [each for each in baseline(trial).differences(state, trial.namespace, types(trial)) if not each.unstable]


def otherwise(trial: Trial, until: int) -> str:
    """What is not as fault-free runs left it, beside what the controller reports, in words; empty when all is."""
    state = final_objects(trial, until=until)
    found = baseline(trial).differences(state, trial.namespace, Besides(footprint(trial)))
    return next((each.text for each in found), "")


@fact
def histories(trial: Trial) -> frozenset[str]:
    """The resources whose conditions are a history, in this trial or in any of its references."""
    runs = [_conditions(trial), *in_references(trial, _conditions)]
    resources = {resource for run in runs for resource in run}
    every = {resource: [states for run in runs for states in run.get(resource, ())] for resource in resources}
    return frozenset(resource for resource, objects in every.items() if is_history(objects))


def is_history(objects: Sequence[Sequence[Sequence[Mapping[str, object]]]]) -> bool:
    """Whether lists of conditions say what happened one after the other. Of each object there is what it had, in order."""
    pairs = [pair for states in objects for pair in pairwise(states)]
    twice = any(len({each.get("type") for each in state}) < len(state) for states in objects for state in states)
    grew = any(before and len(after) > len(before) for before, after in pairs)
    return twice or (grew and all(each in after for before, after in pairs for each in before))


@fact
def _conditions(trial: Trial) -> Mapping[str, Sequence[Sequence[Sequence[Mapping[str, object]]]]]:
    """By resource, of each object the lists of conditions that it had one after the other."""
    found: dict[str, list[Sequence[Sequence[Mapping[str, object]]]]] = defaultdict(list)
    for each in object_history(trial).objects.values():
        statuses = [commit.entry.object.get("status") for commit in each.commits]
        lists = [status.get("conditions") for status in statuses if isinstance(status, dict)]
        found[each.resource].append(
            [[one for one in conditions if isinstance(one, dict)] for conditions in lists if isinstance(conditions, list)]
        )
    return found


def _is_condition(path: str) -> bool:
    return path.startswith("status.conditions[")


def _is_by_type(path: str) -> bool:
    leaf = path.rpartition(".")[2]
    if _is_condition(path):
        return leaf == "status" and path.count("[") == 1
    return is_status(path) and "[" not in path and (leaf in _PHASES or leaf.lower() in _READY)
