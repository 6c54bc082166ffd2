"""What fails: requests, the controller's process, and, on request only, the API server's own promises.

Keyed by step and by the nth write, and drawn where there is an occasion, as what it is not shown is (`watching`).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import hypothesis.strategies as st

from staleproof.core.fault import (
    AnyFault,
    Compete,
    DropFrame,
    Kill,
    LoseAnswer,
    Pause,
    Reject,
    Reorder,
    RepeatFrame,
    Restart,
    SlowAnswer,
    SlowStart,
    StaleRead,
    Window,
)
from staleproof.core.observed import Written
from staleproof.core.step import Apply
from staleproof.draw.api_failure import LOSSES, REJECTIONS, edit
from staleproof.draw.occasions import Occasions
from staleproof.draw.strategies.watching import LAGS, Faults, Incident, in_step, some_frame, some_step

_THENS: tuple[Literal["ends", "closes"], ...] = ("ends", "closes")
_MOMENTS: tuple[Literal["after", "before"], ...] = ("after", "before")
_SLOW_SECONDS = 2.0
_MOST_TIMES = 3
"""So many requests in a row are rejected, where it is not every one for seconds."""


def failing(at: Occasions) -> Iterator[Incident]:
    """All of them that have an occasion in this workload; there is always one, as the controller can be restarted at any step."""
    yield from _calls(at)
    yield from _lives(at)


# --- its requests fail -----------------------------------------------------------------------------------------------------------


def _calls(at: Occasions) -> Iterator[Incident]:
    if at.every_write:
        yield from (partial(_lose, at), partial(_slow, at), partial(_reject, at))
    if mine := [each for each in at.every_write if is_update(at, each)]:
        yield partial(_compete, at, mine)


def is_update(at: Occasions, each: Written) -> bool:
    """Whether it is a write of what was there before: a patch of a child may have created it."""
    return each.verb == "update" or (each.verb == "patch" and each.resource == at.observed.resource)


def _lose(at: Occasions, draw: st.DrawFn) -> Faults:
    each = draw(st.sampled_from(at.every_write))
    return (LoseAnswer(**each.selectors, nth=draw(st.integers(1, each.times)), code=draw(st.sampled_from(LOSSES))),)


def _slow(at: Occasions, draw: st.DrawFn) -> Faults:
    each = draw(st.sampled_from(at.every_write))
    return (SlowAnswer(**each.selectors, nth=draw(st.integers(1, each.times)), by_seconds=draw(st.sampled_from(LAGS))),)


def _reject(at: Occasions, draw: st.DrawFn) -> Faults:
    each = draw(st.sampled_from(at.every_write))
    return (Reject(**each.selectors, code=draw(st.sampled_from(REJECTIONS)), times=draw(st.integers(1, _MOST_TIMES))),)


def _compete(at: Occasions, writes: Sequence[Written], draw: st.DrawFn) -> Faults:
    return (compete(at, draw(st.sampled_from(writes))),)


def compete(at: Occasions, each: Written) -> Compete:
    """Somebody else edits the object just before. Where there is another primary, nobody knows which of them is written first, so
    it has a newer version and is otherwise as it was."""
    names = {step.object["metadata"]["name"] for step in at.steps[: each.step] if isinstance(step, Apply)}
    changes = edit(at.observed, each, at.steps) if len(names) == 1 or each.resource != at.observed.resource else {}
    return Compete(**each.selectors, edit=changes)


# --- its process ends, and begins again ------------------------------------------------------------------------------------------


def _lives(at: Occasions) -> Iterator[Incident]:
    yield partial(_restart, at)
    if at.every_write:
        yield from [partial(_kill, at)] * 2
    if at.last > 2:
        yield from (partial(_down, at), partial(_pause, at))
    if resources := [each for each in at.observed.watched if at.changed(each, 1, 2)]:
        yield partial(_slow_start, at, resources)


def _restart(at: Occasions, draw: st.DrawFn) -> Faults:
    return (Restart(gently=draw(st.booleans()), window=Window(some_step(at, draw))),)


def _kill(at: Occasions, draw: st.DrawFn) -> Faults:
    """Kill it at any of its writes."""
    each = draw(st.sampled_from(at.every_write))
    return (Kill(**each.selectors, nth=draw(st.integers(1, each.times)), moment=draw(st.sampled_from(_MOMENTS))),)


def _down(at: Occasions, draw: st.DrawFn) -> Faults:
    """It is shown the outcome of a step and never the change."""
    return (Restart(stays_down=True, window=in_step(draw(st.integers(2, at.last - 1)))),)


def _pause(at: Occasions, draw: st.DrawFn) -> Faults:
    """Its process stands still for a step."""
    return (Pause(window=in_step(draw(st.integers(2, at.last - 1)))),)


def _slow_start(at: Occasions, resources: Sequence[str], draw: st.DrawFn) -> Faults:
    """Restart it while the first list of a resource is slow, or breaks off."""
    window, resource = Window(some_step(at, draw)), draw(st.sampled_from(resources))
    slow = SlowStart(resource=resource, by_seconds=_SLOW_SECONDS, then=draw(st.sampled_from(_THENS)), window=window)
    return slow, Restart(window=window)


# --- what no API server does -----------------------------------------------------------------------------------------------------


def forged(at: Occasions) -> Iterator[Incident]:
    """What no API server shows; a plan with any of it is never scored."""
    if at.seen:
        yield from (partial(_one_frame, at), partial(_stale_read, at))


def _one_frame(at: Occasions, draw: st.DrawFn) -> Faults:
    """An event is left out, or comes twice, or is overtaken."""
    resource, step = draw(st.sampled_from(at.seen))
    window, nth = in_step(step), some_frame(at, resource, step, draw)
    faults: list[AnyFault] = [
        DropFrame(resource=resource, nth=nth, window=window),
        RepeatFrame(resource=resource, nth=nth, window=window),
        Reorder(resource=resource, nth=nth, window=window),
    ]
    return (draw(st.sampled_from(faults)),)


def _stale_read(at: Occasions, draw: st.DrawFn) -> Faults:
    """Consistent reads are answered from the past by a server that knows of no change of that step; whether the controller makes
    any is not known."""
    resource, step = draw(st.sampled_from(at.seen))
    return (StaleRead(resource=resource, as_of_step=step, window=Window(step)),)
