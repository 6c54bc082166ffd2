"""INT and TERM end what runs in order: the first of them raises KeyboardInterrupt, as Ctrl-C always has.

A terminal sends INT, CI systems send TERM, and some of them send it again. Signals that come while everything is being stopped
change nothing, because a second interruption would leave things running that the first one was about to stop.
"""

import atexit
import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from staleproof.core.times import INTERRUPTED_SECONDS

_DEFAULTS: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class Interrupts:
    """Which of the signals that come interrupt.

    `held`: none does as yet, because nothing could stop in order; `release` says whether one has come meanwhile.
    """

    def __init__(self, *, held: bool = False) -> None:
        self._is_held, self._quiet_until, self.name = held, -math.inf, ""

    @property
    def happened(self) -> bool:
        """Whether a signal has interrupted, or is held back."""
        return bool(self.name)

    def came(self, name: str, at: float) -> bool:
        """Take note of a signal; whether it interrupts now."""
        if at < self._quiet_until:
            return False
        self.name = self.name or name
        if self._is_held:
            return False
        self.stopping(at)
        return True

    def stopping(self, at: float) -> None:
        """Everything stops from now on, whether a signal has come or not."""
        self._quiet_until = at + INTERRUPTED_SECONDS

    def release(self, at: float) -> bool:
        """Hold back no longer; whether a signal was held back, which interrupts now."""
        was_held, self._is_held = self._is_held and self.happened, False
        if was_held:
            self.stopping(at)
        return was_held


@contextmanager
def interrupting(interrupts: Interrupts, concern: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """INT and TERM interrupt the main thread as these `interrupts` say, unless something else handles or ignores them. As long as
    they `concern` nothing of ours, they do what they would do without us."""

    def handle(number: int, _: FrameType | None) -> None:
        name = signal.Signals(number).name
        if not concern():
            signal.signal(number, _DEFAULTS[signal.Signals(number)])
            signal.raise_signal(number)
        elif interrupts.came(name, time.monotonic()):
            raise KeyboardInterrupt(name)

    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: default for number, default in _DEFAULTS.items() if signal.getsignal(number) is default}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        if interrupts.happened:  # the process is about to end, with an exit code that no further signal is to change
            atexit.register(_ignore, tuple(before))
        else:
            for number, default in before.items():
                signal.signal(number, default)


def _ignore(numbers: Iterable[signal.Signals]) -> None:
    """What ends a process that is ending, its handlers being gone already."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
