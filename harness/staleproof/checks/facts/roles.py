"""Which objects of different runs stand for the same thing: roles, learnt from the names that the references used.

A name that every reference used is a role of its own. Other names are grouped by what does not change in them: generateName (unless
that has a generated part itself), or the longest beginning, cut at a dash, that names in every reference have. An owner that has an
owner itself is not called by its name, which may be generated too: its children belong to "ReplicaSet of Deployment/sample".
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from staleproof.core.operator.ownership import owner_of
from staleproof.core.plan.manifest import Manifest


class Role(NamedTuple):
    """`owner` is like `Widget/sample`, with `#2` for a second incarnation; empty for an object without an owner (`owner_of`)."""

    owner: str
    resource: str
    stem: str


def of_any_incarnation(role: Role) -> Role:
    """The role without the number of its owner's incarnation: of those that are there in the end, there is one."""
    return role._replace(owner=without_incarnation(role.owner))


def without_incarnation(owner: str) -> str:
    return owner.partition("#")[0]


class Named(NamedTuple):
    """An object by its exact name, as it may be stable across references."""

    owner: str
    resource: str
    name: str


@dataclass(frozen=True, slots=True)
class Names:
    """What the references' names have in common. Empty: nothing is known, names are cut at their last dash."""

    stable: frozenset[Named] = frozenset()
    stems: frozenset[Role] = frozenset()

    def role(self, named: Named, manifest: Manifest) -> Role:
        if named in self.stable:
            return Role(*named)
        generated: str = manifest["metadata"].get("generateName") or ""
        guess = Role(named.owner, named.resource, generated or stem_of(named.name))
        if generated and guess in self.stems:
            return guess
        return next((role for role in _beginnings(named) if role in self.stems), guess)


def learn_names(references: Sequence[Iterable[Named]]) -> Names:
    """What these runs' names have in common. One run alone does not show which of its names are generated."""
    used = [set(names) for names in references]
    if len(used) < 2:
        return Names()
    stable = frozenset(set.intersection(*used))
    stems = [{role for named in names - stable for role in _beginnings(named)} for names in used]
    return Names(stable, frozenset(set.intersection(*stems)))


def stem_of(name: str) -> str:
    """A name without its last segment, which was perhaps generated."""
    head, dash, _ = name.rpartition("-")
    return head + dash or name


def owner_labels(objects: Iterable[Manifest]) -> dict[str, str]:
    """uid → what to call an object as an owner. Later incarnations of a name are numbered."""
    by_uid = {obj["metadata"].get("uid", ""): obj for obj in objects}
    seen: dict[tuple[str, str], int] = defaultdict(int)
    labels: dict[str, str] = {}

    def label(uid: str) -> str:
        if uid in labels:
            return labels[uid]
        obj = by_uid[uid]
        kind, name = obj.get("kind", "object"), obj["metadata"]["name"]
        labels[uid] = f"{kind}/{name}"  # also ends a circle of owners
        owner = owner_of(obj)
        if owner is not None:
            labels[uid] = f"{kind} of {label(owner['uid']) if owner['uid'] in by_uid else _not_there(owner)}"
        else:
            seen[kind, name] += 1
            labels[uid] += f"#{seen[kind, name]}" if seen[kind, name] > 1 else ""
        return labels[uid]

    for uid in by_uid:
        label(uid)
    return labels


def named(manifest: Manifest, resource: str, name: str, labels: Mapping[str, str]) -> Named:
    """What an object is called, by what its owners are called (`owner_labels`)."""
    owner = owner_of(manifest)
    return Named((labels.get(owner["uid"]) or _not_there(owner)) if owner else "", resource, name)


def _not_there(owner: Mapping[str, str]) -> str:
    """What to call an owner that is not there, be it gone or a prerequisite that all trials share: not by its name, which may have
    been generated."""
    return f"{owner['kind']} that is not in the trial"


def _beginnings(named: Named) -> Iterator[Role]:
    """The longest first; the empty one stands for all names of this owner and resource."""
    name = named.name
    while name:
        name = name[: name[:-1].rfind("-") + 1]
        yield Role(named.owner, named.resource, name)
