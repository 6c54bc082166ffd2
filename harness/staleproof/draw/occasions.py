"""Which faults a workload gives an occasion for, as far as a controller's fault-free runs tell.

What it writes in a step is what it wrote in the step of `canonical.life` that is like it: the first, one that changes the primary,
one that scales it up or down, a touch. Where there is none, nothing is expected; nor is it while the primary says what it never
said in that life, because it may have turned the controller off.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from staleproof.core.move import merged
from staleproof.core.observed import Observed, Written
from staleproof.core.plan import Apply, Manifest, Patch, Step, Touch
from staleproof.draw.canonical import Workload, life


def written(observed: Observed, steps: Sequence[Step]) -> list[Written]:
    """What the controller is expected to write in these steps, at least."""
    found = []
    for number, (like, scaled_by) in enumerate(_like(observed, steps), 1):
        for each in observed.life:
            if each.step == like:
                times = min(each.times, scaled_by) if scaled_by else each.times
                found.append(replace(each, step=number, times=times))
    return found


def stirred(observed: Observed, steps: Sequence[Step]) -> list[tuple[str, int]]:
    """(resource, step) of each event that is sure to come after the first step: what is watched, and changes."""
    later = [(number, step) for number, step in enumerate(steps, 1) if number > 1]
    primary = [(observed.resource, number) for number, step in later if isinstance(step, Patch | Touch)]
    works = [each for each in written(observed, steps) if each.step > 1 and each.verb in ("create", "delete")]
    children = [(each.resource, each.step) for each in works]
    return sorted({each for each in (*primary, *children) if each[0] in observed.watched})


def _like(observed: Observed, steps: Sequence[Step]) -> Iterator[tuple[int, int]]:
    """For each step, the number of the one in `canonical.life` that is like it, 0 for none, and by how many replicas it scales."""
    lived = life(observed)
    counts = [*itertools.accumulate(steps, lambda count, step: _replicas(observed, step, count), initial=0)]
    contents = _contents(observed, steps)
    usual = _contents(observed, lived.steps)
    for number, (step, (before, after)) in enumerate(zip(steps, itertools.pairwise(counts), strict=True), 1):
        if number == 1:
            yield 1, after
        elif contents[number - 2] not in usual:
            yield 0, 0
        elif step == observed.change:
            yield (lived.changes if step not in steps[: number - 1] else 0), 0
        else:
            yield _unchanged(lived, step, before, after)


def _unchanged(lived: Workload, step: Step, before: int, after: int) -> tuple[int, int]:
    """The same for a step that leaves all but the replicas as it is."""
    if before != after:  # when all go, none can be deleted in excess
        return (lived.grows if after > before else lived.shrinks * (after > 0)), abs(after - before)
    return (lived.last if isinstance(step, Touch) else 0), 0


def _contents(observed: Observed, steps: Sequence[Step]) -> list[Manifest]:
    """What the primary says after each step, whatever its replicas are."""
    found: list[Manifest] = []
    said: Manifest = {}
    for step in steps:
        if isinstance(step, Apply | Patch):
            said = merged(said, step.object if isinstance(step, Apply) else step.patch)
            said = merged(said, observed.scale(1).patch) if observed.scale_path else said
        found.append(said)
    return found


def _replicas(observed: Observed, step: Step, before: int) -> int:
    """How many the primary wants after a step."""
    body = step.object if isinstance(step, Apply) else step.patch if isinstance(step, Patch) else None
    return before if body is None else _at(body, observed.scale_path, before)


def _at(body: Manifest, path: Sequence[str], before: int) -> int:
    value: object = body
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, int) else before
