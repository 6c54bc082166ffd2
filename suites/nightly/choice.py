"""What the arguments of a command choose."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from staleproof.errors import UsageError


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


def chosen(names: Sequence[str], every: Sequence[T]) -> list[T]:
    """In the order in which they are named; all of them, if none is. UsageError when there is none of a name."""
    known = {each.name: each for each in every}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"there is no {', '.join(unknown)}; name any of {', '.join(known)}, or none for all of them.")
    return [known[name] for name in names] or list(every)
