"""What was known under each key at any moment: folded once, and looked up later, in any order, before any position."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from operator import itemgetter
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_POSITION = itemgetter(0)
"""Of a change."""


class Timeline(Generic[K, V]):
    """Values by key and position; `default` until the first is noted."""

    def __init__(self, default: V) -> None:
        self._default = default
        self._changes: dict[K, list[tuple[int, V]]] = defaultdict(list)

    def note(self, index: int, key: K, value: V) -> None:
        """From behind this position on, the key has this value. Positions never go back."""
        self._changes[key].append((index, value))

    def before(self, index: int, key: K) -> V:
        """The value that a key has when all that is before this position has happened."""
        changes = self._changes.get(key, ())
        place = bisect_left(changes, index, key=_POSITION)
        return changes[place - 1][1] if place else self._default

    def now(self, key: K) -> V:
        """The value behind all that has been noted so far."""
        changes = self._changes.get(key)
        return changes[-1][1] if changes else self._default

    def __iter__(self) -> Iterator[K]:
        """Every key of which something was noted."""
        return iter(self._changes)

    def since(self, index: int, key: K) -> Iterator[tuple[int, V]]:
        """(position, value from there on) of each change at this position, or behind it."""
        changes = self._changes.get(key, ())
        return (changes[place] for place in range(bisect_left(changes, index, key=_POSITION), len(changes)))
