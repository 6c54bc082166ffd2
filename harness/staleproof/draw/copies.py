"""Many primaries of one sample, the copies, that one trial makes, moves and moves back together; and a plan with some of them only.

They differ in nothing but their names and their moves. A plan with one of them has the same steps and the same faults.
"""

import re
import string
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from staleproof.core.operator.observed import Observed
from staleproof.core.operator.unique import marked, with_hosts
from staleproof.core.plan.manifest import Manifest, Target, target_of
from staleproof.core.plan.move import Move, merged
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Delete, Patch, Rest, Step, Touch, at_once, in_parts, parts
from staleproof.draw.canonical import UNWOKEN, another

SWEEP = "sweep"
"""The scenario that their plans are of."""
WIDTH = 8
"""So many primaries at most that one controller works on at once: old clients send five requests a second."""
MARKS = tuple(f"-{letter}" for letter in string.ascii_lowercase)
"""What the names of copies end with."""
T = TypeVar("T")
_Done = Apply | Patch | Touch | Delete


@dataclass(frozen=True, slots=True)
class Copy:
    """One of many primaries that are made from the same sample: under a name of its own, and with host names of its own."""

    manifest: Manifest
    move: Move

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def target(self) -> Target:
        return target_of(self.manifest)

    @property
    def appears(self) -> Apply:
        return Apply(object=self.manifest)

    @property
    def appears_moved(self) -> Apply:
        return Apply(object=merged(self.manifest, self.move.do))

    @property
    def goes(self) -> Delete:
        return Delete(target=self.target)

    @property
    def does(self) -> Patch:
        return Patch(target=self.target, patch=self.move.do)

    @property
    def undoes(self) -> Patch:
        return Patch(target=self.target, patch=self.move.undo)


def copies(observed: Observed, moves: Sequence[Move]) -> list[Copy]:
    """One for each of these moves, at most as many as there are letters. No name begins with another one."""
    return [_copy(observed, mark, move) for mark, move in zip(MARKS, moves, strict=False)]


def _copy(observed: Observed, mark: str, move: Move) -> Copy:
    do, undo = (with_hosts(patch, observed.hosts, mark) for patch in (move.do, move.undo))
    return Copy(another(observed.sample, observed.hosts, mark), replace(move, do=do, undo=undo))


def hosts_of_copies(observed: Observed) -> tuple[str, ...]:
    """The host names that copies have in place of the sample's."""
    return tuple(marked(host, mark) for mark in MARKS[:WIDTH] for host in observed.hosts)


def there(made: Sequence[Copy]) -> tuple[Step, ...]:
    """All appear and are moved, and nothing wakes the controller in the end."""
    return (*_steps(([each.appears for each in made], [each.does for each in made])), UNWOKEN)


def there_and_back(made: Sequence[Copy]) -> tuple[Step, ...]:
    """All appear, are moved, are moved back, and nothing wakes the controller in the end."""
    ways = ([each.appears for each in made], [each.does for each in made], [each.undoes for each in made])
    return (*_steps(ways), UNWOKEN)


def back_and_there(made: Sequence[Copy]) -> tuple[Step, ...]:
    """All appear as their moves leave them, are moved back, are moved again, and nothing wakes the controller in the end."""
    ways = ([each.appears_moved for each in made], [each.undoes for each in made], [each.does for each in made])
    return (*_steps(ways), UNWOKEN)


def made_anew(made: Sequence[Copy]) -> tuple[Step, ...]:
    """All appear as their moves leave them, and go; others of their names appear without the move, and nothing wakes the controller
    in the end."""
    ways = ([each.appears_moved for each in made], [each.goes for each in made], [each.appears for each in made])
    return (*_steps(ways), UNWOKEN)


def chunks(items: Sequence[T], most: int = WIDTH) -> Iterator[Sequence[T]]:
    """All of them, so many at a time."""
    return (items[first : first + most] for first in range(0, len(items), most))


# --- copies of a plan ------------------------------------------------------------------------------------------------------------


def copies_in(plan: Plan) -> list[str]:
    """The names of a sweep's primaries; empty for a plan that is no sweep, or has one primary only."""
    names = dict.fromkeys(name for part in in_parts(plan.steps) if (name := _name(part)))
    return list(names) if plan.scenario == SWEEP and len(names) > 1 else []


def alone(plan: Plan, name: str) -> Plan:
    """A sweep with this primary only: the same steps, the same faults."""
    return replace(plan, title=f"{plan.title}; {name} alone", steps=_only(plan, {name}))


def without(plan: Plan, names: Collection[str]) -> Plan | None:
    """A sweep without these primaries; None when none are named, or none would be left."""
    left = set(copies_in(plan)).difference(names)
    if not names or not left:
        return None
    return replace(plan, title=f"{plan.title}; without {', '.join(names)}", steps=_only(plan, left))


def _only(plan: Plan, names: Collection[str]) -> tuple[Step, ...]:
    """Its steps, as far as they are about these primaries."""

    def left(step: Step) -> Step | None:
        return at_once(part for part in parts(step) if isinstance(part, _Done) and _name(part) in names)

    made = (step if isinstance(step, Rest) else left(step) for step in plan.steps)
    return tuple(step for step in made if step is not None)


def mentioned(names: Collection[str], text: str) -> list[str]:
    """Which of a sweep's primaries a sentence is about."""
    return [name for name in names if re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text)]


def _name(part: Step) -> str:
    match part:
        case Apply(object=manifest):
            return str(manifest["metadata"]["name"])
        case Patch(target=target) | Touch(target=target) | Delete(target=target):
            return target.name
    return ""


def _steps(ways: Iterable[Sequence[_Done]]) -> tuple[Step, ...]:
    return tuple(step for way in ways if (step := at_once(way)) is not None)
