"""The requirements, in the order in which everything prints them: one MUST sentence each, under a slug that keeps its meaning."""

from collections.abc import Iterable

from staleproof.checks.requirement import Requirement
from staleproof.checks.rules import ends, external, identity, pace, reports, surplus, writes
from staleproof.checks.verdict import Outcome

REQUIREMENTS: tuple[Requirement, ...] = (
    # own writes
    surplus.NO_DUPLICATE_CREATE,
    surplus.NO_EXCESS_DELETE,
    # old views
    identity.NO_DELETE_OF_UNSEEN,
    writes.NO_TIME_TRAVEL,
    writes.NO_LOST_UPDATE,
    identity.NAME_REUSE,
    ends.TOLERATES_SKEW,
    ends.TOLERATES_COALESCING,
    # the start and the restart
    surplus.WAITS_FOR_INITIAL_SYNC,
    surplus.SURVIVES_RESTART,
    # streams
    ends.SURVIVES_STREAM_LOSS,
    ends.SURVIVES_EXPIRY,
    ends.NEEDS_NO_BOOKMARKS,
    # failing requests
    surplus.SURVIVES_LOST_ANSWER,
    pace.BACKS_OFF,
    # the end
    ends.CONVERGES_AFTER_CATCH_UP,
    pace.SETTLES,
    pace.RECOVERS_IN_BOUNDED_TIME,
    pace.ISOLATES_OBJECTS,
    ends.CLEANS_UP,
    # honesty
    reports.HONEST_OBSERVED_GENERATION,
    reports.HONEST_READY,
    reports.REPORTS_SKIPS,
    # provisional
    reports.HONEST_STATUS,
    writes.NO_BLIND_RETRY,
    writes.NO_CROSS_OBJECT_WRITES,
    pace.QUIET_AT_REST,
    pace.PATH_INDEPENDENT,
    pace.NOTICES_LOST_CHILDREN,
    external.REPAIRS_EXTERNAL_DRIFT,
    external.DRIFT_NEEDS_NO_API_EVENT,
    external.CALM_EXTERNAL_CALLS,
    external.NO_EXTERNAL_LEAK,
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
