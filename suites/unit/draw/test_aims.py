"""What plans try: what follows from faults and steps, and what the catalogue says of both."""

import pytest

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.core.fault import AnyFault, Coalesce, HideOwnWrite, HoldStream, Kill, OwnWrite, PastSnapshot, Pause, Restart
from staleproof.core.fault.suggest import FAULTS
from staleproof.core.plan.step import Apply, Delete, Step, Touch
from staleproof.draw.aims import aims
from staleproof.draw.incidents.table import INCIDENTS, KINDS
from staleproof.draw.occasions import occasions
from staleproof.draw.scenarios import canonical_plans

from .seen import PODS, TARGET, WIDGETS, sample, widgets

LISTED = {requirement.slug: requirement.faults for requirement in REQUIREMENTS}
END = "converges-after-catch-up"
APPEARS, WAKES = Apply(object=sample(3)), Touch(target=TARGET)


@pytest.mark.parametrize(
    ("faults", "steps", "expected"),
    [
        ((HoldStream(resource=PODS),), (), ("tolerates-skew", END)),
        ((HoldStream(resource=PODS, release="relist"),), (), ("tolerates-skew", "tolerates-coalescing", END)),
        ((HideOwnWrite(resource=PODS),), (), ("no-duplicate-create", END)),
        ((HideOwnWrite(resource=PODS, write=OwnWrite("update")),), (), (END,)),
        ((Coalesce(resource=PODS),), (), ("tolerates-coalescing", END)),
        ((PastSnapshot(), Restart()), (), ("no-time-travel", "survives-restart", END)),
        ((Kill(resource=PODS),), (APPEARS, Delete(target=TARGET)), ("survives-restart", "cleans-up", END)),
        ((Pause(),), (APPEARS, Delete(target=TARGET), APPEARS, WAKES), ("cleans-up", "name-reuse", END)),
    ],
)
def test_what_follows(faults: tuple[AnyFault, ...], steps: tuple[Step, ...], expected: tuple[str, ...]) -> None:
    assert aims(faults, steps) == expected


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.contract == "legal"], ids=lambda kind: kind.__name__)
def test_what_a_fault_is_tried_for_lists_a_fault_that_does_the_same(kind: type[AnyFault]) -> None:
    """That it converges is tried with all of them."""
    of = widgets()
    at = occasions(of, (APPEARS, of.scale(1), WAKES))
    alone = [faults for each in INCIDENTS for faults in each.over(at) if all(type(fault) is kind for fault in faults)]
    tags = {tag for tag, other in FAULTS.items() if other.does[0] == kind.does[0]}
    assert [slug for faults in alone for slug in aims(faults, ()) if slug != END and not tags & {*LISTED[slug]}] == []


def test_what_a_canonical_plan_is_made_for_is_in_the_catalogue() -> None:
    assert {slug for plan in canonical_plans(widgets()) for slug in plan.aims} <= set(LISTED)
    assert WIDGETS in {fault.resource for plan in canonical_plans(widgets()) for fault in plan.faults}
