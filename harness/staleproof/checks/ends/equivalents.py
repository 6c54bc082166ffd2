"""Ends that are not like the references', and as good.

A controller chooses some of what it writes: a free address or port, the next number. Which one is free depends on what came first,
and on what it had been shown to be given back; a number is used up by a request that a fault made fail, or by a life that was
killed. It may list things in the order in which they came, note when something failed, which it never does without faults, and
count what it has done so far.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

from staleproof.checks.but_for import in_references
from staleproof.checks.ends.hull import Baseline, group
from staleproof.checks.facts.garbage import without_garbage
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.roles import Role, stem_of
from staleproof.checks.trial import Trial
from staleproof.checks.view.life import view
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Answered
from staleproof.core.history.flatten import MISSING, TIME, Flat, flatten
from staleproof.core.history.history import Position
from staleproof.core.plan.manifest import Manifest

_NUMBER, _NUMBERED_PART = re.compile(r"\d+"), re.compile(r"-\d+(?=-|$)")
_ANNOTATIONS = "metadata.annotations."
_OWNER = "owner"


@dataclass(frozen=True)
class Equivalents:
    """What is as good in a state of the trial, or of another run of its workload. `usual`: what the references have in common;
    `objects`: the state (resource, object)."""

    trial: Trial
    run: Trial
    usual: Baseline
    objects: Sequence[tuple[str, Manifest]]

    def has(self, role: Role, path: str, value: object, wanted: Collection[object]) -> bool:
        """Whether a value of a field is as good as any of those that the references have."""
        is_noted = path.startswith(_ANNOTATIONS) and (_is_new_time(value, wanted) or self._is_tally(role, path))
        return is_noted or any(_reads_alike(value, each) for each in wanted) or self._is_free_choice(role, path, value, wanted)

    @cached_property
    def renumbered(self) -> Collection[Role]:
        """Roles whose names go on with a number, of which there are as many together as in the references, and of which those that
        are missing never were: a request that a fault made fail has used up their numbers, or a life that ended."""
        run, usual = self.run, self.usual
        failed = (each.answer for each in run.work if not each.succeeded)
        if len(run.starts) < 2 and not any(isinstance(answer, Answered) and answer.fault is not None for answer in failed):
            return frozenset()
        there = {obj["metadata"]["uid"] for _, obj in self.objects}
        made = (each for each in object_history(run).objects.values() if not each.owner_uid or each.owner_uid in there)
        were = {_of_any_incarnation(each.role) for each in made}
        families = grouped((_family(role), role) for role in usual.counts.keys() | self._state.keys()).values()
        skipping = (roles for roles in families if self._is_complete(roles) and not self._missing(roles) & were)
        return {role for roles in skipping for role in roles}

    @cached_property
    def _state(self) -> Mapping[Role, Sequence[Flat]]:
        return group(without_garbage(self.objects, self.usual.kinds), self.run.namespace, self.usual.names)

    def _missing(self, roles: Sequence[Role]) -> set[Role]:
        return {role for role in roles if len(self._state.get(role, ())) < min(self.usual.counts.get(role, (0,)))}

    def _is_complete(self, roles: Sequence[Role]) -> bool:
        """Whether a family with a gap in its numbers has as many objects as in the references."""
        ends = min(map(len, self.usual.counts.values()), default=1)
        amounts = [sum(each) for each in zip(*(self.usual.counts.get(role, [0] * ends) for role in roles), strict=False)]
        here = sum(len(self._state.get(role, ())) for role in roles)
        has_gap = any(_NUMBERED_PART.search(role.stem) for role in self._missing(roles))
        return has_gap and min(amounts) <= here <= max(amounts)

    def _is_tally(self, role: Role, path: str) -> bool:
        """Whether an annotation has a number that tells how often the controller has done something, or lists what such a number
        has been: it only ever grows in all runs, by the controller's own writes, and is no old copy of a field."""
        key = path.removeprefix(_ANNOTATIONS)
        if (role.resource, key) not in self._known:
            references = [run for run in self._runs if run is not self.run]
            self._known[role.resource, key] = self._counts_or_lists(role.resource, key), _copied(references, role.resource, key)
        is_tally, copied = self._known[role.resource, key]
        return is_tally and not self._may_be_copied(role, key, copied)

    @cached_property
    def _known(self) -> dict[tuple[str, str], tuple[bool, "_Copied"]]:
        """By resource and annotation."""
        return {}

    def _counts_or_lists(self, resource: str, key: str) -> bool:
        numbers = self._numbers(resource, key)
        lists = all(_lists_past(run, resource, key, number) for run in self._runs for number in numbers)
        return lists if numbers else self._counts(resource, key)

    def _counts(self, resource: str, key: str) -> bool:
        return all(_only_grows(run, resource, key) for run in self._runs)

    def _numbers(self, resource: str, key: str) -> list[str]:
        """The annotations with a number that have the same name but for an ending (`revision-history`, `revision`)."""
        named = [each for each in self._keys(resource) if re.match(rf"{re.escape(each)}[-_./]", key)]
        return [each for each in named if self._counts(resource, each)]

    def _may_be_copied(self, role: Role, key: str, copied: "_Copied") -> bool:
        """Whether objects of a role repeat a field of their own in all references; or one of their owner, and one of them says here
        what that has been. A list that is always the same repeats nothing."""
        if len(copied.values) == 1 and self._numbers(role.resource, key):
            return False
        if any(not field.startswith(_OWNER) for field in copied.own.get(role, ())):
            return True
        fields = copied.own.get(role, set()) | copied.owners
        mine = [each for each in _of_resource(self.run, role.resource) if each.role == role] if fields else []
        said = [(each, _annotations(each.last.entry.object).get(key)) for each in mine]
        return any(not fields.isdisjoint(_fields_with(self.run, each, text)) for each, text in said if text is not None)

    def _keys(self, resource: str) -> set[str]:
        """Of all annotations of these objects in the end."""
        return {key for run in self._runs for each in _of_resource(run, resource) for key in _annotations(each.last.entry.object)}

    @cached_property
    def _runs(self) -> Sequence[Trial]:
        """Those that are compared, and this one."""
        return [*in_references(self.trial, lambda run: run), self.run]

    # --- one of many that are free

    def _is_free_choice(self, role: Role, path: str, value: object, wanted: Collection[object]) -> bool:
        """Whether a value that differs in a number only, and that no user has asked for, was free where theirs was not: another
        object had that when this one was made, or was not shown to be gone by then; or has it in the references, and another one
        here."""
        if not _differ_in_a_number(value, wanted) or self._is_asked_for(value) or not self._is_exclusive(role.resource, path):
            return False
        every = _of_resource(self.run, role.resource)
        made = [each for each in every if each.creator is not None and value in self._values(each, path)]
        was_taken = bool(made) and all(any(self._had(other, each, path, wanted) for other in every) for each in made)
        return was_taken or self._is_exchanged(role, path, value)

    def _is_exclusive(self, resource: str, path: str) -> bool:
        """Whether no two objects of the references have the same there: a limit, say, is nothing that one takes from another."""
        known = [set(values[path]) for role, values in self.usual.values.items() if role.resource == resource and path in values]
        return all(one.isdisjoint(other) for one, other in combinations(known, 2))

    def _is_asked_for(self, value: object) -> bool:
        """Whether a user ever gave a primary this value."""
        primaries = (each for each in object_history(self.run).objects.values() if each.resource in self.run.beside.primaries)
        states = (commit.entry.object for each in primaries for commit in each.commits if commit.by is None)
        return any(str(value) == str(each) for state in states for _, each in flatten(state, {}))

    def _values(self, of: Incarnation, path: str) -> set[object]:
        """All that an object ever had there."""
        states = (commit.entry.object for commit in of.commits)
        return {value for state in states for at, value in flatten(state, {}, self.run.namespace) if at == path}

    def _had(self, other: Incarnation, made: Incarnation, path: str, wanted: Collection[object]) -> bool:
        """Whether another object had one of these when an object was made, as far as the controller had been shown."""
        if made.creator is None or other is made or other.created > made.creator.index:
            return False
        index, seen = made.creator.index, view(self.run, made.creator.index)
        is_shown = seen.has_listed(other.resource, other.delete_revision) or seen.of(other.uid).has_seen(other.delete_revision)
        return not self._values(other, path).isdisjoint(wanted) and not (other.is_gone(before=index) and is_shown)

    def _is_exchanged(self, role: Role, path: str, value: object) -> bool:
        """Whether another object has that value in the references, and one object only here."""
        others = (each for each in self.usual.values if each != role and each.resource == role.resource)
        here = [flat.get(path) for each, flats in self._state.items() if each.resource == role.resource for flat in flats]
        return here.count(value) == 1 and any(repr(value) in self.usual.values[each].get(path, {}) for each in others)


def _is_new_time(value: object, wanted: Collection[object]) -> bool:
    """Whether it is a time, and no reference has one. That a time is missing is no such thing: it may have been lost."""
    return value == TIME and set(wanted) == {MISSING}


def _only_grows(run: Trial, resource: str, key: str) -> bool:
    """Whether an annotation of these objects is a number that never falls, and that no other user has changed."""
    for each in _of_resource(run, resource):
        last = 0
        for commit in each.commits:
            said = _annotations(commit.entry.object).get(key)
            if said is None or not said.isdecimal() or int(said) < last:
                if said is not None or last:
                    return False
            elif int(said) > last and commit.by is None:
                return False
            last = int(said) if said is not None else 0
    return True


class _Copied(NamedTuple):
    """The fields that an annotation of a resource's objects repeats at the end of each step, and of the run: those of a role, by
    role (`own`), of the object itself or of its owner; and of the owners of all objects. `values`: all that it says."""

    own: Mapping[Role, set[str]]
    owners: set[str]
    values: set[str]


def _copied(runs: Sequence[Trial], resource: str, key: str) -> _Copied:
    own: dict[Role, set[str]] = {}
    owners: set[str] | None = None
    values = set[str]()
    for run in runs:
        ends = [*(step.ended for step in run.steps if step.ended is not None), Position(len(run.entries))]
        for each, end in product(_of_resource(run, resource), ends):
            said = _annotations(_state(each, end)).get(key)
            if said is not None:
                same = {field for field, value in _asked(run, each, end) if str(value) == said}
                own[each.role] = own.get(each.role, same) & same
                owners = same if owners is None else owners & same
                values.add(said)
    return _Copied(own, {field for field in owners or () if field.startswith(_OWNER)}, values)


def _asked(run: Trial, each: Incarnation, end: Position) -> Iterator[tuple[str, object]]:
    """What its spec and that of its owner say before a position, and their generations; not how long their lists are."""
    of = {"own": _state(each, end), _OWNER: _state(object_history(run).objects.get(each.owner_uid), end)}
    said = {name: {"spec": obj.get("spec"), "at": obj.get("metadata", {}).get("generation")} for name, obj in of.items()}
    return ((field, value) for field, value in flatten(said, {}) if not field.endswith("#"))


def _fields_with(run: Trial, each: Incarnation, text: str) -> set[str]:
    """Those of these fields that have ever said this."""
    owner = object_history(run).objects.get(each.owner_uid)
    changed = [commit.index for of in (each, owner) if of is not None for commit in of.commits]
    return {field for index in changed for field, value in _asked(run, each, Position(index + 1)) if str(value) == text}


def _lists_past(run: Trial, resource: str, key: str, number: str) -> bool:
    """Whether an annotation of these objects has nothing but what a number of the same object has been, and loses none of it."""
    for each in _of_resource(run, resource):
        had, listed = set[str](), set[str]()
        for commit in each.commits:
            known = _annotations(commit.entry.object)
            had.add(known.get(number, ""))
            now = set(known[key].split(",")) if key in known else set[str]()
            if not listed <= now <= had:
                return False
            listed = now
    return True


def _state(each: Incarnation | None, end: Position) -> Manifest:
    """What an object was before a position; nothing if it was not there."""
    if each is None or each.is_gone(before=end):
        return {}
    there = [commit.entry.object for commit in each.commits if commit.index < end]
    return there[-1] if there else {}


def _of_resource(run: Trial, resource: str) -> list[Incarnation]:
    return [each for each in object_history(run).objects.values() if each.resource == resource]


def _annotations(obj: Manifest) -> Mapping[str, str]:
    return obj.get("metadata", {}).get("annotations") or {}


def _of_any_incarnation(role: Role) -> Role:
    return role._replace(owner=role.owner.partition("#")[0])


def _family(role: Role) -> Role:
    """What roles have in common whose names differ in a number; of a name that no reference has, the last part is not known."""
    stem = role.stem if role.stem.endswith("-") else stem_of(role.stem)
    return role._replace(stem=_NUMBERED_PART.sub("-#", stem))


def _differ_in_a_number(value: object, wanted: Collection[object]) -> bool:
    shapes = {_NUMBER.sub("#", str(each)) for each in (value, *wanted)}
    return len(shapes) == 1 and "#" in next(iter(shapes)) and not isinstance(value, bool)


def _reads_alike(value: object, wanted: object) -> bool:
    """Whether two texts hold the same in another order: the same lines, or of one line the same words."""
    return isinstance(value, str) and isinstance(wanted, str) and _parts(value) == _parts(wanted)


def _parts(text: str) -> Sequence[str]:
    return sorted(text.splitlines() if "\n" in text else re.split(r"[,;\s]+", text))
