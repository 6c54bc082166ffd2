"""The state that the references reached, and how another state differs from it.

Objects are grouped by role and compared field by field (`flat`): what lies in the hull of all references is right. A value is right
when any of them ended with it, a count when it is not outside the range of theirs, an object when it is like one of its siblings
(roles whose names differ in their last part only) and there are not too many of them. The order of a list is right when any has the
same things in another order.

Fields are masked that differ between the references, or between objects of one role, or did so anywhere in the run
(`instability`). Of a number in the status the range counts. What the same workload came to differently in fault-free runs is
unstable: a difference there proves nothing.

A verdict looks only at what the controller wrote itself, and not at what it reports (`footprint`); waiting for a trial to converge
looks at everything.

Divergence from Kubernetes: an object that is being deleted and has no finalizer counts as gone, because what is left to do (the
grace period of a pod) is not the controller's; and so does what a garbage collector would take (`garbage`), and what is kept of
earlier templates (`revisions`). Claims that a StatefulSet has left may be there or not. What the controller has released counts,
but not what it is like.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import structs

from staleproof.checks.but_for import in_calm, in_references
from staleproof.checks.ends.states import final_objects, is_as_given, lasting_objects, namespaced_kinds
from staleproof.checks.ends.totals import Range, Total, in_words, ranges, totals
from staleproof.checks.facts.garbage import without_garbage
from staleproof.checks.facts.object_history import names, object_history
from staleproof.checks.facts.revisions import unnumbered, without_past_claims, without_past_revisions
from staleproof.checks.facts.roles import Names, Role, named, of_any_incarnation, owner_labels, stem_of, without_incarnation
from staleproof.checks.facts.wording import contrasted, owner_name
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.change import moved
from staleproof.core.history.flatten import MISSING, Flat, flatten, placed_at, without_items
from staleproof.core.history.history import UnstableField
from staleproof.core.history.provenance import is_bookkeeping
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, in_parts
from staleproof.core.wording import plural

_SYSTEM_OBJECTS = frozenset({("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")})
_OTHER_WORKLOADS = ("woken", "final", "slept")
_LONG = 200
Values = Mapping[str, object]
"""By their repr."""
Orders = Mapping[str, Hashable]
"""By path of a list: what is in it, in whatever order."""
_AMOUNTS = ("fewer", "more")
_REPORTS = ("status.", "metadata.annotations.")
Places = Mapping[str, frozenset[Role]]
"""The roles of the Pods that are on a Node, by its name, or at an address."""
IsAsGood = Callable[[Role, str, object, Collection[object]], bool]
"""Whether a value of a field, by its path, is as good as any of those that the references have."""


class Compared(Protocol):
    """What of an end is compared with the references'."""

    def counts(self, role: Role) -> bool:
        """Whether the number of objects of a role is."""

    def has(self, resource: str, path: str) -> bool:
        """Whether this field of such objects is."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What is not as the references ended, in words. `unstable`: they did not agree on it themselves; `role`: of which objects, if
    it is of one role, and `what`: which field of theirs, or that there are `fewer` or `more`."""

    text: str
    unstable: bool = False
    role: Role | None = None
    what: str = ""

    @property
    def about(self) -> Hashable:
        """What it says: of a field that it is not as it should be, whatever it is at the moment; of objects how many there are."""
        is_field = self.role is not None and self.what not in _AMOUNTS
        return (self.role, self.what) if is_field else self.text


@dataclass(frozen=True, slots=True)
class Baseline:
    """The hull of the references.

    Attributes:
        counts, values: all that any of them ended with, counts also without the claims that StatefulSets left; values per path, by
            their repr.
        masks: the paths that differ between them, and those that are `shaky`.
        orders: what was in their lists.
        shaky: the paths that differ between fault-free ends of the workload, or between objects of the role, or ever did so in the
            run; with "" the count.
        totals: what the numbers in the specs of an owner's objects added up to.
        moves: the fields that move by themselves (`Settle.moves`), which are not compared.
        kinds: an owner of one of these that is not there is gone.
        given: (resource, name) of what was there before: it is no part of an end as long as it is as it was.
        places: the Nodes and addresses at which their Pods were, with the roles of these.
    """

    counts: Mapping[Role, Sequence[int]] = field(default_factory=dict)
    values: Mapping[Role, Mapping[str, Values]] = field(default_factory=dict)
    masks: Mapping[Role, frozenset[str]] = field(default_factory=dict)
    orders: Mapping[Role, Sequence[Orders]] = field(default_factory=dict)
    shaky: Mapping[Role, frozenset[str]] = field(default_factory=dict)
    totals: Mapping[Total, Range] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    moves: Collection[str] = ()
    kinds: Collection[str] = ()
    given: Collection[tuple[str, str]] = ()
    places: Places = field(default_factory=dict)

    def difference(self, objects: Iterable[tuple[str, Manifest]], namespace: str) -> str:
        """The first way in which a state (resource, object) is not like the references' end; empty when it is. All that is there
        counts, whatever wrote it."""
        return next((difference.text for difference in self.differences(objects, namespace)), "")

    def differences(
        self,
        objects: Iterable[tuple[str, Manifest]],
        namespace: str,
        own: Compared | None = None,
        *,
        besides: Collection[Role] = (),
        is_as_good: IsAsGood = lambda *_: False,
    ) -> Iterator[Difference]:
        """Every role whose count, or first field whose value, is not like the references' end; of what is compared (`own`),
        if that is given, and but for what is as good: how many there are of these roles, and these values."""
        there = without_garbage(list(objects), self.kinds)
        state, places = group(there, namespace, self.names), _places([there], self.names)

        def is_fine(role: Role, path: str, value: object, wanted: Collection[object]) -> bool:
            return self._is_placed(path, value, wanted, places) or is_as_good(role, path, value, wanted)

        for role in sorted((self.counts.keys() | state.keys()) - set(besides)):
            counts, found = self.counts.get(role, (0,)), len(state.get(role, ()))
            if not min(counts) <= found <= max(counts) and (own is None or own.counts(role)):
                kind = self._kind(role, state)
                is_given = not role.owner and (role.resource, role.stem) in self.given
                text = _given(role, kind, found) if is_given else _miscounted(role, kind, found, counts)
                yield Difference(text, "" in self.shaky.get(role, ()), role, _AMOUNTS[found > max(counts)])
        for role in sorted(state):
            for flat in state[role]:
                difference = self._field(role, flat, self.masks, own, is_fine)
                if difference is not None and not self._stands_in(role, flat, own):
                    yield difference
        yield from self._totals(state, own)

    def _is_placed(self, path: str, value: object, wanted: Collection[object], places: Places) -> bool:
        """Whether a report copies where a Pod is, and in the references where such a Pod was: that is the scheduler's choice."""
        here = places.get(value, frozenset()) if path.startswith(_REPORTS) and isinstance(value, str) else frozenset[Role]()
        return any(not here.isdisjoint(self.places.get(each, ())) for each in wanted if isinstance(each, str))

    def without_unchanged(self, objects: Iterable[tuple[str, Manifest]], run: Trial) -> list[tuple[str, Manifest]]:
        """A state of a run without what was there before and is as it was, if nothing ever happened to that in the references."""
        known = {(role.resource, role.stem) for role in self.counts if not role.owner}
        return [(each, obj) for each, obj in objects if (each, obj["metadata"]["name"]) in known or not is_as_given(run, obj)]

    def _totals(self, state: Mapping[Role, Sequence[Flat]], own: Compared | None) -> Iterator[Difference]:
        for total, value in totals(state).items():
            usual = self.totals.get(total)
            if usual and not usual.has(value) and (own is None or own.has(total.resource, total.path)):
                yield Difference(in_words(total, value, usual), usual.unstable)

    def _stands_in(self, role: Role, found: Flat, own: Compared | None) -> bool:
        """Whether the object is as one of another role: of the same owner and resource, and with a name that differs in its last
        part only."""
        for other in self.values:
            if other != role and other[:2] == role[:2] and role.stem and stem_of(other.stem) == stem_of(role.stem) != other.stem:
                renamed = {path: other.stem if value == role.stem else value for path, value in found.items()}
                if self._field(other, renamed, self.shaky, own) is None:
                    return True
        return False

    def _kind(self, role: Role, state: Mapping[Role, Sequence[Flat]]) -> str:
        """As kubectl prints it."""
        here = [flat.get("kind") for flat in state.get(role, ())]
        there = list(self.values.get(role, {}).get("kind", {}).values())
        return str(next((kind for kind in (*here, *there) if kind), role.resource)).lower()

    def _field(
        self,
        role: Role,
        found: Flat,
        masks: Mapping[Role, frozenset[str]],
        own: Compared | None,
        is_as_good: IsAsGood = lambda *_: False,
    ) -> Difference | None:
        """The first field that no reference ended with, that is not masked, and whose value is not as good."""
        values, orders = self.values.get(role, {}), _orders(found)
        for path in sorted(found.keys() | values.keys()) if values else ():
            value, wanted = found.get(path, MISSING), values.get(path, {repr(MISSING): MISSING})
            masked = path in masks.get(role, ()) and not _is_measure(path, value, wanted.values())
            is_theirs = own is not None and not own.has(role.resource, path)
            if is_theirs or repr(value) in wanted or masked or moved(role.resource, path) in self.moves:
                continue
            items = path.partition("[")[0]
            if any(items in known and known[items] == orders.get(items) for known in self.orders.get(role, ())):
                continue
            if is_as_good(role, path, value, wanted.values()):
                continue
            kind = str(found.get("kind") or role.resource).lower()
            shown, right = _compared(value, list(wanted.values())[:3])
            what = f"the number of {path[:-1]}" if path.endswith("#") else path
            title = f"{kind} of {owner_name(role.owner)}" if role.owner else f"{kind}/{role.stem}" if role.stem else kind
            text = f"{title}: {what} is {shown}, fault-free runs ended with {right}"
            return Difference(text, path in self.shaky.get(role, ()), role, path)
        return None


def _orders(flat: Flat) -> Orders:
    """What is in each list of an object, however the list is ordered, and lists within its items."""
    items: dict[str, dict[str, Counter[tuple[str, str]]]] = defaultdict(lambda: defaultdict(Counter))
    for path, value in flat.items():
        name, _, rest = path.partition("[")
        number, inside, within = rest.partition("]")
        if inside:
            items[name][number][without_items(within), repr(value)] += 1
    return {name: frozenset(Counter(frozenset(item.items()) for item in each.values()).items()) for name, each in items.items()}


@fact
def baseline(trial: Trial) -> Baseline:
    """What the ends of the references have in common."""
    return _common(trial, list(in_references(trial, lambda run: (run, final_objects(run)))))


@fact
def step_baselines(trial: Trial) -> Sequence[Baseline]:
    """What the states have in common in which fault-free runs ended each step of the workload, in order."""
    ends = in_calm(trial, lambda run: [(run, final_objects(run, until=step.ended)) for step in run.workload])
    return [_common(trial, states) for states in zip(*ends, strict=False)]


def _common(trial: Trial, states: Sequence[tuple[Trial, Sequence[tuple[str, Manifest]]]]) -> Baseline:
    """What one state of each reference has in common with the others'."""
    known, unstable, kinds = names(trial), _unstable(trial), namespaced_kinds(trial)
    clean = [(run, without_garbage(state, kinds)) for run, state in states]
    ends = [(run, group(state, run.namespace, known)) for run, state in clean]
    made = [frozenset(each.uid for each in object_history(run).objects.values() if each.creator is not None) for run, _ in clean]
    needed = [group(without_past_claims(s, own), run.namespace, known) for (run, s), own in zip(clean, made, strict=True)]
    unchanged = {(each, obj["metadata"]["name"]) for run, state in states for each, obj in state if is_as_given(run, obj)}
    counts, values, masks, orders, shaky = {}, {}, {}, {}, {}
    for role in sorted({role for _, end in ends for role in end}):
        flats = [end.get(role, ()) for _, end in ends]
        plain = [end.get(role, ()) for reference, end in ends if reference.role not in _OTHER_WORKLOADS]
        paths = {path for found in flats for flat in found for path in flat}
        counts[role] = [len(found) for found in flats]
        counts[role] += {len(end.get(role, ())) for end in needed} - set(counts[role])
        counts[role] += [0] if not role.owner and (role.resource, role.stem) in unchanged else []
        values[role] = {path: {repr(v): v for found in flats for v in _values(found, path)} for path in paths}
        shaky[role] = differing(plain, paths) | unstable.get(role, frozenset())
        shaky[role] |= {""} if len(set(map(len, plain))) > 1 else set()
        masks[role] = differing([found for found in flats if found], paths) | shaky[role]
        orders[role] = [_orders(flat) for found in flats for flat in found]
    shaken = {Total(role.owner, role.resource, path) for role, paths in unstable.items() for path in paths}
    plain_sums = [totals(end) for run, end in ends if run.role not in _OTHER_WORKLOADS]
    sums = ranges([totals(end) for _, end in ends], plain_sums, shaken)
    before = (each for run in (trial, *(run for run, _ in states)) for each in run.history.header.given)
    given = frozenset((each.resource, each.name) for each in before)
    moves, places = frozenset(trial.plan.settle.moves), _places([state for _, state in clean], known)
    return Baseline(counts, values, masks, orders, shaky, sums, known, moves, kinds, given, places)


def _places(states: Iterable[Sequence[tuple[str, Manifest]]], names: Names) -> Places:
    """Where the Pods of these states are, with the roles of those that are there."""
    every = ((role, obj) for objects in states for role, _, resource, obj in _in_roles(objects, names) if resource == "pods")
    found = grouped((place, role) for role, obj in every for place in placed_at(obj))
    return {place: frozenset(roles) for place, roles in found.items()}


def differing(ends: Sequence[Sequence[Flat]], paths: Iterable[str]) -> frozenset[str]:
    """The paths that do not have the same values in all ends, or among the objects of one."""
    values = {path: {frozenset(map(repr, _values(end, path))) for end in ends} for path in paths}
    return frozenset(path for path, sets in values.items() if len(sets) > 1 or any(len(each) > 1 for each in sets))


def _values(objects: Iterable[Flat], path: str) -> list[object]:
    return [flat.get(path, MISSING) for flat in objects]


@fact
def _unstable(trial: Trial) -> Mapping[Role, frozenset[str]]:
    """What the run has shown to be unstable, by role. One fault-free run alone does not tell which names are stable, so each may be
    one of which the end is left out."""
    fields = list(_with_copies(trial.history.header.unstable, trial.plan))
    if len(trial.calm) == 1:
        fields += [structs.replace(each, stem=stem_of(each.stem)) for each in fields]
    found = grouped((Role(each.owner, each.resource, each.stem), each.path) for each in fields)
    return {role: frozenset(paths) for role, paths in found.items()}


def _with_copies(fields: Sequence[UnstableField], plan: Plan) -> Iterator[UnstableField]:
    """With those of primaries whose names go on where the name of one ends that was watched: they are made from the same sample, so
    what differs between runs of that differs between runs of them."""
    yield from fields
    watched = {each.owner for each in fields}
    applied = (step.object for step in in_parts(plan.steps) if isinstance(step, Apply))
    for kind, name in dict.fromkeys((each["kind"], each["metadata"]["name"]) for each in applied):
        for first in (owner.partition("/")[2] for owner in watched if f"{kind}/{name}".startswith(f"{owner}-")):
            renamed = ((each, _renamed(each.owner, first, name)) for each in fields)
            yield from (
                structs.replace(each, owner=owner, stem=_renamed(each.stem, first, name))
                for each, owner in renamed
                if owner != each.owner
            )


def _renamed(text: str, first: str, name: str) -> str:
    """With the copy's name in place of the sample's, where the text, but for a kind before it, begins with that."""
    return re.sub(rf"^(\w+/)?{re.escape(first)}(?=-|$)", rf"\g<1>{name}", text)


def ends_with_more(trial: Trial, role: Role, *, until: int | None = None) -> bool:
    """Whether there are more objects of a role (of `object_history`) before a position than any reference ended with."""
    timeless = of_any_incarnation(role)
    usual = in_calm(trial, lambda run: len(_of_role(run, timeless, trial)))
    return len(_of_role(trial, timeless, trial, until=until)) > max(usual, default=0)


def _of_role(run: Trial, role: Role, trial: Trial, *, until: int | None = None) -> Sequence[Flat]:
    """What there is of a role before a position in a run, be it the trial or one of its references."""
    return group(lasting_objects(run, until=until), run.namespace, names(trial)).get(role, ())


def group(objects: Iterable[tuple[str, Manifest]], namespace: str, names: Names) -> dict[Role, list[Flat]]:
    """Objects by role, flattened."""
    found: dict[Role, list[Flat]] = defaultdict(list)
    for role, is_stable, resource, obj in _in_roles(objects, names):
        replaced = {} if is_stable else {obj["metadata"]["name"]: "<name>"}
        flat = unnumbered(resource, dict(flatten(obj, replaced, namespace)))
        found[role].append(_current(flat, obj["metadata"].get("generation")))
    return found


def _in_roles(objects: Iterable[tuple[str, Manifest]], names: Names) -> Iterator[tuple[Role, bool, str, Manifest]]:
    """Each object that counts, with its role, and whether its name is a stable one; (role, is stable, resource, object)."""
    counted = without_past_revisions([(resource, obj) for resource, obj in objects if _counts(resource, obj)])
    labels = owner_labels(obj for _, obj in counted)
    stable = frozenset(each._replace(owner=without_incarnation(each.owner)) for each in names.stable)
    stems = frozenset(of_any_incarnation(role) for role in names.stems)
    known = Names(stable, stems)
    for resource, obj in counted:
        called = named(obj, resource, obj["metadata"]["name"], labels)
        yield known.role(called, obj), called in stable, resource, obj


def _current(flat: dict[str, object], generation: object) -> Flat:
    """An observedGeneration that is up to date says so: the number tells in how many steps the object came to its spec."""
    observed = [path for path, value in flat.items() if path.endswith("observedGeneration") and value == generation]
    return flat | dict.fromkeys(observed, "<generation>")


def _counts(resource: str, obj: Manifest) -> bool:
    metadata = obj["metadata"]
    leaving = "deletionTimestamp" in metadata and not metadata.get("finalizers")
    return not leaving and not is_bookkeeping(resource, obj) and (resource, metadata["name"]) not in _SYSTEM_OBJECTS


def _is_measure(path: str, value: object, wanted: Collection[object]) -> bool:
    """A number in the status, outside the range of the references' numbers: they are unstable where it matters."""
    if not path.startswith("status.") or not isinstance(value, int | float):
        return False
    numbers = [number for number in wanted if isinstance(number, int | float)]
    return len(numbers) == len(wanted) and not min(numbers) <= value <= max(numbers)


def _compared(value: object, wanted: Sequence[object]) -> tuple[str, str]:
    """A value and what it should be, for people: of a long text, where it differs from the first that is right."""
    if isinstance(value, str) and isinstance(wanted[0], str) and max(len(value), len(wanted[0])) > _LONG:
        return contrasted(value, wanted[0])
    return _show(value), " or ".join(map(_show, wanted))


def _show(value: object) -> str:
    return value if isinstance(value, str) and value.startswith("<") else repr(value)


def _given(role: Role, kind: str, found: int) -> str:
    """How something that the workload needs, and that is there in any case, is not as fault-free runs left it."""
    if found:
        return f"{kind}/{role.stem} was changed, fault-free runs left it as it was"
    return f"{kind}/{role.stem} is as it was, or gone; fault-free runs changed it"


def _miscounted(role: Role, kind: str, found: int, counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    if role.stem and not role.owner and max(most, found) == 1:
        there, without = ("is missing", "with it") if not found else ("is there", "without it")
        return f"{kind}/{role.stem} {there}, fault-free runs ended {without}"
    of = f" of {owner_name(role.owner)}" if role.owner else f" named {role.stem}" if role.stem else ""
    return f"{plural(found, kind)}{of}, fault-free runs ended with {least if least == most else f'{least} to {most}'}"
