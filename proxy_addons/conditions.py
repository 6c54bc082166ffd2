"""Requests that are kept waiting until something has happened: a fault has closed, the client has left, time is over.

Nobody looks again and again: whoever may have ended a wait calls `stir`.
"""

import asyncio
from collections.abc import Callable


class Waits:
    """All that wait in one event loop."""

    def __init__(self) -> None:
        self._open: dict[asyncio.Future[None], Callable[[], bool]] = {}

    async def until(self, is_over: Callable[[], bool], *, seconds: float | None = None) -> None:
        """Return once it is over, or after so many seconds (empty: no such limit)."""
        if is_over():
            return
        woken = asyncio.get_running_loop().create_future()
        self._open[woken] = is_over
        try:
            await asyncio.wait({woken}, timeout=seconds)
        finally:
            del self._open[woken]

    def stir(self) -> None:
        """Something happened: whose wait is over goes on as soon as the event loop comes to it."""
        for woken, is_over in self._open.items():
            if not woken.done() and is_over():
                woken.set_result(None)

    async def settled(self) -> None:
        """Return once everybody whose wait is over has gone on."""
        while any(woken.done() for woken in self._open):
            await asyncio.sleep(0)
