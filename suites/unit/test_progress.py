import io
import os
import threading

import pytest

from staleproof.drive.cluster.control_plane import Progress
from staleproof.progress import ProgressLine, ProgressLines, line, progress_on


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


@pytest.mark.parametrize(
    ("done", "total", "seconds", "shown"),
    [
        (0, None, 61.9, "building  1:01"),
        (1, 2, 5.0, f"building  {'━' * 15}{'┈' * 15}  1/2  0:05"),
        (2, 2, 5.0, f"building  {'━' * 30}  2/2  0:05"),
        (0, 0, 5.0, f"building  {'━' * 30}  0/0  0:05"),
    ],
)
def test_a_line(done: int, total: int | None, seconds: float, shown: str) -> None:
    assert line("building", done, total, seconds, 80) == shown
    assert line("building", done, total, seconds, 12) == shown[:12]


def test_the_line_of_a_terminal_is_empty_when_the_work_ends_and_survives_any_order() -> None:
    class Screen(io.StringIO):
        def write(self, text: str) -> int:
            if "17/40" in text:
                shown.set()
            return super().write(text)

    shown, screen = threading.Event(), Screen()
    progress: Progress = ProgressLine(screen)
    progress.advance(1)
    progress.begin("compiling", 40)
    progress.advance(17)
    assert shown.wait(10)
    progress.begin("linking", None)
    progress.end()
    progress.end()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_a_terminal_gets_the_line() -> None:
    screen, other_end = os.openpty()
    with open(screen, "rb"), open(other_end, "w") as file:
        assert isinstance(progress_on(file), ProgressLine)


def test_a_log_gets_lines() -> None:
    log = io.StringIO()
    progress_on(log).begin("a [title]", None)
    assert log.getvalue() == "a [title]\n"
