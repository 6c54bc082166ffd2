"""How long work tells that it goes on. It decides nothing about how that looks: a bar, lines, or nothing at all."""

from typing import Protocol


class Progress(Protocol):
    """One piece of work at a time. A `total` of None means that nobody knows it."""

    def begin(self, title: str, total: int | None) -> None: ...

    def advance(self, done: int) -> None:
        """`done` counts from the beginning of this piece of work; it is not an increment."""

    def end(self) -> None: ...


class Silent:
    """The noop."""

    def begin(self, title: str, total: int | None) -> None: ...

    def advance(self, done: int) -> None: ...

    def end(self) -> None: ...
