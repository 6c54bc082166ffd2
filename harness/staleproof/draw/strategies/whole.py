"""Complete plans: a workload, and what happens to the controller meanwhile."""

from collections.abc import Callable, Iterator, Sequence

import hypothesis.strategies as st
from msgspec.structs import replace

from staleproof.core.fault import AnyFault, CallFault, HideOwnWrite, HoldStream
from staleproof.core.observed import Observed
from staleproof.core.plan import Plan
from staleproof.core.step import Apply, Delete, Step
from staleproof.draw.canonical import slow_to_start
from staleproof.draw.drawn import drawn_family
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.strategies.together import schedules
from staleproof.draw.strategies.users import Steps, workloads
from staleproof.draw.strategies.watching import Faults
from staleproof.draw.strategies.whom import observations

SCENARIO = Scenario("drawn", settle=slow_to_start)
_AIMS = {
    "HideOwnWrite create": ("no-duplicate-create",),
    "HideOwnWrite delete": ("no-excess-delete",),
    "Hold": ("tolerates-skew",),
    "Delay": ("tolerates-skew",),
    "Skew": ("tolerates-skew",),
    "Coalesce": ("tolerates-coalescing",),
    "Sever": ("survives-stream-loss",),
    "Refuse": ("survives-stream-loss",),
    "Hang": ("survives-stream-loss",),
    "Expire": ("survives-expiry",),
    "RefuseWatchList": ("survives-expiry",),
    "DropBookmarks": ("needs-no-bookmarks",),
    "AddBookmarks": ("needs-no-bookmarks",),
    "SlowStart": ("waits-for-initial-sync",),
    "PastSnapshot": ("no-time-travel",),
    "Restart": ("survives-restart",),
    "Kill": ("survives-restart",),
    "LoseAnswer": ("survives-lost-answer",),
    "Compete": ("no-lost-update",),
}


@st.composite
def plans(
    draw: st.DrawFn,
    observed: Observed | None = None,
    *,
    workload: st.SearchStrategy[Steps] | None = None,
    schedule: Callable[[Steps], st.SearchStrategy[Faults]] | None = None,
) -> Plan:
    """Complete plans, ready to be run: a workload, and a schedule of faults over it.

    Args:
        observed: what the controller was observed to do; empty: that of this run's.
        workload: where the steps come from; empty: `workloads`.
        schedule: makes of the steps where the faults come from; empty: `schedules`. One that draws hostile faults makes plans that
            are never scored.
    """
    observed = observed if observed is not None else draw(observations())
    steps = draw(workload if workload is not None else workloads(observed))
    faults = draw(schedule(steps) if schedule is not None else schedules(steps, observed))
    told = ", ".join(f"{fault.tag} of {fault.resource} from step {fault.window.from_step}" for fault in faults)
    patient = any(isinstance(fault, CallFault) and fault.times is None for fault in faults)
    aims = tuple(dict.fromkeys(_aims(faults, steps)))
    plan = SCENARIO.plan(Draft(f"drawn: {told}", aims, faults, steps, fresh=patient), observed)
    return replace(plan, contract="hostile") if any(fault.contract == "hostile" for fault in faults) else plan


def _aims(faults: Sequence[AnyFault], steps: Sequence[Step]) -> Iterator[str]:
    """The requirements that the plan is made for."""
    for fault in faults:
        yield from _AIMS.get(f"{fault.tag} {fault.write.verb}" if isinstance(fault, HideOwnWrite) else fault.tag, ())
        yield from ["tolerates-coalescing"] * (isinstance(fault, HoldStream) and fault.release == "relist")
    deletes = [number for number, step in enumerate(steps) if isinstance(step, Delete)]
    yield from ["cleans-up"] * bool(deletes)
    yield from ["name-reuse"] * any(isinstance(step, Apply) for number in deletes for step in steps[number:])
    yield "converges-after-catch-up"


@st.composite
def _alike(draw: st.DrawFn, observed: Observed, count: int) -> tuple[Plan, ...]:
    """So many plans over one workload."""
    return draw(st.tuples(*[plans(observed, workload=st.just(draw(workloads(observed))))] * count))


DRAWN = drawn_family(SCENARIO.name, _alike)
