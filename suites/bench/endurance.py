"""What a soak observed, and what is wrong with that. Nothing is measured here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .process import Handles

FLAT = 0.10
_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What a soak observed.

    Attributes:
        memory_mb: the peak of each minute; the first minute is the warm-up.
        before: what the proxy held before the first client came.
        after: the same, after the last client had left.
    """

    memory_mb: Sequence[float]
    before: Handles
    after: Handles
    streams_left: int
    plans: int
    fired: int
    flaws: Sequence[str]
    broken: Sequence[str]


def failures(observed: Observed) -> list[str]:
    """Why it did not pass; empty when it did."""
    found = [*(f"the proxy broke: {why}" for why in observed.broken[:_SHOWN]), *observed.flaws[:_SHOWN]]
    if len(observed.flaws) > _SHOWN:
        found.append(f"… and {len(observed.flaws) - _SHOWN} more of these")
    if not observed.fired:
        found.append(f"expected faults to fire, found that none of {observed.plans} plans did anything")
    if observed.streams_left:
        found.append(f"expected no open stream once every client had left, found {observed.streams_left}")
    return [*found, *_leaked(observed.before, observed.after), *_grown(observed.memory_mb)]


def _leaked(before: Handles, after: Handles) -> Iterator[str]:
    for kind, was, now in (("files", before.files, after.files), ("sockets", before.sockets, after.sockets)):
        if now > was:
            yield f"expected {was} open {kind} once every client had left, as before the first, found {now}"


def _grown(memory_mb: Sequence[float]) -> list[str]:
    if len(memory_mb) < 3:
        return ["expected three minutes at least, found fewer: memory cannot be judged"]
    warm, last = memory_mb[1], memory_mb[-1]
    if abs(last - warm) <= FLAT * warm:
        return []
    return [f"expected {warm:.0f} MB ±{FLAT:.0%} (the minute after the warm-up) in the last minute, found {last:.0f} MB"]
