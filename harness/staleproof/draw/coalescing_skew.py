"""Plans of the coalescing-and-skew scenario: states in between are never seen, and one resource lags behind another."""

from collections.abc import Iterator

from staleproof.core.fault import Coalesce, HideOwnWrite, HoldStream, OwnWrite, Release, Skew, Window
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Delete, Rest, Step
from staleproof.core.times import SKEW_SECONDS
from staleproof.draw.canonical import appear, glance, life, patient, replicas, turns
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.occasions import life_events
from staleproof.draw.profile import Profile

SCENARIO = Scenario("coalescing-skew")


@SCENARIO.family
def coalesce(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primary, or everything, is out of sight while it is changed and scaled up and down."""
    if life(observed).last == 2:  # it appears and is touched
        return
    primary = [observed.resource] if observed.resource in observed.watched else []
    for resource in profile.some((*primary, "*")):
        fault = Coalesce(resource=resource, window=Window(2, life(observed).last))
        yield Draft(f"{fault.about} out of sight while the primary changes", [fault])


@SCENARIO.family
def coalesce_turns(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primary is out of sight while one thing after another is changed and changed back: nothing seems to have happened."""
    turned = turns(observed)
    for last in profile.more(turned.away[-1:] if observed.resource in observed.watched else ()):
        fault = Coalesce(resource=observed.resource, window=Window(turned.away[0], last + 2))
        yield Draft("the primary out of sight while it is changed and changed back", [fault], turned.steps)


@SCENARIO.family
def hold(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Nothing of one resource is shown while everything else goes on, and then everything, at once or one after the other."""
    for resource in profile.more(observed.watched):
        if steps := life_events(observed, resource):
            release: Release = "events" if resource == observed.resource else "trickle"
            fault = HoldStream(resource=resource, window=Window(steps[0]), release=release)
            yield Draft(f"{resource} behind everything else, then shown as {release}", [fault])


@SCENARIO.family
def hold_long(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """What happens to the primary is not shown for long, and then nothing happens any more: for a controller that has no creates
    which could be hidden as long (`own_writes.hide_long`)."""
    for news in _news(observed) if observed.resource in observed.watched and not observed.hideable else ():
        steps = (appear(observed), news, Rest(seconds=profile.longest))
        hold = HoldStream(resource=observed.resource, window=Window(2))
        title = f"{observed.resource} behind everything else for up to {profile.longest:g} s"
        aims = ("converges-after-catch-up", "recovers-in-bounded-time")
        yield Draft(title, [hold], steps, patient(observed, profile.longest), aims=aims)


@SCENARIO.family
def hide_first_write(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primary is not shown from the controller's first own write to it on: its children are ahead of it."""
    for each in observed.life:
        if each.step == 1 and each.resource == observed.resource and each.verb in ("update", "patch") and not each.subresource:
            fault = HideOwnWrite(resource=observed.resource, window=Window(1), write=OwnWrite(each.verb))
            title = f"the primary behind its children from own {each.verb} on"
            yield Draft(title, [fault], glance(observed), aims=("tolerates-skew", "converges-after-catch-up"))


@SCENARIO.family
def lag(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Children arrive later than the primary, or the primary later than its children, all the time."""
    children = {resource: SKEW_SECONDS for resource in observed.watched if resource != observed.resource}
    lags = {f"children {SKEW_SECONDS:g} s behind the primary": children}
    if observed.resource in observed.watched:
        lags[f"the primary {SKEW_SECONDS:g} s behind its children"] = {observed.resource: SKEW_SECONDS}
    for title, by_seconds in profile.more((title, lags[title]) for title in lags if lags[title]):
        yield Draft(title, [Skew(by_seconds=by_seconds)])


def _news(observed: Observed) -> Iterator[Step]:
    """What can happen to the primary so that the controller does something, at most one thing."""
    grows = [each for each in observed.life if each.step == life(observed).grows and each.changes]
    if observed.change is not None:
        yield observed.change
    elif grows:
        yield observed.scale(replicas(observed) + 1)
    elif observed.keeps_finalizer:
        yield Delete(target=observed.target)
