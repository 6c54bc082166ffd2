"""Plans of the deletion scenario: another incarnation takes a child's name while the controller cannot see it."""

from collections.abc import Iterator

from staleproof.core.fault import HoldStream, Window
from staleproof.core.observed import Observed
from staleproof.core.plan import Apply, Plan, Recreate

SCENARIO = "deletion"


def canonical(observed: Observed) -> Iterator[Plan]:
    """For each resource whose children keep their names: recreate the last child unseen, then scale down.

    Children with generated names are left out: nobody creates another object under such a name.
    """
    if not observed.scale_path:
        return
    for child in observed.children:
        if child.stable_names and child.deletes and child.watched:
            yield Plan(
                scenario=SCENARIO,
                title=f"recreate the last of {child.resource} unseen, then scale down",
                aims=("no-delete-of-unseen",),
                manifests=observed.manifests,
                steps=(
                    Apply(object=observed.sample),
                    Recreate(resource=child.resource),
                    observed.scale(max(observed.replicas - 1, 0)),
                ),
                faults=(HoldStream(resource=child.resource, window=Window(from_step=2)),),
                settle=observed.settle(),
            )
