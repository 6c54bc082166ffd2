"""Plans of the inputs scenario: what the primary needs goes and comes back, while the controller cannot see all of it.

A Secret that is deleted and made again is the most common of it. The primary says nothing new, so a controller that looks at
primaries alone has no reason to look again. Where the controller does nothing about it there are no plans.
"""

from collections.abc import Iterator

from staleproof.core.fault import HideOwnWrite, HoldStream, OwnWrite, Release, Window
from staleproof.core.operator.observed import Input, Observed, Written
from staleproof.draw.canonical import slow_to_start, supply
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.incidents.joint import past
from staleproof.draw.profile import Profile

SCENARIO = Scenario("inputs", settle=slow_to_start)
_RELEASES: tuple[Release, ...] = ("relist", "events", "resume")


@SCENARIO.family
def hide_until_there(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """What the controller writes because something is gone is hidden from it until that is there again: who compares with what it
    was shown takes the old state, which is wanted again, for the present one."""
    return (
        Draft(
            f"hide own {each.verb} of {_part(each)}{each.resource} when {_named(missed)} is gone until it is back",
            [HideOwnWrite(resource=each.resource, window=window, write=OwnWrite(each.verb, subresource=each.subresource))],
            supply(observed).steps,
            aims=("converges-after-catch-up", "honest-status"),
        )
        for missed, window in _away(observed)
        for each in profile.some(_answers(observed, window.from_step))
        if each.resource in observed.watched
    )


@SCENARIO.family
def unseen(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """It goes and comes back unseen: another incarnation, that an informer may take for a change of the first."""
    return (
        Draft(
            f"{_named(missed)} is gone and back unseen, release by {release}",
            [HoldStream(resource=missed.resource, window=window, release=release)],
            supply(observed).steps,
            aims=("tolerates-coalescing", "converges-after-catch-up"),
        )
        for missed, window in _away(observed)
        for release in profile.some(_RELEASES)
        if missed.resource in observed.watched and _answers(observed, window.from_step)
    )


@SCENARIO.family
def gone_in_the_past(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it on the state in which what the primary needs was gone: what was made with its help is in use."""
    needed = supply(observed)
    return (
        Draft(
            f"restart on {missed.resource} as they were when {_named(missed)} was gone",
            past([missed.resource], window.from_step + 1, Window(from_step=needed.last)),
            needed.steps,
            aims=("survives-restart", "converges-after-catch-up"),
        )
        for missed, window in _away(observed)
        if missed.resource in observed.reads_past and _answers(observed, window.from_step)
    )


def _away(observed: Observed) -> Iterator[tuple[Input, Window]]:
    """What is taken away and brought back, with the window that is open meanwhile."""
    needed = supply(observed)
    return ((each, Window(step, step + 2)) for each, step in zip(observed.inputs, needed.away, strict=True))


def _answers(observed: Observed, step: int) -> list[Written]:
    """What the controller writes when something is gone, if it changes anything; what it writes to its primary comes last."""
    written = [each for each in observed.supply if each.step == step and each.changes]
    return sorted(written, key=lambda each: (each.resource == observed.resource, each.resource, each.verb))


def _part(each: Written) -> str:
    return f"the {each.subresource} of " if each.subresource else ""


def _named(each: Input) -> str:
    return f"{each.target.kind}/{each.target.name}"
