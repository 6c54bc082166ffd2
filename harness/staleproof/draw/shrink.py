"""The smallest plan that still fails: which smaller plans there are, and the search among them.

A loop of our own, and not Hypothesis': each question takes a trial of seconds on a live controller. Hypothesis takes neither a
limit nor an order of what to try, it shrinks choices and not plans, and it calls a test that does not answer alike twice flaky.
What is tried: short rests, because they cost most of the time, then fewer faults, fewer steps, less content; what still fails is
kept, and the search begins again from there. Faults that open together were drawn for each other, and stay together at first. Of
the steps the first guess is what most findings need: the first one, those with which faults open and close, and the one in which
the finding showed.

Where a step is left out, the numbers of the others follow. A step with which a fault opens is never left out, because the fault
would have no occasion any more; nor is one that later steps need.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from staleproof.core.fault import AnyFault, Window
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.manifest import Manifest, Target, target_of
from staleproof.core.plan.plan import Plan, contradictions
from staleproof.core.plan.step import Apply, Delete, Lull, Patch, PatchStatus, Rest, Step, Touch, in_parts
from staleproof.core.times import SHORT_REST_SECONDS
from staleproof.core.wording import plural
from staleproof.draw.occasions import numbered

_MINIMAL = "minimal: "
Fails = Callable[[Plan], bool | None]
"""Whether a plan still fails; None: there is no time to find out."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What came of it. `is_minimal`: nothing smaller fails; otherwise the time was over first."""

    plan: Plan
    is_minimal: bool

    def __str__(self) -> str:
        sizes = f"{plural(len(self.plan.steps), 'step')}, {plural(len(self.plan.faults), 'fault')}"
        return f"{_MINIMAL if self.is_minimal else 'the smallest found in time: '}{sizes}"


def shrunk(plan: Plan, fails: Fails, shown_in: int = 0) -> Shrunk:
    """The smallest plan that is found to fail as this one does. No plan is asked about twice.

    `shown_in`: the number of the step in which the finding showed; 0: it is not known, so in the last.
    """
    best, tried = plan, {fingerprint(plan)}
    while True:
        for candidate in smaller(best, shown_in):
            if fingerprint(candidate) in tried:
                continue
            tried.add(fingerprint(candidate))
            answer = fails(candidate)
            if answer is None:
                return Shrunk(titled(plan, best), is_minimal=False)
            if answer:
                shown_in = shown_in if len(candidate.steps) == len(best.steps) else 0
                best = candidate
                break
        else:
            return Shrunk(titled(plan, best), is_minimal=True)


def is_shrunk(plan: Plan) -> bool:
    """Whether it is as small as the search could make it."""
    return plan.title.startswith(_MINIMAL)


def titled(before: Plan, plan: Plan) -> Plan:
    """With a title that is true of what is left."""
    if is_shrunk(before):
        return plan
    happens = ", ".join(f"{fault.tag} of {fault.resource} from step {fault.window.from_step}" for fault in plan.faults)
    done = ", ".join(step.tag for step in plan.steps)
    return replace(plan, title=f"{_MINIMAL}{happens or 'no fault'} in {plural(len(plan.steps), 'step')} ({done})")


def smaller(plan: Plan, shown_in: int = 0) -> Iterator[Plan]:
    """Each plan that is smaller by one change and can be run: faults before steps before content, large changes before small. Short
    rests come first."""
    found, steps = [plan], itertools.chain(_likely_steps(plan, shown_in or len(plan.steps)), _fewer_steps(plan))
    shorter = tuple(Rest(seconds=SHORT_REST_SECONDS) if isinstance(step, Rest) else step for step in plan.steps)
    for candidate in itertools.chain([replace(plan, steps=shorter)], _fewer_faults(plan), steps, _less_content(plan)):
        if candidate not in found and not contradictions(candidate) and is_possible(candidate.steps):
            found.append(candidate)
            yield candidate


# --- faults ----------------------------------------------------------------------------------------------------------------------


def _fewer_faults(plan: Plan) -> Iterator[Plan]:
    """Those that open in one step, then each fault alone, then all but one."""
    faults = plan.faults
    if len(faults) > 1:
        for opens in dict.fromkeys(fault.window.from_step for fault in faults):
            yield replace(plan, faults=tuple(fault for fault in faults if fault.window.from_step == opens))
        yield from (replace(plan, faults=(fault,)) for fault in faults)
        yield from (replace(plan, faults=faults[:number] + faults[number + 1 :]) for number in range(len(faults)))


# --- steps -----------------------------------------------------------------------------------------------------------------------


def _likely_steps(plan: Plan, shown_in: int) -> Iterator[Plan]:
    """With those steps alone that most findings need; then with all up to the one in which it showed. What is made anew has to go
    first."""
    windows = {number for fault in plan.faults for number in (fault.window.from_step, fault.window.until_step or 0)}
    needed = {1, shown_in, *windows, *(getattr(fault, "as_of_step", 0) for fault in plan.faults)}
    made_anew = [(number, target_of(step.object)) for number, step in numbered(plan.steps, Apply) if number in needed]
    gone = {
        number
        for number, step in numbered(plan.steps, Delete)
        for later, target in made_anew
        if later > number and target == step.target
    }
    for kept in (needed | gone, range(1, shown_in + 1)):
        made: Plan | None = plan
        for number in range(len(plan.steps), 1, -1):
            made = _without(made, number, 1) if made is not None and number not in kept else made
        if made is not None:
            yield made


def _fewer_steps(plan: Plan) -> Iterator[Plan]:
    """Without half of the steps, a quarter, and so on to each one of them (Zeller and Hildebrandt's delta debugging), then without
    any other row of them; the last first, and the first step stays."""
    count = len(plan.steps)
    halves: list[tuple[int, int]] = []
    length = count - 1
    while length > 1:
        length = (length + 1) // 2
        halves += [(max(2, end - length + 1), min(length, end - 1)) for end in range(count, 1, -length)]
    rows = [(first, length) for length in range(count - 1, 0, -1) for first in range(count - length + 1, 1, -1)]
    for first, length in dict.fromkeys((*halves, *rows)):
        if (made := _without(plan, first, length)) is not None:
            yield made


def _without(plan: Plan, first: int, length: int) -> Plan | None:
    """The plan when so many steps from this number on are gone; None when a fault has no occasion any more."""
    faults = [_after(fault, first, length) for fault in plan.faults]
    if None in faults:
        return None
    return replace(plan, steps=plan.steps[: first - 1] + plan.steps[first - 1 + length :], faults=tuple(filter(None, faults)))


def _after(fault: AnyFault, first: int, length: int) -> AnyFault | None:
    """The fault when so many steps from this number on are gone; None when it has no occasion any more."""
    window, end = fault.window, first + length

    def now(number: int) -> int:
        return number - length if number >= end else min(number, first)

    until = now(window.until_step) if window.until_step is not None else None
    if first <= window.from_step < end or (until is not None and until <= now(window.from_step)):
        return None
    made: AnyFault = replace(fault, window=Window(now(window.from_step), until, window.seconds))
    past = getattr(made, "as_of_step", None)
    return made if past is None else replace(made, as_of_step=max(1, past - max(0, min(past, end - 1) - first + 1)))


def is_possible(steps: Sequence[Step]) -> bool:
    """Whether everything that a step is about is there when it is done."""
    there: set[Target] = set()
    held: dict[Target, bool] = {}  # by a finalizer; and whether it is to go
    for step in in_parts(steps):
        if not there.issuperset(_needed(step)):
            return False
        match step:
            case Apply(object=manifest):
                there.add(target_of(manifest))
            case Delete(target=target) if target in held:
                held[target] = True
            case Delete(target=target):
                there.discard(target)
            case Patch(target=target, patch={"metadata": {"finalizers": None}}):
                there -= {target} if held.pop(target, False) else set()
            case Patch(target=target, patch={"metadata": {"finalizers": _}}):
                held[target] = False
    return bool(steps)


def _needed(step: Step) -> tuple[Target, ...]:
    match step:
        case Patch(target=target) | PatchStatus(target=target) | Touch(target=target) | Delete(target=target):
            return (target,)
        case Lull(touches=touches):
            return touches
    return ()


# --- content ---------------------------------------------------------------------------------------------------------------------


def _less_content(plan: Plan) -> Iterator[Plan]:
    """Faults with what they usually have, smaller numbers."""
    for number, fault in enumerate(plan.faults):
        yield from (replace(plan, faults=(*plan.faults[:number], made, *plan.faults[number + 1 :])) for made in _plainer(fault))
    for number, step in enumerate(plan.steps):
        yield from (replace(plan, steps=(*plan.steps[:number], made, *plan.steps[number + 1 :])) for made in _less(step))


def first_own_write(fault: AnyFault, most: int = 1) -> AnyFault:
    """The same about the first of its own writes, unless the one that it is about is among so many."""
    return replace(fault, write=replace(fault.trigger, nth=1)) if fault.trigger is not None and fault.trigger.nth > most else fault


def _plainer(fault: AnyFault) -> Iterator[AnyFault]:
    """Its own write the first, released by events."""
    made = (first_own_write(fault), replace(fault, release="events") if hasattr(fault, "release") else fault)
    yield from (each for each in made if each != fault)


def _less(step: Step) -> Iterator[Step]:
    match step:
        case Apply(object=manifest):
            yield from (replace(step, object={**manifest, "spec": spec}) for spec in _lower(manifest.get("spec")))
        case Patch(patch=patch):
            yield from (replace(step, patch=made) for made in _lower(patch))


def _lower(value: object) -> Iterator[Manifest]:
    """With one of its numbers lower: 1, or half of it. Those in lists stay as they are."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, int) and not isinstance(inner, bool) and inner > 1:
            yield from ({**value, key: less} for less in dict.fromkeys((1, inner // 2)))  # type: ignore[dict-item]  # a manifest
        yield from ({**value, key: made} for made in _lower(inner))  # type: ignore[dict-item]
