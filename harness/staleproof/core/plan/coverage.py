"""What a plan covers: which requirement with which fault on which resource, in which phase of the workload, over which change.

Everything follows from the plan alone, so what was planned and what a report says are counted alike.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.move import merged
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import (
    Apply,
    AwaitRepair,
    Delete,
    Drift,
    Edit,
    Heartbeat,
    Patch,
    PatchStatus,
    Recreate,
    Remove,
    Rest,
    Restore,
    Resync,
    Step,
    Together,
    TurnSystem,
)

Phase = Literal[
    "appears", "changes", "changes back", "is touched", "is deleted", "returns", "another appears", "a child is deleted",
    "a child is replaced", "a child is edited", "a child is touched", "its status is overwritten", "is listed again", "rests",
    "what it needs goes", "what it needs returns", "something drifts outside", "an external system turns",
]  # fmt: skip
"""What happens to the primary, or to what belongs to it, in a step."""
PHASES: tuple[Phase, ...] = get_args(Phase)
_OF_OTHERS: dict[type, Phase] = {
    Remove: "a child is deleted",
    Recreate: "a child is replaced",
    Edit: "a child is edited",
    Heartbeat: "a child is touched",
    PatchStatus: "its status is overwritten",
    Resync: "is listed again",
    Rest: "rests",
    Restore: "what it needs returns",
    Drift: "something drifts outside",
    AwaitRepair: "rests",
    TurnSystem: "an external system turns",
}

_BETWEEN = ", "
"""Between two fields of a move."""


class Moment(NamedTuple):
    """When something happens: the phase, and the fields that change in it, as dotted paths; empty where none does."""

    phase: Phase
    move: str

    @property
    def fields(self) -> list[str]:
        """Each of the fields."""
        return changed_fields(self.move)


class Occasion(NamedTuple):
    """A fault at a moment: its name, with the verb of the writes that it is about, and what it concerns."""

    fault: str
    resource: str
    phase: str
    move: str


def changed_fields(move: str) -> list[str]:
    """The dotted paths in a `move` of this module."""
    return [path for path in move.split(_BETWEEN) if path]


def moments(steps: Sequence[Step]) -> list[Moment]:
    """One for each step."""
    states: dict[Target, list[Manifest]] = {}
    return [_moment(step, states) for step in steps]


def occasions(plan: Plan) -> list[Occasion]:
    """One for each fault of the plan. A state from the past belongs to the step that ended it."""
    each = moments(plan.steps)
    opens = [getattr(fault, "as_of_step", fault.window.from_step) for fault in plan.faults]
    return [Occasion(fault.kind, fault.resource, *each[step - 1]) for fault, step in zip(plan.faults, opens, strict=True)]


def _moment(step: Step, states: dict[Target, list[Manifest]]) -> Moment:
    """`states`: what each primary has said since it appeared; empty while it is gone. What is done together is in the phase of the
    last, and changes what any of them changes."""
    if isinstance(step, Together):
        every = [_moment(part, states) for part in step.steps]
        return Moment(every[-1].phase, _BETWEEN.join(dict.fromkeys(path for each in every for path in each.fields)))
    if isinstance(step, Apply):
        target = Target(step.object["apiVersion"], step.object["kind"], step.object["metadata"]["name"])
        if states.get(target):
            return _said(target, step.object, states)
        phase: Phase = "returns" if target in states else "another appears" if states else "appears"
        states[target] = [step.object]
        return Moment(phase, "")
    if isinstance(step, Patch) and states.get(step.target):
        return _said(step.target, merged(states[step.target][-1], step.patch), states)
    if isinstance(step, Delete) and step.target not in states:
        return Moment("what it needs goes", "")
    if isinstance(step, Delete):
        states[step.target] = []
        return Moment("is deleted", "")
    return Moment(_OF_OTHERS.get(type(step), "is touched"), "")


def _said(target: Target, now: Manifest, states: dict[Target, list[Manifest]]) -> Moment:
    """What it says now, and whether it has said so before."""
    before = states[target]
    changed = _BETWEEN.join(_paths(before[-1], now))
    if not changed:
        return Moment("is touched", "")
    is_back = now in before
    before.append(now)
    return Moment("changes back" if is_back else "changes", changed)


def _paths(before: Manifest, now: Manifest, above: str = "") -> Iterator[str]:
    """The outermost fields that differ."""
    for key in dict.fromkeys((*before, *now)):
        old, new = before.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _paths(old, new, f"{above}{key}.")
        elif old != new:
            yield f"{above}{key}"
