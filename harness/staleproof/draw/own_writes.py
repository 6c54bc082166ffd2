"""Plans of the own-writes scenario: hide the controller's own writes from it, then make it look again.

A write is only hidden in a step that causes it: the fault of a plan that cannot fire would make every trial of it inconclusive.
"""

import itertools
from collections.abc import Iterator
from typing import Literal

from msgspec import structs

from staleproof.core.fault import HideOwnWrite, OwnWrite, Release, Window
from staleproof.core.operator.observed import ChildKind, Observed, Written
from staleproof.core.plan.step import Resync, Step, Touch
from staleproof.draw.canonical import glance, life, own_create, own_updates, patience, patient, round_trip, turns
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.profile import Profile

SCENARIO = Scenario("own-writes")
_AIMS = {
    "create": ("no-duplicate-create", "converges-after-catch-up"),
    "delete": ("no-excess-delete", "converges-after-catch-up"),
}
"""Whoever creates by server-side apply patches, so the verb of a write does not say it."""
Verb = Literal["create", "delete"]
Poke = Literal["touch", "resync"]
POKES: tuple[Poke, ...] = ("touch", "resync")  # the first costs a client nothing; nor does the first of the releases
_MILDEST_FIRST = ("create", "patch", "update", "delete")


def poke_step(poke: Poke, observed: Observed) -> Step:
    """A step that makes the controller look again although there is nothing new to do."""
    return Touch(target=observed.target) if poke == "touch" else Resync(resource=observed.resource)


@SCENARIO.family
def idempotence(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """No fault at all: once everything is done, reconcile everything again."""
    title = "no fault: reconcile everything again once it has settled"
    yield Draft(title, settle=observed.settle(resync=True), aims=("settles", "quiet-at-rest"))


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

    Updates that change nothing are left out: no event tells of them. What follows a change is that it is taken back, if it can be:
    who still sees what was there before takes that for done. Those of a status only where it writes nothing else.
    """
    lived, trip = life(observed), round_trip(observed)
    aims = ("no-blind-retry", "no-cross-object-writes", "converges-after-catch-up")
    updates = [each for each in own_updates(observed) if each.changes and each.resource in observed.watched]
    for each in profile.some([each for each in updates if not each.subresource] or ([] if observed.children else updates)):
        write = OwnWrite(each.verb, subresource=each.subresource)
        hide = HideOwnWrite(resource=each.resource, window=Window(from_step=each.step), write=write)
        part = f"the {each.subresource} of " if each.subresource else ""
        steps = trip.steps if each.step == lived.changes and observed.change in trip.steps else ()
        yield Draft(f"hide own {each.verb} of {part}{each.resource} in step {each.step}", [hide], steps, aims=aims)


@SCENARIO.family
def hide_until_back(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Something is changed, and changed back while what the controller did about it is hidden; then something else happens."""
    last = turns(observed).last
    for each in profile.some(_turned_writes(observed)):
        until = each.step + 3
        window = Window(each.step, until if until <= last else None)
        hide = HideOwnWrite(resource=each.resource, window=window, write=OwnWrite(each.verb))
        title = f"hide own {each.verb} of {each.resource} until what was changed in step {each.step} is back"
        aims = ("converges-after-catch-up", *(["no-excess-delete"] if each.verb == "delete" else []))
        yield Draft(title, [hide], turns(observed).steps, aims=aims)


@SCENARIO.family
def hide_long(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide the creates of a child for longer and longer, and poke each time: no wait of the controller's own saves it."""
    for child in _hidden_from(observed, "create")[:1]:
        hide = HideOwnWrite(resource=child.resource, write=_own(observed, child, "create"))
        yield Draft(
            f"hide own creates of {child.resource} for up to {profile.longest:g} s",
            [hide],
            patience(observed, profile.holds),
            patient(observed, profile.longest),
            aims=(*_AIMS["create"], "recovers-in-bounded-time"),
        )


def _turned_writes(observed: Observed) -> Iterator[Written]:
    """Of each child that it watches, and each step that changes something which then is changed back: its worst write.

    Deletes come first.
    """
    away = turns(observed).away
    worst = {
        (each.step, each.resource): each
        for verb in _MILDEST_FIRST
        for each in observed.turns
        if each.verb == verb and each.step in away and each.changes and not each.subresource and each.resource != observed.resource
    }
    some = [each for each in worst.values() if each.resource in observed.watched]
    return iter(sorted(some, key=lambda each: (each.verb != "delete", each.step, each.resource)))


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
    return Draft(title, [hide], (*before, *pokes), aims=_AIMS[verb])
