import io
import os

import pytest
from rich.console import Console

from staleproof.drive.cluster.control_plane import Progress
from staleproof.progress import ProgressBar, ProgressLines, progress_on


@pytest.mark.parametrize(
    ("total", "steps", "count", "first", "last"),
    [
        (2000, 2001, 11, "compiling (0 of 2000)", "compiling (2000 of 2000)"),
        (None, 3, 1, "compiling", "compiling"),
        (0, 1, 1, "compiling (0 of 0)", "compiling (0 of 0)"),
    ],
    ids=["few", "one without a total", "nothing to do"],
)
def test_lines(total: int | None, steps: int, count: int, first: str, last: str) -> None:
    lines: list[str] = []
    progress: Progress = ProgressLines(lines.append)
    progress.begin("compiling", total)
    for done in range(steps):
        progress.advance(done)
    progress.end()
    assert (len(lines), lines[0], lines[-1]) == (count, first, last)


def test_a_bar_shows_the_count_and_survives_any_order() -> None:
    screen = io.StringIO()
    progress: Progress = ProgressBar(Console(file=screen, force_terminal=True, width=100))
    progress.advance(1)
    progress.begin("compiling", 40)
    progress.advance(17)
    progress.end()
    progress.end()
    assert "compiling" in screen.getvalue()
    assert "17/40" in screen.getvalue()


def test_a_terminal_gets_the_bar() -> None:
    screen, other_end = os.openpty()
    with open(screen, "rb"), open(other_end, "w") as file:
        assert isinstance(progress_on(Console(file=file)), ProgressBar)


def test_a_log_gets_the_lines_whole_even_with_colours_forced_on() -> None:
    log = io.StringIO()
    progress = progress_on(Console(file=log, force_terminal=True, width=10))
    progress.begin("a [title] that is longer than the width", None)
    assert log.getvalue() == "a [title] that is longer than the width\n"
