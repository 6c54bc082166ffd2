"""What a plan tries: the requirements that follow from its faults and its steps.

A fault is tried for the first effect of its class, and a hidden own write for what its author may do twice. A family whose plans
are made for something else says so itself. The catalogue lists the same faults for each requirement; a test compares.
"""

from collections.abc import Iterator, Mapping, Sequence

from staleproof.core.fault import AnyFault, Effect
from staleproof.core.plan.step import Apply, Delete, Step

_BY_EFFECT: Mapping[Effect, str] = {
    "hides": "tolerates-skew",
    "lags": "tolerates-skew",
    "skips": "tolerates-coalescing",
    "cuts": "survives-stream-loss",
    "expires": "survives-expiry",
    "refuses-watch-lists": "survives-expiry",
    "drops-bookmarks": "needs-no-bookmarks",
    "adds-bookmarks": "needs-no-bookmarks",
    "slows-start": "waits-for-initial-sync",
    "rewinds": "no-time-travel",
    "restarts": "survives-restart",
    "kills": "survives-restart",
    "loses": "survives-lost-answer",
    "competes": "no-lost-update",
}
_BY_HIDDEN_WRITE = {"create": "no-duplicate-create", "delete": "no-excess-delete"}


def aims(faults: Sequence[AnyFault], steps: Sequence[Step]) -> tuple[str, ...]:
    """Slugs of requirements, each once."""
    return tuple(dict.fromkeys(slug for slug in _aims(faults, steps) if slug))


def _aims(faults: Sequence[AnyFault], steps: Sequence[Step]) -> Iterator[str]:
    for fault in faults:
        is_own = fault.trigger is not None
        yield _BY_HIDDEN_WRITE.get(fault.verb_of_write, "") if is_own else _BY_EFFECT.get(fault.does[0], "")
        yield "tolerates-coalescing" * ({"hides", "expires"} <= fault.effects)  # what came and went is in no list
    deletes = [number for number, step in enumerate(steps) if isinstance(step, Delete)]
    yield "cleans-up" * bool(deletes)
    yield "name-reuse" * any(isinstance(step, Apply) for number in deletes for step in steps[number:])
    yield "converges-after-catch-up"
