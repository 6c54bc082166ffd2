"""Plans of the streams scenario: watches end, break off, are refused, hang or expire, and things happen in the gap.

Most end the watches in the middle of a life, so that there is something to be seen afterwards.
"""

import itertools
from collections.abc import Iterator
from typing import Literal

from msgspec import structs

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
from staleproof.core.observed import Observed
from staleproof.core.plan import Plan, Rest, Touch
from staleproof.draw.profile import Profile
from staleproof.draw.workloads import fresh, life, outage, patient, stirred

SCENARIO = "streams"
HOWS: tuple[Literal["clean", "truncated", "reset"], ...] = ("clean", "truncated", "reset")
PLACES: tuple[Literal["stream", "watch"], ...] = ("stream", "watch")
LOST = ("survives-stream-loss", "converges-after-catch-up")
EXPIRED = ("survives-expiry", "converges-after-catch-up")
BOOKMARKS = ("needs-no-bookmarks", "converges-after-catch-up")
_MINUTE_SECONDS = 60.0
"""An API server sends a bookmark about once a minute, and some seconds before a watch reaches its limit."""

_REST_SECONDS, _REST_FACTOR = 3.0, 4.0
"""Of what is idle: who needs bookmarks is seen to wait for one."""


def sever(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """All watches end at once, before the primary's first change."""
    for how in profile.some(HOWS):
        yield _plan(observed, f"all watches end ({how})", LOST, SeverStream(resource="*", how=how, window=Window(2, 3)))


def sever_on_event(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The watch of one resource ends in place of the first event of a later step: whoever resumes from too late never sees it."""
    hows = itertools.cycle(HOWS)
    for resource, step in profile.more(_first_events(observed)):
        how = next(hows)
        fault = SeverStream(resource=resource, how=how, stream=1, nth=1, window=Window(step, step + 1))
        yield _plan(observed, f"the watch of {resource} ends ({how}) in place of an event of step {step}", LOST, fault)


def gap(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The watch of one resource shows nothing for a step, and then ends: the events come again to a client that resumes."""
    for resource, window in profile.more(_gaps(observed)):
        fault = HoldStream(resource=resource, window=window, release="resume")
        yield _plan(observed, f"{resource} unseen in step {window.from_step}, then the watch ends", LOST, fault)


def expire(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """All watches expire at once: 410 in the stream, or as the answer to whoever resumes."""
    for at in profile.some(PLACES):
        yield _plan(observed, f"all watches expire (410 at the {at})", EXPIRED, Expire(resource="*", at=at, window=Window(2, 3)))


def expire_gap(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The watch of one resource shows nothing for a step, and then expires: only the next list tells what happened."""
    for resource, window in profile.some(_gaps(observed)):
        fault = HoldStream(resource=resource, window=window, release="relist")
        yield _plan(observed, f"{resource} unseen in step {window.from_step}, then the watch expires", EXPIRED, fault)


def refuse_watch_list(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """All watches expire, and the API server has no WatchList any more."""
    for how in profile.some(("http", "event")) if observed.asks_watch_list else ():
        fault = RefuseWatchList(how="event" if how == "event" else "http", window=Window(2))
        yield _plan(
            observed,
            f"all watches expire, and WatchLists are refused ({how})",
            EXPIRED,
            fault,
            Expire(resource="*", window=Window(2, 3)),
        )


def outages(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The API server is away for seconds, in which the primary is changed: it refuses connections, or it hangs."""
    plan = outage(observed)
    away: tuple[AnyFault, ...] = (Refuse(window=Window(2)), Hang(resource="*", window=Window(2)))
    for fault in profile.more(away):
        yield Plan(
            scenario=SCENARIO,
            title=f"the API server is away ({fault.tag.lower()}) while the primary changes",
            aims=LOST,
            manifests=observed.manifests,
            steps=plan.steps,
            faults=(fault,),
            settle=patient(observed),
            fresh=fresh(observed),
        )


def more_bookmarks(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """A bookmark behind every event, for those that ask for bookmarks."""
    if observed.asks_bookmarks:
        yield _plan(observed, "a bookmark behind every event", BOOKMARKS, AddBookmarks(resource="*"))


def no_bookmarks(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """No bookmark at all: where they come within seconds anyway, or when there are minutes to wait for them."""
    drop, plan = DropBookmarks(resource="*"), _plan(observed, "no bookmarks", BOOKMARKS)
    if observed.bookmarked:
        rest = Rest(seconds=max(_REST_SECONDS, _REST_FACTOR * observed.settle().idle_seconds))
        yield structs.replace(plan, steps=(*plan.steps, rest), faults=(drop,))
    elif observed.asks_bookmarks and profile.longest > _MINUTE_SECONDS:
        steps = (*life(observed).steps, Rest(seconds=profile.longest), Touch(target=observed.target))
        yield Plan(
            scenario=SCENARIO,
            title=f"no bookmarks for {profile.longest:g} s",
            aims=BOOKMARKS,
            manifests=observed.manifests,
            steps=steps,
            faults=(drop,),
            settle=observed.settle(),
        )


FAMILIES = {
    "sever": sever,
    "sever-on-event": sever_on_event,
    "gap": gap,
    "expire": expire,
    "expire-gap": expire_gap,
    "refuse-watch-list": refuse_watch_list,
    "outages": outages,
    "more-bookmarks": more_bookmarks,
    "no-bookmarks": no_bookmarks,
}


def _first_events(observed: Observed) -> Iterator[tuple[str, int]]:
    """Each watched resource, and the first later step that is sure to bring an event of it."""
    for resource in observed.watched:
        yield from ((resource, step) for step in stirred(observed, resource)[:1])


def _gaps(observed: Observed) -> Iterator[tuple[str, Window]]:
    """Each watched resource, and the last step that is sure to bring an event of it: of children rather a delete than a create."""
    for resource in observed.watched:
        yield from ((resource, Window(step, step + 1)) for step in stirred(observed, resource)[-1:])


def _plan(observed: Observed, title: str, aims: tuple[str, ...], *faults: AnyFault) -> Plan:
    return Plan(
        scenario=SCENARIO,
        title=title,
        aims=aims,
        manifests=observed.manifests,
        steps=life(observed).steps,
        faults=faults,
        settle=observed.settle(),
        fresh=fresh(observed) and aims is EXPIRED,
    )
