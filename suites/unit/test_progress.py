import io
import os

import pytest
from rich.console import Console

from staleproof.drive.cluster.control_plane import Progress
from staleproof.progress import ProgressBar, ProgressLines, progress_on


def test_lines_are_few() -> None:
    lines: list[str] = []
    progress: Progress = ProgressLines(lines.append)
    progress.begin("compiling", 2000)
    for done in range(2001):
        progress.advance(done)
    progress.end()
    assert lines[0] == "compiling (0 of 2000)"
    assert lines[-1] == "compiling (2000 of 2000)"
    assert len(lines) == 11


@pytest.mark.parametrize(("total", "line"), [(None, "work"), (0, "work (0 of 0)")])
def test_without_a_total_or_anything_to_do_there_is_one_line(total: int | None, line: str) -> None:
    lines: list[str] = []
    progress = ProgressLines(lines.append)
    progress.begin("work", total)
    progress.advance(3)
    assert lines == [line]


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
