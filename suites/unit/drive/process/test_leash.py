import os
import select
import signal
import subprocess
import sys

import pytest

from staleproof.drive.process.process import LEASH

pytestmark = pytest.mark.io

LIMIT_SECONDS = 60.0


class Leash:
    """A leash by itself, without a harness."""

    def __init__(self, *argv: str) -> None:
        command = [sys.executable, "-I", "-S", str(LEASH), *argv]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.stdin, self.stderr = self.process.stdin, self.process.stderr
        self.report = self.process.stdout.readline().decode().strip()

    @property
    def pid(self) -> int:
        return int(self.report.removeprefix("pid "))

    def finish(self) -> int:
        with self.process:
            return self.process.wait(timeout=LIMIT_SECONDS)


def test_reports_why_nothing_was_started() -> None:
    leash = Leash("no-such-program")
    assert (leash.report, leash.finish()) == ("errno 2", 127)


def test_the_program_has_its_own_process_group() -> None:
    leash = Leash("sleep", "600")
    assert os.getpgid(leash.pid) == leash.pid
    leash.stdin.close()
    assert leash.finish() == 128 + signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1])
def test_forwards_signals(number: signal.Signals) -> None:
    leash = Leash("sleep", "600")
    leash.process.send_signal(number)
    assert leash.finish() == 128 + number


def test_end_of_input_ends_a_paused_program() -> None:
    leash = Leash("sleep", "600")
    os.kill(leash.pid, signal.SIGSTOP)
    leash.stdin.close()
    assert leash.finish() == 128 + signal.SIGTERM


def test_end_of_input_kills_a_whole_group_that_ignores_term() -> None:
    leash = Leash("sh", "-c", "trap '' TERM; sleep 600 & echo deaf; while :; do sleep 600; done")
    assert select.select([leash.stderr], [], [], LIMIT_SECONDS)[0]
    assert leash.stderr.readline() == b"deaf\n"
    leash.stdin.close()
    # The program and what it started hold the other end of this pipe: its end says that all of them are gone.
    assert select.select([leash.stderr], [], [], LIMIT_SECONDS)[0]
    assert leash.stderr.read() == b""
    assert leash.finish() == 128 + signal.SIGKILL


def test_the_program_reads_an_empty_input() -> None:
    assert Leash("cat").finish() == 0
