"""What a controller does but for the staleness: plans in which nothing is hidden, lost or turned away.

A *woken* plan has the same workload, and each fault's harmless twin: the controller looks again as often as in the trial, each time
when it is at rest, and sees what is there. A *final-only* plan has nothing but the last wanted state, as a controller that
slept meanwhile sees it. A *slept* plan lacks only the states that came and went while a fault lasted; or what the fault kept back
comes behind what else was done meanwhile; or a competitor's edit is in it, as part of the step or behind it.
What a controller does in one of them it may do in the trial, too.

An *ablated* plan lacks only the faults that a requirement is about. It does not show what is right, because the others do harm in
it. It shows whether they alone bring about what would be held against the controller by that requirement.

Divergence from the trial: what a fault did in the midst of a step its twin does at the end of that step, and what it did before
there was anything to see is left out.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import structs

from staleproof.core.fault import AnyFault, Expire, Restart, SeverStream, Twin, Window
from staleproof.core.history.entry import FaultIndex
from staleproof.core.plan.manifest import Manifest, Target, target_of
from staleproof.core.plan.move import merge_patch
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import (
    Apply,
    Delete,
    Edit,
    Lull,
    Patch,
    PatchStatus,
    Recreate,
    Restore,
    Resync,
    Step,
    Together,
    at_once,
    in_parts,
    is_workload,
)

_NOTHING = Lull()
_ASKS = (Apply, Patch, PatchStatus, Delete, Restore)
"""The steps in which a user asks for something else."""
_Number = int
"""The number of the workload's step (resyncs do not count) at whose beginning something is done; one more than it has: the end."""


def woken(plan: Plan) -> Plan | None:
    """The same workload with the faults' harmless twins; None if they have none, so that the reference is all there is to ask."""
    workload = plan.reference.steps
    wakings: dict[_Number, list[_Waking]] = defaultdict(list)
    for at, waking in _wakings(plan):
        if waking not in wakings[at] and at > 1:
            wakings[at].append(waking)
    steps: list[Step] = []
    faults: list[AnyFault] = []
    for at in range(1, len(workload) + 2):
        if there := wakings.get(at):
            targets = present(workload[: at - 1])
            touches = tuple(targets) if any(each.twin.does == "touches" for each in there) else ()
            steps.append(Lull(touches=touches))
            faults += [fault for each in there if (fault := _harmless(each, len(steps))) is not None]
        steps += workload[at - 1 : at]
    return _made(plan, "woken", tuple(steps), tuple(dict.fromkeys(faults))) if len(steps) > len(workload) else None


def final_only(plan: Plan) -> Plan | None:
    """Only the last state that the workload asks for; None if it asks for nothing in the end, or never asked for anything else, or
    if another user has taken the name of a child: that is part of the last state, and there has to be a child first."""
    workload = plan.reference.steps
    if any(isinstance(step, Recreate) and step.foreign for step in workload):
        return None
    applied = [Apply(object=manifest) for manifest in present(workload).values()]
    steps = (*_given(workload), *_as_in(workload, applied))
    return _made(plan, "only the last state of", steps, ()) if steps and steps != workload else None


def slept(plan: Plan, primaries: Collection[str]) -> list[Plan]:
    """For each fault, and for all together, what is left of the workload for a controller that acts on nothing while it lasts: with
    and without the step in which it begins. Each once, and none that is the workload or its last state.

    Which children are deleted or made again meanwhile is left out, as are touches and rests: that is over when the controller looks
    again. What others have written stays, until it is written over, and so does what they have made under a child's name:
    a controller that wakes up finds it, and acts on what came last.
    What is done to objects of a resource that the fault keeps back comes behind what is done to others meanwhile: a controller that
    is shown a pause late has rolled out before what came after it.
    A competitor's edit of one of these primaries (`resource/name`) stays, too: the controller may see nothing else of that step, or
    do all of the step's work before it sees the edit.
    Of a whole life that came and went, nothing is left: then no user asks for anything.
    """
    workload = plan.reference.steps
    final = final_only(plan)
    spans = [(_at(plan, each.window.from_step), _at(plan, each.window.until_step or len(plan.steps))) for each in plan.faults]
    spans += [(min(first for first, _ in spans), max(last for _, last in spans))] if len(spans) > 1 else []
    asleep = [_asleep(workload, begins, last) for first, last in spans for begins in (first, first + 1)]
    asleep += [_late(workload, span, fault) for fault, span in zip(plan.faults, spans, strict=False) if fault.keeps_back]
    for number, edit in _competing(plan, primaries):
        asleep += [_asleep(workload, number, number, edit), (*workload[:number], edit, *workload[number:])]
    found: list[tuple[Step, ...]] = []
    for steps in (each or (_NOTHING,) for each in asleep):
        if steps not in (workload, final.steps if final is not None else (), *found):
            found.append(steps)
    return [_made(plan, "asleep while a fault lasted", steps, ()) for steps in found]


def ablated(plan: Plan, left_out: Collection[FaultIndex]) -> Plan | None:
    """The plan without these faults, and everything else as it was; None when that is the plan, or its workload without faults."""
    faults = tuple(fault for number, fault in enumerate(plan.faults) if number not in left_out)
    if faults in (plan.faults, ()):
        return None
    without = ", ".join(dict.fromkeys(plan.faults[number].tag for number in sorted(left_out)))
    title = f"without {without}: {plan.title or plan.scenario}"
    return structs.replace(plan, title=title, aims=(), faults=faults, fresh=True)


def _asleep(workload: tuple[Step, ...], begins: int, last: int, *edits: Patch) -> tuple[Step, ...]:
    """The workload as it looks to a controller to which these steps (`last` included) and edits show only their outcome."""
    before, meanwhile = workload[: begins - 1], workload[begins - 1 : last]
    change = list(_change(present(before), present((*workload[:last], *edits)), meanwhile))
    missed = (*_given(meanwhile, before), *_as_in(meanwhile, change))
    theirs = tuple(
        step for step in meanwhile if isinstance(step, Edit | PatchStatus) or (isinstance(step, Recreate) and step.foreign)
    )
    appears = any(isinstance(step, Apply) for step in in_parts(missed))
    return (*before, *(missed + theirs if appears else theirs + missed), *workload[last:])


def _late(workload: tuple[Step, ...], span: tuple[_Number, _Number], fault: AnyFault) -> tuple[Step, ...]:
    """The workload in which what a user asks for in these steps (the last included) of what a fault keeps back comes behind all
    else that is asked for in them; as it is if there is not both."""
    first, last = span
    meanwhile = workload[first - 1 : last]
    ahead = [rest for step in meanwhile if (rest := _part_of(step, fault, is_kept_back=False)) is not None]
    behind = [kept for step in meanwhile if (kept := _part_of(step, fault, is_kept_back=True)) is not None]
    asks = behind and any(isinstance(part, _ASKS) for part in in_parts(ahead))
    return (*workload[: first - 1], *ahead, *behind, *workload[last:]) if asks else workload


def _part_of(step: Step, fault: AnyFault, *, is_kept_back: bool) -> Step | None:
    """What a step does to what a fault keeps back, or to all else; None if it does nothing to that."""
    if isinstance(step, Together):
        return at_once(part for part in step.steps if _is_about(part, fault.resource) is is_kept_back)
    return step if _is_about(step, fault.resource) is is_kept_back else None


def _is_about(step: Step, resource: str) -> bool:
    """Whether a user asks in it for something else of a resource, as far as the kind tells: resources are called after it."""
    if not isinstance(step, _ASKS):
        return False
    target, (plural, _, group) = target_of(step.object) if isinstance(step, Apply) else step.target, resource.partition(".")
    return _group(target) == group and plural.startswith(target.kind.lower()[:-1])


def _group(target: Target) -> str:
    return target.api_version.rpartition("/")[0]


def _competing(plan: Plan, primaries: Collection[str]) -> Iterator[tuple[_Number, Patch]]:
    """What a competitor does to a primary, and after which step; not where it may be any of several."""
    for fault in plan.faults:
        if fault.foreign_edit:
            number = sum(map(is_workload, plan.steps[: fault.window.from_step]))
            named = {name for resource, name in (each.rsplit("/", 1) for each in primaries) if fault.concerns(resource)}
            there = [each for each in present(plan.reference.steps[:number]) if each.name in named & {fault.name or each.name}]
            yield from [(number, Patch(target=target, patch=dict(fault.foreign_edit))) for target in there if len(there) == 1]


def _as_in(workload: Sequence[Step], done: Sequence[Apply | Patch | Delete]) -> tuple[Step, ...]:
    """These steps, together where in the workload several things are done together."""
    joined = at_once(done) if any(isinstance(step, Together) for step in workload) else None
    return tuple(done) if joined is None else (joined,)


def _change(
    before: Mapping[Target, Manifest], after: Mapping[Target, Manifest], steps: Sequence[Step]
) -> Iterator[Apply | Patch | Delete]:
    """The fewest steps that make of what was there what there is after these steps; what came back is another incarnation."""
    deleted = [step.target for step in in_parts(steps) if isinstance(step, Delete)]
    for target in before:
        if target not in after or target in deleted:
            yield Delete(target=target)
        elif patch := merge_patch(before[target], after[target]):
            yield Patch(target=target, patch=patch)
    yield from (Apply(object=after[target]) for target in after if target not in before or target in deleted)


def _made(plan: Plan, how: str, steps: tuple[Step, ...], faults: tuple[AnyFault, ...]) -> Plan:
    title = f"{how}: {plan.title or plan.scenario}"
    return structs.replace(plan.reference, title=title, aims=(), steps=steps, faults=faults, fresh=True)


class _Waking(NamedTuple):
    """Which twin does something, to the streams of which resource, of which program."""

    twin: Twin
    resource: str
    program: str = ""


def _wakings(plan: Plan) -> Iterator[tuple[_Number, _Waking]]:
    """When which of them does it."""
    last = len(plan.steps)
    for number, step in enumerate(plan.steps, 1):
        if isinstance(step, Resync):
            yield _at(plan, number), _Waking(Twin("relists", "opening"), step.resource)
    for fault in plan.faults:
        if fault.twin is not None:
            first, until = fault.window.from_step, fault.window.until_step or last + 1
            when = {"opening": first, "within": first + 1, "closing": min(until, last + 1)}[fault.twin.at]
            resource = "" if fault.twin.does in ("restarts", "touches") else fault.resource
            yield _at(plan, when), _Waking(Twin(fault.twin.does, "opening"), resource, fault.program)


def _at(plan: Plan, number: int) -> _Number:
    """Of the step with this number of the plan."""
    return 1 + sum(map(is_workload, plan.steps[: number - 1]))


def _harmless(waking: _Waking, step: int) -> AnyFault | None:
    """The fault that does this at the beginning of a step in which nothing else happens."""
    window, resource, program = Window(from_step=step), waking.resource, waking.program
    match waking.twin.does:
        case "relists":
            return Expire(resource=resource, program=program, window=window)
        case "reconnects":
            return SeverStream(resource=resource, program=program, window=window)
        case "restarts":
            return Restart(gently=True, program=program, window=window)
        case "touches":
            return None


def present(steps: tuple[Step, ...]) -> Mapping[Target, Manifest]:
    """What the user wants after these steps, in the order in which it was first asked for."""
    found: dict[Target, Manifest] = {}
    for step in in_parts(steps):
        match step:
            case Apply(object=manifest):
                target = Target(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"])
                found[target] = _merged(found[target], manifest) if target in found else manifest
            case Patch(target=target, patch=patch) if target in found:
                found[target] = _merged(found[target], patch)
            case Delete(target=target):
                found.pop(target, None)
    return found


@dataclass(slots=True)
class _Needed:
    """What steps do to something that the workload needs and has not applied: whether it `is_gone`, or `is_anew`, because it was
    put back, and what patches have made of it since."""

    is_gone: bool = False
    is_anew: bool = False
    patch: Manifest = field(default_factory=dict)


def _given(steps: Sequence[Step], before: Sequence[Step] = ()) -> list[Delete | Restore | Patch]:
    """The fewest steps that make of what the workload needs what these steps make of it, after those `before`: what goes and comes
    back in these steps need not go. The plan's prerequisites are not asked, because in a plan that is stored digests stand for
    them."""
    found: list[Delete | Restore | Patch] = []
    were = _needed(before)
    own = {target_of(step.object) for step in in_parts(before) if isinstance(step, Apply)}
    for target, now in _needed(steps, own).items():
        then = were.get(target, _Needed())
        found += [Delete(target=target)] if not then.is_gone and (now.is_gone or (now.is_anew and then.patch)) else []
        found += [Restore(target=target)] if now.is_anew and (then.is_gone or then.patch) else []
        found += [Patch(target=target, patch=now.patch)] if now.patch and not now.is_gone else []
    return found


def _needed(steps: Sequence[Step], applied: Collection[Target] = ()) -> dict[Target, _Needed]:
    """By target; what was `applied` before is none of it."""
    own, found = set(applied), defaultdict[Target, _Needed](_Needed)
    for step in in_parts(steps):
        match step:
            case Apply(object=manifest):
                own.add(target_of(manifest))
            case Delete(target=target) if target not in own:
                found[target] = _Needed(is_gone=True)
            case Restore(target=target):
                found[target] = _Needed(is_anew=True)
            case Patch(target=target, patch=patch) if target not in own:
                found[target].patch = _composed(found[target].patch, patch)
    return found


def _composed(first: Any, then: Any) -> Any:  # noqa: ANN401  # JSON
    """The merge patch that does what these two do, one after the other."""
    if not isinstance(first, dict) or not isinstance(then, dict):
        return then
    return {**first, **{key: _composed(first.get(key), value) for key, value in then.items()}}


def _merged(before: Any, patch: Any) -> Any:  # noqa: ANN401  # JSON
    """What a JSON merge patch makes of it (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    made = dict(before) if isinstance(before, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = _merged(made.get(key), value)
    return made
