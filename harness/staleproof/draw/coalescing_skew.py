"""Plans of the coalescing-and-skew scenario: states in between are never seen, and one resource lags behind another."""

from collections.abc import Iterator

from staleproof.core.fault import AnyFault, Coalesce, HideOwnWrite, HoldStream, OwnWrite, Release, Skew, Window
from staleproof.core.observed import Observed
from staleproof.core.plan import Plan, Step
from staleproof.draw.profile import Profile
from staleproof.draw.workloads import fresh, glance, life, stirred

SCENARIO = "coalescing-skew"
COALESCED = ("tolerates-coalescing", "converges-after-catch-up")
SKEWED = ("tolerates-skew", "converges-after-catch-up")
_LAG_SECONDS = 0.5


def coalesce(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The primary, or everything, is out of sight while it is changed and scaled up and down."""
    plan = life(observed)
    if not stirred(observed, observed.resource):
        return
    primary = [observed.resource] if observed.resource in observed.watched else []
    for resource in profile.some((*primary, "*")):
        name = "everything" if resource == "*" else resource
        fault = Coalesce(resource=resource, window=Window(2, plan.last))
        yield _plan(observed, f"{name} out of sight while the primary changes", COALESCED, plan.steps, fault, relists=True)


def hold(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Nothing of one resource is shown while everything else goes on, and then everything, at once or one after the other."""
    plan = life(observed)
    for resource in profile.more(observed.watched):
        if steps := stirred(observed, resource):
            release: Release = "events" if resource == observed.resource else "trickle"
            fault = HoldStream(resource=resource, window=Window(steps[0]), release=release)
            yield _plan(observed, f"{resource} behind everything else, then shown as {release}", SKEWED, plan.steps, fault)


def hide_first_write(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The primary is not shown from the controller's first own write to it on: its children are ahead of it."""
    for each in observed.life:
        if each.step == 1 and each.resource == observed.resource and each.verb in ("update", "patch") and not each.subresource:
            write = OwnWrite("update" if each.verb == "update" else "patch")
            fault = HideOwnWrite(resource=observed.resource, window=Window(1), write=write)
            yield _plan(observed, f"the primary behind its children from own {each.verb} on", SKEWED, glance(observed), fault)


def lag(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Children arrive later than the primary, or the primary later than its children, all the time."""
    children = {resource: _LAG_SECONDS for resource in observed.watched if resource != observed.resource}
    lags = {f"children {_LAG_SECONDS:g} s behind the primary": children}
    if observed.resource in observed.watched:
        lags[f"the primary {_LAG_SECONDS:g} s behind its children"] = {observed.resource: _LAG_SECONDS}
    for title, by_seconds in profile.more((title, lags[title]) for title in lags if lags[title]):
        yield _plan(observed, title, SKEWED, life(observed).steps, Skew(by_seconds=by_seconds))


FAMILIES = {"coalesce": coalesce, "hold": hold, "hide-first-write": hide_first_write, "lag": lag}


def _plan(
    observed: Observed, title: str, aims: tuple[str, ...], steps: tuple[Step, ...], fault: AnyFault, *, relists: bool = False
) -> Plan:
    return Plan(
        scenario=SCENARIO,
        title=title,
        aims=aims,
        manifests=observed.manifests,
        steps=steps,
        faults=(fault,),
        settle=observed.settle(),
        fresh=relists and fresh(observed),
    )
