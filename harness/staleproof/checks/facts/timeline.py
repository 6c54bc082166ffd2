"""What was known under each key at any moment of a history, for one life of the controller at a time.

Facts that change over time are folded once and asked later, in any order: each change is noted with its position, and a question
names the position before which it is asked.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Timeline(Generic[K, V]):
    """Values by key and position. What was noted in one life of the controller is `default` again in the next."""

    def __init__(self, default: V) -> None:
        self._default = default
        self._changes: dict[K, tuple[list[int], list[V]]] = defaultdict(lambda: ([], []))
        self._forgotten: list[int] = []

    def note(self, index: int, key: K, value: V) -> None:
        """From behind this position on, the key has this value. Positions never go back."""
        positions, values = self._changes[key]
        positions.append(index)
        values.append(value)

    def forget(self, index: int) -> None:
        """A life begins here: every key has its default again."""
        self._forgotten.append(index)

    def before(self, index: int, key: K) -> V:
        """The value that a key has when all that is before this position has happened."""
        changes = self._changes.get(key)
        if changes is None:
            return self._default
        positions, values = changes
        place = bisect_left(positions, index) - 1
        return values[place] if place >= 0 and positions[place] > self._birth(index) else self._default

    def now(self, key: K) -> V:
        """The value behind all that has been noted so far."""
        changes = self._changes.get(key)
        is_alive = changes is not None and (not self._forgotten or changes[0][-1] > self._forgotten[-1])
        return changes[1][-1] if changes is not None and is_alive else self._default

    def steps(self, key: K) -> Iterator[tuple[int, V]]:
        """(position, value from there on) of each change of a key, the beginnings of lives included."""
        positions, values = self._changes.get(key, ((), ()))
        changes = [*zip(positions, values, strict=True), *((index, self._default) for index in self._forgotten)]
        yield from sorted(changes, key=lambda change: change[0])

    def _birth(self, index: int) -> int:
        place = bisect_left(self._forgotten, index) - 1
        return self._forgotten[place] if place >= 0 else -1
