"""Looks for what is missing in the end: each takes time, and more than one is needed."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from staleproof.core.times import LOOKING_FACTOR


@dataclass
class Looks:
    """What is missing: looked for once in each state, and not again before `LOOKING_FACTOR` times as long as the last look took.

    A state is known by the time of the last write that led to it, on the monotonic clock.

    Attributes:
        find: looks: what is missing now, in words; empty for nothing.
        found: what the last look found; until then what is said to be missing.
    """

    find: Callable[[], str]
    found: str
    _state: float | None = None
    _due: float = field(default=float("-inf"))

    def find_nothing(self, state: float, now: float) -> bool | float:
        """Whether nothing is missing in this state; the time at which that may be looked for, if it is too soon."""
        if state != self._state:
            if now < self._due:
                return self._due
            self._look(state, now)
        return not self.found

    def in_the_end(self, state: float | None) -> str:
        """What is missing when the time is over; None: nothing is known of the state, as something is under way."""
        if state is not None and self._state not in (None, state):
            self._look(state, time.monotonic())
        return self.found

    def _look(self, state: float, now: float) -> None:
        self._state, self.found = state, self.find()
        self._due = now + LOOKING_FACTOR * (time.monotonic() - now)
