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
from staleproof.core.plan.move import merged
from staleproof.core.plan.step import Apply, Delete, Recreate, Remove, Rest, Touch
from staleproof.core.times import UNSEEN_SECONDS, WAITS_SECONDS
from staleproof.draw.canonical import appear, death, ending, hidden_creates, patient, removal, replicas, slow_to_start
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.incidents.joint import past, unseen_end
from staleproof.draw.incidents.single import in_step
from staleproof.draw.profile import Profile

SCENARIO = Scenario("deletion", settle=patient)
_RELEASES: tuple[Release, ...] = ("relist", "resume", "events")
_GONE = ("cleans-up",)
_RETURNED = ("name-reuse", *_GONE)


@SCENARIO.family
def name_taken(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """For each resource whose children keep their names: another user takes the last child's name unseen; then scale down.

    If it were made again as it was, it would have to go whatever was known of it. Children with generated names are left out:
    no user creates another object under such a name.
    """
    kept = [child for child in observed.children if child.stable_names and child.deletes and child.watched and child.stays]
    return (
        Draft(
            f"another user takes the name of the last of {child.resource} unseen, then scale down",
            [HoldStream(resource=child.resource, window=Window(from_step=2))],
            (appear(observed), Recreate(resource=child.resource, foreign=True), observed.scale(replicas(observed) - 1)),
            aims=("no-delete-of-unseen",),
        )
        for child in (kept if observed.scale_path else ())
    )


@SCENARIO.family
def vanished(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide what it creates first; another user deletes one of those; then only a list shows what is left (KEP-5647, Risks).

    It is never shown that there was one more. Of the child that it creates most of: one kind is as good as another.
    """
    there = {child.resource for child in observed.children if child.stays}
    return (
        Draft(
            f"hide own creates of {hide.resource}, one of which another user deletes, and then the watch expires",
            [structs.replace(hide, release="relist")],
            (appear(observed), Remove(resource=hide.resource), Touch(target=observed.target)),
            aims=("converges-after-catch-up", "tolerates-coalescing"),
        )
        for hide in profile.more([each for each in hidden_creates(observed) if each.resource in there][:1])
    )


@SCENARIO.family
def lost_unseen(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Another user deletes a child that was shown; only a list tells that it is gone.

    An informer then makes up the delete itself, and may hand its handlers another type than usual (client-go,
    `DeletedFinalStateUnknown`).
    """
    return (
        Draft(
            f"one of {child.resource} is deleted unseen, and then the watch expires",
            [HoldStream(resource=child.resource, window=in_step(2), release="relist")],
            (appear(observed), Remove(resource=child.resource)),
            aims=("survives-expiry", "converges-after-catch-up"),
        )
        for child in profile.some(each for each in observed.children if each.stays and each.watched)
    )


@SCENARIO.family
def gone_unseen(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Delete the primary; only a list tells that it is gone, or, where a finalizer keeps it, that it is to go."""
    ended = removal(observed)
    draft = Draft(
        "the primary is deleted unseen, and then its watch expires",
        [HoldStream(resource=observed.resource, window=in_step(ended.deletes), release="relist")],
        ended.steps,
        aims=("survives-expiry", *_GONE),
    )
    return profile.more([draft] if observed.resource in observed.watched else [])


@SCENARIO.family
def unnoticed(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Another user deletes a child, and for a while nothing else happens; then the primary is touched."""
    return (
        Draft(
            f"one of {child.resource} is deleted, and nothing else happens",
            steps=(appear(observed), Remove(resource=child.resource), Rest(seconds=WAITS_SECONDS), Touch(target=observed.target)),
            aims=("notices-lost-children",),
        )
        for child in profile.each(each for each in observed.children if each.stays)
    )


@SCENARIO.family
def unseen_children(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Delete the primary while the controller has been shown nothing of what it created for it."""
    steps = removal(observed).steps
    return (
        Draft(f"hide own creates of {hide.resource}, then delete the primary", [hide], steps, aims=_GONE)
        for hide in profile.some(hidden_creates(observed))
    )


@SCENARIO.family
def unseen_deletes(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Delete the primary, and hide that its children are gone."""
    ended = removal(observed)
    gone = dict.fromkeys(each.resource for each in ending(observed) if (each.verb, each.subresource) == ("delete", ""))
    return (
        Draft(
            f"hide own deletes of {resource} when the primary is deleted",
            [HideOwnWrite(resource=resource, window=Window(from_step=ended.deletes), write=OwnWrite("delete"))],
            ended.steps,
            aims=_GONE,
        )
        for resource in profile.some(each for each in gone if each in observed.watched)
    )


@SCENARIO.family
def rejected(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Reject what it does to finish a deletion, again and again."""
    ended = removal(observed)
    todo = dict.fromkeys((each.verb, each.resource) for each in ending(observed) if not each.subresource)
    window = Window(from_step=ended.deletes)
    return (
        Draft(
            f"reject every {verb} of {resource} when the primary is deleted",
            [Reject(resource=resource, verb=verb, subresource="", times=None, window=window)],
            ended.steps,
            aims=_GONE,
        )
        for verb, resource in profile.some(sorted(todo, key=lambda each: each[0] != "delete"))
    )


@SCENARIO.family
def primary_returns(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Delete the primary and make the same anew, unseen; the controller catches up in each way that there is."""
    died = death(observed)
    return (
        Draft(
            f"delete and recreate the primary unseen, release by {release}",
            [unseen_end(observed, died.deletes, release)],
            died.steps[: died.returns],  # a touch would wake it
            aims=(*_RETURNED, *(["tolerates-coalescing"] if release == "relist" else [])),  # it never sees that there was none
        )
        for release in profile.some(_RELEASES)
    )


@SCENARIO.family
def primary_returns_otherwise(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Delete the primary and make another one of its name, unseen; nothing else happens.

    Both have generation 1, and no touch says that there is news. Where a list shows it, an informer makes one update of a delete
    and a create (client-go, `DeltaFIFO.Replace`). A controller that holds a primary with a finalizer sees that it goes.
    """
    other = merged(observed.sample, observed.change.patch) if observed.change is not None else None
    is_unseen = observed.resource in observed.watched and not observed.keeps_finalizer
    return (
        Draft(
            f"delete the primary and make another of its name unseen, release by {release}",
            [HoldStream(resource=observed.resource, window=Window(from_step=2), release=release)],
            (Apply(object=observed.sample), Delete(target=observed.target), Apply(object=other)),
            aims=(*_RETURNED, *(["tolerates-coalescing"] if release == "relist" else [])),
        )
        for release in (profile.some(_RELEASES) if is_unseen else ())
        if other is not None
    )


@SCENARIO.family
def terminating(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it on a state in which the former primary of that name was terminating."""
    is_held = observed.keeps_finalizer and observed.resource in observed.reads_past
    died = death(observed, rests=UNSEEN_SECONDS)
    keeps = HeldState("terminating", died.deletes + 1)
    draft = Draft(
        "restart on the state in which the primary of that name was terminating",
        [
            Reject(resource=observed.resource, verb="write", times=None, window=in_step(died.deletes), holds=keeps),
            *past([observed.resource], died.deletes + 1, Window(from_step=died.last)),
        ],
        died.steps,
        slow_to_start(observed),
        aims=(*_RETURNED, "no-time-travel", "no-delete-of-unseen"),
    )
    return iter([draft] if is_held else [])
