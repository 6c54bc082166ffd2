"""Plans of the status scenario: the controller reports on a primary while what it reports on is hidden from it."""

from collections.abc import Iterator

from staleproof.core.fault import HoldStream, Window
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Remove
from staleproof.draw.canonical import appear, hidden_creates, life, news
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.occasions import life_events
from staleproof.draw.profile import Profile

SCENARIO = Scenario("status")
_OBSERVED = ("honest-observed-generation", "converges-after-catch-up")


@SCENARIO.family
def hidden_change(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primary is changed unseen, and something that the controller does see makes it look again: does it look ahead?"""
    hold = HoldStream(resource=observed.resource, window=Window(2))
    ways = news(observed) if observed.resource in observed.watched else ()
    return (
        Draft(f"the primary is {changed} unseen, then a child changes", [hold], steps, aims=_OBSERVED)
        for changed, steps in profile.some(ways)
    )


@SCENARIO.family
def hidden_changes(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primary is changed several times unseen, and a list shows what came of it."""
    seen = observed.resource in observed.watched and life_events(observed, observed.resource)
    hold = HoldStream(resource=observed.resource, window=Window(2, life(observed).last), release="relist")
    title = "all changes of the primary unseen, then its watch expires"
    return profile.more([Draft(title, [hold], aims=(*_OBSERVED, "survives-expiry"))] if seen else [])


@SCENARIO.family
def hidden_children(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Its own children are hidden from it while the primary changes: does it report as done what it cannot have seen done?"""
    aims = ("honest-ready", *_OBSERVED)
    return (
        Draft(f"own creates of {hide.resource} hidden while the primary changes", [hide], aims=aims)
        for hide in profile.some(hidden_creates(observed))
    )


@SCENARIO.family
def hidden_report(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Its own reports are hidden from it while a child goes and is made again: does it take an old report for its newest?"""
    reports = any((each.resource, each.subresource) == (observed.resource, "status") for each in observed.life)
    hold = HoldStream(resource=observed.resource, window=Window(2))
    children = [each for each in observed.hideable if each.stays][:1] if reports and observed.resource in observed.watched else ()
    return (
        Draft(
            f"own reports hidden while one of {child.resource} is deleted",
            [hold],
            (appear(observed), Remove(resource=child.resource)),
            aims=("honest-status", "converges-after-catch-up"),
        )
        for child in profile.some(children)
    )
