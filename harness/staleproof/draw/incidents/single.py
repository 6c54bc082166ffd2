"""Incidents of one fault: each of its forms, wherever a workload gives what its class needs.

Nothing is written down here about any fault: a new one is drawn, and has a canonical plan, because of what its class says.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from staleproof.core.fault import AnyFault, Expire, OwnWrite, Restart, Window
from staleproof.core.fault.model import ANY
from staleproof.core.fault.need import Need
from staleproof.core.times import AWAY_SECONDS
from staleproof.draw.incidents.forms import forms
from staleproof.draw.occasions import Occasions

Faults = tuple[AnyFault, ...]
Place = Mapping[str, Any]
"""What a fault is about and when it is open, by the names of its fields; those that it does not have are left out."""
Places = Iterator[tuple[Place, Faults]]
"""Each with the faults that have to come besides."""


def needs(kind: type[AnyFault]) -> tuple[Need, ...]:
    """What its class needs; a fault about watches that counts frames is about one of the events, too."""
    return (kind.needs, "event") if kind.needs == "watch" and "nth" in kind.__struct_fields__ else (kind.needs,)


def single(kind: type[AnyFault], need: Need, at: Occasions) -> Iterator[Faults]:
    """The fault in each of its forms wherever there is what it needs, with what has to happen besides: a restart, or a list."""
    for place, companions in _PLACES[need](kind, at):
        for form in forms(kind):
            fields = {name: value for name, value in {**form, **place}.items() if name in kind.__struct_fields__}
            yield (kind(**fields), *companions)


def until(at: Occasions, step: int) -> list[Window]:
    """From this step to the release, which comes twice, or to the beginning of some later step."""
    return [Window(step), Window(step), *(Window(step, later) for later in range(step + 1, at.last + 1))]


def in_step(step: int) -> Window:
    """In this step only."""
    return Window(step, step + 1)


def _windows(kind: type[AnyFault], at: Occasions, step: int) -> list[Window]:
    match kind.lasts:
        case "any":
            return until(at, step)
        case "rest":
            return [Window(step)]
        case "step":
            return [in_step(step)]
        case "seconds":
            return [Window(step, seconds=AWAY_SECONDS)]


def _later(kind: type[AnyFault], at: Occasions, resource: str) -> Iterator[Place]:
    """In any step but the first."""
    for step in range(2, at.last + 1):
        yield from ({"resource": resource, "window": window} for window in _windows(kind, at, step))


def _always(kind: type[AnyFault], at: Occasions) -> Places:
    return ((place, ()) for place in _later(kind, at, ANY))


def _watches(kind: type[AnyFault], at: Occasions) -> Places:
    """Those of one resource or of all."""
    for resource in (*at.observed.watched, ANY) if at.observed.watched else ():
        yield from (({"nth": None, "times": None, **place}, ()) for place in _later(kind, at, resource))


def _events(kind: type[AnyFault], at: Occasions) -> Places:
    """At each event that is sure to come, and with a server that knows nothing of it yet."""
    for resource, step in at.seen:
        frames = at.frames(resource, step) if "nth" in kind.__struct_fields__ else 1
        for window, nth in itertools.product(_windows(kind, at, step), range(1, frames + 1)):
            yield {"resource": resource, "window": window, "nth": nth, "as_of_step": step}, ()


def _bookmarks(kind: type[AnyFault], at: Occasions) -> Places:
    return (({"resource": each}, ()) for each in at.observed.bookmarked)


def _more_bookmarks(kind: type[AnyFault], at: Occasions) -> Places:
    return _events(kind, at) if at.observed.asks_bookmarks else iter(())


def _watch_lists(kind: type[AnyFault], at: Occasions) -> Places:
    """All watches expire, so that it begins again."""
    for place in _later(kind, at, ANY) if at.observed.asks_watch_list else ():
        yield place, (Expire(resource=ANY, window=in_step(place["window"].from_step)),)


def _starts(kind: type[AnyFault], at: Occasions) -> Places:
    """It is restarted, when there is something to be listed."""
    for resource in at.observed.watched if at.last > 1 else ():
        for place in _later(kind, at, resource) if at.changed(resource, 1, 2) else ():
            yield place, (Restart(window=Window(place["window"].from_step)),)


def _writes(kind: type[AnyFault], at: Occasions) -> Places:
    return (({**each.selectors, "nth": nth}, ()) for each in at.every_write for nth in range(1, each.times + 1))


def _own_writes(kind: type[AnyFault], at: Occasions) -> Places:
    for each in at.hideable(at.every_write):
        for window, nth in itertools.product(_windows(kind, at, each.step), range(1, each.times + 1)):
            yield {"resource": each.resource, "window": window, "write": OwnWrite(each.verb, nth, each.subresource)}, ()


_PLACES: Mapping[Need, Callable[[type[AnyFault], Occasions], Places]] = {
    "nothing": _always,
    "watch": _watches,
    "event": _events,
    "bookmark": _bookmarks,
    "more bookmarks": _more_bookmarks,
    "watch list": _watch_lists,
    "start": _starts,
    "write": _writes,
    "own write": _own_writes,
}
