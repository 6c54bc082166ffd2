"""Values by what they have in common."""

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """By each first, all that come second, in the order in which they come."""
    found: dict[K, list[V]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return dict(found)
