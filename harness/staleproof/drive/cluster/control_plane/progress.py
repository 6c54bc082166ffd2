"""How work that takes long says that it goes on. It decides nothing about how that looks: a bar, lines, or nothing at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """One piece of work at a time. A `total` of None means that it is not known."""

    def begin(self, title: str, total: int | None) -> None: ...

    def advance(self, done: int) -> None:
        """`done` counts from the beginning of this piece of work; it is not an increment."""

    def end(self) -> None: ...


@contextmanager
def working(progress: Progress, title: str, total: int | None = None) -> Iterator[None]:
    """A piece of work that ends with the block."""
    progress.begin(title, total)
    try:
        yield
    finally:
        progress.end()


class Silent:
    """The noop."""

    def begin(self, title: str, total: int | None) -> None: ...

    def advance(self, done: int) -> None: ...

    def end(self) -> None: ...
