"""What becomes of the faults when the client that drives them has gone.

A runner is a reader of entries that says so (`GET /v1/entries?runner=true`): its connection is its sign of life, which the
operating system ends however the runner dies. A connection that is merely silent counts as alive; so does that of a machine that
vanished, until TCP gives it up.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from .proxy_state import ProxyState

OnDisconnect = Literal["heal", "exit", "nothing"]
"""heal: every fault closes for good, and what is held leaves. exit: the proxy ends."""


class Runner:
    """Acts when the last connection of a runner is gone. Before the first has come, none is missed."""

    def __init__(self, state: ProxyState, on_disconnect: OnDisconnect) -> None:
        self._state, self._on_disconnect = state, on_disconnect
        self._connected = 0

    @contextmanager
    def connected(self) -> Iterator[None]:
        self._connected += 1
        try:
            yield
        finally:
            self._connected -= 1
            if not self._connected:
                self._gone()

    def _gone(self) -> None:
        why = "the runner's connection was lost"
        match self._on_disconnect:
            case "heal":
                if not self._state.schedule.is_over:  # else there was nothing left to release, and the trial is not spoiled
                    self._state.broke("runner", f"{why}: every fault is closed, and what was held leaves")
                self._state.release()
            case "exit":
                self._state.fail("runner", f"{why}: the proxy ends")
            case "nothing":
                return
