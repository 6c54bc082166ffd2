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
    SeverStream,
    Window,
)
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Rest, Touch
from staleproof.core.times import BOOKMARK_REST_FACTOR, BOOKMARK_REST_SECONDS, BOOKMARK_SECONDS
from staleproof.draw.canonical import life, outage, patient
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.incidents.forms import values
from staleproof.draw.occasions import life_events
from staleproof.draw.profile import Profile

SCENARIO = Scenario("streams")
HOWS, PLACES = values(SeverStream, "how"), values(Expire, "at")
_LOST = ("survives-stream-loss", "converges-after-catch-up")
_EXPIRED = ("survives-expiry", "converges-after-catch-up")


@SCENARIO.family
def sever(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """All watches end at once, before the primary's first change."""
    for how in profile.some(HOWS):
        yield Draft(f"all watches end ({how})", [SeverStream(resource="*", how=how, window=Window(2, 3))])


@SCENARIO.family
def sever_on_event(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The watch of one resource ends in place of the first event of a later step: a client that resumes behind it never sees it."""
    hows = itertools.cycle(HOWS)
    for resource, step in profile.more(_first_events(observed)):
        how = next(hows)
        fault = SeverStream(resource=resource, how=how, nth=1, times=1, window=Window(step, step + 1))
        yield Draft(f"the watch of {resource} ends ({how}) in place of an event of step {step}", [fault])


@SCENARIO.family
def gap(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The watch of one resource shows nothing for a step, and then ends: the events come again to a client that resumes."""
    for resource, window in profile.more(_gaps(observed)):
        fault = HoldStream(resource=resource, window=window, release="resume")
        yield Draft(f"{resource} unseen in step {window.from_step}, then the watch ends", [fault], aims=_LOST)


@SCENARIO.family
def expire(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """All watches expire at once: a 410 event in the stream, or for clients that resume. HTTP 410 is only documented (row 11b)."""
    for at in profile.some(PLACES):
        yield Draft(f"all watches expire (410 at the {at})", [Expire(resource="*", at=at, window=Window(2, 3))])


@SCENARIO.family
def expire_gap(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The watch of one resource shows nothing for a step, and then expires: only the next list tells what happened."""
    for resource, window in profile.some(_gaps(observed)):
        fault = HoldStream(resource=resource, window=window, release="relist")
        yield Draft(f"{resource} unseen in step {window.from_step}, then the watch expires", [fault], aims=_EXPIRED)


@SCENARIO.family
def refuse_watch_list(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """All watches expire, and the API server has no WatchList any more."""
    for how in profile.some(values(RefuseWatchList, "how") if observed.asks_watch_list else ()):
        faults: list[AnyFault] = [RefuseWatchList(how=how, window=Window(2)), Expire(resource="*", window=Window(2, 3))]
        yield Draft(f"all watches expire, and WatchLists are refused ({how})", faults)


@SCENARIO.family
def outages(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The API server is away for seconds, in which the primary is changed: it refuses connections, or it hangs."""
    away: tuple[AnyFault, ...] = (Refuse(window=Window(2)), Hang(resource="*", window=Window(2)))
    for fault in profile.more(away):
        title = f"the API server is away ({fault.tag.lower()}) while the primary changes"
        yield Draft(title, [fault], outage(observed).steps, patient(observed))


@SCENARIO.family
def more_bookmarks(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """A bookmark behind every event, for a controller that asks for bookmarks."""
    if observed.asks_bookmarks:
        yield Draft("a bookmark behind every event", [AddBookmarks(resource="*")])


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


def _first_events(observed: Observed) -> Iterator[tuple[str, int]]:
    """Each watched resource, and the first later step that is sure to bring an event of it."""
    for resource in observed.watched:
        yield from ((resource, step) for step in life_events(observed, resource)[:1])


def _gaps(observed: Observed) -> Iterator[tuple[str, Window]]:
    """Each watched resource, and the last step that is sure to bring an event of it: for children rather a delete than a create."""
    for resource in observed.watched:
        yield from ((resource, Window(step, step + 1)) for step in life_events(observed, resource)[-1:])
