"""Looks for what is missing in the end: each takes time, and more than one is needed."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from staleproof.core.times import LOOKING_FACTOR


@dataclass
class Looks:
    """What is missing: not looked for again before `LOOKING_FACTOR` times as long as the last look took.

    Attributes:
        find: looks: what is missing now, in words; empty for nothing.
        found: what the last look found; until then what is said to be missing.
    """

    find: Callable[[], str]
    found: str
    _due: float = float("-inf")
    _is_owed: bool = False

    def find_nothing(self, now: float) -> bool | float:
        """Whether nothing is missing; the time, on the monotonic clock, at which that may be looked for, if it is too soon."""
        if now < self._due:
            self._is_owed = True
            return self._due
        self._look(now)
        return not self.found

    def in_the_end(self) -> str:
        """What is missing when the time is over: one look more, if it was too soon for one before."""
        if self._is_owed:
            self._look(time.monotonic())
        return self.found

    def _look(self, now: float) -> None:
        self._is_owed, self.found = False, self.find()
        self._due = now + LOOKING_FACTOR * (time.monotonic() - now)
