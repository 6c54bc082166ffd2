"""Measures a stream that is held for a long time: ten thousand frames wait in the proxy, then all of them leave.

Rounds are interleaved with a direct connection that receives the same events. Needs a proxy of its own, because of memory.
"""

import asyncio
import time
from collections.abc import Callable
from statistics import median

from staleproof.core.entry import Withheld
from staleproof.core.fault import HoldStream
from staleproof.drive.cluster.api import Api
from staleproof.drive.proxy.client import Proxy
from staleproof.errors import SetupError

from .client import frames, open_watch
from .figure import HELD_KB, Figure, at_most, burst
from .process import forget_peak, peak_mb, resident_mb
from .tally import Tally
from .traffic import LIMIT_SECONDS, Arrivals, Ends, Sizes, create

HELD = 10_000
_NAMESPACE = "bench-held"
_PATH = f"/api/v1/namespaces/{_NAMESPACE}/configmaps?watch=1&resourceVersion="


class HeldStream:
    """One stream, held and released as often as asked."""

    def __init__(self, ends: Ends, running: Proxy, tally: Tally, path: str) -> None:
        self._ends, self._running, self._tally, self._path = ends, running, tally, path

    async def direct(self) -> float:
        """The seconds until everything has come over a direct connection."""
        return await frames(self._ends.direct, self._path, HELD, limit_seconds=LIMIT_SECONDS)

    async def drained(self) -> float:
        """The seconds from the release until the last frame has come."""
        arrivals, held = Arrivals(), self._tally.counts[Withheld]
        await self._running.install((HoldStream(resource="configmaps"),), _NAMESPACE)
        await self._running.begin_step(1)
        watch = await open_watch(self._ends.proxied, self._path, arrivals.frames)
        try:
            await self._tally.reached(Withheld, held + HELD, limit_seconds=LIMIT_SECONDS)
            if watch.frames:
                raise SetupError(f"expected no frame on a stream that is held, found {watch.frames}")
            began = time.perf_counter()
            async with asyncio.timeout(LIMIT_SECONDS), asyncio.TaskGroup() as group:
                group.create_task(self._running.release())
                group.create_task(arrivals.reached(HELD))
            return arrivals.times[HELD - 1] - began
        finally:
            watch.transport.abort()
            await watch.lost


async def hold_and_release(
    api: Api, ends: Ends, running: Proxy, tally: Tally, sizes: Sizes, progress: Callable[[str], None]
) -> list[Figure]:
    progress(f"creating {HELD} ConfigMaps")
    before = await create(api, _NAMESPACE, HELD)
    stream = HeldStream(ends, running, tally, _PATH + before)
    pairs, memory = [], []
    for number in range(sizes.rounds + 1):
        progress(f"hold and release: round {number} of {sizes.rounds}")
        direct = await stream.direct()
        forget_peak(ends.proxy_pid)
        resident = resident_mb(ends.proxy_pid)
        pairs.append((direct, await stream.drained()))
        memory.append(peak_mb(ends.proxy_pid) - resident)
    tally.check()
    return _figures(pairs[1:], most=memory[0])


def _figures(pairs: list[tuple[float, float]], *, most: float) -> list[Figure]:
    """`most` is the memory of the first round: later rounds use again what it freed."""
    ratio = median(direct / drained for direct, drained in pairs)
    direct = median(HELD / direct for direct, _ in pairs)
    each_kb = most * 1e3 / HELD
    name = f"{HELD:,} frames held"
    return [
        burst(f"{name}, release", direct, ratio),
        Figure(name="  until the last has left", unit="s", value=median(drained for _, drained in pairs)),
        at_most(f"{name}, most memory", "kB/frame", each_kb, HELD_KB),
    ]
