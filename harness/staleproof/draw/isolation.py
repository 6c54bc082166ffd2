"""Plans of the isolation scenario: a second primary appears while the controller waits to be shown what it did for the first."""

import copy
from collections.abc import Iterator

from staleproof.core.fault import HideOwnWrite, Window
from staleproof.core.observed import Observed
from staleproof.core.plan import Apply, Manifest, Plan, Rest
from staleproof.draw.profile import Profile
from staleproof.draw.workloads import appear, own_create

SCENARIO = "isolation"
_WAITS_SECONDS = 7.0
"""Longer than the second primary is given to be looked at."""


def second_primary(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Hide its creates for the first primary; then the second appears."""
    first = appear(observed)
    hidden = [child for child in observed.children if child.watched and child.creates]
    for child in hidden[:1]:  # one kind is as good as another: it has to wait for none of them
        yield Plan(
            scenario=SCENARIO,
            title=f"hide own creates of {child.resource} while a second primary appears",
            aims=("isolates-objects",),
            manifests=observed.manifests,
            steps=(first, Apply(object=_another(first.object)), Rest(seconds=_WAITS_SECONDS)),
            faults=(HideOwnWrite(resource=child.resource, window=Window(from_step=1), write=own_create(observed, child.resource)),),
            settle=observed.settle(),
        )


FAMILIES = {"second-primary": second_primary}


def _another(manifest: Manifest) -> Manifest:
    """The same under another name."""
    other = copy.deepcopy(manifest)
    other["metadata"]["name"] = f"{manifest['metadata']['name']}-other"
    return other
