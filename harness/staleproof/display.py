"""Shows how far a run is, for as long as it is on: the last line of a terminal; in the log of a CI system a line now and then.

It decides when and where. What is in the line is decided in `report.live`, how far the run is in `assess.run.standing`.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Self, TextIO

from rich.console import Console

from staleproof.core.times import LOOK_SECONDS, PROGRESS_SECONDS
from staleproof.progress import LastLine
from staleproof.report.live import Standing, live_line, log_line


class Display:
    """Use as a context manager. `standing` is asked from a thread of its own."""

    def __init__(self, screen: TextIO, standing: Callable[[], Standing], environ: Mapping[str, str] = os.environ) -> None:
        self._standing = standing
        self._console = Console(file=screen)
        is_screen = self._console.is_terminal and not self._console.is_dumb_terminal
        every = PROGRESS_SECONDS if environ.get("CI") else None
        self._shows = LastLine(screen, self._shown) if is_screen else _Log(screen, standing, every=every)

    def __enter__(self) -> Self:
        self._shows.begin()
        return self

    def __exit__(self, *exc: object) -> None:
        self._shows.end()

    def aside(self) -> AbstractContextManager[None]:
        """Something else is written to the terminal for as long as this lasts."""
        return self._shows.aside()

    def _shown(self, width: int) -> str:
        with self._console.capture() as captured:
            self._console.print(live_line(self._standing(), width), end="", soft_wrap=True)
        return captured.get()


class _Log:
    """Lines in a log: each build as it begins, and every so many seconds how far the run is; never, if `every` is None."""

    def __init__(self, stream: TextIO, standing: Callable[[], Standing], *, every: float | None) -> None:
        self._stream, self._standing, self._every = stream, standing, every
        self._over = threading.Event()
        self._writer = threading.Thread(target=self._write, name="staleproof: log", daemon=True)

    def begin(self) -> None:
        self._writer.start()

    def end(self) -> None:
        self._over.set()
        self._writer.join()

    def aside(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _write(self) -> None:
        last, building, is_reported = time.monotonic(), "", False
        while not self._over.wait(LOOK_SECONDS):
            now = self._standing()
            begun = next((step.what for step in now.steps if not step.phase), building)
            if begun != building:
                building = begun
                self._say(begun)
            if now.is_interrupted and not is_reported:
                is_reported = True
                self._say(log_line(now))
            if self._every is not None and not is_reported and time.monotonic() >= last + self._every:
                last = time.monotonic()
                self._say(log_line(now))

    def _say(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()
