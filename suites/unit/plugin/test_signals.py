"""Signals in a pytest run: who is interrupted, what becomes of the exit code, and that other runs are left alone."""

import atexit
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from staleproof.interrupts import _ignore
from staleproof.plugin.signals import is_interrupted, watch

pytest_plugins = ["pytester"]

INTERRUPTED = 2
TEST = """
    import os, signal

    def test_signalled():
        os.kill({pid}, signal.{name})
        while {waits}:
            pass
"""


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """What an interruption leaves behind in a process that is about to end, which this one is not."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    atexit.unregister(_ignore)
    for number, handler in before.items():
        signal.signal(number, handler)


def reports(pytester: pytest.Pytester) -> list[Path]:
    return list(pytester.path.glob(".staleproof/runs/*/report.json"))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_run_about_a_controller_ends_with_a_report(name: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST.format(pid="os.getpid()", name=name, waits=True))
    done = pytester.runpytest_subprocess("--controller-cmd=x", "test_a_run_about_a_controller_ends_with_a_report.py")
    (report,) = reports(pytester)
    assert done.ret == INTERRUPTED
    assert json.loads(report.read_bytes())["partial"] is True
    done.stdout.fnmatch_lines([f"*KeyboardInterrupt: {name}*", "staleproof: interrupted; nothing failed in what was finished: *"])


@pytest.mark.parametrize("workers", [0, 2])
def test_other_runs_are_left_alone(workers: int, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST.format(pid="os.getppid()" if workers else "os.getpid()", name="SIGTERM", waits=True))
    assert pytester.runpytest_subprocess(f"-n{workers}").ret == -signal.SIGTERM


def test_workers_end_with_the_controlling_process(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST.format(pid="os.getppid()", name="SIGTERM", waits=True))
    done = pytester.runpytest_subprocess("-n2", "--controller-cmd=x", "test_workers_end_with_the_controlling_process.py")
    assert done.ret == INTERRUPTED
    assert len(reports(pytester)) == 1


HELD = """
    import os, signal

    def pytest_sessionstart():
        os.kill(os.getpid(), signal.SIGTERM)

    def pytest_collection():
        raise AssertionError("nothing is collected")
"""


def test_a_signal_that_comes_before_the_session_has_begun_ends_it_then(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(HELD)
    pytester.makepyfile("def test(): pass")
    assert pytester.runpytest_subprocess("--controller-cmd=x", ".").ret == INTERRUPTED
    assert len(reports(pytester)) == 1


def test_whatever_else_goes_wrong_then_an_interrupted_run_has_been_interrupted(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfigure()
    assert not is_interrupted(config)
    watch(config)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    assert is_interrupted(config)
