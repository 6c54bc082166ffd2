"""Measures a hundred watches at once: what they cost while nothing happens, and how fast an event reaches all of them.

Needs a proxy of its own: memory per stream shows only before anything has been freed.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from statistics import median

from staleproof.drive.cluster.api import Api

from .client import Address, Conversation
from .crowd import Crowd
from .figure import IDLE_SHARE, STREAM_KB, Figure, at_most, burst, rate
from .process import cpu_seconds, resident_mb
from .traffic import BODY_BYTES, CONFIG_MAPS, LIMIT_SECONDS, Ends, Sizes

STREAMS = 100
_BURST = 100
_SINGLES = 10
_IDLE_SECONDS = 5.0
_OBJECT = "shown-to-many"
_WATCH_ONE = (
    f"{CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    f"&fieldSelector=metadata.name%3D{_OBJECT}"
)
_INITIAL = 2  # the object, and the bookmark that ends the initial events


async def idle(api: Api, ends: Ends, progress: Callable[[str], None]) -> list[Figure]:
    """The memory and the CPU time of streams on which nothing happens."""
    progress(f"{STREAMS} idle streams")
    await api.call("POST", CONFIG_MAPS, {"metadata": {"name": _OBJECT}, "data": {"text": "x" * BODY_BYTES}})
    async with crowd(ends.proxied, 1):  # the first stream makes what all later ones share
        pass
    before = resident_mb(ends.proxy_pid)
    async with crowd(ends.proxied, STREAMS):
        each_kb = (resident_mb(ends.proxy_pid) - before) * 1e3 / STREAMS
        worked, began = cpu_seconds(ends.proxy_pid), time.perf_counter()
        await asyncio.sleep(_IDLE_SECONDS)  # this is what is measured: time in which nothing happens
        share = (cpu_seconds(ends.proxy_pid) - worked) / (time.perf_counter() - began)
    name = f"{STREAMS} idle streams"
    return [
        at_most(f"{name}, memory", "kB/stream", each_kb, STREAM_KB),
        at_most("  CPU of the proxy", "% of a core", share * 100, IDLE_SHARE * 100, target=f"≤ {IDLE_SHARE:.0%}"),
    ]


async def busy(ends: Ends, sizes: Sizes, progress: Callable[[str], None]) -> list[Figure]:
    """Every event goes to all streams: written as fast as possible, and one at a time."""
    rounds = [await _round(ends, number, sizes, progress) for number in range(sizes.rounds + 1)][1:]
    ratio = median(direct.burst / proxied.burst for direct, proxied in rounds)
    rate_direct = median(_BURST * STREAMS / direct.burst for direct, _ in rounds)
    single = [median(pair[way].single for pair in rounds) * 1e3 for way in (0, 1)]
    name = f"{STREAMS} busy streams"
    return [
        burst(f"{name}, burst", rate_direct, ratio),
        Figure(
            name="  CPU of the proxy",
            unit="µs/event",
            value=median(proxied.worked for _, proxied in rounds) / (_BURST * STREAMS) * 1e6,
        ),
        rate(f"{name}, write to last event", "ms", *single),
    ]


class _Measured:
    """One side of a round: seconds of the burst, of a single write to the last of its events, and of work in the proxy."""

    def __init__(self, burst: float, singles: list[float], worked: float) -> None:
        self.burst, self.single, self.worked = burst, median(singles), worked


async def _round(ends: Ends, number: int, sizes: Sizes, progress: Callable[[str], None]) -> tuple[_Measured, _Measured]:
    progress(f"{STREAMS} busy streams: round {number} of {sizes.rounds}")
    return await _side(ends, ends.direct), await _side(ends, ends.proxied)


async def _side(ends: Ends, watched: Address) -> _Measured:
    """One side of a round. The writer is always direct, because the way of the events is measured, not that of the writes."""
    writer = Conversation(ends.direct)
    await writer.open()
    try:
        async with crowd(watched, STREAMS) as watches:
            worked = cpu_seconds(ends.proxy_pid)
            burst = await _written(writer, ends.direct, watches, _INITIAL, _BURST)
            worked = cpu_seconds(ends.proxy_pid) - worked
            first = _INITIAL + _BURST
            singles = [await _written(writer, ends.direct, watches, seen, 1) for seen in range(first, first + _SINGLES)]
            return _Measured(burst, singles, worked)
    finally:
        writer.close()


async def _written(writer: Conversation, address: Address, watches: Crowd, seen: int, writes: int) -> float:
    """The seconds from the first of so many writes until every watch has received them all."""
    began = time.perf_counter()
    for number in range(writes):
        writer.send(address.patch(f"{CONFIG_MAPS}/{_OBJECT}", b'{"data":{"number":"%d-%d"}}' % (seen, number)))
        if number < writes - 1:
            await writer.receive()
    ended = await watches.reached(seen + writes, limit_seconds=LIMIT_SECONDS)
    await writer.receive()  # last: reading it earlier would delay us in noticing the event
    return ended - began


@asynccontextmanager
async def crowd(address: Address, count: int) -> AsyncIterator[Crowd]:
    """So many watches of one object, all of which have its state; they are gone when the block is left."""
    watches = Crowd()
    await watches.open(address, _WATCH_ONE, count)
    try:
        await watches.reached(_INITIAL, limit_seconds=LIMIT_SECONDS)
        yield watches
    finally:
        await watches.close()
