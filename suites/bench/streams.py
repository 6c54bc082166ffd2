"""Measures a hundred watches at once: what they cost while nothing happens, and how fast an event reaches all of them.

Needs a proxy of its own: memory per stream shows only before anything has been freed.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median

from .client import Address, Conversation, Watch, conversation, shown, watching
from .figure import IDLE_SHARE, STREAM_KB, Figure, at_most, burst
from .process import cpu_seconds, resident_mb
from .rig import BODY_BYTES, Rig, Sizes, rounds, say
from .traffic import CONFIG_MAPS, WATCH_LIST

STREAMS = 100
_BURST = 100
_SINGLES = 10
_IDLE_SECONDS = 5.0
_OBJECT = "shown-to-many"
_WATCH_ONE = f"{WATCH_LIST}&fieldSelector=metadata.name%3D{_OBJECT}"
_INITIAL = 1  # the object


async def figures(rig: Rig, sizes: Sizes) -> list[Figure]:
    return [*await _idle(rig), *await _busy(rig, sizes)]


async def _idle(rig: Rig) -> list[Figure]:
    """The memory and the CPU time of streams on which nothing happens."""
    name = f"{STREAMS} idle streams"
    say(name)
    await rig.api.call("POST", CONFIG_MAPS, {"metadata": {"name": _OBJECT}, "data": {"text": "x" * BODY_BYTES}})
    async with _crowd(rig.proxied, 1):  # the first stream makes what all later ones share
        pass
    before = resident_mb(rig.pid)
    async with _crowd(rig.proxied, STREAMS):
        each_kb = (resident_mb(rig.pid) - before) * 1e3 / STREAMS
        worked, began = cpu_seconds(rig.pid), time.perf_counter()
        await asyncio.sleep(_IDLE_SECONDS)  # this is what is measured: time in which nothing happens
        share = (cpu_seconds(rig.pid) - worked) / (time.perf_counter() - began)
    return [
        at_most(f"{name}, memory", "kB/stream", each_kb, STREAM_KB),
        at_most("  CPU of the proxy", "% of a core", share * 100, IDLE_SHARE * 100, target=f"≤ {IDLE_SHARE:.0%}"),
    ]


async def _busy(rig: Rig, sizes: Sizes) -> list[Figure]:
    """Every event goes to all streams: written as fast as possible, and one at a time."""
    name = f"{STREAMS} busy streams"

    async def both() -> tuple[_Side, _Side]:
        return await _side(rig, rig.direct), await _side(rig, rig.proxied)

    found = await rounds(name, sizes, both)
    ratio = median(direct.burst / proxied.burst for direct, proxied in found)
    rate_direct = median(_BURST * STREAMS / direct.burst for direct, _ in found)
    worked = median(proxied.worked for _, proxied in found)
    direct_ms, proxied_ms = (median(each.single for each in way) * 1e3 for way in zip(*found, strict=True))
    return [
        burst(f"{name}, burst", rate_direct, ratio),
        Figure(name="  CPU of the proxy", unit="µs/event", value=worked / (_BURST * STREAMS) * 1e6),
        Figure(name=f"{name}, write to last event", unit="ms", direct=direct_ms, value=proxied_ms),
    ]


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a round: seconds of the burst, of a single write to the last of its events, and of work in the proxy."""

    burst: float
    single: float
    worked: float


async def _side(rig: Rig, watched: Address) -> _Side:
    """One side of a round. The writer is always direct, because the way of the events is measured, not that of the writes."""
    async with conversation(rig.direct) as writer, _crowd(watched, STREAMS) as watches:
        written = partial(_written, writer, rig.direct, watches)
        worked = cpu_seconds(rig.pid)
        burst = await written(_INITIAL, _BURST)
        worked = cpu_seconds(rig.pid) - worked
        first = _INITIAL + _BURST
        return _Side(burst, median([await written(seen, 1) for seen in range(first, first + _SINGLES)]), worked)


async def _written(writer: Conversation, address: Address, watches: Sequence[Watch], seen: int, writes: int) -> float:
    """The seconds from the first of so many writes until every watch has received them all."""
    began = time.perf_counter()
    for number in range(writes):
        writer.send(address.patch(f"{CONFIG_MAPS}/{_OBJECT}", b'{"data":{"number":"%d-%d"}}' % (seen, number)))
        if number < writes - 1:
            await writer.receive()
    ended = await shown(watches, seen + writes)
    await writer.receive()  # last: reading it earlier would delay us in noticing the event
    return ended - began


@asynccontextmanager
async def _crowd(address: Address, count: int) -> AsyncIterator[Sequence[Watch]]:
    """So many watches of one object, all of which have its state."""
    async with watching(address, _WATCH_ONE, count) as watches:
        await shown(watches, _INITIAL)
        yield watches
