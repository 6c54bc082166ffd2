"""Plans of the status scenario: the controller reports on a primary while what it reports on is hidden from it."""

from collections.abc import Iterator

from staleproof.core.fault import AnyFault, HideOwnWrite, HoldStream, Window
from staleproof.core.observed import Observed
from staleproof.core.plan import Plan, Step
from staleproof.draw.profile import Profile
from staleproof.draw.workloads import fresh, life, news, own_create, stirred

SCENARIO = "status"
OBSERVED = ("honest-observed-generation", "converges-after-catch-up")


def hidden_change(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The primary is changed unseen, and something that the controller does see makes it look again: does it look ahead?"""
    for changed, steps in profile.some(_seen_news(observed)):
        title = f"the primary is {changed} unseen, then a child changes"
        yield _plan(observed, title, OBSERVED, steps, HoldStream(resource=observed.resource, window=Window(2)))


def hidden_changes(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The primary is changed several times unseen, and a list tells what came of it."""
    plan = life(observed)
    seen = observed.resource in observed.watched and bool(stirred(observed, observed.resource))
    for resource in profile.more([observed.resource] if seen else []):
        hold = HoldStream(resource=resource, window=Window(2, plan.last), release="relist")
        aims = (*OBSERVED, "survives-expiry")
        yield _plan(observed, "all changes of the primary unseen, then its watch expires", aims, plan.steps, hold)


def hidden_children(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Its own children are hidden from it while the primary changes: does it report as done what it cannot have seen done?"""
    aims = ("honest-ready", *OBSERVED)
    for child in profile.some(child for child in observed.children if child.watched and child.creates):
        hide = HideOwnWrite(resource=child.resource, write=own_create(observed, child.resource))
        title = f"own creates of {child.resource} hidden while the primary changes"
        yield _plan(observed, title, aims, life(observed).steps, hide)


FAMILIES = {"hidden-change": hidden_change, "hidden-changes": hidden_changes, "hidden-children": hidden_children}


def _seen_news(observed: Observed) -> Iterator[tuple[str, tuple[Step, ...]]]:
    return news(observed) if observed.resource in observed.watched else iter(())


def _plan(observed: Observed, title: str, aims: tuple[str, ...], steps: tuple[Step, ...], fault: AnyFault) -> Plan:
    return Plan(
        scenario=SCENARIO,
        title=title,
        aims=aims,
        manifests=observed.manifests,
        steps=steps,
        faults=(fault,),
        settle=observed.settle(),
        fresh=fresh(observed) and isinstance(fault, HoldStream) and fault.release == "relist",
    )
