"""In which order plans are run: how long each will take, and what each is worth before the rest has been run.

Rough on purpose: it decides what comes first, and what a run that has not enough time leaves out; never what a trial means.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import fsum, sqrt

import msgspec

from staleproof.core.fault import AnyFault, HideOwnWrite
from staleproof.core.operator.edge import Edge
from staleproof.core.plan.coverage import moments, occasions
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Patch, Rest, Together, in_parts, parts, removes
from staleproof.core.times import LEAST_PLAN_SECONDS, TRIES_AGAIN_FACTOR
from staleproof.draw.sweep import only_changes

_DETAIL = 0.2
"""What a fault on another resource, in another phase, or over another change is worth, as a part of what another fault is."""
_EACH_MORE = 0.5
"""Of the time that one primary takes, what each more beside it takes: eight of prometheus-operator's took 10 to 20 s for three
steps that one goes through in 2.5 to 4 s."""
_SHARES = {"rewinds": sqrt(17 / 6), "restarts": sqrt(8 / 6)}
"""What a fault with such an effect is worth, as a multiple of any other: of 31 bugs that Sieve's authors list by these patterns 17
took a past state, 8 a crash in between, and 6 that a state went unseen (`bugs.md` of github.com/sieve-project/sieve). The root of
that, because such plans are many, and bugs few: else what is duplicated would come late."""
_SCENARIOS = {"sweep": 3.0, "inputs": 2.0, "drawn": 0.25}
"""A sweep is about moves of which the map says that they take something away. What becomes of what a primary needs is in few plans,
all of which rest on runs without faults of their own: else those of the primary, which are many, would come first. A drawn plan
tries several faults over a workload that came by chance: most of what it is said to try it does not, so what needs no luck comes
before it."""
_ONLY_CHANGES = 0.25
"""A sweep of moves that only change what is there: an old view undoes a change, and deletes nothing."""
_MOST_AT_ONCE = 0.5
"""Of the time that a run has left: a plan that takes more, with the runs that it is compared with, would be all that it shows."""
_HARM = 2.0
_HARMFUL = frozenset(
    {
        "no-delete-of-unseen",
        "no-duplicate-create",
        "no-excess-delete",
        "no-time-travel",
        "survives-restart",
        "waits-for-initial-sync",
    }
)
"""What these forbid deletes what is live, or makes it twice: what a user loses by that cannot be mended, so to try one of them is
worth twice as much."""
_TWICE = "no-duplicate-create"
Cells = set[tuple[str, ...]]


def expected_seconds(plan: Plan, took: Mapping[str, float]) -> float:
    """How long a trial of the plan will take. `took` says what things took without faults, as `Observed.seconds` does.

    A kind of step that is not known takes as long as the longest in the plan that is; what is done together longer than the longest
    of it, or than one primary's part of such a step took, as the controller works on all of it.
    """
    kinds = {part.tag for part in in_parts(plan.steps)}
    longest = max((took[kind] for kind in kinds if kind in took), default=0.0)
    part_seconds = [[took.get(part.tag, longest) for part in parts(step)] for step in plan.steps]
    firsts = [max([*each, took.get(step.tag, 0.0)]) for each, step in zip(part_seconds, plan.steps, strict=True)]
    steps = sum(first * side_by_side(len(each)) for first, each in zip(firsts, part_seconds, strict=True))
    rests = sum(step.seconds for step in plan.steps if isinstance(step, Rest))
    starts = plan.fresh + sum("restarts" in fault.effects for fault in plan.faults)
    holds = sum(_holds(fault, plan) for fault in plan.faults)
    return steps + rests + holds + starts * took.get("start", 0.0) + took.get("settle", 0.0)


def side_by_side(primaries: int) -> float:
    """How many times as long as one of them so many primaries take that are worked on at once."""
    return 1 + _EACH_MORE * (primaries - 1)


def calm_seconds(plan: Plan, took: Mapping[str, float], *, runs: int) -> float:
    """How long so many runs of the plan's workload without faults will take. Only the first of them waits in each step for as long
    as the controller may pause: the others know by it what a step brings."""
    calm = plan.reference
    waits = len(calm.steps) * plan.settle.idle_seconds + plan.settle.quiet_seconds
    return runs * expected_seconds(calm, took) + waits


def _holds(fault: AnyFault, plan: Plan) -> float:
    """By how many seconds the fault itself makes a trial longer."""
    by_seconds = getattr(fault, "by_seconds", 0.0)  # what several faults call it
    late = max(by_seconds.values()) if isinstance(by_seconds, dict) else by_seconds
    window, end = fault.window, len(plan.steps) + 1
    steps = min(window.until_step or end, end) - window.from_step
    again = steps * TRIES_AGAIN_FACTOR * plan.settle.idle_seconds if "rejects" in fault.effects else 0.0
    return float(late * (steps if "lags" in fault.effects else 1) + again + (window.seconds or 0.0))


def most_varied(plans: Sequence[Plan], count: int) -> list[Plan]:
    """So many of these plans, those first that try what none before them tries. A fault more is worth no more than a plan more, and
    what is most telling is worth twice as much."""
    order = most_valuable_first(plans, [max(len(plan.faults), 1) / (2 if _is_telling(plan) else 1) for plan in plans])
    return [plans[number] for number in itertools.islice(order, count)]


def _is_telling(plan: Plan) -> bool:
    """Whether an own write is hidden, another user competes, the past is shown, or the controller is down meanwhile."""
    return any(
        fault.trigger is not None or fault.effects & {"competes", "rewinds"} or (fault.stops_work and "restarts" in fault.effects)
        for fault in plan.faults
    )


def most_valuable_first(
    plans: Sequence[Plan],
    seconds: Sequence[float],
    *,
    shares: Sequence[float] = (),
    calm: Sequence[float] = (),
    left: float = math.inf,
) -> Iterator[int]:
    """The positions of the plans in the order in which they should be run when there may not be time for all.

    What tries a requirement with a fault is worth most when nothing before it did, and half as much with each that did, and more
    where such faults have shown more bugs and where more is lost by them; what counts is the worth of each second. A sweep is worth
    as many plans as it has primaries. `shares`: each plan's `share`; empty: nothing is known of the operator. `calm`: how long the
    runs without faults take that are made before the first plan of a workload, and serve all others of it. `left`: the seconds of
    the run; what takes more than half of them comes last, whatever it is worth. Each plan of a workload bears its part of those
    runs, as they are made once for all.
    """
    tried: Counter[tuple[str, ...]] = Counter()
    known = [(_cells(plan), _details(plan)) for plan in plans]
    shares = shares or [share(plan) for plan in plans]
    appear = [max(1, sum(isinstance(part, Apply) for part in parts(plan.steps[0]))) for plan in plans]
    workloads, begun = [_workload(plan) for plan in plans], set[bytes]()
    alike = Counter(workloads)

    def value(number: int) -> tuple[bool, float]:
        first = calm[number] if calm and workloads[number] not in begun else 0.0
        takes = max(seconds[number], LEAST_PLAN_SECONDS)
        cost = takes + first / alike[workloads[number]]
        return takes + first <= left * _MOST_AT_ONCE, shares[number] * _worth(*known[number], tried) * appear[number] / cost

    ahead = list(range(len(plans)))
    while ahead:
        best = max(ahead, key=value)
        ahead.remove(best)
        begun.add(workloads[best])
        tried.update(known[best][0] | known[best][1])
        yield best


def _worth(cells: Cells, details: Cells, tried: Counter[tuple[str, ...]]) -> float:
    """The same in every process: sums of floats that are exact do not depend on the order of a set."""
    harm = fsum((_HARM if cell[0] in _HARMFUL else 1.0) * 0.5 ** tried[cell] for cell in cells)
    return harm + _DETAIL * fsum(0.5 ** tried[detail] for detail in details)


def share(plan: Plan, edges: Sequence[Edge] = ()) -> float:
    """By how much more bugs such faults have shown than others, and such workloads. `edges`: the operator's map."""
    largest = max((_SHARES.get(effect, 1.0) for fault in plan.faults for effect in fault.effects), default=1.0)
    return largest * (_ONLY_CHANGES if only_changes(plan, edges) else _SCENARIOS.get(plan.scenario, 1.0))


def _workload(plan: Plan) -> bytes:
    """Plans that have the same share their references."""
    return msgspec.json.encode((plan.reference.steps, plan.before), order="sorted")


def _cells(plan: Plan) -> Cells:
    """Which requirements it tries with which faults. What is made twice while its creates are hidden is of one kind, and another
    kind says nothing of it; nor does what comes of a primary's changes say anything of its inputs'."""
    faults = {(each.tag, each.resource if isinstance(each, HideOwnWrite) else "") for each in plan.faults} or {("", "")}
    of_inputs = plan.scenario if plan.scenario == "inputs" else ""
    return {(aim, fault, resource if aim == _TWICE else of_inputs) for aim in plan.aims for fault, resource in faults}


def _details(plan: Plan) -> Cells:
    """Which faults it tries on which resources, in which phases of the workload, over which changes, with one another, with which
    effects, and what is done while they last; in a sweep, to each of its primaries."""
    each = occasions(plan)
    tried: Cells = {(at.fault, at.resource, at.phase, "") for at in each}
    tried |= {(at.fault, "", at.phase, at.move) for at in each if at.move}
    for fault, at in zip(plan.faults, each, strict=True):
        tried |= {(fault.tag, fault.resource, "", ""), (fault.kind, "does", *sorted(fault.effects))}
        tried |= {(at.fault, "without", at.move)} if removes(plan.steps[fault.window.from_step - 1]) else set()
        tried |= {(fault.kind, fault.resource, "outlasts", phase, *sorted(fault.effects)) for phase in _outlasted(fault, plan)}
    swept = (part for step in plan.steps if isinstance(step, Together) for part in step.steps if isinstance(part, Patch))
    tried |= {(tag, "each of", str(part.patch), "") for part in swept for tag in {fault.tag for fault in plan.faults}}
    return tried | set(itertools.combinations(sorted({at.fault for at in each}), 2))


def _outlasted(fault: AnyFault, plan: Plan) -> Iterator[str]:
    """The phases that begin while it lasts, after the one in which it opens; a long rest is not a short one."""
    since, until = fault.window.from_step, (fault.window.until_step or len(plan.steps) + 1) - 1
    for moment, step in zip(moments(plan.steps)[since:until], plan.steps[since:until], strict=True):
        yield f"{moment.phase} {step.seconds:g}" if isinstance(step, Rest) else moment.phase
