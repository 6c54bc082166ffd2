"""Schedules: incidents over one workload that go together."""

import hypothesis.strategies as st

from staleproof.core.fault import Restart, SeverStream, Window
from staleproof.core.fault.model import ANY
from staleproof.core.grouping import grouped
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import sets_aside
from staleproof.draw.compatible import compatible
from staleproof.draw.incidents.single import Faults
from staleproof.draw.incidents.table import INCIDENTS, Incident
from staleproof.draw.occasions import Occasions, occasions
from staleproof.draw.strategies.observation import observations
from staleproof.draw.strategies.users import Steps


@st.composite
def schedules(
    draw: st.DrawFn, steps: Steps, observed: Observed | None = None, *, most_faults: int = 3, hostile: bool = False
) -> Faults:
    """What happens to the controller in these steps: one fault or more, each of which has an occasion, as far as can be known.

    All incidents are drawn (`draw.incidents.table`). One half of the schedules begin with one that is made for a step of this
    workload.

    Args:
        steps: the workload.
        observed: what the controller was observed to do; empty: that of this run's.
        most_faults: at most so many; never two that restart it.
        hostile: also what no API server does; a plan with such a fault is never scored.
    """
    observed = observed if observed is not None else draw(observations())
    at = occasions(observed, steps)
    found = [each for each in INCIDENTS if (hostile or each.contract == "legal") and next(each.over(at), None) is not None]
    usual = [each for each in found if not each.is_for_a_step for _ in range(each.often)]
    telling = [each for each in found if each.is_for_a_step or each.contract == "hostile" for _ in range(each.often)]
    is_telling = draw(st.booleans())
    first = draw(st.sampled_from(telling if is_telling and telling else usual))
    more = draw(st.lists(st.sampled_from(usual), max_size=most_faults - 1))
    kept = compatible([_one(draw, each, at) for each in (first, *more)], observed, steps, most_faults)
    last = Window(from_step=len(steps))
    return kept or ((SeverStream(resource=ANY, window=last),) if sets_aside(steps) else (Restart(window=last),))


def _one(draw: st.DrawFn, incident: Incident, at: Occasions) -> Faults:
    """First where, then in which form, so that what can be done in many ways is not drawn more often."""
    places = grouped(
        (tuple((type(each).__name__, each.verb_of_write, each.resource, each.window.from_step) for each in faults), faults)
        for faults in incident.over(at)
    )
    return draw(st.sampled_from(draw(st.sampled_from(list(places.values())))))
