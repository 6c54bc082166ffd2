"""The state that the references reached, and how another state differs from it.

Objects are grouped by role and compared field by field (`flat`): a value is right when any reference ended with it. Fields that
differ between the references are masked; counts that differ become ranges. Outside such a range, and for a number in the status that
the references did not agree on, a difference is unstable: it proves nothing.

Divergence from Kubernetes: an object that is being deleted and has no finalizer counts as gone, because what is left to do (the
grace period of a pod) is not the controller's.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from staleproof.checks.flat import Flat, flatten
from staleproof.checks.names import Named, Names, Role, controller_of, gone, owner_labels
from staleproof.checks.population import is_bookkeeping
from staleproof.checks.words import owner_name
from staleproof.core.entry import Committed
from staleproof.core.history import History
from staleproof.core.plan import Manifest

_NOBODYS = frozenset({("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")})
_MISSING = "<not set>"


@dataclass(frozen=True, slots=True)
class Difference:
    """What is not as the references ended, in words. `unstable`: they did not agree on it themselves."""

    text: str
    unstable: bool = False


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the references have in common. `counts` and, per path, `values` are all that any of them ended with."""

    counts: Mapping[Role, Sequence[int]] = field(default_factory=dict)
    values: Mapping[Role, Mapping[str, Sequence[object]]] = field(default_factory=dict)
    masks: Mapping[Role, frozenset[str]] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    def difference(self, objects: Iterable[tuple[str, Manifest]], namespace: str) -> str:
        """The first way in which a state (resource, object) is not like the references' end; empty when it is."""
        return next((difference.text for difference in self.differences(objects, namespace)), "")

    def differences(self, objects: Iterable[tuple[str, Manifest]], namespace: str) -> Iterator[Difference]:
        """Every role whose count, or first field whose value, is not like the references' end."""
        state = group(objects, namespace, self.names)
        for role in sorted(self.counts.keys() | state.keys()):
            counts = self.counts.get(role, (0,))
            found = len(state.get(role, ()))
            if not min(counts) <= found <= max(counts):
                yield Difference(_miscounted(role, found, counts), min(counts) != max(counts))
        for role in sorted(state):
            yield from (d for flat in state[role] for d in self._fields(role, flat))

    def _fields(self, role: Role, found: Flat) -> Iterator[Difference]:
        """The first field that no reference ended with."""
        values, masks = self.values.get(role, {}), self.masks.get(role, frozenset())
        for path in sorted(found.keys() | values.keys()) if values else ():
            value, wanted = found.get(path, _MISSING), values.get(path, (_MISSING,))
            if any(_same(value, right) for right in wanted):
                continue
            if path in masks and not _is_measure(path, value, wanted):
                continue
            shown = " or ".join(dict.fromkeys(_show(right) for right in wanted[:3]))
            yield Difference(f"{_title(role)}: {path} is {_show(value)}, fault-free runs ended with {shown}", path in masks)
            return


def learn(references: Sequence[History], names: Names) -> Baseline:
    """What the ends of these fault-free histories have in common."""
    ends = [group(final_objects(reference), reference.header.namespace, names) for reference in references]
    counts, values, masks = {}, {}, {}
    for role in sorted({role for end in ends for role in end}):
        flats = [end.get(role, ()) for end in ends]
        paths = {path for found in flats for flat in found for path in flat}
        by_end = {path: [[flat.get(path, _MISSING) for flat in found] for found in flats] for path in paths}
        counts[role] = [len(found) for found in flats]
        values[role] = {path: _distinct(value for found in lists for value in found) for path, lists in by_end.items()}
        masks[role] = frozenset(path for path, lists in by_end.items() if len({repr(sorted(map(repr, v))) for v in lists}) > 1)
    return Baseline(counts, values, masks, names)


def final_objects(history: History, *, until: int | None = None) -> list[tuple[str, Manifest]]:
    """(resource, object) of everything in the trial's namespace, by commit order, at a position; by default at the end."""
    last: dict[str, Committed] = {}
    for entry in history.entries[:until]:
        newer = isinstance(entry, Committed) and (entry.uid not in last or entry.revision >= last[entry.uid].revision)
        if isinstance(entry, Committed) and newer and entry.namespace == history.header.namespace:
            last[entry.uid] = entry
    return [(entry.resource, entry.object) for entry in last.values() if entry.type != "DELETED"]


def group(objects: Iterable[tuple[str, Manifest]], namespace: str, names: Names) -> dict[Role, list[Flat]]:
    """Objects by role, flattened."""
    counted = [(resource, obj) for resource, obj in objects if _counts(resource, obj)]
    labels = owner_labels(obj for _, obj in counted)
    stable = frozenset(named._replace(owner=_live(named.owner)) for named in names.stable)
    stems = frozenset(role._replace(owner=_live(role.owner)) for role in names.stems)
    known = Names(stable, stems)
    found: dict[Role, list[Flat]] = defaultdict(list)
    for resource, obj in counted:
        owner, name = controller_of(obj), obj["metadata"]["name"]
        label = (labels.get(owner["uid"]) or gone(owner)) if owner else ""
        named = Named(label, resource, name)
        replaced = {namespace: "<namespace>"} | ({} if named in stable else {name: "<name>"})
        found[known.role(named, obj)].append(dict(flatten(obj, replaced)))
    return found


def _counts(resource: str, obj: Manifest) -> bool:
    metadata = obj["metadata"]
    leaving = "deletionTimestamp" in metadata and not metadata.get("finalizers")
    return not leaving and not is_bookkeeping(resource, obj) and (resource, metadata["name"]) not in _NOBODYS


def _live(label: str) -> str:
    """An owner without the number of its incarnation: of those that are there in the end, there is one."""
    return label.partition("#")[0]


def _distinct(values: Iterable[object]) -> list[object]:
    return list({repr(value): value for value in values}.values())


def _same(one: object, other: object) -> bool:
    """Equal as JSON: true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _is_measure(path: str, value: object, wanted: Sequence[object]) -> bool:
    """A number in the status, outside the range of the references' numbers: they are unstable where it matters."""
    numbers = [n for n in (value, *wanted) if isinstance(n, int | float) and not isinstance(n, bool)]
    if not path.startswith("status.") or len(numbers) != len(wanted) + 1:
        return False
    return not min(numbers[1:]) <= numbers[0] <= max(numbers[1:])


def _show(value: object) -> str:
    return value if isinstance(value, str) and value.startswith("<") else repr(value)


def _miscounted(role: Role, found: int, counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    wanted = str(least) if least == most else f"{least} to {most}"
    return f"{found} {_title(role)}, fault-free runs ended with {wanted}"


def _title(role: Role) -> str:
    resource = role.resource.partition(".")[0]
    if role.owner:
        return f"{resource} of {owner_name(role.owner)}"
    return f"{resource} named {role.stem}" if role.stem else resource
