"""Requests that are kept waiting until something has happened: a fault has closed, the client has left, time is over.

Nothing polls: what may have ended a wait calls `recheck`.
"""

import asyncio
from collections.abc import Callable


class Conditions:
    """What the tasks of one event loop wait for."""

    def __init__(self) -> None:
        self._open: dict[asyncio.Future[None], Callable[[], bool]] = {}

    async def until(self, is_met: Callable[[], bool], *, seconds: float | None = None) -> None:
        """Return once it is met, or after so many seconds (empty: no such limit)."""
        if is_met():
            return
        woken = asyncio.get_running_loop().create_future()
        self._open[woken] = is_met
        try:
            await asyncio.wait({woken}, timeout=seconds)
        finally:
            del self._open[woken]

    def recheck(self) -> None:
        """Something happened: each task whose condition is met goes on as soon as the event loop gets there."""
        for woken, is_met in self._open.items():
            if not woken.done() and is_met():
                woken.set_result(None)

    async def settled(self) -> None:
        """Return once every task whose condition was met has gone on."""
        while any(woken.done() for woken in self._open):
            await asyncio.sleep(0)
