"""How many replicas an owner's objects ask for together: how they are divided may differ, their sum is the owner's.

A Deployment asks for pods by several ReplicaSets, a sharded database by several StatefulSets. Each of these may be as in one
fault-free run or another, and the sum be as in none. Other numbers are not added up: a sum of ports or priorities means nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.wording import owner_name
from staleproof.core.grouping import grouped
from staleproof.core.history.flatten import Flat


class Total(NamedTuple):
    """A number of replicas in the specs of all objects of a resource that an object owns."""

    owner: str
    resource: str
    path: str


@dataclass(frozen=True, slots=True)
class Range:
    """What it came to in the references. `unstable`: not to the same in fault-free runs of the workload."""

    least: int
    most: int
    unstable: bool

    def has(self, value: int) -> bool:
        return self.least <= value <= self.most

    def __str__(self) -> str:
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


def totals(state: Mapping[Role, Sequence[Flat]]) -> Mapping[Total, int]:
    """Of an end, by role, the sums."""
    found: Counter[Total] = Counter()
    fields = ((role, field) for role, flats in state.items() if role.owner for flat in flats for field in flat.items())
    for role, (path, value) in fields:
        if path.startswith("spec.") and path.lower().endswith("replicas") and "[" not in path and isinstance(value, int):
            found[Total(role.owner, role.resource, path)] += value
    return found


def ranges(ends: Sequence[Mapping[Total, int]], plain: Sequence[Mapping[Total, int]], shaky: Set[Total]) -> Mapping[Total, Range]:
    """Of the sums that every reference has. Those are unstable on which the fault-free runs of the workload do not agree (`plain`),
    and those of which something in the run was (`shaky`)."""
    values = grouped(pair for end in ends for pair in end.items())
    every = {of: found for of, found in values.items() if len(found) == len(ends)}
    return {of: Range(min(n), max(n), of in shaky or len({end[of] for end in plain}) > 1) for of, n in every.items()}


def in_words(total: Total, value: int, usual: Range) -> str:
    """How it differs."""
    of = f"the {total.path} of all {total.resource.partition('.')[0]} of {owner_name(total.owner)}"
    return f"{of} add up to {value}, fault-free runs ended with {usual}"
