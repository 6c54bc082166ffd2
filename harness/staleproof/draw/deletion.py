"""Plans of the deletion scenario: primaries and children are deleted, and made anew, while the controller cannot see all of it."""

from collections.abc import Iterator

from msgspec import structs

from staleproof.core.fault import (
    HeldState,
    HideOwnWrite,
    HoldStream,
    OwnWrite,
    Reject,
    Release,
    Window,
)
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Apply, Recreate, Remove, Touch
from staleproof.core.times import UNSEEN_SECONDS
from staleproof.draw.canonical import appear, death, hidden_creates, patient, removal, slow_to_start
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.incidents.joint import past, unseen_end
from staleproof.draw.profile import Profile

SCENARIO = Scenario("deletion", settle=patient)
_RELEASES: tuple[Release, ...] = ("relist", "resume", "events")
_GONE = ("cleans-up",)
_RETURNED = ("name-reuse", *_GONE)


@SCENARIO.family
def name_taken(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """For each resource whose children keep their names: somebody else takes the last child's name unseen; then scale down.

    If it were made again as it was, it would have to go whoever knew of it. Children with generated names are left out: nobody
    creates another object under such a name.
    """
    if not observed.scale_path:
        return
    for child in observed.children:
        if child.stable_names and child.deletes and child.watched and child.stays:
            steps = (
                Apply(object=observed.sample),
                Recreate(resource=child.resource, foreign=True),
                observed.scale(max(observed.replicas - 1, 0)),
            )
            hold = HoldStream(resource=child.resource, window=Window(from_step=2))
            title = f"somebody else takes the name of the last of {child.resource} unseen, then scale down"
            yield Draft(title, [hold], steps, aims=("no-delete-of-unseen",))


@SCENARIO.family
def vanished(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide what it creates first; somebody else deletes one of those; then only a list tells what is left (KEP-5647, Risks).

    It is never shown that there was one more. Of the child that it creates most of: one kind is as good as another.
    """
    there = {child.resource for child in observed.children if child.stays}
    for hide in profile.more([each for each in hidden_creates(observed) if each.resource in there][:1]):
        steps = (appear(observed), Remove(resource=hide.resource), Touch(target=observed.target))
        title = f"hide own creates of {hide.resource}, one of which somebody else deletes, and then the watch expires"
        aims = ("converges-after-catch-up", "tolerates-coalescing")
        yield Draft(title, [structs.replace(hide, release="relist")], steps, aims=aims)


@SCENARIO.family
def unseen_children(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Delete the primary while the controller has been shown nothing of what it created for it."""
    for hide in profile.some(hidden_creates(observed)):
        title = f"hide own creates of {hide.resource}, then delete the primary"
        yield Draft(title, [hide], removal(observed).steps, aims=_GONE)


@SCENARIO.family
def unseen_deletes(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Delete the primary, and hide that its children are gone."""
    ended = removal(observed)
    gone = [each for each in observed.death if (each.step, each.verb, each.subresource) == (ended.deletes, "delete", "")]
    for resource in profile.some(each.resource for each in gone if each.resource in observed.watched):
        hide = HideOwnWrite(resource=resource, window=Window(from_step=ended.deletes), write=OwnWrite("delete"))
        yield Draft(f"hide own deletes of {resource} when the primary is deleted", [hide], ended.steps, aims=_GONE)


@SCENARIO.family
def rejected(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Reject what it does to finish a deletion, again and again."""
    ended = removal(observed)
    todo = [each for each in observed.death if each.step == ended.deletes and not each.subresource]
    for at in profile.some(sorted(todo, key=lambda each: each.verb != "delete")):
        fault = Reject(resource=at.resource, verb=at.verb, subresource="", times=None, window=Window(from_step=ended.deletes))
        title = f"reject every {at.verb} of {at.resource} when the primary is deleted"
        yield Draft(title, [fault], ended.steps, aims=_GONE)


@SCENARIO.family
def primary_returns(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Delete the primary and make the same anew, unseen; the controller catches up in each way that there is."""
    died = death(observed)
    for release in profile.some(_RELEASES):
        hidden = unseen_end(observed, died.deletes, release)
        aims = (*_RETURNED, *(["tolerates-coalescing"] if release == "relist" else []))  # it never sees that there was none
        yield Draft(f"delete and recreate the primary unseen, release by {release}", [hidden], died.steps, aims=aims)


@SCENARIO.family
def terminating(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it on a state in which the former primary of that name was terminating."""
    if not observed.keeps_finalizer or observed.resource not in observed.reads_past:
        return
    died = death(observed, rests=UNSEEN_SECONDS)
    dies = Window(died.deletes, died.deletes + 1)
    keeps = HeldState("terminating", died.deletes + 1)
    faults = (
        Reject(resource=observed.resource, verb="write", times=None, window=dies, holds=keeps),
        *past([observed.resource], died.deletes + 1, Window(from_step=died.last)),
    )
    title = "restart on the state in which the primary of that name was terminating"
    aims = (*_RETURNED, "no-time-travel", "no-delete-of-unseen")
    yield Draft(title, faults, died.steps, slow_to_start(observed), aims=aims)
