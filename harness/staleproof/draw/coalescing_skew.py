"""Plans of the coalescing-and-skew scenario: states in between are never seen, and one resource lags behind another."""

from collections.abc import Iterator

from staleproof.core.fault import Coalesce, HideOwnWrite, HoldStream, OwnWrite, Skew, Window
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Delete, Patch, Rest
from staleproof.core.times import SKEW_SECONDS
from staleproof.draw.canonical import appear, glance, life, patient, replicas, turns
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.occasions import life_events
from staleproof.draw.profile import Profile

SCENARIO = Scenario("coalescing-skew")


@SCENARIO.family
def coalesce(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primary, or everything, is out of sight while it is changed and scaled up and down."""
    last = life(observed).last
    primary = [observed.resource] if observed.resource in observed.watched else []
    faults = [Coalesce(resource=resource, window=Window(2, last)) for resource in (*primary, "*")]
    return (
        Draft(f"{fault.about} out of sight while the primary changes", [fault])
        for fault in profile.some(faults if last > 2 else ())  # more than that it appears and is touched
    )


@SCENARIO.family
def coalesce_turns(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primary is out of sight while one thing after another is changed and changed back: nothing seems to have happened."""
    turned = turns(observed)
    return (
        Draft(
            "the primary out of sight while it is changed and changed back",
            [Coalesce(resource=observed.resource, window=Window(turned.away[0], last + 2))],
            turned.steps,
        )
        for last in profile.more(turned.away[-1:] if observed.resource in observed.watched else ())
    )


@SCENARIO.family
def hold(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Nothing of one resource is shown while everything else goes on, and then everything, at once or one after the other."""
    faults = [
        HoldStream(resource=each, window=Window(steps[0]), release="events" if each == observed.resource else "trickle")
        for each in observed.watched
        if (steps := life_events(observed, each))
    ]
    return (
        Draft(f"{fault.resource} behind everything else, then shown as {fault.release}", [fault]) for fault in profile.more(faults)
    )


@SCENARIO.family
def hold_long(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """What happens to the primary is not shown for long, and then nothing happens any more: for a controller that has no creates
    which could be hidden as long (`own_writes.hide_long`)."""
    is_needed = observed.resource in observed.watched and not observed.hideable
    hold = HoldStream(resource=observed.resource, window=Window(2))
    return (
        Draft(
            f"{observed.resource} behind everything else for up to {profile.longest:g} s",
            [hold],
            (appear(observed), news, Rest(seconds=profile.longest)),
            patient(observed, profile.longest),
            aims=("converges-after-catch-up", "recovers-in-bounded-time"),
        )
        for news in (_news(observed) if is_needed else ())
    )


@SCENARIO.family
def hide_first_write(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primary is not shown from the controller's first own write to it on: its children are ahead of it."""
    own = [each for each in observed.life if (each.step, each.resource, each.subresource) == (1, observed.resource, "")]
    return (
        Draft(
            f"the primary behind its children from own {each.verb} on",
            [HideOwnWrite(resource=observed.resource, window=Window(1), write=OwnWrite(each.verb))],
            glance(observed),
            aims=("tolerates-skew", "converges-after-catch-up"),
        )
        for each in own
        if each.verb in ("update", "patch")
    )


@SCENARIO.family
def lag(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Children arrive later than the primary, or the primary later than its children, all the time."""
    primary = [each for each in observed.watched if each == observed.resource]
    children = [each for each in observed.watched if each != observed.resource]
    late = f"{SKEW_SECONDS:g} s behind"
    ways = ((f"children {late} the primary", children), (f"the primary {late} its children", primary))
    drafts = [Draft(title, [Skew(by_seconds=dict.fromkeys(lagging, SKEW_SECONDS))]) for title, lagging in ways if lagging]
    return profile.more(drafts)


def _news(observed: Observed) -> list[Patch | Delete]:
    """What can happen to the primary so that the controller does something, at most one thing."""
    grows = any(each.step == life(observed).grows and each.changes for each in observed.life)
    ways = (
        observed.change,
        observed.scale(replicas(observed) + 1) if grows else None,
        Delete(target=observed.target) if observed.keeps_finalizer else None,
    )
    return [step for step in ways if step is not None][:1]
