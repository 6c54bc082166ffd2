"""Many watches of the same objects at once. Says when the last of them has received so many frames; measures nothing itself."""

import asyncio
import time
from functools import partial

from staleproof.errors import SetupError

from .client import Address, Watch, open_watch


class Crowd:
    """The watches of one address. Only one task at a time may call `reached`."""

    def __init__(self) -> None:
        self._watches: list[Watch] = []
        self._wanted = 0
        self._behind: set[int] = set()
        self._complete = asyncio.Event()
        self._completed_at = 0.0

    async def open(self, address: Address, path: str, count: int) -> None:
        self._watches = await asyncio.gather(*(open_watch(address, path, partial(self._came, number)) for number in range(count)))

    async def reached(self, frames: int, *, limit_seconds: float) -> float:
        """Wait until each watch has so many frames; the time at which the last frame came."""
        self._wanted = frames
        self._behind = {number for number, watch in enumerate(self._watches) if watch.frames < frames}
        if not self._behind:
            return time.perf_counter()
        self._complete.clear()
        try:
            async with asyncio.timeout(limit_seconds):
                await self._complete.wait()
        except TimeoutError as err:
            lost = sum(watch.lost.done() for watch in self._watches)
            raise SetupError(
                f"expected {frames} frames on each of {len(self._watches)} watches within {limit_seconds:g} s, found fewer on "
                f"{len(self._behind)} ({lost} have ended); is the load of another program too high?"
            ) from err
        return self._completed_at

    async def close(self) -> None:
        """Abort every watch, and wait until the last connection is gone."""
        for watch in self._watches:
            watch.transport.abort()
        await asyncio.gather(*(watch.lost for watch in self._watches))

    def _came(self, number: int, count: int) -> None:
        if count >= self._wanted and number in self._behind:
            self._behind.discard(number)
            if not self._behind:
                self._completed_at = time.perf_counter()
                self._complete.set()
