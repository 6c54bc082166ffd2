"""Plans of the deletion scenario: primaries and children are deleted, and made anew, while the controller cannot see all of it."""

from collections.abc import Iterable, Iterator

import msgspec

from staleproof.core.fault import AnyFault, HideOwnWrite, HoldStream, OwnWrite, PastSnapshot, Reject, Release, Restart, Window
from staleproof.core.observed import Observed, WriteVerb
from staleproof.core.plan import Apply, Plan, Recreate, Step
from staleproof.draw.profile import Profile
from staleproof.draw.workloads import Death, death, fresh, own_create, patient, removal, slow_to_start

SCENARIO = "deletion"
_RELEASES: tuple[Release, ...] = ("relist", "resume", "events")
_RETURNED = ("name-reuse", "cleans-up")
_OUTAGE_REST_SECONDS = 2.0


def recreate_unseen(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """For each resource whose children keep their names: recreate the last child unseen, then scale down.

    Children with generated names are left out: nobody creates another object under such a name.
    """
    if not observed.scale_path:
        return
    for child in observed.children:
        if child.stable_names and child.deletes and child.watched:
            steps = (
                Apply(object=observed.sample),
                Recreate(resource=child.resource),
                observed.scale(max(observed.replicas - 1, 0)),
            )
            hold = HoldStream(resource=child.resource, window=Window(from_step=2))
            title = f"recreate the last of {child.resource} unseen, then scale down"
            yield _plan(observed, title, steps, (hold,), ("no-delete-of-unseen",))


def unseen_children(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Delete the primary while the controller has been shown nothing of what it created for it."""
    ended = removal(observed)
    for resource in profile.some(child.resource for child in observed.children if child.creates and child.watched):
        hide = HideOwnWrite(resource=resource, write=own_create(observed, resource))
        yield _plan(observed, f"hide own creates of {resource}, then delete the primary", ended.steps, (hide,), ("cleans-up",))


def unseen_deletes(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Delete the primary, and hide that its children are gone."""
    ended = removal(observed)
    for resource in profile.some(_written(observed, ended.deletes, "delete")):
        hide = HideOwnWrite(resource=resource, window=Window(from_step=ended.deletes), write=OwnWrite("delete"))
        yield _plan(observed, f"hide own deletes of {resource} when the primary is deleted", ended.steps, (hide,), ("cleans-up",))


def rejected(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Reject what it does to finish a deletion, again and again."""
    ended = removal(observed)
    todo = [each for each in observed.death if each.step == ended.deletes and not each.subresource]
    for at in profile.some(sorted(todo, key=lambda each: each.verb != "delete")):
        fault = Reject(resource=at.resource, verb=at.verb, subresource="", times=None, window=Window(from_step=ended.deletes))
        title = f"reject every {at.verb} of {at.resource} when the primary is deleted"
        yield _plan(observed, title, ended.steps, (fault,), ("cleans-up",))


def primary_returns(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Delete the primary and make the same anew, unseen; the controller catches up in each of the ways that there are."""
    died = death(observed)
    for release in profile.some(_RELEASES):
        hidden = _end_unseen(observed, died, release)
        aims = (*_RETURNED, *(["tolerates-coalescing"] if release == "relist" else []))  # it never sees that there was none
        plan = _plan(observed, f"delete and recreate the primary unseen, release by {release}", died.steps, (hidden,), aims)
        yield msgspec.structs.replace(plan, fresh=release == "relist" and fresh(observed))


def terminating(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Restart it on a state in which the former primary of that name was terminating."""
    if not observed.keeps_finalizer or observed.resource not in observed.reads_past:
        return
    died = death(observed, rests=_OUTAGE_REST_SECONDS)
    window = Window(from_step=died.last)
    faults = (
        Reject(resource=observed.resource, verb="write", times=None, window=Window(died.deletes, died.deletes + 1)),
        PastSnapshot(resource=observed.resource, as_of_step=died.deletes + 1, window=window),
        Restart(window=window),
    )
    title = "restart on the state in which the primary of that name was terminating"
    plan = _plan(observed, title, died.steps, faults, (*_RETURNED, "no-time-travel"))
    yield msgspec.structs.replace(plan, settle=slow_to_start(observed))


FAMILIES = {
    "recreate-unseen": recreate_unseen,
    "unseen-children": unseen_children,
    "unseen-deletes": unseen_deletes,
    "rejected": rejected,
    "primary-returns": primary_returns,
    "terminating": terminating,
}


def _written(observed: Observed, step: int, verb: WriteVerb) -> list[str]:
    """Watched resources of which it makes such a write in a step of `death`."""
    found = [each for each in observed.death if (each.step, each.verb, each.subresource) == (step, verb, "")]
    return [each.resource for each in found if each.resource in observed.watched]


def _end_unseen(observed: Observed, died: Death, release: Release) -> AnyFault:
    """Keep from it that the primary is gone, though not that it is to go: it may have to let go of it first."""
    ends = [each for each in observed.death if each.step == died.deletes and each.resource == observed.resource]
    verb = next((each.verb for each in ends if not each.subresource and each.verb in ("update", "patch")), None)
    window = Window(from_step=died.deletes)
    if not observed.keeps_finalizer or verb is None:
        return HoldStream(resource=observed.resource, window=window, release=release)
    last = sum(each.times for each in ends if each.verb == verb)
    return HideOwnWrite(resource=observed.resource, window=window, write=OwnWrite(verb, last), release=release)


def _plan(observed: Observed, title: str, steps: tuple[Step, ...], faults: Iterable[AnyFault], aims: tuple[str, ...]) -> Plan:
    return Plan(
        scenario=SCENARIO,
        title=title,
        aims=aims,
        manifests=observed.manifests,
        steps=steps,
        faults=tuple(faults),
        settle=patient(observed),
    )
