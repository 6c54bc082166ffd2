"""How thorough a run is: how long watches are held, whether every variant of a fault is tried or one of each kind, how many plans
are drawn, and from which seed."""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from staleproof.core.times import PATIENCE_SECONDS, SLOW_PATIENCE_SECONDS, THOROUGH_PATIENCE_SECONDS

T = TypeVar("T")
WANTED = (
    "no-duplicate-create",
    "no-excess-delete",
    "no-lost-update",
    "tolerates-coalescing",
    "survives-restart",
    "survives-stream-loss",
    "survives-expiry",
    "survives-lost-answer",
    "backs-off",
    "converges-after-catch-up",
    "settles",
    "cleans-up",
    "honest-observed-generation",
)
"""Those at the level core that plans aim at only where they are sure to exercise them. The others need more: a bookmark, which
comes once a minute; a hold that outlasts some wait of the controller's own; or a certain way to work, as to delete by a name."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How thorough a run is, by a name that people know.

    Attributes:
        holds: seconds for which watches are withheld, rising: each must outlast some wait of the controller's own.
        every: try every variant (each resource, each write, each earlier state); otherwise the first of each kind, at most.
        alike: of the kinds of children that the controller treats alike, and of the changes that it passes on, try each; otherwise
            one stands for all.
        examples: how many plans are drawn for each primary.
        seed: of all that is drawn; the same gives the same plans.
        patience: how many seconds what may heal by itself is waited for, once for a cause, before a controller is called stuck.
        wanted: the requirements that a run has to exercise, as far as the controller gives plans an occasion for them, to be
            green.
    """

    name: str
    holds: tuple[float, ...]
    every: bool = True
    alike: bool = False
    examples: int = 10
    seed: str = ""
    patience: float = PATIENCE_SECONDS
    wanted: tuple[str, ...] = WANTED

    def some(self, variants: Iterable[T]) -> Iterator[T]:
        """All of them, or the first."""
        return iter(variants) if self.every else islice(variants, 1)

    def more(self, variants: Iterable[T]) -> Iterator[T]:
        """All of them, or none: for plans that take long, or resemble one that is tried in any case."""
        return iter(variants if self.every else ())

    def each(self, alike: Iterable[T]) -> Iterator[T]:
        """All of what is treated alike, or the first."""
        return iter(alike) if self.alike else islice(alike, 1)

    @property
    def longest(self) -> float:
        return max(self.holds)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("smoke", holds=(2.0,), every=False, examples=3),
        Profile("standard", holds=(2.0, 6.0, 12.0)),
        Profile("thorough", holds=(2.0, 6.0, 12.0, 30.0, 60.0), alike=True, examples=50, patience=THOROUGH_PATIENCE_SECONDS),
        Profile(
            "slow",
            holds=(310.0,),
            alike=True,
            patience=SLOW_PATIENCE_SECONDS,
            wanted=("no-duplicate-create", "converges-after-catch-up"),
        ),
    )
}
STANDARD = PROFILES["standard"]
_SEEDS = 2**32


def new_seed() -> str:
    """A seed for a run to which the user has given none."""
    return str(secrets.randbelow(_SEEDS))
