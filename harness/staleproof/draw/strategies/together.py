"""Schedules: incidents over one workload that do not take one another's occasion, and leave the steps something to be done to."""

from collections.abc import Sequence

import hypothesis.strategies as st

from staleproof.core.coverage import is_down
from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    CallFault,
    Coalesce,
    Compete,
    DelayStream,
    Hang,
    HideOwnWrite,
    HoldStream,
    PastSnapshot,
    Pause,
    Refuse,
    Reject,
    Release,
    Restart,
    SeverStream,
    Skew,
    Window,
)
from staleproof.core.fault.model import ANY
from staleproof.core.observed import Observed
from staleproof.core.step import Apply, Delete, Step, sets_aside
from staleproof.draw.deletion import unseen_end
from staleproof.draw.occasions import OF_A_CHILD, occasions
from staleproof.draw.strategies.failing import failing, forged
from staleproof.draw.strategies.pairs import pairs
from staleproof.draw.strategies.users import Steps
from staleproof.draw.strategies.watching import Faults, unseen
from staleproof.draw.strategies.whom import observations


@st.composite
def schedules(
    draw: st.DrawFn, steps: Steps, observed: Observed | None = None, *, most_faults: int = 3, hostile: bool = False
) -> Faults:
    """What happens to the controller in these steps: one fault or more, each of which has an occasion, as far as can be known.

    Every kind of fault of the canonical plans is drawn, keyed by step, by the nth frame, by the nth write: own writes hidden, of
    two resources or of a status, too; streams held, late, out of step, cut, expired; the API server away; requests rejected,
    answered late or not at all, competed with; the controller killed at any write, restarted on any state that it may be shown. One
    half of them begins with a fault that is made for a step of this workload (`strategies.pairs`).

    Args:
        steps: the workload.
        observed: what the controller was observed to do; empty: that of this run's.
        most_faults: at most so many; never two that restart it.
        hostile: also what no API server does; a plan with such a fault is never scored.
    """
    observed = observed if observed is not None else draw(observations())
    at = occasions(observed, steps)
    asked_for = [*forged(at)] if hostile else []
    sources, telling = [*unseen(at), *failing(at), *asked_for], [*pairs(at), *asked_for]
    is_telling = draw(st.booleans())
    first = telling if is_telling and telling else sources
    others = draw(st.lists(st.sampled_from(sources), max_size=most_faults - 1))
    incidents = [draw(st.sampled_from(first)), *others]
    kept = together([incident(draw) for incident in incidents], observed, steps, most_faults)
    last = Window(from_step=len(steps))
    return kept or ((SeverStream(resource=ANY, window=last),) if sets_aside(steps) else (Restart(window=last),))


def together(drawn: Sequence[Faults], observed: Observed, steps: Sequence[Step], most: int) -> Faults:
    """As many of these incidents as go together and leave every step something to be done to, the first before the others."""
    kept: list[AnyFault] = []
    for incident in drawn:
        if len(kept) + len(incident) > most or not all(_fits(fault, observed, steps) for fault in incident):
            continue
        if not any(_takes(one, other, observed) or _takes(other, one, observed) for one in incident for other in kept):
            kept += incident
    return tuple(kept)


def _takes(one: AnyFault, other: AnyFault, observed: Observed) -> bool:
    """Whether the other may come to nothing beside the one: there is one restart, of each resource one fault about requests and one
    about streams, and a controller that is shown nothing, or whose requests fail, may not write what it wrote before."""
    if "restarts" in one.effects & other.effects:
        return True
    same = one.resource == other.resource or ANY in (one.resource, other.resource)
    is_process = "runner" in (one.executed_by, other.executed_by)
    if same and not is_process and isinstance(one, CallFault) == isinstance(other, CallFault):
        return True
    if isinstance(one, Compete) and one.edit and one.window.from_step < other.window.from_step:
        return "restarts" not in other.effects  # what a later step would change has been changed by then
    if "restarts" in one.effects and one.window.from_step == other.window.from_step:
        return not isinstance(other, CallFault) or _stops_work(one)  # what comes in that step is in the lists of the new life
    waits = _waits_for_writes(other, observed.resource) or _stops_work(one)
    if isinstance(one, Reject) and one.resource == other.resource and one.window.from_step == other.window.from_step:
        return waits  # what is tried again may come only in a later step
    until = one.window.until_step
    overlaps = one.window.from_step <= other.window.from_step and (until is None or until >= other.window.from_step)
    return _keeps_back(one) and waits and overlaps


def _waits_for_writes(fault: AnyFault, primary: str) -> bool:
    """Whether it comes to nothing unless the controller writes something: events of the primary are made by users, too."""
    if isinstance(fault, CallFault | HideOwnWrite | Skew):
        return True
    waits_for_events = isinstance(fault, HoldStream | DelayStream | AddBookmarks) or getattr(fault, "nth", None) is not None
    return waits_for_events and fault.resource != primary


def _keeps_back(fault: AnyFault) -> bool:
    """Whether the controller may do less while it lasts."""
    return isinstance(fault, HoldStream | DelayStream | Skew | Coalesce | PastSnapshot) or _stops_work(fault)


def _stops_work(fault: AnyFault) -> bool:
    """Whether the controller cannot do its work while it lasts."""
    if isinstance(fault, CallFault):
        return fault.times is None
    return isinstance(fault, Hang | Pause | Refuse) or is_down(fault)


def _fits(fault: AnyFault, observed: Observed, steps: Sequence[Step]) -> bool:
    return _leaves_steps(fault, observed, steps) and not ("restarts" in fault.effects and sets_aside(steps))


def _leaves_steps(fault: AnyFault, observed: Observed, steps: Sequence[Step]) -> bool:
    """Whether what the steps are about will be there all the same: a child that is made before it is deleted, and a primary that is
    gone before it is made anew, because its finalizer was removed."""
    window = fault.window
    until = window.until_step or len(steps) + 1
    for number, step in enumerate(steps, 1):
        if isinstance(step, OF_A_CHILD) and window.from_step <= number and _prevents(fault, step.resource, number, until):
            return False
        comes_back = isinstance(step, Delete) and any(isinstance(later, Apply) for later in steps[number:])
        if comes_back and observed.keeps_finalizer and _keeps_back(fault) and window.from_step <= number < until:
            return window.from_step == number and fault == unseen_end(observed, number, _release(fault))
    return True


def _prevents(fault: AnyFault, resource: str, step: int, until: int) -> bool:
    """Whether a child of the resource that is made in the first step may not be there in this one. Of what is hidden once it is
    made there is at least one."""
    is_made = isinstance(fault, HideOwnWrite) and fault.resource == resource
    return _stops_work(fault) or (_keeps_back(fault) and fault.window.from_step == 1 and until >= step and not is_made)


def _release(fault: AnyFault) -> Release:
    return fault.release if isinstance(fault, HoldStream) else "events"
