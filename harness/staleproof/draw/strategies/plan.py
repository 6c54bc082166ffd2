"""Complete plans: a workload, and what happens to the controller meanwhile."""

from collections.abc import Callable

import hypothesis.strategies as st
from msgspec.structs import replace

from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Plan
from staleproof.draw.canonical import slow_to_start
from staleproof.draw.drawn import drawn_family
from staleproof.draw.family import Draft, Scenario, drawn_title
from staleproof.draw.incidents.single import Faults
from staleproof.draw.strategies.observation import observations
from staleproof.draw.strategies.schedule import schedules
from staleproof.draw.strategies.users import Steps, workloads

SCENARIO = Scenario("drawn", settle=slow_to_start)


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
    is_refused = any(fault.stops_work and "rejects" in fault.effects for fault in faults)
    plan = SCENARIO.plan(Draft(drawn_title(faults), faults, steps, fresh=is_refused), observed)
    return replace(plan, contract="hostile") if any(fault.contract == "hostile" for fault in faults) else plan


@st.composite
def _alike(draw: st.DrawFn, observed: Observed, count: int) -> tuple[Plan, ...]:
    """So many plans over one workload."""
    return draw(st.tuples(*[plans(observed, workload=st.just(draw(workloads(observed))))] * count))


DRAWN = drawn_family(SCENARIO.name, _alike)
