"""Plans of the streams scenario: watches end, break off, are refused, hang or expire, and things happen in the gap.

Most end the watches in the middle of a life, so that there is something to be seen afterwards.
"""

import itertools
from collections.abc import Iterator

from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    DropBookmarks,
    Expire,
    Hang,
    HoldStream,
    Refuse,
    RefuseWatchList,
    Release,
    SeverStream,
    Window,
)
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Rest, Touch
from staleproof.core.times import BOOKMARK_REST_FACTOR, BOOKMARK_REST_SECONDS, BOOKMARK_SECONDS
from staleproof.draw.canonical import life, outage, patient, round_trip
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.incidents.forms import values
from staleproof.draw.incidents.single import in_step
from staleproof.draw.occasions import life_events
from staleproof.draw.profile import Profile

SCENARIO = Scenario("streams")
HOWS, PLACES = values(SeverStream, "how"), values(Expire, "at")


@SCENARIO.family
def sever(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """All watches end at once, before the primary's first change."""
    return (
        Draft(f"all watches end ({how})", [SeverStream(resource="*", how=how, window=in_step(2))]) for how in profile.some(HOWS)
    )


@SCENARIO.family
def sever_on_event(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The watch of one resource ends in place of the first event of a later step: a client that resumes behind it never sees it."""
    ways = zip(_events(observed, slice(1)), itertools.cycle(HOWS), strict=False)
    return (
        Draft(
            f"the watch of {resource} ends ({how}) in place of an event of step {step}",
            [SeverStream(resource=resource, how=how, nth=1, times=1, window=in_step(step))],
        )
        for (resource, step), how in profile.more(ways)
    )


@SCENARIO.family
def gap(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The watch of one resource shows nothing for a step, and then ends: the events come again to a client that resumes."""
    return profile.more(_unseen(observed, "resume", "ends", "survives-stream-loss"))


@SCENARIO.family
def expire(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """All watches expire at once: a 410 event in the stream, or for clients that resume. HTTP 410 is only documented (row 11b)."""
    return (
        Draft(f"all watches expire (410 at the {at})", [Expire(resource="*", at=at, window=in_step(2))])
        for at in profile.some(PLACES)
    )


@SCENARIO.family
def expire_gap(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The watch of one resource shows nothing for a step, and then expires: only the next list shows what happened."""
    return profile.some(_unseen(observed, "relist", "expires", "survives-expiry"))


@SCENARIO.family
def refuse_watch_list(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """All watches expire, and the API server has no WatchList any more."""
    expire = Expire(resource="*", window=in_step(2))
    return (
        Draft(
            f"all watches expire, and WatchLists are refused ({how})",
            [RefuseWatchList(how=how, window=Window(2)), expire],
        )
        for how in profile.some(values(RefuseWatchList, "how") if observed.asks_watch_list else ())
    )


@SCENARIO.family
def outages(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The API server is away for seconds, in which the primary is changed: it refuses connections, or it hangs."""
    away: tuple[AnyFault, ...] = (Refuse(window=Window(2)), Hang(resource="*", window=Window(2)))
    steps, settle = outage(observed).steps, patient(observed)
    return (
        Draft(f"the API server is away ({fault.tag.lower()}) while the primary changes", [fault], steps, settle)
        for fault in profile.more(away)
    )


@SCENARIO.family
def more_bookmarks(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """A bookmark behind every event, for a controller that asks for bookmarks."""
    draft = Draft("a bookmark behind every event", [AddBookmarks(resource="*")])
    return iter([draft] if observed.asks_bookmarks else [])


@SCENARIO.family
def no_bookmarks(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """No bookmark at all: where they come within seconds anyway, or when there are minutes to wait for them."""
    drop, lived = DropBookmarks(resource="*"), life(observed).steps
    if observed.bookmarked:
        rest = Rest(seconds=max(BOOKMARK_REST_SECONDS, BOOKMARK_REST_FACTOR * observed.settle().idle_seconds))
        yield Draft("no bookmarks", [drop], (*lived, rest))
    elif observed.asks_bookmarks and profile.longest > BOOKMARK_SECONDS:
        steps = (*lived, Rest(seconds=profile.longest), Touch(target=observed.target))
        yield Draft(f"no bookmarks for {profile.longest:g} s", [drop], steps)


def _events(observed: Observed, which: slice) -> list[tuple[str, int]]:
    """Each watched resource with these of the later steps of a life that are sure to bring an event of it."""
    return [(resource, step) for resource in observed.watched for step in life_events(observed, resource)[which]]


def _unseen(observed: Observed, release: Release, ends: str, aim: str) -> Iterator[Draft]:
    """Each watched resource in the last step that is sure to bring an event of it. Children go unseen, where they can, and more are
    wanted again: a status alone does not show whether the controller still counts them."""
    trip, lived = round_trip(observed), life(observed)
    shrinks = {each.resource for each in observed.life if each.verb == "delete" and each.step == lived.shrinks}
    for resource, last in _events(observed, slice(-1, None)):
        returns = resource in shrinks and bool(trip.away)
        step = trip.away[-1] if returns else last
        yield Draft(
            f"{resource} unseen in step {step}, then the watch {ends}",
            [HoldStream(resource=resource, window=in_step(step), release=release)],
            trip.steps if returns else (),
            aims=(aim, "converges-after-catch-up"),
        )
