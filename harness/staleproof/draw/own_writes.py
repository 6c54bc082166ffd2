"""Plans of the own-writes scenario: hide the controller's own writes from it, then make it look again.

A write is only hidden in a step that causes it: the fault of a plan that cannot fire would make every trial of it inconclusive.
"""

import itertools
from collections.abc import Iterator
from typing import Literal

from msgspec import structs

from staleproof.core.fault import HideOwnWrite, OwnWrite, Release, Window
from staleproof.core.operator.observed import Observed, Written
from staleproof.core.plan.step import Resync, Step, Touch
from staleproof.core.wording import part_of
from staleproof.draw.canonical import glance, life, own_create, own_updates, patience, patient, round_trip, turns
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.profile import Profile

SCENARIO = Scenario("own-writes")
_AIMS = {
    "create": ("no-duplicate-create", "converges-after-catch-up"),
    "delete": ("no-excess-delete", "converges-after-catch-up"),
}
"""Server-side apply creates by a patch, so the verb of a write does not say it."""
Verb = Literal["create", "delete"]
Poke = Literal["touch", "resync"]
_MILDEST_FIRST = ("create", "patch", "update", "delete")


@SCENARIO.family
def idempotence(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """No fault at all: once everything is done, reconcile everything again."""
    title = "no fault: reconcile everything again once it has settled"
    yield Draft(title, settle=observed.settle(resync=True), aims=("settles", "quiet-at-rest"))


@SCENARIO.family
def hide_creates(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide the first create of each child and everything after it, poke, release. Of the first child in every way."""
    return profile.some(_poked(observed, "create", [("touch", "relist"), ("touch", "resume"), ("resync", "events")]))


@SCENARIO.family
def hide_deletes(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The same for deletes, which leave at least one child: only what should have stayed can be deleted in excess."""
    return profile.some(_poked(observed, "delete", [("resync", "events")] if observed.relists_at_once else []))


@SCENARIO.family
def hide_updates(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide its first update of anything that it watches, in each step in which it makes one, and what comes after it.

    Updates that change nothing are left out: they bring no event. What follows a change is that it is taken back, if it can be:
    a controller that still sees what was there before takes that for done. Those of a status only where it writes nothing else.
    """
    lived, trip = life(observed), round_trip(observed)
    comes_back = lived.changes if observed.change in trip.steps else 0
    updates = [each for each in own_updates(observed) if each.changes and each.resource in observed.watched]
    aims = ("no-blind-retry", "no-cross-object-writes", "converges-after-catch-up")
    for each in profile.some([each for each in updates if not each.subresource] or ([] if observed.children else updates)):
        write = OwnWrite(each.verb, subresource=each.subresource)
        hide = HideOwnWrite(resource=each.resource, window=Window(from_step=each.step), write=write)
        steps = trip.steps if each.step == comes_back else ()
        yield Draft(
            f"hide own {each.verb} of {part_of(each.subresource)}{each.resource} in step {each.step}", [hide], steps, aims=aims
        )


@SCENARIO.family
def hide_until_back(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Something is changed, and changed back while what the controller did about it is hidden; then something else happens: in the
    end a touch, so that it looks again while it has not been shown that."""
    turned = turns(observed)
    steps = (*turned.steps[:-1], Touch(target=observed.target))
    windows = {step: Window(step, step + 3 if step + 3 <= turned.last else None) for step in turned.away}
    return (
        Draft(
            f"hide own {each.verb} of {each.resource} until what was changed in step {each.step} is back",
            [HideOwnWrite(resource=each.resource, window=windows[each.step], write=OwnWrite(each.verb))],
            steps,
            aims=("converges-after-catch-up", *(["no-excess-delete"] if _leaves_some(observed, each) else [])),
        )
        for each in profile.some(_turned_writes(observed))
    )


@SCENARIO.family
def hide_long(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide the creates of a child for longer and longer, and poke each time: no wait of the controller's own saves it."""
    return (
        Draft(
            f"hide own creates of {each.resource} for up to {profile.longest:g} s",
            [HideOwnWrite(resource=each.resource, write=each.write)],
            patience(observed, profile.holds),
            patient(observed, profile.longest),
            aims=(*_AIMS["create"], "recovers-in-bounded-time"),
        )
        for each in _hidden(observed, "create")[:1]
    )


def _turned_writes(observed: Observed) -> list[Written]:
    """Of each child that it watches, and each step that changes something which then is changed back: its worst write.

    Deletes come first.
    """
    away, children = turns(observed).away, {each for each in observed.watched if each != observed.resource}
    worst = {
        (each.step, each.resource): each
        for each in sorted(observed.turns, key=lambda each: _MILDEST_FIRST.index(each.verb))
        if each.step in away and each.changes and not each.subresource and each.resource in children
    }
    return sorted(worst.values(), key=lambda each: (each.verb != "delete", each.step, each.resource))


def _leaves_some(observed: Observed, deletes: Written) -> bool:
    """Whether these are deletes of a kind of which something stays in every step: only then can the controller delete too many."""
    made = max((child.creates for child in observed.children if child.resource == deletes.resource), default=0)
    gone = [each.times for each in observed.turns if (each.verb, each.resource) == ("delete", deletes.resource)]
    return deletes.verb == "delete" and max(gone) < made


def _hidden(observed: Observed, verb: Verb) -> list[HideOwnWrite]:
    """Of each child that the controller watches and creates, or deletes, in the step of a life in which it does: that is hidden."""
    step = 1 if verb == "create" else life(observed).shrinks
    written = {(each.resource, each.verb) for each in observed.life if each.step == step and not each.subresource}
    own = {
        each.resource: own_create(observed, each.resource) if verb == "create" else OwnWrite(verb)
        for each in observed.children
        if each.watched
    }
    return [
        HideOwnWrite(resource=resource, window=Window(step), write=write)
        for resource, write in own.items()
        if (resource, write.verb) in written
    ]


def _poked(observed: Observed, verb: Verb, ways: list[tuple[Poke, Release]]) -> Iterator[Draft]:
    """Each child in the usual way, with a touch and its events in the end; the first one in these ways, too."""
    hidden = _hidden(observed, verb)
    before = glance(observed)[:-1] if verb == "create" else life(observed).steps[:-1]
    # The reference of a resync is the workload without it, and it is run anyway when that ends with a touch.
    touch: tuple[Step, ...] = (Touch(target=observed.target),)
    pokes = {"touch": touch, "resync": (*touch, Resync(resource=observed.resource))}
    usual: list[tuple[Poke, Release]] = [("touch", "events")]
    return (
        Draft(
            f"hide own {verb}s of {hide.resource}, then {poke}{'' if release == 'events' else f', release by {release}'}",
            [structs.replace(hide, release=release)],
            (*before, *pokes[poke]),
            aims=_AIMS[verb],
        )
        for hide, (poke, release) in (*itertools.product(hidden, usual), *itertools.product(hidden[:1], ways))
    )
