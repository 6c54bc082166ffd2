"""What a status counts, and whether the count is right at the end of a trial: held against the objects as they are, and against no
other run's words.

Which numbers are counts is learnt (`counts`). A number in a status that the controller writes is a count when it equalled, at
the end of every fault-free step in which it was there, the number of objects of some kind (`Kind`): all that the object owns at
any depth, or all that are there, of a resource and perhaps with a field of some value, such as a phase or a condition. It has
to have had three different values at least: two may be alike by chance. A number that fits several of them may be any of these,
and is right when it fits one; so is one that fits a field beside the status, which it may only repeat. A number that fits none
tells nothing that could be held against anything: a revision, a number of attempts.

Objects that were alike in a field at the end of every fault-free step, and are not now, may be counted apart (those of the newest
template, say): no fault-free run could show that. So a number is right, too, that equals how many agree on such a field.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from staleproof.checks.but_for import in_alike
from staleproof.checks.ends.footprint import footprint, is_status
from staleproof.checks.ends.states import final_objects
from staleproof.checks.facts.roles import stem_of
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.flatten import MISSING, Flat, flatten
from staleproof.core.history.provenance import is_bookkeeping
from staleproof.core.operator.ownership import owner_of, owners_above
from staleproof.core.plan.manifest import Manifest

LEAST_VALUES = 3
_LIVE, _STEM = "live", "stem"
_NAMES = ("apiVersion", "kind", "metadata.name")
_Among = Literal["owned", "there", "said"]
_Object = tuple[str, Manifest]


class Number(NamedTuple):
    """A number in the status of the objects of a resource."""

    resource: str
    path: str


class Kind(NamedTuple):
    """What may be counted, the clearest first: of a resource (empty: of any) all, those that are not leaving, or those with this
    value in a field; or a number that the object has beside its status."""

    among: _Among
    resource: str = ""
    path: str = ""
    value: str = ""


Groups = Mapping[Kind, Counter[str]]
"""By what may be counted and a field, without a value: how many have which value."""


@dataclass(frozen=True, slots=True)
class Sight:
    """An object with a status, and what there was to count beside it. `numbers` has each number that it said, by its field."""

    resource: str
    manifest: Manifest
    numbers: Mapping[str, int]
    amounts: Mapping[Kind, int]
    groups: Groups


@dataclass(frozen=True, slots=True)
class Count:
    """A number that is known to be a count. `kinds`: of what it may be, the clearest first. `spread`: how many values it had.
    `means_none`: it may be left out where there are none. `alike`: the fields in which what it counts never differed."""

    kinds: Sequence[Kind]
    spread: int
    means_none: bool
    alike: frozenset[Kind]


@dataclass(frozen=True, slots=True)
class Miscount:
    """A count that is not right. `said` is None for one that is not there."""

    uid: str
    number: Number
    manifest: Manifest
    said: int | None
    kind: Kind
    found: int
    spread: int

    @property
    def key(self) -> tuple[str, str]:
        """The same at another time."""
        return self.uid, self.number.path

    @property
    def there(self) -> str:
        """`of pods with status.phase 'Running' there are 2`."""
        what = self.kind.resource.partition(".")[0] or "objects"
        with_value = f" with {self.kind.path} {self.kind.value}" if self.kind.value and self.kind.path != _STEM else ""
        return f"of {what}{with_value} there {'is' if self.found == 1 else 'are'} {self.found}"


@fact
def counts(trial: Trial) -> Mapping[Number, Count]:
    """The numbers in the controller's own statuses that are counts, as the references show."""
    found = {number: _count(number, trial) for number in _own_numbers(trial)}
    return {number: count for number, count in found.items() if count is not None}


def miscounts(trial: Trial, until: int) -> Iterator[Miscount]:
    """The counts that are not right before a position."""
    known = counts(trial)
    for sight in _sights(trial, until) if known else ():
        for number, count in known.items():
            said = sight.numbers.get(number.path)
            if number.resource == sight.resource and (said is not None or count.means_none):
                right = {sight.amounts.get(kind, 0) for kind in count.kinds}
                if (said or 0) not in right | _apart(sight, count):
                    kind = count.kinds[0]
                    found = sight.amounts.get(kind, 0)
                    yield Miscount(sight.manifest["metadata"]["uid"], number, sight.manifest, said, kind, found, count.spread)


def uncounted(trial: Trial) -> Sequence[Number]:
    """The numbers in the controller's own statuses that fit no count, or had too few values to tell."""
    return sorted(_own_numbers(trial) - counts(trial).keys())


# --- what is learnt


@fact
def _own_numbers(trial: Trial) -> frozenset[Number]:
    """The numbers in the controller's own statuses, in any reference."""
    every = (Number(each.resource, path) for each in _references_at_rest(trial) for path in each.numbers)
    return frozenset(number for number in every if footprint(trial).has(*number))


@fact
def _references_at_rest(trial: Trial) -> Sequence[Sight]:
    return [sight for sights in in_alike(trial, _at_rest) for sight in sights]


def _count(number: Number, trial: Trial) -> Count | None:
    """What a number counts; None if it fits nothing, or had too few values."""
    every = [sight for sight in _references_at_rest(trial) if sight.resource == number.resource]
    sights, without = (
        [each for each in every if number.path in each.numbers],
        [each for each in every if number.path not in each.numbers],
    )
    spread = len({sight.numbers[number.path] for sight in sights})
    kinds = _fitting(number.path, sights) if spread >= LEAST_VALUES else ()
    if not any(kind.among != "said" for kind in kinds):
        return None
    means_none = any(not any(each.amounts.get(kind, 0) for each in without) for kind in kinds)
    return Count(kinds, spread, means_none, _alike(every))


def _fitting(path: str, sights: Sequence[Sight]) -> Sequence[Kind]:
    """The kinds of which there were as many as the number said, each time."""
    every = {kind for sight in sights for kind in sight.amounts}
    fits = (kind for kind in every if all(sight.amounts.get(kind, 0) == sight.numbers[path] for sight in sights))
    return sorted(fits, key=lambda kind: (kind.among != "owned", kind.among != "there", not kind.resource, kind[2:], kind))


def _alike(sights: Sequence[Sight]) -> frozenset[Kind]:
    """The fields in which objects agreed whenever they were looked at."""
    differing = {key for sight in sights for key, values in sight.groups.items() if len(values) > 1}
    return frozenset(key for sight in sights for key in sight.groups) - differing


def _apart(sight: Sight, count: Count) -> set[int]:
    """How many agree on a field that no reference showed them to differ in."""
    of = {(kind.among, kind.resource) for kind in count.kinds}
    groups = (
        values for key, values in sight.groups.items() if key in count.alike and not of.isdisjoint({key[:2], (key.among, "")})
    )
    return {amount for values in groups if len(values) > 1 for amount in values.values()}


# --- what is there


@fact
def _at_rest(run: Trial) -> Sequence[Sight]:
    """At the end of each step of the workload by which the controller was idle."""
    ends = [step.ended for step in run.workload if step.idle]
    return [sight for end in ends if end is not None for sight in _sights(run, end)]


def _sights(run: Trial, until: int) -> Iterator[Sight]:
    """All objects before a position whose status has a number, and primaries without, that are not leaving."""
    state = [(resource, obj) for resource, obj in final_objects(run, until=until) if not is_bookkeeping(resource, obj)]
    flats = {obj["metadata"]["uid"]: _flat(run, obj) for _, obj in state}
    there, apart, below = _amounts("there", state, flats), _groups("there", state, flats), _owned(state)
    for resource, obj in state:
        uid = obj["metadata"]["uid"]
        numbers = {path: value for path, value in _numbers(flats[uid]) if _may_count(path)}
        if (numbers or resource in run.primaries) and "deletionTimestamp" not in obj["metadata"]:
            owned = below.get(uid, ())
            amounts = there | _amounts("owned", owned, flats) | _beside(flats[uid], obj)
            yield Sight(resource, obj, numbers, amounts, apart | _groups("owned", owned, flats))


def _flat(run: Trial, obj: Manifest) -> Flat:
    """Of one state of an object, which may last for many steps."""
    known, at = _flats(run), (obj["metadata"]["uid"], obj["metadata"].get("resourceVersion", ""))
    if at not in known:
        known[at] = dict(flatten(obj, {}, run.namespace))
    return known[at]


@fact
def _flats(run: Trial) -> dict[tuple[str, str], Flat]:
    """Those that have been asked for, by uid and revision."""
    return {}


def _owned(state: Sequence[_Object]) -> Mapping[str, Sequence[_Object]]:
    """By uid, what an object owns, at any depth."""
    owners = {obj["metadata"]["uid"]: (owner_of(obj) or {}).get("uid", "") for _, obj in state}
    found: dict[str, list[_Object]] = defaultdict(list)
    for resource, obj in state:
        for uid in owners_above(obj["metadata"]["uid"], owners):
            found[uid].append((resource, obj))
    return found


def _beside(flat: Flat, obj: Manifest) -> dict[Kind, int]:
    """The numbers that an object has beside its status."""
    said = {Kind("said", path=path): value for path, value in _numbers(flat) if not is_status(path)}
    return said | {Kind("said", path="metadata.generation"): int(obj["metadata"].get("generation", 0))}


def _amounts(among: _Among, objects: Iterable[_Object], flats: Mapping[str, Flat]) -> dict[Kind, int]:
    """How many of these there are, of each kind."""
    found = Counter[Kind]()
    for resource, obj in objects:
        kinds = {Kind(among), Kind(among, resource), Kind(among, resource, _STEM, stem_of(obj["metadata"]["name"]))}
        if "deletionTimestamp" not in obj["metadata"]:
            kinds |= {Kind(among, path=_LIVE), Kind(among, resource, _LIVE)}
        kinds |= {Kind(among, resource, path, repr(value)) for path, value in _fields(flats[obj["metadata"]["uid"]])}
        found.update(kinds)
    return dict(found)


def _groups(among: _Among, objects: Iterable[_Object], flats: Mapping[str, Flat]) -> dict[Kind, Counter[str]]:
    """By field, how many of these have which value; a field that only some have has one for the others, too."""
    by_resource = grouped((resource, dict(_fields(flats[obj["metadata"]["uid"]]))) for resource, obj in objects)
    return {
        Kind(among, resource, path): Counter(repr(fields.get(path, MISSING)) for fields in every)
        for resource, every in by_resource.items()
        for path in {path for fields in every for path in fields}
    }


def _fields(flat: Flat) -> Iterator[tuple[str, object]]:
    """What objects may be told apart by: all but their names, and what is in lists other than conditions."""
    for path, value in flat.items():
        is_condition = path.startswith("status.conditions[") and path.endswith(".status")
        if path not in _NAMES and (is_condition or ("[" not in path and not path.endswith("#"))):
            yield path, value


def _numbers(flat: Flat) -> Iterator[tuple[str, int]]:
    return ((path, value) for path, value in flat.items() if isinstance(value, int) and not isinstance(value, bool))


def _may_count(path: str) -> bool:
    """Whether a number is the status' own: not a generation, nor the length of a list, nor within one."""
    is_generation = path.endswith("observedGeneration")
    return is_status(path) and not is_generation and not path.endswith("#") and "[" not in path
