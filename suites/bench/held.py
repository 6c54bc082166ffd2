"""Measures a stream that is held for a long time: ten thousand frames wait in the proxy, then all of them leave.

Rounds are interleaved with a direct connection that receives the same events. Needs a proxy of its own, because of memory.
"""

import asyncio
import time
from statistics import median

from staleproof.core.fault import HoldStream
from staleproof.core.history.entry import Withheld
from staleproof.errors import SetupError

from .client import LIMIT_SECONDS, shown, watching
from .figure import HELD_KB, Figure, at_most, burst
from .process import forget_peak, peak_mb, resident_mb
from .rig import Rig, Sizes, rounds
from .traffic import create, events

HELD = 10_000
_NAMESPACE = "bench-held"


async def figures(rig: Rig, sizes: Sizes) -> list[Figure]:
    before = await create(rig.api, _NAMESPACE, HELD)
    path = f"/api/v1/namespaces/{_NAMESPACE}/configmaps?watch=1&resourceVersion={before}"
    memory = []

    async def both() -> tuple[float, float]:
        direct = await events(rig.direct, path, HELD)
        forget_peak(rig.pid)
        resident = resident_mb(rig.pid)
        drained = await _drained(rig, path)
        memory.append(peak_mb(rig.pid) - resident)
        return direct, drained

    pairs = await rounds("hold and release", sizes, both)
    ratio = median(direct / drained for direct, drained in pairs)
    each_kb = memory[0] * 1e3 / HELD  # of the first round: later ones use again what it freed
    name = f"{HELD:,} frames held"
    return [
        burst(f"{name}, release", median(HELD / direct for direct, _ in pairs), ratio),
        Figure(name="  until the last has left", unit="s", value=median(drained for _, drained in pairs)),
        at_most(f"{name}, most memory", "kB/frame", each_kb, HELD_KB),
    ]


async def _drained(rig: Rig, path: str) -> float:
    """The seconds from the release of a held stream until the last frame has come."""
    held = rig.tally.counts[Withheld]
    await rig.proxy.install((HoldStream(resource="configmaps"),), _NAMESPACE)
    await rig.proxy.begin_step(1)
    async with watching(rig.proxied, path) as (watch,):
        await rig.tally.reached(Withheld, held + HELD, limit_seconds=LIMIT_SECONDS)
        if watch.times:
            raise SetupError(f"expected no frame on a stream that is held, found {len(watch.times)}")
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            group.create_task(rig.proxy.release())
            last = group.create_task(shown([watch], HELD))
        return last.result() - began
