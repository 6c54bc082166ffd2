"""What external systems held, whenever the harness read it, and which primary each thing there belongs to.

Between two readings that are alike nothing is known to have changed; between two that differ it changed at some moment. While a
repair is waited for, a system is read over and over, and a reading is recorded only when it differs from the one before.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.belongings import owner
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import ExternalState, Held
from staleproof.core.history.history import Position

Thing = tuple[str, str]
"""Kind and name."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a system held when it was read, by kind and name."""

    index: Position
    things: Mapping[Thing, Held]


class Readings:
    """All readings of one system, in order."""

    def __init__(self, trial: Trial, readings: Sequence[Reading]) -> None:
        self._trial, self.every = trial, readings

    def before(self, index: int) -> Reading | None:
        """The last one before a position."""
        return next((each for each in reversed(self.every) if each.index < index), None)

    def since(self, index: int) -> Iterator[Reading]:
        """Those behind a position."""
        return (each for each in self.every if each.index > index)

    def after(self, index: int) -> Reading | None:
        """The first one behind a position."""
        return next(self.since(index), None)

    def belongings(self, reading: Reading | None, of: tuple[str, str]) -> Mapping[Thing, str]:
        """What belonged to a primary, by kind and name: the digests."""
        things = reading.things.items() if reading is not None else ()
        return {thing: held.digest for thing, held in things if owner(self._trial, held.resource, held.name) == of}


@fact
def external_states(trial: Trial) -> Mapping[str, Readings]:
    """By system."""
    read = grouped(
        (entry.system, Reading(index, {(held.kind, held.external): held for held in entry.objects}))
        for index, entry in trial.every(ExternalState)
    )
    return {system: Readings(trial, readings) for system, readings in read.items()}
