"""The scenarios: families of canonical plans, which need no luck, and of drawn ones, derived from what the controller does without
faults."""

from collections.abc import Iterator

from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Plan
from staleproof.draw import (
    api_failure,
    coalescing_skew,
    deletion,
    inputs,
    isolation,
    metrics,
    other_faults,
    outside,
    own_writes,
    programs,
    restart,
    status,
    strategies,
    streams,
    sweep,
)
from staleproof.draw.family import Family
from staleproof.draw.profile import STANDARD, Profile

# Those with the longest plans come first: what begins last ends last.
_MODULES = (
    own_writes,
    restart,
    streams,
    api_failure,
    status,
    deletion,
    coalescing_skew,
    isolation,
    metrics,
    inputs,
    outside,
    programs,
    sweep,
)
_NAMED = [each for module in _MODULES for each in vars(module).values() if isinstance(each, type)]
"""What they know by name. A fault that is not among it, as a new one, gets a family of its own."""
FAMILIES: tuple[Family, ...] = (
    *(family for module in _MODULES for family in module.SCENARIO.families),
    *other_faults.families(_NAMED),
)

DRAWN: tuple[Family, ...] = (strategies.DRAWN,)


def canonical_plans(observed: Observed, profile: Profile = STANDARD) -> Iterator[Plan]:
    """Every plan of every scenario."""
    return (plan for family in FAMILIES for plan in family.plans(observed, profile))
