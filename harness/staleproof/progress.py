"""How progress is shown: as a bar on a terminal, as plain lines in a CI log.

It decides the looks alone. What is counted is decided where the work is done, which need not know about displays.
"""

from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from staleproof.drive.cluster.control_plane import Progress

LINES_PER_WORK = 10


class ProgressBar(Progress):
    """One bar at a time, which goes away when the work ends."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: Bars | None = None
        self._task = TaskID(0)

    def begin(self, title: str, total: int | None) -> None:
        self.end()
        # Without a total a count says nothing: then there is only a moving bar and a clock.
        count = () if total is None else (MofNCompleteColumn(),)
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            *count,
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bars.add_task(title, total=total)
        self._bars.start()

    def advance(self, done: int) -> None:
        if self._bars is not None:
            self._bars.update(self._task, completed=done)

    def end(self) -> None:
        if self._bars is not None:
            self._bars.stop()
            self._bars = None


class ProgressLines(Progress):
    """A line when work begins, and at most ten more as it goes on."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._title = ""
        self._total: int | None = None
        self._told = 0

    def begin(self, title: str, total: int | None) -> None:
        self._title, self._total, self._told = title, total, 0
        self._write(title if total is None else f"{title} (0 of {total})")

    def advance(self, done: int) -> None:
        if not self._total:
            return
        step = done * LINES_PER_WORK // self._total
        if step > self._told:
            self._told = step
            self._write(f"{self._title} ({done} of {self._total})")


def progress_on(console: Console) -> ProgressBar | ProgressLines:
    """The one that fits where the console writes."""
    # Not `is_terminal`: colours forced on in a CI log do not make it a screen that can be repainted.
    if console.file.isatty():
        return ProgressBar(console)
    return ProgressLines(lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True))
