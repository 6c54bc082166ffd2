"""Incidents of one fault: each of its forms, wherever a workload gives what its class needs.

Nothing is written down here about any fault: a new one is drawn, and has a canonical plan, because of what its class says.
"""

import itertools
from collections.abc import Iterator, Mapping
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
    for place, companions in _places(kind, need, at):
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
    if kind.lasts == "any":
        return until(at, step)
    return [{"rest": Window(step), "step": in_step(step), "seconds": Window(step, seconds=AWAY_SECONDS)}[kind.lasts]]


def _places(kind: type[AnyFault], need: Need, at: Occasions) -> Places:
    match need:
        case "bookmark":
            return (({"resource": each}, ()) for each in at.observed.bookmarked)
        case "event":
            return _events(kind, at)
        case "more bookmarks":
            return _events(kind, at) if at.observed.asks_bookmarks else iter(())
        case "write":
            return (({**each.selectors, "nth": nth}, ()) for each in at.every_write for nth in range(1, each.times + 1))
        case "own write":
            return (
                ({"resource": each.resource, "window": window, "write": OwnWrite(each.verb, nth, each.subresource)}, ())
                for each in at.hideable(at.every_write)
                for window, nth in itertools.product(_windows(kind, at, each.step), range(1, each.times + 1))
            )
        case "call":
            return (
                ({"resource": ANY, "system": each.system, "window": window, "nth": nth}, ())
                for each in at.calls
                for window, nth in itertools.product(_windows(kind, at, each.step), range(1, each.times + 1))
            )
        case "notification":
            return iter(())  # `draw.outside` has the plans: nothing else than what drifts brings one
    return _later(kind, need, at)


def _later(kind: type[AnyFault], need: Need, at: Occasions) -> Places:
    """In any step but the first. For a first list there must be something to be listed; a WatchList begins when watches expire."""
    watched = at.observed.watched
    concerned = {
        "nothing": [ANY],
        "watch": [*watched, ANY] if watched else [],
        "watch list": [ANY] if at.observed.asks_watch_list else [],
        "start": [each for each in watched if at.changed(each, 1, 2)],
    }
    every = {"nth": None, "times": None} if need == "watch" else {}
    for resource, step in itertools.product(concerned[need], range(2, at.last + 1)):
        needed: dict[Need, Faults] = {
            "watch list": (Expire(resource=ANY, window=in_step(step)),),
            "start": (Restart(window=Window(step)),),
        }
        yield from (({**every, "resource": resource, "window": each}, needed.get(need, ())) for each in _windows(kind, at, step))


def _events(kind: type[AnyFault], at: Occasions) -> Places:
    """At each event that is sure to come, and with a server that knows nothing of it yet."""
    for resource, step in at.seen:
        frames = at.frames(resource, step) if "nth" in kind.__struct_fields__ else 1
        for window, nth in itertools.product(_windows(kind, at, step), range(1, frames + 1)):
            yield {"resource": resource, "window": window, "nth": nth, "as_of_step": step}, ()
