"""Plans that are run in place of others that could not be carried out, or found no occasion for what they were drawn for.

What was there, and what the controller did in each step without faults, is known by then; so what was a guess when the plan was
drawn is none any more.
"""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from staleproof.core.fault import AnyFault, Window
from staleproof.core.plan.plan import Plan, contradictions
from staleproof.core.plan.step import Edit, Heartbeat, Recreate, Remove, Step, describe
from staleproof.draw.family import drawn_title
from staleproof.draw.shrink import first_own_write

Happened = Mapping[int, Mapping[tuple[str, str], int]]
"""How often something happened, by step: (resource, verb) for the controller's writes, (resource, "") for changes of objects."""


def with_object(plan: Plan, number: int, there: Mapping[str, int]) -> Plan | None:
    """The plan with the step of this number done to a child that is there; what was to happen to the other's events happens to
    those of this one. None: the step is not about a child, or no child is there.

    `there`: how many children of each resource were there when the step began.
    """
    step = plan.steps[number - 1]
    if not isinstance(step, Recreate | Remove | Edit | Heartbeat):
        return None
    resource = step.resource if there.get(step.resource) else max(sorted(there), key=lambda each: there[each], default="")
    if not resource or not there[resource]:
        return None
    done = _done_to(step, resource, there[resource])
    faults = tuple(replace(each, resource=resource) if each.resource == step.resource else each for each in plan.faults)
    made = replace(
        plan,
        title=f"{plan.title}; {describe(done)} in place of {describe(step)}",
        steps=(*plan.steps[: number - 1], done, *plan.steps[number:]),
        faults=faults if resource != step.resource else plan.faults,
    )
    return None if contradictions(made) else made


def _done_to(step: Recreate | Remove | Edit | Heartbeat, resource: str, count: int) -> Step:
    """The same to a child of this resource, of which there are so many; of another one what any user can do to any child: what it
    is called when it is made again, and what can be changed in it, is known of the first one only."""
    nth = step.nth if abs(step.nth) <= count else -1
    if resource == step.resource or isinstance(step, Remove | Heartbeat):
        return replace(step, resource=resource, nth=nth)
    return Remove(resource=resource, nth=nth) if isinstance(step, Recreate) else Heartbeat(resource=resource, nth=nth)


def aimed_anew(plan: Plan, silent: Collection[int], happened: Happened) -> Plan | None:
    """The plan with those faults that did nothing opened in the step in which most of what they are about happens; None: nothing of
    the kind happens in any step, or that is where one of them was.

    `silent`: their positions among the faults.
    """
    faults = [_aimed(fault, plan, happened) if number in silent else fault for number, fault in enumerate(plan.faults)]
    if any(each is None for each in faults):
        return None
    found = tuple(each for each in faults if each is not None)
    made = replace(plan, title=drawn_title(found), faults=found)
    return None if contradictions(made) else made


def _aimed(fault: AnyFault, plan: Plan, happened: Happened) -> AnyFault | None:
    window, about = fault.window, (fault.resource, fault.verb_of_write)
    occasions = {step: each.get(about, 0) for step, each in happened.items() if step <= len(plan.steps)}
    best = max(sorted(occasions), key=lambda step: occasions[step], default=0)
    if not best or not occasions[best] or best == window.from_step:
        return None
    until = None if window.until_step is None else best + window.until_step - window.from_step
    return first_own_write(replace(fault, window=Window(best, until, window.seconds)), occasions[best])
