"""Plans of the inputs scenario: what the primary needs goes and comes back, or is another for a while, and the controller cannot
see all of it.

A Secret that is deleted and made again is the most common of it. The primary says nothing new, so a controller that looks at
primaries alone has no reason to look again. Where the controller does nothing about it there are no plans.
"""

from collections.abc import Iterable, Iterator

from staleproof.core.fault import HideOwnWrite, HoldStream, OwnWrite, Release, Window
from staleproof.core.grouping import grouped
from staleproof.core.operator.observed import Observed, Written
from staleproof.core.wording import part_of
from staleproof.draw.canonical import Turn, slow_to_start, supply, supply_turns
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.incidents.joint import past
from staleproof.draw.profile import Profile

SCENARIO = Scenario("inputs", settle=slow_to_start, alike=False)
_AWAY = Window(2, 4)
_RELEASES: tuple[Release, ...] = ("relist", "events", "resume")


@SCENARIO.family
def hide_until_there(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """What the controller writes because something is away is hidden from it until that is back: a controller that compares with
    what it was shown takes the old state, which is wanted again, for the present one."""
    return (
        Draft(
            f"hide own {each.verb} of {part_of(each.subresource)}{each.resource} when {_named(turn)} is {turn.how} "
            "until it is back",
            [HideOwnWrite(resource=each.resource, window=_AWAY, write=OwnWrite(each.verb, subresource=each.subresource))],
            supply(observed, [turn]).steps,
            aims=("converges-after-catch-up", "honest-status"),
        )
        for turn, every in _missed(observed)
        if (answers := [each for each in every if each.resource in observed.watched])
        for each in profile.some(answers if profile.alike else _typical(observed, answers))
    )


@SCENARIO.family
def unseen(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """It goes and comes back unseen: another incarnation, that an informer may take for a change of the first."""
    return (
        Draft(
            f"{_named(turn)} is {turn.how} and back unseen, release by {release}",
            [HoldStream(resource=turn.of.resource, window=_AWAY, release=release)],
            supply(observed, [turn]).steps,
            aims=("tolerates-coalescing", "converges-after-catch-up"),
        )
        for turn, _ in _missed(observed)
        for release in profile.some(_RELEASES)
        if turn.of.resource in observed.watched
    )


@SCENARIO.family
def gone_in_the_past(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it on the state in which what the primary needs was away: what was made with its help is in use."""
    return (
        Draft(
            f"restart on {turn.of.resource} as they were when {_named(turn)} was {turn.how}",
            past([turn.of.resource], 3, Window(from_step=4)),
            supply(observed, [turn]).steps,
            aims=("survives-restart", "converges-after-catch-up"),
        )
        for turn, _ in _missed(observed)
        if turn.of.resource in observed.reads_past
    )


def _missed(observed: Observed) -> Iterator[tuple[Turn, list[Written]]]:
    """What is away, each by itself, because what comes next may heal; and what the controller writes then, if that changes
    anything: what it writes to its primary comes last."""
    for each, step in zip(supply_turns(observed), supply(observed).away, strict=True):
        answers = [written for written in observed.supply if written.step == step and written.changes]
        if answers:
            yield each, sorted(answers, key=lambda one: (one.resource == observed.resource, one.resource, one.verb))


def _typical(observed: Observed, answers: Iterable[Written]) -> Iterator[Written]:
    """The first of those that are the same to each of several kinds of children."""
    alike = grouped(((each.resource == observed.resource, each.verb, each.subresource), each) for each in answers)
    return (some[0] for some in alike.values())


def _named(turn: Turn) -> str:
    return f"{turn.of.target.kind}/{turn.of.target.name}"
