"""Which signals interrupt, and what they do to this process."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from staleproof.core.times import INTERRUPTED_SECONDS
from staleproof.interrupts import Interrupts, interrupting

pytestmark = pytest.mark.io

NUMBERS = (signal.SIGINT, signal.SIGTERM)
BOTH = pytest.mark.parametrize("number", NUMBERS)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """A process that was interrupted keeps its handlers; this one goes on. What a shell begins in the background ignores INT."""
    before = {number: signal.getsignal(number) for number in NUMBERS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_first_signal_interrupts_and_those_behind_it_change_nothing() -> None:
    interrupts = Interrupts()
    assert not interrupts.happened
    assert interrupts.came("SIGTERM", 100.0)
    assert not interrupts.came("SIGINT", 100.0 + INTERRUPTED_SECONDS - 0.1)
    assert (interrupts.happened, interrupts.name) == (True, "SIGTERM")


def test_what_has_not_stopped_in_time_is_interrupted_again() -> None:
    interrupts = Interrupts()
    assert interrupts.came("SIGTERM", 100.0)
    assert interrupts.came("SIGTERM", 100.0 + INTERRUPTED_SECONDS)
    assert not interrupts.came("SIGTERM", 100.1 + INTERRUPTED_SECONDS)


def test_a_signal_that_is_held_back_interrupts_later_and_only_once() -> None:
    interrupts = Interrupts(held=True)
    assert not interrupts.came("SIGTERM", 1.0)
    assert not interrupts.came("SIGTERM", 2.0)
    assert interrupts.release(100.0)
    assert not interrupts.came("SIGTERM", 101.0)
    assert not interrupts.release(102.0)


def test_without_a_signal_nothing_is_held_back() -> None:
    interrupts = Interrupts(held=True)
    assert not interrupts.release(1.0)
    assert interrupts.came("SIGINT", 2.0)


def test_what_ends_by_itself_is_not_interrupted() -> None:
    interrupts = Interrupts()
    interrupts.stopping(100.0)
    assert not interrupts.came("SIGTERM", 101.0)
    assert not interrupts.happened


@BOTH
def test_a_signal_raises_what_ctrl_c_raises(number: signal.Signals) -> None:
    with interrupting(Interrupts()), pytest.raises(KeyboardInterrupt, match=number.name):
        signal.raise_signal(number)


@BOTH
def test_without_one_everything_is_as_it_was(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with interrupting(Interrupts()):
        assert signal.getsignal(number) is not before
    assert signal.getsignal(number) is before


@BOTH
@pytest.mark.parametrize("theirs", [signal.SIG_IGN, lambda *_: None])
def test_handlers_of_others_stay(number: signal.Signals, theirs: object) -> None:
    signal.signal(number, theirs)  # type: ignore[arg-type]  # one of two kinds
    with interrupting(Interrupts()):
        assert signal.getsignal(number) is theirs


SIGNALLED = """
import os, signal, sys
from staleproof.interrupts import Interrupts, interrupting

with interrupting(Interrupts(), concern=lambda: False):
    os.kill(os.getpid(), int(sys.argv[1]))
"""
AGAIN = """
import atexit, os, signal
from staleproof.interrupts import Interrupts, interrupting

atexit.register(os.kill, os.getpid(), signal.SIGTERM)  # called behind what is registered later
try:
    with interrupting(Interrupts()):
        os.kill(os.getpid(), signal.SIGTERM)
except KeyboardInterrupt:
    os.kill(os.getpid(), signal.SIGINT)
    raise SystemExit(2) from None
"""


@BOTH
def test_signals_that_concern_nothing_of_ours_do_what_they_always_do(number: signal.Signals) -> None:
    done = subprocess.run([sys.executable, "-c", SIGNALLED, str(int(number))], capture_output=True, text=True, check=False)
    assert done.returncode == -number
    assert ("KeyboardInterrupt" in done.stderr) is (number == signal.SIGINT)


def test_a_process_that_is_interrupted_keeps_its_exit_code_to_the_end() -> None:
    done = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "")
