import os
import select
import signal
import subprocess
import sys

import pytest

from staleproof.drive.process.process import LEASH

LIMIT_SECONDS = 60.0


def leashed(*argv: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(LEASH), *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def report(leash: subprocess.Popen[bytes]) -> str:
    assert leash.stdout is not None
    return leash.stdout.readline().decode().strip()


def finish(leash: subprocess.Popen[bytes]) -> int:
    code = leash.wait(timeout=LIMIT_SECONDS)
    for stream in (leash.stdin, leash.stdout, leash.stderr):
        assert stream is not None
        stream.close()
    return code


def end_of_input(leash: subprocess.Popen[bytes]) -> None:
    assert leash.stdin is not None
    leash.stdin.close()


def test_reports_the_pid_and_passes_the_exit_code_on() -> None:
    leash = leashed("sh", "-c", "exit 5")
    assert report(leash).startswith("pid ")
    assert finish(leash) == 5


def test_reports_why_nothing_was_started() -> None:
    leash = leashed("no-such-program")
    assert report(leash) == "errno 2"
    assert finish(leash) == 127


def test_the_program_has_its_own_process_group() -> None:
    leash = leashed("sleep", "600")
    pid = int(report(leash).removeprefix("pid "))
    assert os.getpgid(pid) == pid
    end_of_input(leash)
    assert finish(leash) == 128 + signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1])
def test_forwards_signals(number: signal.Signals) -> None:
    leash = leashed("sleep", "600")
    report(leash)
    leash.send_signal(number)
    assert finish(leash) == 128 + number


def test_end_of_input_ends_a_paused_program() -> None:
    leash = leashed("sleep", "600")
    os.kill(int(report(leash).removeprefix("pid ")), signal.SIGSTOP)
    end_of_input(leash)
    assert finish(leash) == 128 + signal.SIGTERM


def test_end_of_input_kills_a_whole_group_that_ignores_term() -> None:
    leash = leashed("sh", "-c", "trap '' TERM; sleep 600 & echo deaf; while :; do sleep 600; done")
    report(leash)
    assert leash.stderr is not None
    assert select.select([leash.stderr], [], [], LIMIT_SECONDS)[0]
    assert leash.stderr.readline() == b"deaf\n"
    end_of_input(leash)
    # The program and what it started hold the other end of this pipe: its end says that all of them are gone.
    assert select.select([leash.stderr], [], [], LIMIT_SECONDS)[0]
    assert leash.stderr.read() == b""
    assert finish(leash) == 128 + signal.SIGKILL


def test_the_program_reads_an_empty_input() -> None:
    leash = leashed("cat")
    report(leash)
    assert finish(leash) == 0
