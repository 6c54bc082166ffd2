"""Plans of the own-writes scenario: hide the controller's own writes from it, then make it look again.

Canonical plans need no luck and come first; drawn ones vary the workload, the hidden write, the poke and the hold. A write is only
hidden in a step that causes it: the fault of a plan that cannot fire would make every trial of it inconclusive.
"""

import itertools
from collections.abc import Iterator
from typing import Literal

import hypothesis.strategies as st
from msgspec import structs

from staleproof.core.fault import HideOwnWrite, OwnWrite, Release, Window
from staleproof.core.observed import ChildKind, Observed
from staleproof.core.plan import Apply, Plan, Rest, Resync, Step, Touch
from staleproof.draw import workloads
from staleproof.draw.drawn import drawn_family
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.profile import Profile
from staleproof.draw.workloads import glance, life, own_create, own_updates, patience, patient

SCENARIO = Scenario("own-writes")
AIMS = {
    "create": ("no-duplicate-create", "converges-after-catch-up"),
    "delete": ("no-excess-delete", "converges-after-catch-up"),
}
Verb = Literal["create", "delete"]
Poke = Literal["touch", "resync"]
POKES: tuple[Poke, ...] = ("touch", "resync")  # the first costs a client nothing; nor does the first of the releases
RELEASES: tuple[Release, ...] = ("events", "relist", "resume")
MOST_REPLICAS = 6


def poke_step(poke: Poke, observed: Observed) -> Step:
    """A step that makes the controller look again although there is nothing new to do."""
    return Touch(target=observed.target) if poke == "touch" else Resync(resource=observed.resource)


@SCENARIO.family
def idempotence(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """No fault at all: once everything is done, reconcile everything again."""
    title = "no fault: reconcile everything again once it has settled"
    yield Draft(title, ("settles", "quiet-at-rest"), settle=observed.settle(resync=True))


@SCENARIO.family
def hide_creates(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide the first create of each child and everything after it, poke, release. Of the first child in every way."""
    yield from profile.some(_hide_each(observed, "create", [("touch", "relist"), ("touch", "resume"), ("resync", "events")]))


@SCENARIO.family
def hide_deletes(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The same for deletes, which leave at least one child: only what should have stayed can be deleted in excess."""
    yield from profile.some(_hide_each(observed, "delete", [("resync", "events")] if observed.relists_at_once else []))


@SCENARIO.family
def hide_updates(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide its first update of anything that it watches, in each step in which it makes one, and what comes after it.

    Updates that change nothing are left out: no event tells of them.
    """
    aims = ("no-blind-retry", "no-cross-object-writes", "converges-after-catch-up")
    updates = [each for each in own_updates(observed) if each.changes and not each.subresource]
    hidden = [each for each in updates if each.resource in observed.watched]
    for each in profile.some(hidden):
        hide = HideOwnWrite(resource=each.resource, window=Window(from_step=each.step), write=OwnWrite(each.verb))
        yield Draft(f"hide own {each.verb} of {each.resource} in step {each.step}", aims, [hide])


@SCENARIO.family
def hide_long(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide the creates of a child for longer and longer, and poke each time: no wait of the controller's own saves it."""
    for child in _hidden_from(observed, "create")[:1]:
        hide = HideOwnWrite(resource=child.resource, write=_own(observed, child, "create"))
        yield Draft(
            f"hide own creates of {child.resource} for up to {profile.longest:g} s",
            (*AIMS["create"], "recovers-in-bounded-time"),
            [hide],
            patience(observed, profile.holds),
            patient(observed, profile.longest),
        )


def _hide_each(observed: Observed, verb: Verb, ways: list[tuple[Poke, Release]]) -> Iterator[Draft]:
    """Each child in the usual way, with a touch and its events in the end; the first one in these ways, too."""
    hidden = _hidden_from(observed, verb)
    for child in hidden:
        yield _hide(observed, child, verb, "touch", "events")
    for child, (poke, release) in itertools.product(hidden[:1], ways):
        yield _hide(observed, child, verb, poke, release)


def _step_of(observed: Observed, verb: Verb) -> int:
    """The step of a life in which children are created, or deleted."""
    return 1 if verb == "create" else life(observed).shrinks


def _hidden_from(observed: Observed, verb: Verb) -> list[ChildKind]:
    """The children that the controller watches and writes so in that step."""
    step = _step_of(observed, verb)
    written = {(each.resource, each.verb) for each in observed.life if each.step == step and not each.subresource}
    return [child for child in observed.children if child.watched and (child.resource, _own(observed, child, verb).verb) in written]


def _own(observed: Observed, child: ChildKind, verb: Verb, nth: int = 1) -> OwnWrite:
    return structs.replace(own_create(observed, child.resource) if verb == "create" else OwnWrite(verb), nth=nth)


def _hide(observed: Observed, child: ChildKind, verb: Verb, poke: Poke, release: Release) -> Draft:
    before = glance(observed)[:-1] if verb == "create" else life(observed).steps[:-1]
    # The reference of a resync is the workload without it, and it is run anyway when that ends with a touch.
    pokes = [poke_step("touch", observed)] if poke == "touch" else [poke_step("touch", observed), poke_step(poke, observed)]
    window, write = Window(_step_of(observed, verb)), _own(observed, child, verb)
    hide = HideOwnWrite(resource=child.resource, window=window, write=write, release=release)
    title = f"hide own {verb}s of {child.resource}, then {poke}{'' if release == 'events' else f', release by {release}'}"
    return Draft(title, AIMS[verb], [hide], (*before, *pokes))


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
    child = draw(st.sampled_from(observed.hideable))
    step, verb, count = draw(st.sampled_from(_writes(child, counts, observed)))
    pokes, releases = (POKES, RELEASES) if observed.relists_at_once else (POKES[:1], RELEASES[:1])
    steps.append(poke_step(draw(st.sampled_from(pokes)), observed))
    rest = draw(st.sampled_from((0.0, 0.5, 1.0)))
    if rest:
        steps.append(Rest(seconds=rest))
    fault = HideOwnWrite(
        resource=child.resource,
        window=Window(from_step=step),
        write=_own(observed, child, verb, draw(st.integers(1, min(count, 2)))),
        release=draw(st.sampled_from(releases)),
    )
    title = f"drawn: hide own {verb} number {fault.write.nth} of {child.resource} from step {step}, release by {fault.release}"
    return SCENARIO.plan(Draft(title, AIMS[verb], [fault], steps), observed)


DRAWN = drawn_family(SCENARIO.name, plans, when=lambda observed: bool(observed.hideable))


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
    return bool(observed.scale_path) and child.deletes > 0 and child.creates > workloads.replicas(observed)


def _kinds(observed: Observed) -> list[Literal["scale", "touch", "resync"]]:
    kinds: list[Literal["scale", "touch", "resync"]] = ["touch"]
    if observed.scale_path:
        kinds.insert(0, "scale")
    if observed.relists_at_once:
        kinds.append("resync")
    return kinds
