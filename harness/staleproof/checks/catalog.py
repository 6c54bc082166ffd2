"""The requirements: one MUST sentence each, with a slug that never changes its meaning.

Everything that is printed about them comes from here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from staleproof.checks.rules import (
    backs_off,
    cleans_up,
    converges_after_catch_up,
    honest_observed_generation,
    honest_ready,
    isolates_objects,
    name_reuse,
    needs_no_bookmarks,
    no_blind_retry,
    no_cross_object_writes,
    no_delete_of_unseen,
    no_duplicate_create,
    no_excess_delete,
    no_time_travel,
    recovers_in_bounded_time,
    reports_skips,
    settles,
    survives_expiry,
    survives_lost_answer,
    survives_restart,
    survives_stream_loss,
    tolerates_coalescing,
    tolerates_skew,
    waits_for_initial_sync,
)
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Outcome, Verdict

Level = Literal["core", "extended", "provisional"]
PAGE = "docs/requirements.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """What a controller must do.

    Attributes:
        slug: its name everywhere.
        must: the sentence.
        level: `core` is for every controller, `extended` for those that claim the feature; `provisional` is reported, not scored.
        source: where that is written.
        faults: what brings a violation out, by their names in plans; empty when none is needed.
        remedy: for the author of a controller that violates it.
        check: what one trial shows about it.
        needs_references: the check compares with fault-free runs, so without good ones it is not made.
    """

    slug: str
    must: str
    level: Level
    source: str
    faults: tuple[str, ...]
    remedy: str
    check: Callable[[Evidence], Verdict]
    needs_references: bool = True

    @property
    def scored(self) -> bool:
        """Whether a violation fails a run."""
        return self.level != "provisional"

    @property
    def link(self) -> str:
        """Where it is described, from the root of the repository."""
        return f"{PAGE}#{self.slug}"


_SEED = "What they don't tell you about scalable and reliable controllers"
_LATE = ("Hold", "HideOwnWrite", "Delay", "Skew")
_HIDDEN = ("HideOwnWrite", "Hold", "Delay", "Skew")
_STREAMS = ("Sever", "Refuse", "Hang")
_RESTARTS = ("Kill", "Restart", "PastSnapshot")

REQUIREMENTS = (
    # --- own writes
    Requirement(
        slug=no_duplicate_create.SLUG,
        must="The controller MUST not create another child for work it has already done but not yet seen done.",
        level="core",
        source=f"KEP-5647; {_SEED}, section Expectations pattern",
        faults=_HIDDEN,
        remedy="remember own writes until the cache has them (expectations, ConsistencyStore, read-your-writes client) "
        "or use deterministic names",
        check=no_duplicate_create.check,
    ),
    Requirement(
        slug=no_excess_delete.SLUG,
        must="The controller MUST not delete more because it has not yet seen its own deletes.",
        level="core",
        source=f"KEP-5647; {_SEED}, section Expectations pattern",
        faults=_HIDDEN,
        remedy="expect own deletes by uid until the cache shows them, "
        "or choose victims so that a repeated decision picks the same ones",
        check=no_excess_delete.check,
    ),
    # --- old views
    Requirement(
        slug=no_delete_of_unseen.SLUG,
        must="The controller MUST not delete an object incarnation it has never been shown, nor a child of an owner incarnation it "
        "has never been shown.",
        level="core",
        source="kubernetes/kubernetes#59848; API concepts, Preconditions of DeleteOptions",
        faults=("Hold", "Delay", "Skew", "PastSnapshot", "Restart"),
        remedy="send the uid that the decision was made on as a precondition of the delete",
        check=no_delete_of_unseen.check,
        needs_references=False,
    ),
    Requirement(
        slug=no_time_travel.SLUG,
        must="The controller MUST not undo, on an older view of a primary, what has been done for a newer one.",
        level="core",
        source="kubernetes/kubernetes#59848; API concepts, get and list (resourceVersion semantics)",
        faults=("PastSnapshot", "Restart", "Kill", "Hold"),
        remedy="list the primary consistently at start (resourceVersion unset), read it live before a destructive act, "
        "and write with the resourceVersion that the decision was made on",
        check=no_time_travel.check,
    ),
    Requirement(
        slug=name_reuse.SLUG,
        must="The controller MUST tell a recreated object from its predecessor.",
        level="core",
        source="API concepts, Object names and UIDs",
        faults=("Hold", "Delay", "Coalesce", "Restart", "PastSnapshot"),
        remedy="keep what is remembered under the uid, not under the name; "
        "check that the uid in a child's owner reference is that of the owner at hand before touching the child",
        check=name_reuse.check,
    ),
    Requirement(
        slug=tolerates_skew.SLUG,
        must="The controller MUST survive any lag of one resource behind another.",
        level="core",
        source="kubernetes/kubernetes#112684; KEP-2340",
        faults=("Skew", "Hold", "Delay"),
        remedy="never conclude from a parent in one cache that a child in another cache must be there (or gone) by now: "
        "look again when the other cache moves, and read live before a destructive act",
        check=tolerates_skew.check,
    ),
    Requirement(
        slug=tolerates_coalescing.SLUG,
        must="The controller MUST reach the same end when it never sees the states in between.",
        level="core",
        source="API concepts, Efficient detection of changes; kubernetes/kubernetes#46173",
        faults=("Coalesce", "Hold", "Expire", "Sever", "Refuse"),
        remedy="work from what is there now and not from what has happened (level-triggered): compare the wanted state with the "
        "observed one, and treat a new uid under an old name as a delete and a create",
        check=tolerates_coalescing.check,
    ),
    # --- the start and the restart
    Requirement(
        slug=waits_for_initial_sync.SLUG,
        must="The controller MUST not write before its caches have had their first complete list.",
        level="core",
        source="client-go tools/cache WaitForCacheSync; KEP-3157",
        faults=("SlowStart", "Hang", "Refuse", "Reject", "SlowAnswer"),
        remedy="start no worker until every cache has synced (WaitForCacheSync, or the bookmark that ends the initial events)",
        check=waits_for_initial_sync.check,
    ),
    Requirement(
        slug=survives_restart.SLUG,
        must="The controller MUST come back from a restart at any point without repeating or undoing work.",
        level="core",
        source="KEP-5647; kubernetes/kubernetes#59848",
        faults=_RESTARTS,
        remedy="derive everything from the API server after a start: list consistently, find own children by owner uid or by "
        "deterministic names, and keep nothing needed in memory only",
        check=survives_restart.check,
    ),
    # --- streams
    Requirement(
        slug=survives_stream_loss.SLUG,
        must="The controller MUST resume its watches after they end, break off, are reset, refused or hang, and miss nothing.",
        level="core",
        source="API concepts, Efficient detection of changes",
        faults=("Sever", "Refuse", "Hang", "Hold"),
        remedy="watch again from the last resourceVersion that was taken in, with growing delay; list again if that is refused; "
        "set a timeout on watches, so that a dead connection is noticed",
        check=survives_stream_loss.check,
    ),
    Requirement(
        slug=survives_expiry.SLUG,
        must="The controller MUST list again after 410 Expired, take what is not in the list for gone, and continue.",
        level="core",
        source="API concepts, 410 Gone responses",
        faults=("Expire", "Coalesce", "Hold"),
        remedy="treat 410 (as an answer and as an ERROR event) as an order to list again, replace the cache by that list, "
        "and wake the owners of what is not in it",
        check=survives_expiry.check,
    ),
    Requirement(
        slug=needs_no_bookmarks.SLUG,
        must="The controller MUST work without any bookmark, and never take one for an object.",
        level="core",
        source="API concepts, Watch bookmarks",
        faults=("DropBookmarks", "AddBookmarks"),
        remedy="use a bookmark only to remember a newer resourceVersion; never wait for one, and never reconcile because of one",
        check=needs_no_bookmarks.check,
    ),
    # --- failing requests
    Requirement(
        slug=survives_lost_answer.SLUG,
        must="The controller MUST treat a write whose answer was lost as possibly done.",
        level="core",
        source="API machinery, pkg/api/errors: a timeout says nothing about whether the request was executed",
        faults=("LoseAnswer", "SlowAnswer"),
        remedy="look before trying again, or try again under the same name and take AlreadyExists and NotFound for done",
        check=survives_lost_answer.check,
    ),
    Requirement(
        slug=backs_off.SLUG,
        must="The controller MUST retry failed calls with growing delay, never give up, and not hammer.",
        level="core",
        source="client-go util/workqueue (rate-limited queue); API concepts, Retry-After of 429 responses",
        faults=("Reject",),
        remedy="put the object back into a rate-limited queue after every failure, honour Retry-After, and set no limit of tries",
        check=backs_off.check,
    ),
    # --- the end
    Requirement(
        slug=converges_after_catch_up.SLUG,
        must="The controller MUST reach, within the deadline after it has caught up, the state that it reaches without faults.",
        level="core",
        source="API concepts, Efficient detection of changes; KEP-5647, Risks",
        faults=(*_LATE, *_STREAMS, "Expire", "Coalesce", "Reject", "Compete", "LoseAnswer", *_RESTARTS, "Pause"),
        remedy="reconcile from the whole observed state, "
        "and make sure that catching up (by events or by a list) wakes the controller",
        check=converges_after_catch_up.check,
    ),
    Requirement(
        slug=settles.SLUG,
        must="The controller MUST stop writing once converged, also when everything is reconciled again.",
        level="core",
        source=f"{_SEED}, section Fast and offline reconciliation",
        faults=(),
        remedy="compare before writing: a reconciliation that finds nothing to change writes nothing",
        check=settles.check,
        needs_references=False,
    ),
    Requirement(
        slug=recovers_in_bounded_time.SLUG,
        must="The controller MUST not sleep long after its cache has caught up.",
        level="core",
        source="KEP-5647, Risks and Mitigations",
        faults=("Hold", "HideOwnWrite", "Coalesce"),
        remedy="wake the object when the awaited write is shown, by an event or by a list, not only after a long back-off, "
        "and forget the back-off of an object that has caught up",
        check=recovers_in_bounded_time.check,
    ),
    Requirement(
        slug=isolates_objects.SLUG,
        must="The controller MUST keep reconciling other objects while one waits for its own writes.",
        level="core",
        source="KEP-5647 (staleness is checked for each object, without a global lock)",
        faults=("HideOwnWrite", "Hold"),
        remedy="remember own writes for each object, "
        "and put an object that has to wait back into the queue instead of blocking the worker",
        check=isolates_objects.check,
    ),
    Requirement(
        slug=cleans_up.SLUG,
        must="The controller MUST finish deletions also when its view is old: finalizers removed, owned objects gone, "
        "nothing leaked.",
        level="core",
        source="Kubernetes documentation, Finalizers; kubernetes/kubernetes#59848",
        faults=(*_LATE, "Coalesce", *_STREAMS, *_RESTARTS),
        remedy="before a finalizer is removed, list what is owned live (a cache may not show the youngest children yet); "
        "set owner references, so that the garbage collector finds what is left",
        check=cleans_up.check,
    ),
    # --- honesty
    Requirement(
        slug=honest_observed_generation.SLUG,
        must="The controller MUST never report a generation that it has not been shown and acted on, never go back, "
        "and end with the newest.",
        level="core",
        source="API conventions, Typical status properties; kubernetes pkg/controller/replicaset/replica_set_utils.go",
        faults=("Hold", "Delay", "Skew", "HideOwnWrite", "Restart", "PastSnapshot"),
        remedy="save the generation of the object that the reconciliation began with and report that one, "
        "never that of an object read again just before the status is written",
        check=honest_observed_generation.check,
    ),
    Requirement(
        slug=honest_ready.SLUG,
        must="The controller MUST not report Ready or Available for a generation whose children have not become so.",
        level="extended",
        source="API conventions, Typical status properties (conditions)",
        faults=("HideOwnWrite", "Hold", "Delay", "Skew"),
        remedy="set Ready only after what the generation asks for has been seen; "
        "while own writes are not shown yet, leave the condition as it is, or say Unknown",
        check=honest_ready.check,
    ),
    Requirement(
        slug=reports_skips.SLUG,
        must="The controller MUST count a sync as skipped for staleness only when its caches are behind, "
        "and report no cache as newer than it is.",
        level="extended",
        source="KEP-5647, Monitoring Requirements",
        faults=("HideOwnWrite", "Hold"),
        remedy="count where the sync returns early because the cache has not reached an own write, and nowhere else; "
        "take a store's resourceVersion from what has been put into the store",
        check=reports_skips.check,
        needs_references=False,
    ),
    # --- provisional
    Requirement(
        slug=no_blind_retry.SLUG,
        must="The controller MUST not repeat its own committed write only because it has not been shown it.",
        level="provisional",
        source=f"KEP-5647; {_SEED}, section Expectations pattern",
        faults=_HIDDEN,
        remedy="keep the resourceVersion of the last own write and skip the object until the cache has reached it; "
        "a conflict costs a request and is harmless otherwise, so this is a cost and not a failure",
        check=no_blind_retry.check,
    ),
    Requirement(
        slug=no_cross_object_writes.SLUG,
        must="The controller MUST touch only objects that it owns or is asked to manage.",
        level="provisional",
        source="Kubernetes documentation, Owners and Dependents; Controllers",
        faults=(*_LATE, *_RESTARTS),
        remedy="check the controller owner reference, by uid, before every write to a child",
        check=no_cross_object_writes.check,
    ),
)

BY_SLUG = {requirement.slug: requirement for requirement in REQUIREMENTS}


def is_scored(slug: str) -> bool:
    """Whether a violation of it fails a run. What another version knew is taken seriously."""
    return slug not in BY_SLUG or BY_SLUG[slug].scored


def worst(outcomes: Iterable[tuple[str, Outcome]]) -> Outcome:
    """What the outcomes of some requirements come to: the worst of those that are scored."""
    return max((outcome for slug, outcome in outcomes if is_scored(slug)), default=Outcome.NOT_EXERCISED)
