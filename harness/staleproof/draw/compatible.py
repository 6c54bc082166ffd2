"""Which incidents go together: those that do not take one another's occasion, and leave the steps something to be done to."""

import itertools
from collections.abc import Sequence

from staleproof.core.fault import AnyFault, HoldStream
from staleproof.core.fault.model import ANY
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Apply, Delete, Step, sets_aside
from staleproof.draw.incidents.forms import values
from staleproof.draw.incidents.joint import unseen_end
from staleproof.draw.incidents.single import Faults
from staleproof.draw.occasions import OF_A_CHILD


def compatible(incidents: Sequence[Faults], observed: Observed, steps: Sequence[Step], most: int) -> Faults:
    """The faults of as many of these incidents as go together and leave every step something to be done to, at most so many; the
    first before the others."""
    kept: list[AnyFault] = []
    for incident in incidents:
        pairs = itertools.product(incident, kept)
        is_free = not any(_takes(one, other, observed) or _takes(other, one, observed) for one, other in pairs)
        if len(kept) + len(incident) <= most and is_free and all(_leaves_steps(fault, observed, steps) for fault in incident):
            kept += incident
    return tuple(kept)


def _takes(one: AnyFault, other: AnyFault, observed: Observed) -> bool:
    """Whether the other may come to nothing beside the one: there is one restart, of each resource one fault about requests and one
    about streams, and a controller that is shown nothing, or whose requests fail, may not write what it wrote before."""
    if "restarts" in one.effects & other.effects:
        return True
    same = one.resource == other.resource or ANY in (one.resource, other.resource)
    if same and one.acts_on == other.acts_on != "process":
        return True
    if one.foreign_edit and one.window.from_step < other.window.from_step:
        return "restarts" not in other.effects  # what a later step would change has been changed by then
    if "restarts" in one.effects and one.window.from_step == other.window.from_step:
        return other.acts_on != "requests" or one.stops_work  # what comes in that step is in the lists of the new life
    waits = _waits_for_writes(other, observed.resource) or one.stops_work
    if "rejects" in one.effects and one.resource == other.resource and one.window.from_step == other.window.from_step:
        return waits  # what is tried again may come only in a later step
    until = one.window.until_step
    overlaps = one.window.from_step <= other.window.from_step and (until is None or until >= other.window.from_step)
    return one.keeps_back and waits and overlaps


def _waits_for_writes(fault: AnyFault, primary: str) -> bool:
    """Whether it comes to nothing unless the controller writes something: events of the primary are made by users, too."""
    is_event = fault.occasion in ("event", "more bookmarks") and fault.resource != primary
    return is_event or fault.occasion in ("write", "own write", "call")


def _leaves_steps(fault: AnyFault, observed: Observed, steps: Sequence[Step]) -> bool:
    """Whether what the steps are about will be there all the same: a child that is made before it is deleted, and a primary that is
    gone before it is made anew, because its finalizer was removed."""
    if "restarts" in fault.effects and sets_aside(steps):
        return False
    window = fault.window
    until = window.until_step or len(steps) + 1
    for number, step in enumerate(steps, 1):
        if isinstance(step, OF_A_CHILD) and window.from_step <= number and _prevents(fault, step.resource, number, until):
            return False
        comes_back = isinstance(step, Delete) and any(isinstance(later, Apply) for later in steps[number:])
        if comes_back and observed.keeps_finalizer and fault.keeps_back and window.from_step <= number < until:
            return fault in [unseen_end(observed, number, release) for release in values(HoldStream, "release")]
    return True


def _prevents(fault: AnyFault, resource: str, step: int, until: int) -> bool:
    """Whether a child of the resource that is made in the first step may not be there in this one. Of what is hidden once it is
    made there is at least one."""
    is_made = fault.trigger is not None and fault.resource == resource
    return fault.stops_work or (fault.keeps_back and fault.window.from_step == 1 and until >= step and not is_made)
