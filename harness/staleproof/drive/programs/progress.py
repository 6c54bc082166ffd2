"""How work that takes long says that it goes on. It decides nothing about how that looks: a bar, lines, or nothing at all."""

from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """One piece of work at a time. A `total` of None means that it is not known. This class shows nothing of it."""

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


class Silent(Progress):
    """The noop."""
