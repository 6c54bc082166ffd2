"""The requirements: one MUST sentence each, with a slug that never changes its meaning.

Everything that is printed about them comes from here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from staleproof.checks import (
    converges_after_catch_up,
    no_delete_of_unseen,
    no_duplicate_create,
    no_excess_delete,
    settles,
)
from staleproof.checks.evidence import Evidence
from staleproof.checks.verdict import Verdict

Level = Literal["core", "extended", "provisional"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a controller must do. `remedy` is for the author of one that does not.

    `needs_references`: the check compares with fault-free runs, so without good ones it is not made.
    """

    slug: str
    must: str
    level: Level
    source: str
    remedy: str
    check: Callable[[Evidence], Verdict]
    needs_references: bool = True


_SEED = "What they don't tell you about scalable and reliable controllers, section Expectations pattern"

REQUIREMENTS = (
    Requirement(
        slug=no_duplicate_create.SLUG,
        must="The controller MUST not create another child for work it has already done but not yet seen done.",
        level="core",
        source=f"KEP-5647; {_SEED}",
        remedy="remember own writes until the cache has them (expectations, ConsistencyStore, read-your-writes client) "
        "or use deterministic names",
        check=no_duplicate_create.check,
    ),
    Requirement(
        slug=no_excess_delete.SLUG,
        must="The controller MUST not delete more because it has not yet seen its own deletes.",
        level="core",
        source=f"KEP-5647; {_SEED}",
        remedy="expect own deletes by uid until the cache shows them, "
        "or choose victims so that a repeated decision picks the same ones",
        check=no_excess_delete.check,
    ),
    Requirement(
        slug=no_delete_of_unseen.SLUG,
        must="The controller MUST not delete an object incarnation it has never been shown, nor a child of an owner incarnation it "
        "has never been shown.",
        level="core",
        source="kubernetes/kubernetes#59848; API concepts, Preconditions of DeleteOptions",
        remedy="send the uid that the decision was made on as a precondition of the delete",
        check=no_delete_of_unseen.check,
        needs_references=False,
    ),
    Requirement(
        slug=converges_after_catch_up.SLUG,
        must="The controller MUST reach, within the deadline after it has caught up, the state that it reaches without faults.",
        level="core",
        source="API concepts, Efficient detection of changes; KEP-5647, Risks",
        remedy="reconcile from the whole observed state, "
        "and make sure that catching up (by events or by a list) wakes the controller",
        check=converges_after_catch_up.check,
    ),
    Requirement(
        slug=settles.SLUG,
        must="The controller MUST stop writing once converged, also when everything is reconciled again.",
        level="core",
        source="What they don't tell you about scalable and reliable controllers, section Fast and offline reconciliation",
        remedy="compare before writing: a reconciliation that finds nothing to change writes nothing",
        check=settles.check,
        needs_references=False,
    ),
)

BY_SLUG = {requirement.slug: requirement for requirement in REQUIREMENTS}
