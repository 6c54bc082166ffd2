"""Where and when it is shown how far a run is."""

import io
import os
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from staleproof import display
from staleproof.display import Display
from staleproof.report.live import STOPPING, Standing, Step

BUILD = Standing(steps=(Step(phase="", what="kube-apiserver: linking"),))
RUN = Standing(seconds=5, over=1, planned=2, steps=(Step(phase="trial", what="x"),))


class Log(io.StringIO):
    """Says when it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def write(self, text: str) -> int:
        made = super().write(text)
        self.written.set()
        return made


def test_without_a_terminal_it_is_quiet_but_for_builds() -> None:
    log, seen_run, now = Log(), threading.Event(), BUILD

    def standing() -> Standing:
        if now is RUN:
            seen_run.set()
        return now

    with Display(log, standing, {}):
        assert log.written.wait(10)
        now = RUN
        assert seen_run.wait(10)
    assert log.getvalue() == "kube-apiserver: linking\n"


def test_the_log_of_a_ci_system_has_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "PROGRESS_SECONDS", 0.0)
    log = Log()
    with Display(log, lambda: RUN, {"CI": "true"}):
        assert log.written.wait(10)
    assert set(log.getvalue().splitlines()) == {"staleproof: 0:05, 1 of 2 trials, no finding, trial: x"}


def test_an_interruption_is_reported_once() -> None:
    log = Log()
    with Display(log, lambda: Standing(is_interrupted=True), {}) as shown, shown.aside():
        assert log.written.wait(10)
    assert log.getvalue() == f"staleproof: {STOPPING}\n"


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[io.TextIOWrapper, io.FileIO]]:
    """A terminal, and what reads it."""
    monkeypatch.setenv("TERM", "xterm-256color")
    reader, writer = os.openpty()
    with open(reader, "rb", buffering=0) as read, open(writer, "w") as written:
        yield written, read


def until(read: io.FileIO, wanted: str) -> str:
    got = b""
    with suppress(OSError):
        while wanted.encode() not in got:
            got += read.read(4096) or b""
    return got.decode(errors="replace")


@pytest.mark.io
def test_a_terminal_has_a_line_that_gives_way_to_others(
    screen: tuple[io.TextIOWrapper, io.FileIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    written, read = screen
    with Display(written, lambda: RUN, {}) as shown:
        assert "1 of 2 trials" in until(read, "trial: x")
        with shown.aside():
            written.write("a plan ended\n")
            written.flush()
        assert until(read, "a plan ended").rstrip().endswith("\r\x1b[Ka plan ended"), "what stood there is gone first"
        until(read, "trial: x")
    assert until(read, "\r\x1b[K").endswith("\r\x1b[K"), "and is gone in the end"


@pytest.mark.io
@pytest.mark.parametrize(("variable", "has_colour"), [("", True), ("NO_COLOR", False)])
def test_colours_are_as_the_user_wants_them(
    variable: str,
    has_colour: bool,  # noqa: FBT001  # columns
    screen: tuple[io.TextIOWrapper, io.FileIO],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    written, read = screen
    with Display(written, lambda: RUN, {}):
        assert ("\x1b[3" in until(read, "no finding")) is has_colour
