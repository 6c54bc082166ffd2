"""The workloads that canonical plans share: few, so that their references are run once and serve every fault.

Each says which of its steps does what; a step that the primary has no way to do is left out.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from staleproof.core.fault import HideOwnWrite, OwnWrite
from staleproof.core.operator.observed import Changed, Observed, Written
from staleproof.core.operator.unique import OTHER, with_hosts
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.move import Move
from staleproof.core.plan.plan import Settle
from staleproof.core.plan.step import Apply, Delete, Heartbeat, Rest, Step, Touch

_AT_LEAST = 3
"""Replicas of a primary that can be scaled: with fewer, nothing is left that could be deleted in excess."""
_ALONE = 1
"""So few replicas are left where all but one go."""
_TERMINATING_SECONDS = 0.3
_GONE_SECONDS = 1.0
OUTAGE_SECONDS = 4.0
"""How long an outage lasts at least: long enough to tell a growing delay between retries from one that does not grow."""
LONG_SECONDS = 12.0
"""Longer than the patience that controllers have of their own: for the creates that they expect, say."""
_STARTED_SECONDS = 60.0
_DEADLINE_SECONDS, _DEADLINE_FACTOR = 30.0, 2.5
"""A client that was turned away for long may wait twice as long again before it comes back."""


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
        """The number of the last step: the touch, or the rest of an `outage` and of a `removal`."""
        return len(self.steps)


def replicas(observed: Observed) -> int:
    """How many the primary wants at first."""
    return max(observed.replicas, _AT_LEAST) if observed.scale_path else observed.replicas


def appear(observed: Observed) -> Apply:
    """The primary's first step."""
    return Apply(object=observed.scaled(replicas(observed)))


def another(manifest: Manifest, hosts: Collection[str] = ()) -> Manifest:
    """The same primary under another name, and with other host names than these."""
    metadata = {**manifest["metadata"], "name": f"{manifest['metadata']['name']}{OTHER}"}
    return {key: metadata if key == "metadata" else with_hosts(inner, hosts, OTHER) for key, inner in manifest.items()}


def life(observed: Observed) -> Workload:
    """A primary appears, is changed, grows by one, shrinks by two and is touched."""
    steps: list[Step] = [appear(observed)]
    if observed.change is not None:
        steps.append(observed.change)
    changes = len(steps) if observed.change is not None else 0
    if observed.scale_path:
        steps += [observed.scale(replicas(observed) + 1), observed.scale(replicas(observed) - 1)]
    grows = len(steps) - 1 if observed.scale_path else 0
    steps.append(Touch(target=observed.target))
    return Workload(tuple(steps), changes, grows, grows and grows + 1, changed=observed.life_changed)


def turns(observed: Observed) -> Workload:
    """A primary appears; each of its moves is made and taken back; it shrinks to one and grows again; what can be removed goes for
    good; then it is touched. An old view does most harm where something has come back. Without such moves `away` is empty."""
    steps, away = _there_and_back(observed, observed.turned, _ALONE)
    removal = next((each for each in observed.turned if each.kind.startswith("remove")), None)
    if removal is not None:
        steps.append(observed.do(removal))
    goes = len(steps) if removal is not None else 0
    steps.append(Touch(target=observed.target))
    return Workload(tuple(steps), away=away, goes=goes)


def round_trip(observed: Observed, move: Move | None = None) -> Workload:
    """A primary appears, is changed and changed back, shrinks to as little as it may and grows again, and is touched: it is asked
    for what it was asked for before. `move`: another change than the best of those that can be taken back."""
    moves = observed.returning[:1] if move is None else (move,)
    steps, away = _there_and_back(observed, moves, _least(observed))
    steps.append(Touch(target=observed.target))
    changes = away[0] if moves else 0
    return Workload(tuple(steps), changes, away=away, changed=tuple(_changed_twice(observed, away, changes)))


def _there_and_back(observed: Observed, moves: Iterable[Move], least: int) -> tuple[list[Step], tuple[int, ...]]:
    """A primary appears; each move is made and taken back, and it shrinks to so few and grows again. With the numbers of the steps
    that are taken back."""
    both = [(observed.do(move), observed.undo(move)) for move in moves]
    if observed.scale_path:
        both.append((observed.scale(least), observed.scale(replicas(observed))))
    steps: list[Step] = [appear(observed), *itertools.chain.from_iterable(both)]
    return steps, tuple(range(2, len(steps), 2))


def _least(observed: Observed) -> int:
    """Nothing, if the API server accepts that."""
    scale = ".".join(observed.scale_path)
    return 0 if any(move.path == scale and move.becomes == "0" for move in observed.changes) else 1


def _changed_twice(observed: Observed, away: Sequence[int], changes: int) -> Iterator[Changed]:
    """What changed when the primary lived changes as often on a round trip: whatever is done to it is done again."""
    lived = life(observed)
    for each in observed.life_changed:
        found = {1} & set(each.steps)
        for step in away:
            alike = {lived.changes} if step == changes else {lived.grows, lived.shrinks}
            if alike & set(each.steps) or each.resource == observed.resource:
                found |= {step, step + 1}
        yield Changed(each.resource, tuple(sorted(found)))


def outage(observed: Observed) -> Workload:
    """The same life, and then time in which nothing happens and what was broken off is not mended."""
    plan = life(observed)
    return replace(plan, steps=(*plan.steps, Rest(seconds=OUTAGE_SECONDS)))


def glance(observed: Observed) -> tuple[Step, ...]:
    """A primary appears and is touched."""
    return (appear(observed), Touch(target=observed.target))


def news(observed: Observed) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """A primary appears, is changed, and then something happens to one of its children, so that the controller looks again.

    Yields what happens to it, in words, with the steps; nothing without a child that the controller creates and watches.
    """
    for child in [each for each in observed.hideable if each.stays][:1]:
        beat = Heartbeat(resource=child.resource)
        if observed.scale_path:
            yield "scaled up", (appear(observed), observed.scale(replicas(observed) + 1), beat)
        if observed.change is not None:
            yield "changed", (appear(observed), observed.change, beat)


def death(observed: Observed, *, rests: float = _TERMINATING_SECONDS) -> Workload:
    """A primary appears, grows by one, is deleted, and is made anew as it was under the same name; then it is touched.

    Between `deletes` and `returns` it rests so many seconds, in which a primary that is kept by a finalizer is terminating.
    """
    steps: list[Step] = [appear(observed)]
    again = appear(observed)
    if observed.scale_path:
        steps.append(observed.scale(replicas(observed) + 1))
        again = Apply(object=observed.scaled(replicas(observed) + 1))
    grows = len(steps) if observed.scale_path else 0
    steps += [Delete(target=observed.target), Rest(seconds=rests), again, Touch(target=observed.target)]
    deletes, returns = len(steps) - 3, len(steps) - 1
    return Workload(tuple(steps), grows=grows, deletes=deletes, returns=returns, changed=observed.death_changed)


def is_update(observed: Observed, steps: Sequence[Step], each: Written) -> bool:
    """Whether it is a write, in one of these steps, of what was there before: a patch of a child may have created it, unless the
    primary was changed for it."""
    is_of_the_primary = each.resource == observed.resource
    return each.verb == "update" or (each.verb == "patch" and (is_of_the_primary or steps[each.step - 1] == observed.change))


def own_updates(observed: Observed) -> list[Written]:
    """Its updates and patches in `life` of what was there before."""
    return [each for each in observed.life if is_update(observed, life(observed).steps, each)]


def own_create(observed: Observed, resource: str) -> OwnWrite:
    """The controller's first create of this resource: a patch, when it creates by server-side apply."""
    verbs = {each.verb for each in observed.life if (each.step, each.resource, each.subresource) == (1, resource, "")}
    return OwnWrite("patch" if "patch" in verbs and "create" not in verbs else "create")


def hidden_creates(observed: Observed) -> list[HideOwnWrite]:
    """For each resource that it creates and watches: what it creates first is hidden from it, and all that comes after."""
    resources = [child.resource for child in observed.hideable]
    return [HideOwnWrite(resource=each, write=own_create(observed, each)) for each in resources]


def slow_to_start(observed: Observed) -> Settle:
    """For plans that restart it: its start may take longer than anything that it does, and being elected longer still."""
    settle = patient(observed)
    return structs.replace(settle, limit_seconds=max(settle.limit_seconds, _STARTED_SECONDS))


def patient(observed: Observed, seconds: float = OUTAGE_SECONDS) -> Settle:
    """For plans with an outage, or a hold, that lasts so long."""
    settle = observed.settle()
    return structs.replace(settle, deadline_seconds=max(settle.deadline_seconds, _DEADLINE_SECONDS, _DEADLINE_FACTOR * seconds))


def removal(observed: Observed) -> Workload:
    """A primary appears, grows by one, and is deleted for good; then there is some rest, so that an outage lasts."""
    died = death(observed, rests=_GONE_SECONDS)
    return replace(died, steps=died.steps[: died.deletes + 1], returns=0)


def patience(observed: Observed, holds: Sequence[float]) -> tuple[Step, ...]:
    """A primary appears and is touched again and again, so many seconds after it appeared: each hold outlasts the one before."""
    steps: list[Step] = [appear(observed)]
    before = 0.0
    for hold in holds:
        steps += [Rest(seconds=hold - before), Touch(target=observed.target)]
        before = hold
    return tuple(steps)
