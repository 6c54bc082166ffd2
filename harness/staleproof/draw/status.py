"""Plans of the status scenario: the controller reports on a primary while what it reports on is hidden from it."""

from collections.abc import Iterator

from staleproof.core.fault import HideOwnWrite, HoldStream, OwnWrite, Window
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Heartbeat, Remove
from staleproof.core.wording import part_of
from staleproof.draw.canonical import appear, hidden_creates, life, news, own_updates
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.occasions import life_events
from staleproof.draw.profile import Profile

SCENARIO = Scenario("status")
_OBSERVED = ("honest-observed-generation", "converges-after-catch-up")
_MOST_REPORTS = 4
"""It is the last of them that count what the workload asks for last; each costs a trial of seconds."""


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


@SCENARIO.family
def hidden_progress(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """A later one of the reports that it writes while a primary appears is hidden from it, and its children are not: does it do
    again what it would not if it saw that it is done?

    Kubernetes' Job controller counts pods in the status, and then lets them go (KEP-2307); the copy of a Job in its cache may be of
    before that. The first report is left out: before it nothing is reported as done. Of a controller that reports in the object
    itself, these are its updates of that.
    """
    children = [each for each in observed.hideable if each.stays][:1] if observed.resource in observed.watched else ()
    own = [each for each in own_updates(observed) if (each.resource, each.step, each.changes) == (observed.resource, 1, True)]
    reports = [each for each in own if each.subresource == "status"] or own
    return (
        Draft(
            f"own {each.verb} number {number} of {part_of(each.subresource)}{each.resource} hidden while a primary appears",
            [HideOwnWrite(resource=each.resource, write=OwnWrite(each.verb, number, each.subresource))],
            (appear(observed), Heartbeat(resource=child.resource)),
            aims=("tolerates-skew", "honest-status", "converges-after-catch-up"),
        )
        for child in children
        for each, number in profile.some((each, number) for each in reports for number in _later(each.times))
    )


def _later(times: int) -> list[int]:
    """Of so many, all but the first, the last first; no more than some."""
    return list(range(times, 1, -1))[:_MOST_REPORTS]
