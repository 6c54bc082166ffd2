"""The state that the references reached, and how another state differs from it.

Objects are grouped by role and compared field by field (`flat`): a value is right when any reference ended with it. Fields that
differ between the references are masked; counts that differ become ranges. Outside such a range, and outside the range of a number
in the status that the references did not agree on, a difference is unstable: it proves nothing.

Divergence from Kubernetes: an object that is being deleted and has no finalizer counts as gone, because what is left to do (the
grace period of a pod) is not the controller's; and so does what a garbage collector would take (`garbage`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from staleproof.checks.facts.garbage import namespaced_kinds, without_garbage
from staleproof.checks.facts.object_history import names
from staleproof.checks.facts.roles import Named, Names, Role, controller_of, gone, owner_labels
from staleproof.checks.facts.wording import owner_name, plural
from staleproof.checks.trial import Trial, fact
from staleproof.core.change import moved
from staleproof.core.entry import Committed
from staleproof.core.flatten import Flat, flatten
from staleproof.core.plan import Manifest
from staleproof.core.provenance import is_bookkeeping

_NOBODYS = frozenset({("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")})
_MISSING = "<not set>"


@dataclass(frozen=True, slots=True)
class Difference:
    """What is not as the references ended, in words. `unstable`: they did not agree on it themselves."""

    text: str
    unstable: bool = False


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the references have in common. `counts` and, per path, `values` are all that any of them ended with, by their repr.
    `moves`: the fields that move by themselves (`Settle.moves`), which are not compared. `kinds`: an owner of one of these that
    is not there is gone."""

    counts: Mapping[Role, Sequence[int]] = field(default_factory=dict)
    values: Mapping[Role, Mapping[str, Mapping[str, object]]] = field(default_factory=dict)
    masks: Mapping[Role, frozenset[str]] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    moves: Collection[str] = ()
    kinds: Collection[str] = ()

    def difference(self, objects: Iterable[tuple[str, Manifest]], namespace: str) -> str:
        """The first way in which a state (resource, object) is not like the references' end; empty when it is."""
        return next((difference.text for difference in self.differences(objects, namespace)), "")

    def differences(self, objects: Iterable[tuple[str, Manifest]], namespace: str) -> Iterator[Difference]:
        """Every role whose count, or first field whose value, is not like the references' end."""
        state = group(without_garbage(list(objects), self.kinds), namespace, self.names)
        for role in sorted(self.counts.keys() | state.keys()):
            counts = self.counts.get(role, (0,))
            found = len(state.get(role, ()))
            if not min(counts) <= found <= max(counts):
                yield Difference(_miscounted(role, self._kind(role, state), found, counts), min(counts) != max(counts))
        for role in sorted(state):
            yield from (d for flat in state[role] for d in self._fields(role, flat))

    def _kind(self, role: Role, state: Mapping[Role, Sequence[Flat]]) -> str:
        """As kubectl prints it."""
        here = [flat.get("kind") for flat in state.get(role, ())]
        there = list(self.values.get(role, {}).get("kind", {}).values())
        return str(next((kind for kind in (*here, *there) if kind), role.resource)).lower()

    def _fields(self, role: Role, found: Flat) -> Iterator[Difference]:
        """The first field that no reference ended with."""
        kind = str(found.get("kind") or role.resource).lower()
        values, masks = self.values.get(role, {}), self.masks.get(role, frozenset())
        for path in sorted(found.keys() | values.keys()) if values else ():
            value, wanted = found.get(path, _MISSING), values.get(path, {repr(_MISSING): _MISSING})
            if moved(role.resource, path) in self.moves:
                continue
            if repr(value) in wanted or (path in masks and not _is_measure(path, value, wanted.values())):
                continue
            shown = " or ".join(_show(right) for right in list(wanted.values())[:3])
            what = f"the number of {path[:-1]}" if path.endswith("#") else path
            yield Difference(f"{_title(role, kind)}: {what} is {_show(value)}, fault-free runs ended with {shown}", path in masks)
            return


@fact
def baseline(trial: Trial) -> Baseline:
    """What the ends of the references have in common."""
    return _common(trial, [final_objects(reference) for reference in trial.references])


@fact
def step_baselines(trial: Trial) -> Sequence[Baseline]:
    """What the states have in common in which the references ended each step, in order."""
    ends = [[final_objects(reference, until=step.ended) for step in reference.steps] for reference in trial.references]
    return [_common(trial, states) for states in zip(*ends, strict=False)]


def _common(trial: Trial, states: Sequence[Sequence[tuple[str, Manifest]]]) -> Baseline:
    """What one state of each reference has in common with the others'."""
    known, kinds = names(trial), namespaced_kinds(trial)
    kept = [without_garbage(state, kinds) for state in states]
    ends = [group(state, reference.namespace, known) for state, reference in zip(kept, trial.references, strict=True)]
    counts, values, masks = {}, {}, {}
    for role in sorted({role for end in ends for role in end}):
        flats = [end.get(role, ()) for end in ends]
        paths = {path for found in flats for flat in found for path in flat}
        by_end = {path: [[flat.get(path, _MISSING) for flat in found] for found in flats] for path in paths}
        counts[role] = [len(found) for found in flats]
        values[role] = {path: {repr(v): v for found in lists for v in found} for path, lists in by_end.items()}
        masks[role] = frozenset(path for path, lists in by_end.items() if len({frozenset(map(repr, v)) for v in lists}) > 1)
    return Baseline(counts, values, masks, known, frozenset(trial.plan.settle.moves), kinds)


def ends_with_more(trial: Trial, role: Role, *, until: int | None = None) -> bool:
    """Whether there are more objects of a role (of `object_history`) before a position than any reference ended with."""
    timeless = role._replace(owner=_live(role.owner))
    state = without_garbage(final_objects(trial, until=until), namespaced_kinds(trial))
    found = group(state, trial.namespace, names(trial)).get(timeless, ())
    return len(found) > max(baseline(trial).counts.get(timeless, ()), default=0)


def final_objects(trial: Trial, *, until: int | None = None) -> list[tuple[str, Manifest]]:
    """(resource, object) of everything in the trial's namespace, by commit order, before a position; by default at the end."""
    last: dict[str, Committed] = {}
    for _, entry in trial.every(Committed, until=until):
        if entry.namespace == trial.namespace and (entry.uid not in last or entry.revision >= last[entry.uid].revision):
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
        found[known.role(named, obj)].append(_current(dict(flatten(obj, replaced)), obj["metadata"].get("generation")))
    return found


def _current(flat: dict[str, object], generation: object) -> Flat:
    """An observedGeneration that is up to date says so: the number tells in how many steps the object came to its spec."""
    observed = [path for path, value in flat.items() if path.endswith("observedGeneration") and value == generation]
    return flat | dict.fromkeys(observed, "<generation>")


def _counts(resource: str, obj: Manifest) -> bool:
    metadata = obj["metadata"]
    leaving = "deletionTimestamp" in metadata and not metadata.get("finalizers")
    return not leaving and not is_bookkeeping(resource, obj) and (resource, metadata["name"]) not in _NOBODYS


def _live(label: str) -> str:
    """An owner without the number of its incarnation: of those that are there in the end, there is one."""
    return label.partition("#")[0]


def _is_measure(path: str, value: object, wanted: Collection[object]) -> bool:
    """A number in the status, outside the range of the references' numbers: they are unstable where it matters."""
    if not path.startswith("status.") or not isinstance(value, int | float):
        return False
    numbers = [number for number in wanted if isinstance(number, int | float)]
    return len(numbers) == len(wanted) and not min(numbers) <= value <= max(numbers)


def _show(value: object) -> str:
    return value if isinstance(value, str) and value.startswith("<") else repr(value)


def _miscounted(role: Role, kind: str, found: int, counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    if role.stem and not role.owner and max(most, found) == 1:
        there, without = ("is missing", "with it") if not found else ("is there", "without it")
        return f"{kind}/{role.stem} {there}, fault-free runs ended {without}"
    of = f" of {owner_name(role.owner)}" if role.owner else f" named {role.stem}" if role.stem else ""
    return f"{plural(found, kind)}{of}, fault-free runs ended with {least if least == most else f'{least} to {most}'}"


def _title(role: Role, kind: str) -> str:
    return f"{kind} of {owner_name(role.owner)}" if role.owner else f"{kind}/{role.stem}" if role.stem else kind
