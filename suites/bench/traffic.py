"""Measures the proxy against a direct connection: bursts of watch events, one event at a time, GETs.

Rounds are interleaved, because other work on the machine comes and goes: the ratio of two neighbouring rounds means something, an
absolute figure does not.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean, median, quantiles

from staleproof.drive.cluster.api import Api

from .client import LIMIT_SECONDS, Address, conversation, gets, shown, watching
from .figure import ADDED_LATENCY_MS, GET_RATIO, Figure, at_least, at_most, burst
from .process import cpu_seconds
from .rig import BODY_BYTES, Rig, Sizes, rounds, say

NAMESPACE = "bench"
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
WATCH_LIST = f"{CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
_ROUND_SECONDS = 1.0
_BUSY = 0.8


async def create(api: Api, namespace: str, count: int) -> str:
    """Make a namespace with so many ConfigMaps; the resourceVersion before the first of them."""
    say(f"creating {count} ConfigMaps")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    before = str((await api.call("GET", path))["metadata"]["resourceVersion"])
    numbers = iter(range(count))

    async def create_some() -> None:
        for i in numbers:
            body = {"metadata": {"name": f"sample-{i}"}, "data": {"text": "x" * BODY_BYTES}}
            await api.call("POST", path, body)

    await asyncio.gather(*(create_some() for _ in range(16)))
    return before


@dataclass(frozen=True, slots=True)
class _Round:
    """What was measured both ways, the client's share of a core on the direct way, and the proxy's CPU time on the other."""

    direct: float
    proxied: float
    client_share: float
    proxy_seconds: float


async def _compared(rig: Rig, measure: Callable[[Address], Awaitable[float]]) -> _Round:
    cpu, began = time.process_time(), time.perf_counter()
    direct = await measure(rig.direct)
    share = (time.process_time() - cpu) / (time.perf_counter() - began)
    worked = cpu_seconds(rig.pid)
    proxied = await measure(rig.proxied)
    return _Round(direct, proxied, share, cpu_seconds(rig.pid) - worked)


def _bottleneck(name: str, found: Sequence[_Round]) -> tuple[bool, str]:
    """Whether the client is the bottleneck of the direct connection, and a note on it."""
    share = median(each.client_share for each in found)
    what = "it is the bottleneck there" if share > _BUSY else "not the bottleneck"
    return share > _BUSY, f"{name}: the client used {share:.0%} of a core against the direct connection: {what}"


async def events(address: Address, path: str, wanted: int) -> float:
    """The seconds from the request until so many events have come."""
    async with watching(address, path) as (watch,):
        return await shown([watch], wanted) - watch.asked_at


async def bursts(rig: Rig, sizes: Sizes, before: str) -> tuple[list[Figure], list[str]]:
    """A WatchList of everything, and a WATCH that replays the whole history."""
    kinds = {
        "watch burst (WatchList)": (WATCH_LIST, sizes.events),
        "watch burst (history replay)": (f"{CONFIG_MAPS}?watch=1&resourceVersion={before}", sizes.events),
    }
    figures, notes = [], []
    for name, (path, wanted) in kinds.items():
        found = await rounds(name, sizes, partial(_compared, rig, partial(events, path=path, wanted=wanted)))
        ratio = median(each.direct / each.proxied for each in found)
        figures.append(burst(name, median(wanted / each.direct for each in found), ratio))
        worked = mean(each.proxy_seconds for each in found)
        figures.append(Figure(name="  CPU of the proxy", unit="µs/event", value=worked / wanted * 1e6))
        notes.append(_bottleneck(name, found)[1])
    return figures, notes


async def latency(rig: Rig, sizes: Sizes) -> list[Figure]:
    """One write at a time: both watchers see the same event, and the proxy adds the difference.

    The answer to the write is read after both events have come: reading it earlier would delay us in noticing them.
    """
    say(f"latency: {sizes.writes} writes")
    start = (await rig.api.call("POST", CONFIG_MAPS, {"metadata": {"name": "single"}}))["metadata"]["resourceVersion"]
    path = f"{CONFIG_MAPS}?watch=1&resourceVersion={start}&fieldSelector=metadata.name%3Dsingle"
    written: list[float] = []
    async with (
        watching(rig.direct, path) as (direct,),
        watching(rig.proxied, path) as (proxied,),
        conversation(rig.direct) as writer,
    ):
        for number in range(1, sizes.writes + 1):
            request = rig.direct.patch(f"{CONFIG_MAPS}/single", b'{"data":{"number":"%d"}}' % number)
            written.append(time.perf_counter())
            writer.send(request)
            await shown([direct, proxied], number)
            async with asyncio.timeout(LIMIT_SECONDS):
                await writer.receive()
    return _latency_figures(written, direct.times, proxied.times)


def _latency_figures(written: list[float], *arrived: list[float]) -> list[Figure]:
    skip = len(written) // 10
    direct, proxied = ([(seen - at) * 1e3 for at, seen in zip(written, times, strict=True)][skip:] for times in arrived)
    added = [b - a for a, b in zip(direct, proxied, strict=True)]
    return [
        Figure(name="write to event, median", unit="ms", direct=median(direct), value=median(proxied)),
        Figure(name="write to event, p99", unit="ms", direct=_p99(direct), value=_p99(proxied)),
        at_most("added latency, median", "ms", median(added), ADDED_LATENCY_MS),
        Figure(name="added latency, p99", unit="ms", value=_p99(added)),
    ]


def _p99(values: list[float]) -> float:
    return quantiles(values, n=100)[98]


async def requests(rig: Rig, sizes: Sizes) -> tuple[list[Figure], list[str]]:
    """GETs of one object over kept-alive connections."""
    figures, notes = [], []
    for connections in (8, 1):
        measure = partial(gets, path=f"{CONFIG_MAPS}/sample-0", connections=connections, seconds=_ROUND_SECONDS)
        found = await rounds(f"GET on {connections} connections", sizes, partial(_compared, rig, measure))
        name = f"GET, {connections} connection{'s' if connections > 1 else ''}"
        direct = median(each.direct for each in found)
        ratio = median(each.proxied / each.direct for each in found)
        limited = at_least(name, "requests/s", direct, ratio, limit=GET_RATIO)
        figures.append(limited if connections > 1 else replace(limited, target="", met=None))
        worked = mean(each.proxy_seconds / (each.proxied * _ROUND_SECONDS) for each in found)
        figures.append(Figure(name="  CPU of the proxy", unit="µs/request", value=worked * 1e6))
        is_client, note = _bottleneck(name, found)
        notes += [note] if is_client else []
    return figures, notes
