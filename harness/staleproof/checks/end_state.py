"""The state that the references reached, and how another state differs from it.

Objects are grouped by role and flattened to path → value. What names one run (uids, namespace, generated names, times,
revisions) is replaced by a placeholder; what differs between the references is masked; counts that differ become ranges.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from staleproof.checks.population import Named, Role, controller_of, stem_of
from staleproof.core.entry import Committed
from staleproof.core.history import BOOKKEEPING, History
from staleproof.core.plan import Manifest

Flat = Mapping[str, object]

_MASKED = frozenset(
    f"metadata.{key}"
    for key in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink", "namespace")
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_NOBODYS = frozenset({("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")})


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the references have in common. `counts` are ranges; `contents` has each reference's objects, without `masks`."""

    counts: Mapping[Role, tuple[int, int]] = field(default_factory=dict)
    contents: Mapping[Role, Sequence[Flat]] = field(default_factory=dict)
    masks: Mapping[Role, frozenset[str]] = field(default_factory=dict)
    stable: Collection[Named] = ()

    def difference(self, objects: Iterable[tuple[str, Manifest]], namespace: str) -> str:
        """The first way in which a state (resource, object) is not like the references' end; empty when it is."""
        state = group(objects, namespace, self.stable)
        for role in sorted(self.counts.keys() | state.keys()):
            least, most = self.counts.get(role, (0, 0))
            found = len(state.get(role, ()))
            if not least <= found <= most:
                wanted = str(least) if least == most else f"{least} to {most}"
                return f"{found} {_title(role)}, fault-free runs ended with {wanted}"
        for role in sorted(state):
            difference = self._content(role, state[role])
            if difference:
                return f"{_title(role)}: {difference}"
        return ""

    def _content(self, role: Role, found: Sequence[Flat]) -> str:
        masks = self.masks.get(role, frozenset())
        wanted = [_unmasked(flat, masks) for flat in self.contents[role]]
        for flat in found:
            bare = _unmasked(flat, masks)
            if bare not in wanted:
                return _first_difference(bare, min(wanted, key=lambda w: len(set(w.items()) ^ set(bare.items())), default={}))
        return ""


def learn(references: Sequence[History], stable: Collection[Named]) -> Baseline:
    """What the ends of these fault-free histories have in common."""
    ends = [group(final_objects(reference), reference.header.namespace, stable) for reference in references]
    counts, contents, masks = {}, {}, {}
    for role in sorted({role for end in ends for role in end}):
        sizes = [len(end.get(role, ())) for end in ends]
        counts[role] = min(sizes), max(sizes)
        contents[role] = [flat for end in ends for flat in end.get(role, ())]
        masks[role] = _unstable([end.get(role, ()) for end in ends])
    return Baseline(counts, contents, masks, stable)


def final_objects(history: History) -> list[tuple[str, Manifest]]:
    """(resource, object) of everything in the trial's namespace at the end, by commit order."""
    last: dict[str, Committed] = {}
    for entry in history.entries:
        if isinstance(entry, Committed) and entry.namespace == history.header.namespace:
            if entry.uid not in last or entry.revision >= last[entry.uid].revision:
                last[entry.uid] = entry
    return [(entry.resource, entry.object) for entry in last.values() if entry.type != "DELETED"]


def group(objects: Iterable[tuple[str, Manifest]], namespace: str, stable: Collection[Named]) -> dict[Role, list[Flat]]:
    """Objects by role, flattened."""
    counted = [
        (resource, obj)
        for resource, obj in objects
        if resource not in BOOKKEEPING and (resource, obj["metadata"]["name"]) not in _NOBODYS
    ]
    labels = {obj["metadata"]["uid"]: f"{obj.get('kind', resource)}/{obj['metadata']['name']}" for resource, obj in counted}
    names = {(named.owner.partition("#")[0], named.resource, named.name) for named in stable}
    found: dict[Role, list[Flat]] = defaultdict(list)
    for resource, obj in counted:
        owner = controller_of(obj)
        label = labels.get(owner["uid"], f"{owner['kind']}/{owner['name']} (gone)") if owner else ""
        name = obj["metadata"]["name"]
        own = not owner or (label, resource, name) in names
        role = Role(label, resource, name if own else stem_of(obj))
        found[role].append(dict(_flatten(obj, "", {namespace: "<namespace>"} | ({} if own else {name: "<name>"}))))
    return found


def _flatten(value: Any, path: str, replaced: Mapping[str, str]) -> Iterator[tuple[str, object]]:  # noqa: ANN401  # JSON
    if path in _MASKED or path.endswith((".uid", ".resourceVersion")):
        return
    if path == "metadata.deletionTimestamp":
        yield path, "<terminating>"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _flatten(inner, f"{path}.{key}" if path else key, replaced)
    elif isinstance(value, list):
        yield f"{path}#", len(value)
        for number, inner in enumerate(value):
            yield from _flatten(inner, f"{path}[{number}]", replaced)
    elif isinstance(value, str):
        yield path, "<time>" if _TIME.fullmatch(value) else replaced.get(value, value)
    else:
        yield path, value


def _unstable(ends: Sequence[Sequence[Flat]]) -> frozenset[str]:
    """Paths whose values are not the same in every reference."""
    seen: dict[str, list[list[str]]] = {}
    paths = {path for end in ends for flat in end for path in flat}
    for path in paths:
        seen[path] = [sorted(repr(flat.get(path)) for flat in end) for end in ends]
    return frozenset(path for path, values in seen.items() if any(value != values[0] for value in values))


def _unmasked(flat: Flat, masks: frozenset[str]) -> dict[str, object]:
    return {path: value for path, value in flat.items() if path not in masks}


def _first_difference(found: Flat, wanted: Flat) -> str:
    for path in sorted(found.keys() | wanted.keys()):
        if found.get(path) != wanted.get(path):
            return f"{path} is {found.get(path)!r}, fault-free runs ended with {wanted.get(path)!r}"
    return ""


def _title(role: Role) -> str:
    return f"{role.resource} of {role.owner}" if role.owner else f"{role.resource} {role.stem}"
