"""How progress is shown: as one line of a terminal that is written again and again, as plain lines in a CI log.

It decides the looks alone. What is counted is decided where the work is done, which need not know about displays. The standard
library does for it: progress is shown while all other packages are still being installed.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from staleproof.core.times import LOOK_SECONDS
from staleproof.drive.programs.progress import Progress

LINES_PER_WORK = 10
_BAR = 30
_NEW, _REST = "\r", "\x1b[K"
"""Go to the beginning of the line; empty it from here on."""


def line(title: str, done: int, total: int | None, seconds: float, width: int) -> str:
    """What is shown of a piece of work in one line of a terminal. Without a total a count says nothing."""
    clock = f"{int(seconds) // 60}:{int(seconds) % 60:02}"
    if total is None:
        return f"{title}  {clock}"[:width]
    filled = _BAR * done // total if total else _BAR
    return f"{title}  {'━' * filled}{'┈' * (_BAR - filled)}  {done}/{total}  {clock}"[:width]


class LastLine:
    """The last line of a terminal, written again and again by a thread of its own, so that a clock in it goes on while nothing else
    happens. `shown`: what is in it, given how many columns there are."""

    def __init__(self, screen: TextIO, shown: Callable[[int], str]) -> None:
        self._screen, self._shown = screen, shown
        self._lock, self._over = threading.Lock(), threading.Event()
        self._writer: threading.Thread | None = None
        self._is_there = False

    def begin(self) -> None:
        """Show it from now on."""
        self.end()
        self._over.clear()
        self._writer = threading.Thread(target=self._write, name="staleproof: progress", daemon=True)
        self._writer.start()

    def end(self) -> None:
        """Leave the line empty."""
        if self._writer is not None:
            self._over.set()
            self._writer.join()
            self._writer = None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The line is empty for as long as the block writes to the terminal."""
        with self._lock:
            if self._writer is not None:
                self._put("")
            yield

    def _write(self) -> None:
        running = True
        while running:
            running = not self._over.wait(LOOK_SECONDS)
            with self._lock:
                self._put(self._shown(columns(self._screen) - 1) if running else "")

    def _put(self, text: str) -> None:
        """What others have written stays as long as there is nothing to show."""
        if text or self._is_there:
            self._screen.write(f"{_NEW}{text}{_REST}")
            self._screen.flush()
        self._is_there = bool(text)


def columns(screen: TextIO) -> int:
    """How many there are; 80 where that cannot be known."""
    with suppress(OSError, ValueError):
        return os.get_terminal_size(screen.fileno()).columns or 80
    return 80


class ProgressLine(Progress):
    """The last line of a terminal, which is empty again when the work ends."""

    def __init__(self, screen: TextIO) -> None:
        self._title, self._done, self._began = "", 0, 0.0
        self._total: int | None = None
        self._line = LastLine(screen, self._shown)

    def begin(self, title: str, total: int | None) -> None:
        self.end()
        self._title, self._total, self._done, self._began = title, total, 0, time.monotonic()
        self._line.begin()

    def advance(self, done: int) -> None:
        self._done = done

    def end(self) -> None:
        self._line.end()

    def _shown(self, width: int) -> str:
        return line(self._title, self._done, self._total, time.monotonic() - self._began, width)


class ProgressLines(Progress):
    """A line when work begins, and at most ten more as it goes on."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._title = ""
        self._total: int | None = None
        self._written = 0

    def begin(self, title: str, total: int | None) -> None:
        self._title, self._total, self._written = title, total, 0
        self._write(title if total is None else f"{title} (0 of {total})")

    def advance(self, done: int) -> None:
        if not self._total:
            return
        step = done * LINES_PER_WORK // self._total
        if step > self._written:
            self._written = step
            self._write(f"{self._title} ({done} of {self._total})")


def progress_on(stream: TextIO) -> ProgressLine | ProgressLines:
    """The one that fits where the stream leads."""
    return ProgressLine(stream) if stream.isatty() else ProgressLines(_writing(stream))


def _writing(stream: TextIO) -> Callable[[str], None]:
    def write(text: str) -> None:
        stream.write(f"{text}\n")
        stream.flush()

    return write
