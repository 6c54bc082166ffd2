"""What a controller is not shown, or late, or out of step: own writes hidden, streams held, late, cut and expired.

Each incident is one fault, or some that only make sense together. It is drawn where it has an occasion, as far as can be known
(`draw.occasions`), keyed by step, by the nth frame, by the nth write. What is made for one step of the workload is in `pairs`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

import hypothesis.strategies as st

from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    Coalesce,
    DelayStream,
    DropBookmarks,
    Expire,
    Hang,
    HideOwnWrite,
    HoldStream,
    OwnWrite,
    Refuse,
    RefuseWatchList,
    Release,
    SeverStream,
    Skew,
    Window,
)
from staleproof.core.observed import Written
from staleproof.draw.occasions import Occasions

Faults = tuple[AnyFault, ...]
Incident = Callable[[st.DrawFn], Faults]
"""Draws it. A function and no strategy: making dozens of strategies for each plan would take longer than drawing from a few."""
_RELEASES: tuple[Release, ...] = ("events", "resume", "relist", "trickle")
_HOWS: tuple[Literal["clean", "truncated", "reset"], ...] = ("clean", "truncated", "reset")
_PLACES: tuple[Literal["stream", "resume"], ...] = ("stream", "resume")
_REFUSALS: tuple[Literal["http", "event"], ...] = ("http", "event")
LAGS, AWAY_SECONDS = (0.3, 0.6, 1.0), 2.0


def unseen(at: Occasions) -> Iterator[Incident]:
    """All of them that have an occasion in this workload."""
    yield from _own_writes(at)
    yield from _views(at)
    yield from _streams(at)


# --- its own writes are hidden ---------------------------------------------------------------------------------------------------


def _own_writes(at: Occasions) -> Iterator[Incident]:
    hidden, statuses = at.hideable(at.writes), at.hideable(at.statuses)
    for verb in sorted({each.verb for each in hidden}):
        yield from [partial(_hide, at, [each for each in hidden if each.verb == verb])] * 2
    if statuses:
        yield partial(_hide, at, statuses)
    children = [each for each in hidden if each.resource != at.observed.resource]  # which may wait for what it wrote to the primary
    if pairs := [(one, two) for one in children for two in children if one.step == two.step and one.resource < two.resource]:
        yield partial(_hide_both, at, pairs)


def _hide(at: Occasions, writes: Sequence[Written], draw: st.DrawFn) -> Faults:
    """Hide one of these writes, and what comes after it, until some later step or for good."""
    each = draw(st.sampled_from(writes))
    write = OwnWrite(each.verb, draw(st.integers(1, each.times)), each.subresource)
    return (HideOwnWrite(resource=each.resource, window=until(at, each.step, draw), write=write, release=release(draw)),)


def _hide_both(at: Occasions, pairs: Sequence[tuple[Written, Written]], draw: st.DrawFn) -> Faults:
    """Hide the first of both kinds of writes of one step."""
    both = draw(st.sampled_from(pairs))
    window, how = until(at, both[0].step, draw), release(draw)
    return tuple(HideOwnWrite(resource=each.resource, window=window, write=OwnWrite(each.verb), release=how) for each in both)


# --- it is shown things late, or never, or out of step ---------------------------------------------------------------------------


def _views(at: Occasions) -> Iterator[Incident]:
    if not at.seen:
        return
    yield from [partial(_hold, at)] * 2
    yield partial(_late, at)
    yield partial(_coalesce, at)
    if two := _together(at, at.observed.watched):
        yield partial(_skew, two)
    # who is not shown the primary does nothing to its children
    if two := _together(at, [each for each in at.observed.watched if each != at.observed.resource]):
        yield partial(_hold_two, at, two)


def _together(at: Occasions, resources: Sequence[str]) -> list[tuple[int, list[str]]]:
    """The steps in which events of several of these resources come, with those."""
    steps = sorted({step for _, step in at.seen})
    found = [(step, [resource for resource, other in at.seen if other == step and resource in resources]) for step in steps]
    return [(step, some) for step, some in found if len(some) > 1]


def _hold(at: Occasions, draw: st.DrawFn) -> Faults:
    resource, step = draw(st.sampled_from(at.seen))
    return (HoldStream(resource=resource, window=until(at, step, draw), release=release(draw)),)


def _hold_two(at: Occasions, two: Sequence[tuple[int, list[str]]], draw: st.DrawFn) -> Faults:
    """Two resources at once are not shown."""
    step, resources = draw(st.sampled_from(two))
    pair = draw(st.sampled_from([(one, other) for one in resources for other in resources if one < other]))
    window, how = until(at, step, draw), release(draw)
    return tuple(HoldStream(resource=resource, window=window, release=how) for resource in pair)


def _late(at: Occasions, draw: st.DrawFn) -> Faults:
    resource, step = draw(st.sampled_from(at.seen))
    return (DelayStream(resource=resource, by_seconds=draw(st.sampled_from(LAGS)), window=Window(step)),)


def _skew(two: Sequence[tuple[int, list[str]]], draw: st.DrawFn) -> Faults:
    """One resource lags behind another, which lags, too."""
    step, resources = draw(st.sampled_from(two))
    first, second = draw(st.sampled_from([(one, other) for one in resources for other in resources if one != other]))
    lag = draw(st.sampled_from(LAGS))
    return (Skew(by_seconds={first: lag, second: lag / 2}, window=Window(step)),)


def _coalesce(at: Occasions, draw: st.DrawFn) -> Faults:
    """What happens up to some later step is never seen, of one resource or of all."""
    resource, step = draw(st.sampled_from(at.seen))
    return (Coalesce(resource=draw(st.sampled_from((resource, "*"))), window=until(at, step, draw)),)


# --- its watches end -------------------------------------------------------------------------------------------------------------


def _streams(at: Occasions) -> Iterator[Incident]:
    if not at.observed.watched:
        return
    yield from (partial(_sever, at), partial(_expire, at), partial(_away, at))
    if at.seen:
        yield from (partial(_sever_on_event, at), partial(_expire_on_event, at))
    if at.observed.asks_watch_list:
        yield partial(_refuse_watch_lists, at)
    if at.observed.bookmarked:
        yield partial(_drop_bookmarks, at)
    if at.observed.asks_bookmarks and at.seen:
        yield partial(_add_bookmarks, at)


def _sever(at: Occasions, draw: st.DrawFn) -> Faults:
    about = draw(st.sampled_from((*at.observed.watched, "*")))
    return (SeverStream(resource=about, how=draw(st.sampled_from(_HOWS)), window=in_step(some_step(at, draw))),)


def _expire(at: Occasions, draw: st.DrawFn) -> Faults:
    about = draw(st.sampled_from((*at.observed.watched, "*")))
    return (Expire(resource=about, at=draw(st.sampled_from(_PLACES)), window=in_step(some_step(at, draw))),)


def _sever_on_event(at: Occasions, draw: st.DrawFn) -> Faults:
    resource, step = draw(st.sampled_from(at.seen))
    how, nth = draw(st.sampled_from(_HOWS)), some_frame(at, resource, step, draw)
    return (SeverStream(resource=resource, how=how, nth=nth, times=1, window=in_step(step)),)


def _expire_on_event(at: Occasions, draw: st.DrawFn) -> Faults:
    resource, step = draw(st.sampled_from(at.seen))
    return (Expire(resource=resource, nth=some_frame(at, resource, step, draw), window=in_step(step)),)


def _away(at: Occasions, draw: st.DrawFn) -> Faults:
    """The API server is away for seconds."""
    window = Window(some_step(at, draw), seconds=AWAY_SECONDS)
    return (Hang(resource="*", window=window),) if draw(st.booleans()) else (Refuse(window=window),)


def _refuse_watch_lists(at: Occasions, draw: st.DrawFn) -> Faults:
    """All watches expire, and there is no WatchList any more."""
    step = some_step(at, draw)
    refuse = RefuseWatchList(how=draw(st.sampled_from(_REFUSALS)), window=Window(step))
    return refuse, Expire(resource="*", window=in_step(step))


def _drop_bookmarks(at: Occasions, draw: st.DrawFn) -> Faults:
    return (DropBookmarks(resource=draw(st.sampled_from(at.observed.bookmarked))),)


def _add_bookmarks(at: Occasions, draw: st.DrawFn) -> Faults:
    resource, step = draw(st.sampled_from(at.seen))
    return (AddBookmarks(resource=resource, window=Window(step)),)


# --- what they share -------------------------------------------------------------------------------------------------------------


def release(draw: st.DrawFn) -> Release:
    """How what was held is shown in the end."""
    return draw(st.sampled_from(_RELEASES))


def until(at: Occasions, step: int, draw: st.DrawFn) -> Window:
    """From this step to the release, or to the beginning of some later step."""
    return Window(step, draw(st.sampled_from([None, None, *range(step + 1, at.last + 1)])))


def in_step(step: int) -> Window:
    """In this step only."""
    return Window(step, step + 1)


def some_step(at: Occasions, draw: st.DrawFn) -> int:
    """Any but the first."""
    return draw(st.integers(2, at.last))


def some_frame(at: Occasions, resource: str, step: int, draw: st.DrawFn) -> int:
    """The number of any event of the resource that is sure to come in the step, from 1."""
    return draw(st.integers(1, at.frames(resource, step)))
