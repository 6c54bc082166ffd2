"""INT and TERM in a pytest run: it ends in order, with a report of what was finished, whichever process the signal was sent to.

That may be the controlling process of xdist, one of its workers, or all of them, as from a terminal. A controlling process that
ends closes its lines to the workers. Each worker takes that for a signal of its own: execnet would only send it one after five
seconds, and kill it after another five, whatever it is stopping by then.
"""

import gc
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from staleproof.interrupts import Interrupts, interrupting

BY_SIGNAL = "keyboard-interrupt"
"""What xdist says of a worker that a signal has ended."""
_WATCH = "staleproof-signals"


def watch(config: pytest.Config, *, held: bool = False, concern: Callable[[], bool] = lambda: True) -> None:
    """Let signals interrupt this process from now on, until pytest has done with it. `held`: only once the session has begun,
    because there is no report before that. `concern`: whether there is anything of ours to report."""
    if not config.pluginmanager.has_plugin(_WATCH):
        interrupts = Interrupts(held=held)
        config.pluginmanager.register(_Watch(config, interrupts, concern), _WATCH)
        with ExitStack() as stack:
            over = threading.Event()
            stack.enter_context(interrupting(interrupts, concern))
            stack.callback(over.set)
            config.add_cleanup(stack.pop_all().close)
        _end_with_the_controlling_process(config, over)


def is_interrupted(config: pytest.Config) -> bool:
    """Whether a signal has ended this run."""
    found = config.pluginmanager.get_plugin(_WATCH)
    return found is not None and found.interrupts.happened


class _Watch:
    """What pytest asks at the moments that matter."""

    def __init__(self, config: pytest.Config, interrupts: Interrupts, concern: Callable[[], bool]) -> None:
        self._config, self.interrupts, self._concern = config, interrupts, concern

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """From here on pytest ends the session in order, whatever happens."""
        if self.interrupts.release(time.monotonic()):
            raise KeyboardInterrupt(self.interrupts.name)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Show now what there is, because it may take seconds to stop everything. The traceback is never seen, and pytest spends
        seconds on it before it stops anything."""
        if self.interrupts.happened and not self._config.option.fulltrace:
            excinfo.traceback = excinfo.traceback[-1:]
        outcome = sys.modules.get("staleproof.plugin.outcome")  # as long as it is not imported, nothing has begun
        if self.interrupts.happened and outcome is not None and not hasattr(self._config, "workerinput"):
            outcome.show_so_far(self._config)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        """xdist would wait until the other workers have done their tests, and replace the one that was interrupted."""
        if error == BY_SIGNAL and self._concern() and self.interrupts.came("a worker was interrupted", time.monotonic()):
            raise KeyboardInterrupt(self.interrupts.name)

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Everything is stopped and reported, which no signal has to interrupt."""
        self.interrupts.stopping(time.monotonic())
        yield
        if self.interrupts.happened:
            session.exitstatus = pytest.ExitCode.INTERRUPTED  # whatever else went wrong while the run was being stopped
            gc.freeze()  # pytest looks for garbage five times in what goes anyway, and Python once more


def _end_with_the_controlling_process(config: pytest.Config, over: threading.Event) -> None:
    """In an xdist worker: send this process a signal when its line to the controlling process is closed, unless its part is `over`
    by then. Only xdist's own plugin knows the line."""
    if not hasattr(config, "workerinput"):
        return
    lines = (getattr(plugin, "channel", None) for plugin in config.pluginmanager.get_plugins())
    line: Any = next((line for line in lines if hasattr(line, "waitclose")), None)

    def end() -> None:
        with suppress(Exception):  # what it was closed with
            line.waitclose()
        if not over.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    if line is not None:
        threading.Thread(target=end, name="staleproof: end", daemon=True).start()
