"""The requirements, in the order in which everything prints them: one MUST sentence each, under a slug that keeps its meaning."""

from collections.abc import Iterable

from staleproof.checks.requirement import Requirement
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
    no_lost_update,
    no_time_travel,
    quiet_at_rest,
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
from staleproof.checks.verdict import Outcome

REQUIREMENTS: tuple[Requirement, ...] = (
    # own writes
    no_duplicate_create.REQUIREMENT,
    no_excess_delete.REQUIREMENT,
    # old views
    no_delete_of_unseen.REQUIREMENT,
    no_time_travel.REQUIREMENT,
    no_lost_update.REQUIREMENT,
    name_reuse.REQUIREMENT,
    tolerates_skew.REQUIREMENT,
    tolerates_coalescing.REQUIREMENT,
    # the start and the restart
    waits_for_initial_sync.REQUIREMENT,
    survives_restart.REQUIREMENT,
    # streams
    survives_stream_loss.REQUIREMENT,
    survives_expiry.REQUIREMENT,
    needs_no_bookmarks.REQUIREMENT,
    # failing requests
    survives_lost_answer.REQUIREMENT,
    backs_off.REQUIREMENT,
    # the end
    converges_after_catch_up.REQUIREMENT,
    settles.REQUIREMENT,
    recovers_in_bounded_time.REQUIREMENT,
    isolates_objects.REQUIREMENT,
    cleans_up.REQUIREMENT,
    # honesty
    honest_observed_generation.REQUIREMENT,
    honest_ready.REQUIREMENT,
    reports_skips.REQUIREMENT,
    # provisional
    no_blind_retry.REQUIREMENT,
    no_cross_object_writes.REQUIREMENT,
    quiet_at_rest.REQUIREMENT,
)

BY_SLUG = {requirement.slug: requirement for requirement in REQUIREMENTS}


def is_scored(slug: str) -> bool:
    """Whether a violation of it fails a run. What another version knew is taken seriously."""
    return slug not in BY_SLUG or BY_SLUG[slug].scored


def waits(slugs: Iterable[str]) -> bool:
    """Whether any of these requirements is about what comes later."""
    return any(slug in BY_SLUG and BY_SLUG[slug].waits for slug in slugs)


def worst(outcomes: Iterable[tuple[str, Outcome]]) -> Outcome:
    """What the outcomes of some requirements come to: the worst of those that are scored."""
    return max((outcome for slug, outcome in outcomes if is_scored(slug)), default=Outcome.NOT_EXERCISED)
