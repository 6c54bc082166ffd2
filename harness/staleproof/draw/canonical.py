"""The workloads that canonical plans share: few, so that their references are run once and serve every fault.

Each says which of its steps does what; a step that the primary has no way to do is left out.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from msgspec import structs

from staleproof.core.fault import HideOwnWrite, OwnWrite
from staleproof.core.operator.observed import Changed, Input, Observed, Written
from staleproof.core.operator.unique import OTHER, with_hosts
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.move import Move
from staleproof.core.plan.plan import Settle
from staleproof.core.plan.step import Apply, Delete, Heartbeat, Patch, Rest, Restore, Step, Touch
from staleproof.core.times import (
    GONE_SECONDS,
    OUTAGE_DEADLINE_FACTOR,
    OUTAGE_DEADLINE_SECONDS,
    OUTAGE_SECONDS,
    SHORT_REST_SECONDS,
    STARTED_SECONDS,
    TERMINATING_SECONDS,
)

_AT_LEAST = 3
"""Replicas of a primary that can be scaled: with fewer, nothing is left that could be deleted in excess."""
_ALONE = 1
"""So few replicas are left where all but one go."""
UNWOKEN = Rest(seconds=SHORT_REST_SECONDS)
"""The last step where something has come back, in which the controller may start again. What wakes it would heal it."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Steps, and the numbers of those in which the primary is changed, grows, shrinks, is deleted and returns; 0 for none.

    `away`: the steps that change what the step behind each changes back; `goes`: the one in which something goes for good.
    `changed`: which resources had objects when the controller was observed, and in which steps they may have changed.
    """

    steps: tuple[Step, ...]
    changes: int = 0
    grows: int = 0
    shrinks: int = 0
    deletes: int = 0
    returns: int = 0
    away: tuple[int, ...] = ()
    goes: int = 0
    changed: tuple[Changed, ...] = ()

    def may_change(self, resource: str, since: int, until: int) -> bool:
        """Whether its state at the beginning of step `until` may differ from that at the beginning of step `since`."""
        return any(each.resource == resource and any(since <= step < until for step in each.steps) for each in self.changed)

    @property
    def last(self) -> int:
        """The number of the last step: a touch, or a rest."""
        return len(self.steps)


def replicas(observed: Observed) -> int:
    """How many the primary wants at first."""
    return max(observed.replicas, _AT_LEAST) if observed.scale_path else observed.replicas


def counts(observed: Observed) -> list[int]:
    """The replica counts that the API server accepts as far as it was asked (`assess.learn.accepted_moves`), the least first: that
    of the sample, one, those around the first one, and none if a move leads there. Empty: it cannot be scaled."""
    first = replicas(observed)
    asked = {observed.replicas, 1, first - 1, first, first + 1} | ({0} if _may_be_none(observed) else set())
    return sorted(asked) if observed.scale_path else []


def fewer(observed: Observed, count: int) -> list[Patch]:
    """The step after which the primary wants the next lower count; empty when there is none."""
    return [observed.scale(each) for each in counts(observed) if each < count][-1:]


def _may_be_none(observed: Observed) -> bool:
    scale = ".".join(observed.scale_path)
    return any(each.path == scale and each.becomes == "0" for each in observed.changes)


def appear(observed: Observed) -> Apply:
    """The primary's first step."""
    return Apply(object=observed.scaled(replicas(observed)))


def another(manifest: Manifest, hosts: Collection[str] = (), mark: str = OTHER) -> Manifest:
    """The same primary under another name, and with other host names than these: they end with the mark."""
    metadata = {**manifest["metadata"], "name": f"{manifest['metadata']['name']}{mark}"}
    return {key: metadata if key == "metadata" else with_hosts(inner, hosts, mark) for key, inner in manifest.items()}


def _workload(changed: tuple[Changed, ...], *steps: tuple[str, Step | None]) -> Workload:
    """Of these steps, each with the name of the field that has its number, if any does; those that there is no way to do are left
    out."""
    done = [(name, step) for name, step in steps if step is not None]
    numbers: dict[str, Any] = {name: number for number, (name, _) in enumerate(done, 1) if name}
    return Workload(tuple(step for _, step in done), changed=changed, **numbers)


def _scaled(observed: Observed, by: int) -> Patch | None:
    """The step after which the primary wants so many more than at first; None when it cannot be scaled."""
    return observed.scale(replicas(observed) + by) if observed.scale_path else None


def life(observed: Observed) -> Workload:
    """A primary appears, is changed, grows by one, shrinks by two and is touched."""
    return _workload(
        observed.life_changed,
        ("", appear(observed)),
        ("changes", observed.change),
        ("grows", _scaled(observed, 1)),
        ("shrinks", _scaled(observed, -1)),
        ("", Touch(target=observed.target)),
    )


def turns(observed: Observed) -> Workload:
    """A primary appears; each of its moves is made and taken back; it shrinks to one and grows again; what can be removed goes for
    good. An old view does most harm where something has come back. Without such moves `away` is empty."""
    removals = (observed.do(each) for each in observed.turned if each.kind.startswith("remove"))
    return _there_and_back(observed, observed.turned, _ALONE, next(removals, None))


def round_trip(observed: Observed, move: Move | None = None) -> Workload:
    """A primary appears, is changed and changed back, shrinks to as little as it may and grows again: it is asked for what it was
    asked for before. `move`: another change than the best of those that can be taken back."""
    moves = observed.returning[:1] if move is None else (move,)
    trip = _there_and_back(observed, moves, 0 if _may_be_none(observed) else 1)
    changed_in = trip.away[0] if moves else 0
    return replace(trip, changes=changed_in, changed=tuple(_changed_twice(observed, trip.away, changed_in)))


def _there_and_back(observed: Observed, moves: Iterable[Move], least: int, removal: Patch | None = None) -> Workload:
    """A primary appears; each move is made and taken back, and it shrinks to so few and grows again. Then something may go for
    good. Nothing wakes the controller in the end."""
    both = [(observed.do(move), observed.undo(move)) for move in moves]
    if observed.scale_path:
        both.append((observed.scale(least), observed.scale(replicas(observed))))
    back = [("", step) for step in itertools.chain.from_iterable(both)]
    made = _workload((), ("", appear(observed)), *back, ("goes", removal), ("", UNWOKEN))
    return replace(made, away=tuple(range(2, len(back) + 2, 2)))


def _changed_twice(observed: Observed, away: Sequence[int], changed_in: int) -> Iterator[Changed]:
    """What changed when the primary lived changes as often on a round trip: whatever is done to it is done again."""
    lived = life(observed)
    like = {step: {lived.changes} if step == changed_in else {lived.grows, lived.shrinks} for step in away}
    for each in observed.life_changed:
        again = [step for step in away if like[step] & set(each.steps) or each.resource == observed.resource]
        steps = ({1} & set(each.steps)) | {*again, *(step + 1 for step in again)}
        yield Changed(each.resource, tuple(sorted(steps)))


def outage(observed: Observed) -> Workload:
    """The same life, and then time in which nothing happens and what was broken off is not mended."""
    return replace(life(observed), steps=(*life(observed).steps, Rest(seconds=OUTAGE_SECONDS)))


def glance(observed: Observed) -> tuple[Step, ...]:
    """A primary appears and is touched."""
    return (appear(observed), Touch(target=observed.target))


def news(observed: Observed) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """A primary appears, is changed, and then something happens to one of its children, so that the controller looks again.

    Yields what happens to it, in words, with the steps; nothing without a child that the controller creates and watches.
    """
    ways = {"scaled up": _scaled(observed, 1), "changed": observed.change}
    for child in [each for each in observed.hideable if each.stays][:1]:
        beat = Heartbeat(resource=child.resource)
        yield from ((words, (appear(observed), step, beat)) for words, step in ways.items() if step is not None)


def death(observed: Observed, *, rests: float = TERMINATING_SECONDS) -> Workload:
    """A primary appears, grows by one, is deleted, and is made anew under the same name, and nothing wakes the controller.

    Between `deletes` and `returns` it rests so many seconds, in which a primary that is kept by a finalizer is terminating.
    """
    return _workload(
        observed.death_changed,
        ("", appear(observed)),
        ("grows", _scaled(observed, 1)),
        ("deletes", Delete(target=observed.target)),
        ("", Rest(seconds=rests)),
        ("returns", Apply(object=observed.scaled(replicas(observed) + 1))),
        ("", UNWOKEN),
    )


def ending(observed: Observed) -> list[Written]:
    """What the controller writes in `death` from the deletion of the primary until it is made anew: its finalizer may go later than
    in the step that deletes it."""
    died = death(observed)
    return [each for each in observed.death if died.deletes <= each.step < died.returns]


def is_update(observed: Observed, steps: Sequence[Step], each: Written) -> bool:
    """Whether it is a write, in one of these steps, of what was there before: a patch of a child may have created it, unless the
    primary was changed for it."""
    is_sure = each.resource == observed.resource or steps[each.step - 1] == observed.change
    return each.verb == "update" or (each.verb == "patch" and is_sure)


def own_updates(observed: Observed) -> list[Written]:
    """Its updates and patches in `life` of what was there before."""
    return [each for each in observed.life if is_update(observed, life(observed).steps, each)]


def own_create(observed: Observed, resource: str) -> OwnWrite:
    """The controller's first create of this resource: a patch, when it creates by server-side apply."""
    verbs = {each.verb for each in observed.life if (each.step, each.resource, each.subresource) == (1, resource, "")}
    return OwnWrite("patch" if "patch" in verbs and "create" not in verbs else "create")


def hidden_creates(observed: Observed) -> list[HideOwnWrite]:
    """For each resource that it creates and watches: what it creates first is hidden from it, and all that comes after."""
    return [HideOwnWrite(resource=each.resource, write=own_create(observed, each.resource)) for each in observed.hideable]


def slow_to_start(observed: Observed) -> Settle:
    """For plans that restart it: its start may take longer than anything that it does, and being elected longer still."""
    return with_a_start(patient(observed))


def with_a_start(settle: Settle) -> Settle:
    """With the time for a start in each step."""
    return structs.replace(settle, limit_seconds=max(settle.limit_seconds, STARTED_SECONDS))


def patient(observed: Observed, seconds: float = OUTAGE_SECONDS) -> Settle:
    """For plans with an outage, or a hold, that lasts so long."""
    settle = observed.settle()
    return structs.replace(
        settle, deadline_seconds=max(settle.deadline_seconds, OUTAGE_DEADLINE_SECONDS, OUTAGE_DEADLINE_FACTOR * seconds)
    )


def removal(observed: Observed) -> Workload:
    """A primary appears, grows by one, and is deleted for good; then there is some rest, so that an outage lasts."""
    died = death(observed, rests=GONE_SECONDS)
    return replace(died, steps=died.steps[: died.deletes + 1], returns=0)


class Turn(NamedTuple):
    """What the primary needs is away for a while: `how`, in words, and the steps by which it is, and is back."""

    of: Input
    how: str
    away: Step
    back: Step


def supply_turns(observed: Observed) -> list[Turn]:
    """Each object that the primary needs is taken away and brought back, and is another for a while."""
    return [turn for each in observed.inputs for turn in _turns_of(each)]


def _turns_of(each: Input) -> Iterator[Turn]:
    yield Turn(each, "gone", Delete(target=each.target), Restore(target=each.target))
    if each.edit:
        yield Turn(each, "otherwise", Patch(target=each.target, patch=each.edit), Patch(target=each.target, patch=each.undo))


def supply(observed: Observed, some: Sequence[Turn] | None = None) -> Workload:
    """A primary appears; what it needs is away and back, one thing after the other, and nothing wakes the controller in the end.
    Without anything like that `away` is empty. `some`: of all turns, these."""
    turned = supply_turns(observed) if some is None else some
    both = [("", step) for each in turned for step in (each.away, each.back)]
    made = _workload((), ("", appear(observed)), *both, ("", UNWOKEN))
    return replace(made, away=tuple(range(2, len(both) + 2, 2)))


def patience(observed: Observed, holds: Sequence[float]) -> tuple[Step, ...]:
    """A primary appears and is touched again and again, so many seconds after it appeared: each hold outlasts the one before."""
    rests = [Rest(seconds=hold - before) for before, hold in itertools.pairwise((0.0, *holds))]
    return (appear(observed), *(step for rest in rests for step in (rest, Touch(target=observed.target))))
