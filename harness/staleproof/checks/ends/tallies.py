"""Annotations in which the controller counts what it has done, or lists what it has counted: how often is the way, and no state.

Such a number only ever grows, in all runs, by the controller's own writes; and it is no old copy of a field of the object, or of
its owner, which may only ever grow as well.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from staleproof.checks.but_for import in_references
from staleproof.checks.facts.object_history import Incarnation, object_history, of_resource
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial
from staleproof.core.history.flatten import flatten
from staleproof.core.history.history import Position
from staleproof.core.plan.manifest import Manifest

ANNOTATIONS = "metadata.annotations."
"""What the path of an annotation begins with."""
_OWNER = "owner"


@dataclass(frozen=True)
class Tallies:
    """Those of the trial, or of another run of its workload, beside its references."""

    trial: Trial
    run: Trial

    def has(self, role: Role, path: str) -> bool:
        """Whether a field, which is an annotation, has a number that tells how often the controller has done something, or lists
        what such a number has been."""
        return self._look(role, path).is_tally and not self._may_be_copied(role, path)

    def says_what_was(self, role: Role, path: str) -> bool:
        """Whether objects of a role repeat there a field of their own or of their owner in all references, and one of them says
        here what that has been."""
        key, copied = path.removeprefix(ANNOTATIONS), self._look(role, path).copied
        fields = copied.own.get(role, set()) | copied.owners
        mine = [each for each in of_resource(self.run, role.resource) if each.role == role] if fields else []
        said = [(each, _annotations(each.last.entry.object).get(key)) for each in mine]
        return any(not fields.isdisjoint(_fields_with(self.run, each, text)) for each, text in said if text is not None)

    def _may_be_copied(self, role: Role, path: str) -> bool:
        """Whether objects of a role repeat there a field of their own in all references; or one of their owner, and one of them
        says here what that has been. A list that is always the same repeats nothing."""
        copied = self._look(role, path).copied
        if len(copied.values) == 1 and self._numbers(role.resource, path.removeprefix(ANNOTATIONS)):
            return False
        repeats_own = any(not field.startswith(_OWNER) for field in copied.own.get(role, ()))
        return repeats_own or self.says_what_was(role, path)

    def _look(self, role: Role, path: str) -> "_Look":
        key = path.removeprefix(ANNOTATIONS)
        if (role.resource, key) not in self._known:
            references = [run for run in self._runs if run is not self.run]
            found = _Look(self._counts_or_lists(role.resource, key), _copied(references, role.resource, key))
            self._known[role.resource, key] = found
        return self._known[role.resource, key]

    @cached_property
    def _known(self) -> dict[tuple[str, str], "_Look"]:
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

    def _keys(self, resource: str) -> set[str]:
        """Of all annotations of these objects in the end."""
        return {key for run in self._runs for each in of_resource(run, resource) for key in _annotations(each.last.entry.object)}

    @cached_property
    def _runs(self) -> Sequence[Trial]:
        """Those that are compared, and this one."""
        return [*in_references(self.trial, lambda run: run), self.run]


def _only_grows(run: Trial, resource: str, key: str) -> bool:
    """Whether an annotation of these objects is a number that never falls, and that no other user has changed."""
    for each in of_resource(run, resource):
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


class _Look(NamedTuple):
    """What an annotation of a resource's objects is, as far as all runs show it."""

    is_tally: bool
    copied: _Copied


def _copied(runs: Sequence[Trial], resource: str, key: str) -> _Copied:
    own: dict[Role, set[str]] = {}
    owners: set[str] | None = None
    values = set[str]()
    for run in runs:
        ends = [*(step.ended for step in run.steps if step.ended is not None), Position(len(run.entries))]
        for each, end in product(of_resource(run, resource), ends):
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
    for each in of_resource(run, resource):
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


def _annotations(obj: Manifest) -> Mapping[str, str]:
    return obj.get("metadata", {}).get("annotations") or {}
