"""Signals in a pytest run: which process is interrupted, what becomes of the exit code, and that other runs are left alone."""

import atexit
import json
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from staleproof.interrupts import _ignore
from staleproof.plugin.signals import BY_SIGNAL, is_interrupted, watch

pytestmark = pytest.mark.io

pytest_plugins = ["pytester"]

INTERRUPTED = 2
TEST = """
    import os, signal, threading

    def test_signalled():
        os.kill({pid}, signal.{name})
        threading.Event().wait()
"""


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """A process that was interrupted keeps its handlers; this one goes on. What runs in the background of a shell ignores INT, and
    so would what it starts."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    atexit.unregister(_ignore)
    for number, handler in before.items():
        signal.signal(number, handler)


def reports(pytester: pytest.Pytester) -> list[Path]:
    return list(pytester.path.glob(".staleproof/runs/*/report.json"))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_run_about_a_controller_ends_with_a_report(name: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST.format(pid="os.getpid()", name=name))
    done = pytester.runpytest_subprocess("--controller-cmd=x", "test_a_run_about_a_controller_ends_with_a_report.py")
    (report,) = reports(pytester)
    assert done.ret == INTERRUPTED
    assert json.loads(report.read_bytes())["partial"] is True
    done.stdout.fnmatch_lines([f"*KeyboardInterrupt: {name}*", "staleproof: interrupted; nothing failed in what was finished: *"])


SLOW = """
    import os, signal, threading
    import pytest
    from staleproof.plugin.outcome import begun
    from staleproof.report.model import RequirementVerdict, TrialReport

    @pytest.fixture(scope="session")
    def controller():
        yield
        print("the controller is stopped")

    def test_signalled(controller, pytestconfig):
        trial = TrialReport(
            name="001", scenario="own-writes", title="a", folder="trials/001", evidence="", seconds=1.0, faults_planned=1,
            faults_fired=1, reproduced=(0, 0), verdicts=(RequirementVerdict(requirement="settles", result="passed"),),
        )
        begun(pytestconfig).trials.append(trial)
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait()
"""


def test_what_there_is_is_shown_before_anything_is_stopped(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SLOW)
    done = pytester.runpytest_subprocess("--controller-cmd=x", "-s", "test_what_there_is_is_shown_before_anything_is_stopped.py")
    done.stdout.fnmatch_lines(
        [
            "staleproof: interrupted: everything that the run has started is being stopped*",
            "staleproof: what was finished by then:",
            "staleproof · 1 trial · *",
            "*passed (1): settles",
            "*the controller is stopped",
            "staleproof: all that the run had started is stopped",
            "report: .staleproof/runs/*/report.html (-v prints it all)",
            "staleproof: interrupted; nothing failed in what was finished: 1 of *",
        ]
    )
    assert done.stdout.str().count("passed (1): settles") == 1, "what was shown is not shown again"
    place = next(line for line in done.stdout.lines if line.startswith("report: "))
    assert len(place) <= 80
    assert (pytester.path / place.split()[1]).is_file()


@pytest.mark.parametrize("workers", [0, 2])
def test_other_runs_are_left_alone(workers: int, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST.format(pid="os.getppid()" if workers else "os.getpid()", name="SIGTERM"))
    assert pytester.runpytest_subprocess(f"-n{workers}").ret == -signal.SIGTERM


def test_workers_end_with_the_controlling_process(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST.format(pid="os.getppid()", name="SIGTERM"))
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


@pytest.mark.parametrize(
    ("error", "is_ours", "ends"), [(BY_SIGNAL, True, True), (BY_SIGNAL, False, False), ("it died", True, False)]
)
def test_a_worker_that_is_interrupted_ends_the_run(error: str, is_ours: bool, ends: bool, pytester: pytest.Pytester) -> None:  # noqa: FBT001  # columns
    config = pytester.parseconfigure("-p", "xdist")
    watch(config, concern=lambda: is_ours)
    with pytest.raises(KeyboardInterrupt, match="a worker was interrupted") if ends else nullcontext():
        config.hook.pytest_testnodedown(node=SimpleNamespace(config=config), error=error)
    assert is_interrupted(config) is ends


def test_a_signal_ends_the_run(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfigure()
    assert not is_interrupted(config)
    watch(config)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    assert is_interrupted(config)
