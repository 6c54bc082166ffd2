"""Plans of the own-writes scenario: hide the controller's own writes from it, then make it look again.

Canonical plans need no luck and come first; drawn ones vary the workload, the hidden write, the poke and the hold. A write is only
hidden in a step that causes it: the fault of a plan that cannot fire would make every trial of it inconclusive.
"""

import itertools
from collections.abc import Iterator
from typing import Literal

import hypothesis.strategies as st

from staleproof.core.fault import HideOwnWrite, OwnWrite, Release, Window
from staleproof.core.observed import ChildKind, Observed
from staleproof.core.plan import Apply, Plan, Rest, Resync, Step, Touch

SCENARIO = "own-writes"
AIMS = {
    "create": ("no-duplicate-create", "converges-after-catch-up"),
    "delete": ("no-excess-delete", "converges-after-catch-up"),
}
Verb = Literal["create", "delete"]
Poke = Literal["touch", "resync"]
POKES: tuple[Poke, ...] = ("touch", "resync")  # the first costs a client nothing; nor does the first of the releases
RELEASES: tuple[Release, ...] = ("events", "relist", "resume")
MOST_REPLICAS = 6
_DELETED = 2
"""How many children canonical plans make the controller delete."""


def poke_step(poke: Poke, observed: Observed) -> Step:
    """A step that makes the controller look again although there is nothing new to do."""
    return Touch(target=observed.target) if poke == "touch" else Resync(resource=observed.resource)


def canonical(observed: Observed, verb: Verb, poke: Poke) -> Iterator[Plan]:
    """For each resource that the controller writes this way: hide the first such write and everything after it, poke, release."""
    for child in observed.children:
        if not child.watched or not (child.creates if verb == "create" else child.deletes and observed.scale_path):
            continue
        if poke == "resync" and verb == "delete" and not observed.relists_at_once:
            continue  # it would wait longer after each 410; the creates have shown what a relist does
        first = _appear(observed) if verb == "create" else _scale_down(observed)
        fault = HideOwnWrite(resource=child.resource, window=Window(from_step=len(first)), write=OwnWrite(verb))
        yield Plan(
            scenario=SCENARIO,
            title=f"hide own {verb}s of {child.resource}, then {poke}",
            aims=AIMS[verb],
            manifests=observed.manifests,
            steps=(*first, poke_step(poke, observed)),
            faults=(fault,),
            settle=observed.settle(),
        )


def idempotence(observed: Observed) -> Plan:
    """No fault at all: once everything is done, reconcile everything again."""
    steps: list[Step] = [Apply(object=observed.sample)]
    if observed.scale_path:
        steps.append(observed.scale(observed.replicas + 1))
    return Plan(
        scenario=SCENARIO,
        title="no fault: reconcile everything again once it has settled",
        aims=("settles",),
        manifests=observed.manifests,
        steps=tuple(steps),
        settle=observed.settle(resync=True),
    )


def _appear(observed: Observed) -> list[Step]:
    """A sample that wants nothing would not make the controller create anything."""
    return [Apply(object=observed.sample if observed.replicas else observed.scaled(1))]


def _scale_down(observed: Observed) -> list[Step]:
    """Leaves at least one child: only what should have stayed can be deleted in excess."""
    replicas = max(observed.replicas, _DELETED + 1)
    return [Apply(object=observed.scaled(replicas)), observed.scale(replicas - _DELETED)]


@st.composite
def plans(draw: st.DrawFn, observed: Observed) -> Plan:
    """Any plan of the scenario: replica counts, order and kind of steps, which own write is hidden, for how long, which poke."""
    replicas = draw(st.integers(1, MOST_REPLICAS)) if observed.scale_path else observed.replicas
    steps: list[Step] = [Apply(object=observed.scaled(replicas))]
    counts = [replicas]
    for kind in draw(st.lists(st.sampled_from(_kinds(observed)), max_size=3)):
        if kind == "scale":
            replicas = draw(st.sampled_from([n for n in range(MOST_REPLICAS + 1) if n != replicas]))
            steps.append(observed.scale(replicas))
        else:
            steps.append(poke_step(kind, observed))
        counts.append(replicas)
    child = draw(st.sampled_from(_written(observed)))
    step, verb, count = draw(st.sampled_from(_writes(child, counts, observed)))
    pokes, releases = (POKES, RELEASES) if observed.relists_at_once else (POKES[:1], RELEASES[:1])
    steps.append(poke_step(draw(st.sampled_from(pokes)), observed))
    rest = draw(st.sampled_from((0.0, 0.5, 1.0)))
    if rest:
        steps.append(Rest(seconds=rest))
    fault = HideOwnWrite(
        resource=child.resource,
        window=Window(from_step=step),
        write=OwnWrite(verb, draw(st.integers(1, min(count, 2)))),
        release=draw(st.sampled_from(releases)),
    )
    return Plan(
        scenario=SCENARIO,
        title=f"drawn: hide own {verb} number {fault.write.nth} of {child.resource} from step {step}, release by {fault.release}",
        aims=AIMS[verb],
        manifests=observed.manifests,
        steps=tuple(steps),
        faults=(fault,),
        settle=observed.settle(),
    )


def can_draw(observed: Observed) -> bool:
    """Whether the controller writes anything that could be hidden from it."""
    return bool(_written(observed))


def _written(observed: Observed) -> list[ChildKind]:
    return [child for child in observed.children if child.creates and child.watched]


def _writes(child: ChildKind, counts: list[int], observed: Observed) -> list[tuple[int, Verb, int]]:
    """(step, verb, how many) of the writes that this workload causes. `counts` has the replicas wanted after each step."""
    if not _scales(child, observed):
        return [(1, "create", 1)]
    writes: list[tuple[int, Verb, int]] = [(1, "create", counts[0])]
    for step, (before, after) in enumerate(itertools.pairwise(counts), 2):
        if after > before:
            writes.append((step, "create", after - before))
        elif 0 < after < before:  # when all go, none can be deleted in excess
            writes.append((step, "delete", before - after))
    return writes


def _scales(child: ChildKind, observed: Observed) -> bool:
    """Whether there are as many of them as replicas: they came and went when the observed workload was scaled."""
    return bool(observed.scale_path) and child.deletes > 0 and child.creates > observed.replicas


def _kinds(observed: Observed) -> list[Literal["scale", "touch", "resync"]]:
    kinds: list[Literal["scale", "touch", "resync"]] = ["touch"]
    if observed.scale_path:
        kinds.insert(0, "scale")
    if observed.relists_at_once:
        kinds.append("resync")
    return kinds
