"""The scenarios: families of canonical plans, which need no luck, derived from what the controller does without faults."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from staleproof.core.observed import Observed
from staleproof.core.plan import Plan
from staleproof.draw import (
    api_failure,
    coalescing_skew,
    deletion,
    isolation,
    metrics,
    own_writes,
    restart,
    status,
    streams,
)
from staleproof.draw.profile import STANDARD, Profile


@dataclass(frozen=True, slots=True)
class Family:
    """Plans of one scenario that belong together. There may be none for a controller that gives no occasion for them."""

    scenario: str
    name: str
    plans: Callable[[Observed, Profile], Iterator[Plan]]

    def __str__(self) -> str:
        return f"{self.scenario}/{self.name}"


_MODULES = (own_writes, restart, streams, api_failure, status, deletion, coalescing_skew, isolation, metrics)
FAMILIES: tuple[Family, ...] = tuple(
    Family(module.SCENARIO, name, plans) for module in _MODULES for name, plans in module.FAMILIES.items()
)


def canonical_plans(observed: Observed, profile: Profile = STANDARD) -> Iterator[Plan]:
    """Every plan of every scenario."""
    for family in FAMILIES:
        yield from family.plans(observed, profile)
