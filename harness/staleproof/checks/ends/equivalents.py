"""Ends that are not like the references', and as good.

A controller chooses some of what it writes: a free address or port, the next number. Which one is free depends on what came first,
and on what it had been shown to be given back; a number is used up by a request that a fault made fail, or by a life that was
killed. It may number what it keeps of earlier states (`numbering`), list things in the order in which they came, note when
something failed, which it never does without faults, and count what it has done so far (`tallies`).
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from staleproof.checks.but_for import in_references
from staleproof.checks.ends.hull import Baseline, group
from staleproof.checks.ends.numbering import in_same_order
from staleproof.checks.ends.tallies import ANNOTATIONS, Tallies
from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.garbage import without_garbage
from staleproof.checks.facts.object_history import Incarnation, object_history, of_resource
from staleproof.checks.facts.roles import Role, of_any_incarnation, stem_of
from staleproof.checks.trial import Trial
from staleproof.checks.view.life import view
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Answered
from staleproof.core.history.flatten import MISSING, TIME, Flat, flatten
from staleproof.core.history.provenance import Commit
from staleproof.core.plan.manifest import Manifest, content_of

_NUMBER, _NUMBERED_PART = re.compile(r"\d+"), re.compile(r"-\d+(?=-|$)")


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
        is_noted = path.startswith(ANNOTATIONS) and (
            _is_new_time(value, wanted) or self._is_last_number(role, path, value, wanted) or self._tallies.has(role, path)
        )
        return (
            is_noted
            or any(_reads_alike(value, each) for each in wanted)
            or self._is_free_choice(role, path, value, wanted)
            or self._is_generation(role, path, value)
            or (not self._is_asked_for(value) and in_same_order(self.trial, self.run, self.usual, self._state, role, path))
        )

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
        were = {of_any_incarnation(each.role) for each in made}
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

    @cached_property
    def _tallies(self) -> Tallies:
        return Tallies(self.trial, self.run)

    def _is_last_number(self, role: Role, path: str, value: object, wanted: Collection[object]) -> bool:
        """Whether it is the highest number in the names of objects of which some were used up, and so it is in the references; and
        not what a user wanted before, by chance."""
        usual = set(in_references(self.trial, self._last_number)) if self.renumbered else set[str]()
        is_last = bool(usual) and str(value) == self._last_number(self.run) and set(map(str, wanted)) <= usual
        return is_last and not self._tallies.says_what_was(role, path)

    def _last_number(self, run: Trial) -> str:
        """The highest in any name of such objects in a run; empty: there is none."""
        families, made = set(map(_family, self.renumbered)), object_history(run).objects.values()
        names = (each.name for each in made if _family(of_any_incarnation(each.role)) in families)
        return str(max((int(found[-1][1:]) for name in names if (found := _NUMBERED_PART.findall(name))), default=""))

    def _is_generation(self, role: Role, path: str, value: object) -> bool:
        """Whether the objects say there which generation their owner has, in all runs: a controller that completes its primary's
        spec brings about as many as it was shown changes."""
        runs = [self.run, *self.trial.references]
        return str(value).isdecimal() and all(_says_generation(each, role, path) for each in runs)

    # --- one of many that are free

    def _is_free_choice(self, role: Role, path: str, value: object, wanted: Collection[object]) -> bool:
        """Whether a value that differs in a number only, and that no user has asked for, was free where theirs was not: another
        object had that when this one was made, or was not shown to be gone by then; or has it in the references, and another one
        here."""
        if self._is_asked_for(value) or not self._is_exclusive(role.resource, path):
            return False
        if not _differ_in_a_number(value, wanted):
            return self._is_swapped(role, path, value, wanted)
        every = of_resource(self.run, role.resource)
        made = [each for each in every if each.creator is not None and value in self._values(each, path)]
        was_taken = bool(made) and all(any(self._had(other, each, path, wanted) for other in every) for each in made)
        return was_taken or self._is_exchanged(role, path, value)

    def _is_exclusive(self, resource: str, path: str) -> bool:
        """Whether no two objects of the references have the same there: a limit, say, is nothing that one takes from another."""
        known = [set(values[path]) for role, values in self.usual.values.items() if role.resource == resource and path in values]
        return all(one.isdisjoint(other) for one, other in combinations(known, 2))

    def _is_asked_for(self, value: object) -> bool:
        """Whether a user ever gave a primary this value. What was there before is the controller's, or was asked for before."""
        primaries = (each for each in object_history(self.run).objects.values() if each.resource in self.run.beside.primaries)
        given = (_changed(commit) for each in primaries for commit in each.commits if commit.by is None)
        return any(str(value) == each for values in given for _, each in values)

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
        return self._here(role, path).count(value) == 1 and any(
            repr(value) in self.usual.values[each].get(path, {}) for each in others
        )

    def _is_swapped(self, role: Role, path: str, value: object, wanted: Collection[object]) -> bool:
        """Whether two names of which one is as good as the other (hosts, zones) are exchanged: each is there once, here and in the
        references. A name that is made of a primary's says whose it is; and what users asked for in other words may follow from
        those."""
        names = {each.rpartition("/")[2] for each in self.run.beside.applied}
        if not all(isinstance(each, str) and each != MISSING for each in (value, *wanted)):
            return False
        if any(
            re.search(rf"(?<![a-zA-Z0-9]){re.escape(name)}(?![a-zA-Z0-9])", str(each))
            for each in (value, *wanted)
            for name in names
        ):
            return False
        here = self._here(role, path)
        has_it = [each for each, values in self.usual.values.items() if repr(value) in values.get(path, {})]
        is_alike = any(self._wishes(each) == self._wishes(role) for each in has_it if each.resource == role.resource)
        return is_alike and self._is_exchanged(role, path, value) and all(here.count(each) == 1 for each in wanted)

    def _here(self, role: Role, path: str) -> Sequence[object]:
        """What all objects of the role's resource have there."""
        return [flat.get(path) for each, flats in self._state.items() if each.resource == role.resource for flat in flats]

    def _wishes(self, role: Role) -> set[frozenset[tuple[str, object]]]:
        """The texts that users gave the primaries of a role's objects when they made them."""
        run, found = self.run, set[frozenset[tuple[str, object]]]()
        for each in object_history(run).objects.values():
            head = each if each.resource in run.beside.primaries else primary_of(run, each.uid)
            if of_any_incarnation(each.role) == role and head is not None:
                said = flatten(content_of(head.first.entry.object), {head.name: "<name>"}, run.namespace)
                found.add(frozenset((path, text) for path, text in said if isinstance(text, str)))
        return found


def _says_generation(run: Trial, role: Role, path: str) -> bool:
    objects, end = object_history(run).objects, len(run.entries)
    of = [each for each in objects.values() if of_any_incarnation(each.role) == role and each.is_live(before=end)]
    said = [(dict(flatten(each.last.entry.object, {}, run.namespace)).get(path), objects.get(each.owner_uid)) for each in of]
    return bool(said) and all(owner is not None and str(text) == str(owner.last.generation) for text, owner in said)


def _is_new_time(value: object, wanted: Collection[object]) -> bool:
    """Whether it is a time, and no reference has one. That a time is missing is no such thing: it may have been lost."""
    return value == TIME and set(wanted) == {MISSING}


def _family(role: Role) -> Role:
    """What roles have in common whose names differ in a number; of a name that no reference has, the last part is not known."""
    stem = role.stem if role.stem.endswith("-") else stem_of(role.stem)
    return role._replace(stem=_NUMBERED_PART.sub("-#", stem))


def _changed(commit: Commit) -> Collection[tuple[str, str]]:
    """Path and value of what a commit brought."""
    after, before = (
        {(path, str(each)) for path, each in flatten(state or {}, {})} for state in (commit.entry.object, commit.before)
    )
    return after - before


def _differ_in_a_number(value: object, wanted: Collection[object]) -> bool:
    shapes = {_NUMBER.sub("#", str(each)) for each in (value, *wanted)}
    return len(shapes) == 1 and "#" in next(iter(shapes)) and not isinstance(value, bool)


def _reads_alike(value: object, wanted: object) -> bool:
    """Whether two texts hold the same in another order: the same lines, or of one line the same words."""
    if not (isinstance(value, str) and isinstance(wanted, str)):
        return False
    return _parts(value) == _parts(wanted) or (value[:1] in "[{" and _unordered(value) == _unordered(wanted) != "")


def _unordered(text: str) -> str:
    """JSON without the order of its lists; empty for what is none."""
    try:
        return repr(_sorted(json.loads(text)))
    except (ValueError, RecursionError):
        return ""


def _sorted(value: Any) -> Any:  # noqa: ANN401  # JSON
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return sorted(map(_sorted, value), key=repr) if isinstance(value, list) else value


def _parts(text: str) -> Sequence[str]:
    return sorted(text.splitlines() if "\n" in text else re.split(r"[,;\s]+", text))
