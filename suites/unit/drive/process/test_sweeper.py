"""The process that removes the containers of a dead run: when it has something to do. What it does is tried on a real engine."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from staleproof.drive.process import reaper

pytestmark = pytest.mark.io

COUNTS = """
import runpy, sys

sweeper = runpy.run_path(sys.argv[1])
sweeper["main"].__globals__["sweep"] = lambda label, left: print(label, left)
sweeper["main"]("run=1")
"""


def until_ignored(pid: int, number: int) -> None:
    """Until the kernel knows that this process ignores the signal."""
    found = 0
    while not found >> (number - 1) & 1:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        found = next(int(line.split()[1], 16) for line in lines if line.startswith("SigIgn:"))


@pytest.fixture
def counting() -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-c", COUNTS, str(reaper.SWEEPER)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        yield process


@pytest.mark.parametrize(("said", "output"), [(b"", b""), (b"+-", b""), (b"++-", b"run=1 1\n"), (b"+-++", b"run=1 2\n")])
def test_it_removes_what_was_made_and_not_removed(said: bytes, output: bytes, counting: subprocess.Popen[bytes]) -> None:
    assert counting.communicate(said)[0] == output
    assert counting.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_that_are_meant_for_the_harness_do_not_end_it(number: int, counting: subprocess.Popen[bytes]) -> None:
    assert counting.stdin is not None
    counting.stdin.write(b"+")
    until_ignored(counting.pid, number)
    counting.send_signal(number)
    assert counting.communicate()[0] == b"run=1 1\n"


def test_one_serves_the_whole_process_until_that_ends() -> None:
    code = (
        "from staleproof.drive.process.reaper import _sweeper, tell_sweeper; tell_sweeper('+'); tell_sweeper('-'); "
        "print(_sweeper().pid, _sweeper().poll())"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split()[1] == "None"
