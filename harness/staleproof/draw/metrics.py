"""Plans of the metrics scenario: what the controller counts as skipped for staleness, while it is behind and while it is not."""

from collections.abc import Iterator

from staleproof.core.fault import HideOwnWrite, Window
from staleproof.core.observed import Observed
from staleproof.core.plan import Plan
from staleproof.draw.profile import Profile
from staleproof.draw.workloads import life, own_create

SCENARIO = "metrics"


def behind_for_a_while(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Hide its creates until the primary shrinks; when it is touched after that, there is nothing to skip."""
    if not observed.has_metrics:
        return
    lived = life(observed)
    hidden = [child for child in observed.children if child.watched and child.creates]
    for child in profile.some(hidden):
        window = Window(1, lived.shrinks or lived.last)
        yield Plan(
            scenario=SCENARIO,
            title=f"hide own creates of {child.resource} for a while, and read the metrics",
            aims=("reports-skips",),
            manifests=observed.manifests,
            steps=lived.steps,
            faults=(HideOwnWrite(resource=child.resource, window=window, write=own_create(observed, child.resource)),),
            settle=observed.settle(),
        )


FAMILIES = {"behind-for-a-while": behind_for_a_while}
