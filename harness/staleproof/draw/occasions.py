"""Which faults a workload gives an occasion for, as far as a controller's fault-free runs show.

What it writes in a step is what it wrote in the step that is like it of the workloads at which it was watched: `canonical.life`,
`canonical.turns` and `canonical.death`. Where there is none, nothing is expected; nor is it while the primary says what it never
said in that workload, because it may have turned the controller off.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from staleproof.core.operator.observed import Calls, Observed, Written
from staleproof.core.plan.manifest import Manifest, value_at
from staleproof.core.plan.move import merged
from staleproof.core.plan.step import Apply, Delete, Edit, Heartbeat, Patch, PatchStatus, Recreate, Remove, Step, Touch
from staleproof.draw.canonical import death, is_update, life, turns

S = TypeVar("S")
OF_A_CHILD = (Edit, Heartbeat, Recreate, Remove)
"""What users do to a child."""
_OF_THE_PRIMARY = (Apply, Delete, Patch, PatchStatus, Touch)


def occasions(observed: Observed, steps: Sequence[Step]) -> "Occasions":
    """What the workload gives occasion for."""
    expected = [each for each in written(observed, steps) if each.changes]
    return Occasions(
        observed,
        steps,
        tuple(each for each in expected if not each.subresource),
        tuple(each for each in expected if each.subresource == "status"),
        tuple(stirred(observed, steps)),
        tuple(called(observed, steps)),
    )


def written(observed: Observed, steps: Sequence[Step]) -> list[Written]:
    """What the controller is expected to write in these steps, at least."""
    found = []
    missing: Counter[str] = Counter()  # a user deleted them, or set them aside, and new ones may not have come
    for number, (step, like) in enumerate(zip(steps, _likes(observed, steps), strict=True), 1):
        for each in like.writes:
            times = min(each.times, like.at_most) if like.at_most else each.times
            times -= missing[each.resource] if each.verb == "delete" else 0
            if each.step == like.step and times > 0:
                found.append(replace(each, step=number, times=times))
        missing.update([step.resource] if isinstance(step, Remove) or (isinstance(step, Edit) and step.sets_aside) else [])
    return found


def called(observed: Observed, steps: Sequence[Step]) -> Iterator[Calls]:
    """The calls to external systems that the controller is expected to make in these steps, at least."""
    for number, like in enumerate(_likes(observed, steps), 1):
        if like.writes is observed.life:
            yield from (replace(each, step=number) for each in observed.calls if each.step == like.step)


def stirred(observed: Observed, steps: Sequence[Step]) -> list[tuple[str, int]]:
    """(resource, step) of each event that is sure to come after the first step: what is watched, and changes."""
    found = {(observed.resource, number) for number, _ in numbered(steps, *_OF_THE_PRIMARY)}
    found |= {(step.resource, number) for number, step in enumerate(steps, 1) if isinstance(step, OF_A_CHILD)}
    works = [each for each in written(observed, steps) if each.changes]
    found |= {(each.resource, each.step) for each in works if _comes(each) or steps[each.step - 1] == observed.change}
    return sorted((resource, step) for resource, step in found if resource in observed.watched and step > 1)


def numbered(steps: Sequence[Step], *kinds: type[S]) -> list[tuple[int, S]]:
    """Each step that is of one of these kinds, with its number."""
    return [(number, step) for number, step in enumerate(steps, 1) if isinstance(step, kinds)]


def life_events(observed: Observed, resource: str) -> list[int]:
    """Steps of `canonical.life` after the first, the touch aside, that are sure to bring an event of this resource."""
    lived = life(observed)
    return [step for each, step in stirred(observed, lived.steps) if each == resource and step < lived.last]


def _comes(each: Written) -> bool:
    """Whether each of these writes is an event: an update may leave everything as it is, unless the primary was changed for it."""
    return each.verb in ("create", "delete")


@dataclass(frozen=True, slots=True)
class Occasions:
    """What a workload gives occasion for.

    Attributes:
        writes: what the controller is expected to write, if it changes anything; not in a status.
        statuses: the same of statuses.
        seen: (resource, step) of each event of what it watches that is sure to come after the first step.
        calls: what it is expected to call external systems for.
    """

    observed: Observed
    steps: Sequence[Step]
    writes: tuple[Written, ...]
    statuses: tuple[Written, ...]
    seen: tuple[tuple[str, int], ...]
    calls: tuple[Calls, ...] = ()

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.steps)

    @property
    def every_write(self) -> tuple[Written, ...]:
        """Those of statuses, too."""
        return (*self.writes, *self.statuses)

    @property
    def updates(self) -> list[Written]:
        """Those of them that change what was there before."""
        return [each for each in self.every_write if is_update(self.observed, self.steps, each)]

    def hideable(self, writes: Sequence[Written]) -> list[Written]:
        return [each for each in writes if each.resource in self.observed.watched]

    def frames(self, resource: str, step: int) -> int:
        """How many events of the resource are sure to come in a step of `seen`: one, or one for each that is made or deleted."""
        return max(1, sum(each.times for each in self.writes if (each.resource, each.step) == (resource, step) and _comes(each)))

    def changed(self, resource: str, since: int, until: int) -> bool:
        """Whether something of the resource is sure to be otherwise at the beginning of one step than at that of another: of the
        primary what it says, of children which there are. A touch changes nothing that counts."""
        if resource == self.observed.resource:
            return any(isinstance(step, Apply | Patch | Delete) for step in self.steps[since - 1 : until - 1])
        return any(each.resource == resource and since <= each.step < until for each in self.writes)


@dataclass(frozen=True, slots=True)
class _Like:
    """The step of a known workload that a step is like: what was written in that workload, and the number of the step there; 0 for
    none. `at_most`: no more can be made or deleted; 0: as many as were."""

    writes: tuple[Written, ...] = ()
    step: int = 0
    at_most: int = 0


@dataclass(frozen=True, slots=True)
class _Primary:
    """What the primary says, whatever its replicas are, and how many it wants. `done`: what users have done so far."""

    said: Manifest
    count: int
    done: tuple[Step, ...]


def _likes(observed: Observed, steps: Sequence[Step]) -> Iterator[_Like]:
    """What each step is like."""
    died, base = death(observed), _plain(observed, observed.sample)
    there: _Primary | None = None
    for number, step in enumerate(steps, 1):
        before = there
        if isinstance(step, Apply) and step.object["metadata"]["name"] != observed.target.name:
            yield _Like(observed.life, 1, _replicas(observed, step.object, 1))
        elif isinstance(step, Apply) and before is None:
            there = _Primary(_plain(observed, step.object), _replicas(observed, step.object, 0), tuple(steps[:number]))
            returned = _Like(observed.death, died.returns, there.count) if there.said == base else _Like()
            yield _Like(observed.life, 1, there.count) if number == 1 else returned
        elif isinstance(step, Delete) and step.target == observed.target and before is not None:
            there = None
            is_known = before.said == base and (before.count or not observed.scale_path)
            yield _Like(observed.death, died.deletes, before.count) if is_known else _Like()
        elif isinstance(step, Patch | Touch) and step.target == observed.target and before is not None:
            patch = step.patch if isinstance(step, Patch) else {}
            said = _plain(observed, merged(before.said, patch))
            there = _Primary(said, _replicas(observed, patch, before.count), (*before.done, step))
            yield _as_changed(observed, before, step, there.count)
        else:
            yield _Like()


def _as_changed(observed: Observed, before: _Primary, step: Patch | Touch, count: int) -> _Like:
    """What a change, or a touch, of the primary is like, after which it wants so many replicas."""
    lived, base = life(observed), _plain(observed, observed.sample)
    if isinstance(step, Patch) and before.count == count:
        return _as_turned(observed, before, step, base) if step not in before.done else _Like()
    if before.said not in (base, merged(base, observed.change.patch) if observed.change is not None else base):
        return _Like()
    if before.count == count:
        return _Like(observed.life, lived.last)
    like = lived.grows if count > before.count else lived.shrinks * (count > 0)  # when all go, none can be deleted in excess
    return _Like(observed.life, like, abs(count - before.count))


def _as_turned(observed: Observed, before: _Primary, step: Patch, base: Manifest) -> _Like:
    """What a change of anything but the replicas is like: the one of its life, or one of those that are taken back."""
    if step == observed.change and before.said == base:
        return _Like(observed.life, life(observed).changes)
    for move, number in zip(observed.turned, turns(observed).away, strict=False):
        if step == observed.do(move) and before.said == base:
            return _Like(observed.turns, number)
        if step == observed.undo(move) and before.said == merged(base, move.do):
            return _Like(observed.turns, number + 1)
    return _Like()


def _plain(observed: Observed, said: Manifest) -> Manifest:
    """The same whatever its replicas are."""
    return merged(said, observed.scale(1).patch) if observed.scale_path else said


def _replicas(observed: Observed, body: Manifest, before: int) -> int:
    """How many the primary wants once it says this."""
    value = value_at(body, observed.scale_path)
    return value if isinstance(value, int) else before
