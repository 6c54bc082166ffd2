"""What was known under each key at any moment of a history, for one life of the controller at a time.

Facts that change over time are folded once and asked later, in any order: each change is noted with its position, and a question
names the position before which it is asked.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import merge
from operator import itemgetter
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_POSITION = itemgetter(0)
"""Of a change."""


class Timeline(Generic[K, V]):
    """Values by key and position. What was noted in one life of the controller is `default` again in the next."""

    def __init__(self, default: V) -> None:
        self._default = default
        self._changes: dict[K, list[tuple[int, V]]] = defaultdict(list)
        self._forgotten: list[int] = []

    def note(self, index: int, key: K, value: V) -> None:
        """From behind this position on, the key has this value. Positions never go back."""
        self._changes[key].append((index, value))

    def forget(self, index: int) -> None:
        """A life begins here: every key has its default again."""
        self._forgotten.append(index)

    def before(self, index: int, key: K) -> V:
        """The value that a key has when all that is before this position has happened."""
        changes = self._changes.get(key, [])
        place = bisect_left(changes, index, key=_POSITION) - 1
        return changes[place][1] if place >= 0 and changes[place][0] > self._birth(index) else self._default

    def now(self, key: K) -> V:
        """The value behind all that has been noted so far."""
        changes = self._changes.get(key, [])
        is_alive = changes and (not self._forgotten or changes[-1][0] > self._forgotten[-1])
        return changes[-1][1] if is_alive else self._default

    def steps(self, key: K, *, since: int = 0, until: int | None = None) -> Iterator[tuple[int, V]]:
        """(position, value from there on) of each change of a key between two positions, the first included; the beginnings of
        lives, too."""
        changes = self._changes.get(key, [])
        births = [(index, self._default) for index in self._forgotten]
        yield from merge(_between(changes, since, until), _between(births, since, until), key=_POSITION)

    def _birth(self, index: int) -> int:
        place = bisect_left(self._forgotten, index) - 1
        return self._forgotten[place] if place >= 0 else -1


def _between(changes: Sequence[tuple[int, V]], since: int, until: int | None) -> Iterator[tuple[int, V]]:
    """Those between two positions, the first included."""
    end = len(changes) if until is None else bisect_left(changes, until, key=_POSITION)
    return (changes[place] for place in range(bisect_left(changes, since, key=_POSITION), end))
