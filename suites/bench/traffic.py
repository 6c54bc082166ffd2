"""Measures the proxy against a direct connection: bursts of watch events, one event at a time, GETs.

Rounds are interleaved, because other work on the machine comes and goes: the ratio of two neighbouring rounds means something, an
absolute figure does not. The first round of each is thrown away: it pays for handshakes and for what is made only once.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median, quantiles

from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import ControlPlane
from staleproof.errors import SetupError, UsageError

from .client import Address, Conversation, frames, gets, open_watch
from .figure import ADDED_LATENCY_MS, Figure, at_most, burst, rate
from .process import cpu_seconds, resident_mb

NAMESPACE = "bench"
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
_WATCH_LIST = f"{CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
BODY_BYTES = 1_150  # with metadata and managedFields a frame is about 1.5 kB
_ROUND_SECONDS = 1.0
LIMIT_SECONDS = 60.0
_BUSY = 0.8


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ways to the same kube-apiserver, and the proxy's process."""

    direct: Address
    proxied: Address
    proxy_pid: int


@dataclass(frozen=True, slots=True)
class Sizes:
    events: int
    rounds: int
    writes: int


async def create(api: Api, namespace: str, count: int) -> str:
    """Make a namespace with so many ConfigMaps; the resourceVersion before the first of them."""
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


async def bursts(ends: Ends, sizes: Sizes, before: str, progress: Callable[[str], None]) -> tuple[list[Figure], list[str]]:
    """A WatchList of everything, and a WATCH that replays the whole history."""
    kinds = {
        "watch burst (WatchList)": (_WATCH_LIST, sizes.events + 1),  # and the bookmark that ends it
        "watch burst (history replay)": (f"{CONFIG_MAPS}?watch=1&resourceVersion={before}", sizes.events),
    }
    figures, notes = [], []
    for name, (path, wanted) in kinds.items():
        pairs, busy, worked = [], [], []
        for number in range(sizes.rounds + 1):
            progress(f"{name}: round {number} of {sizes.rounds}")
            cpu, began = time.process_time(), time.perf_counter()
            direct = await frames(ends.direct, path, wanted, limit_seconds=LIMIT_SECONDS)
            busy.append((time.process_time() - cpu) / (time.perf_counter() - began))
            before_seconds = cpu_seconds(ends.proxy_pid)
            pairs.append((direct, await frames(ends.proxied, path, wanted, limit_seconds=LIMIT_SECONDS)))
            worked.append(cpu_seconds(ends.proxy_pid) - before_seconds)
        del pairs[0], worked[0]
        ratio = median(direct / proxied for direct, proxied in pairs)
        direct = median(wanted / direct for direct, _ in pairs)
        figures.append(burst(name, direct, ratio))
        figures.append(Figure(name="  CPU of the proxy", unit="µs/event", value=mean(worked) / wanted * 1e6))
        share = median(busy)
        if share > _BUSY:
            notes.append(f"{name}: the client used {share:.0%} of a core against the direct connection: it is the bottleneck there")
        else:
            notes.append(f"{name}: the client used {share:.0%} of a core against the direct connection: not the bottleneck")
    return figures, notes


async def latency(api: Api, ends: Ends, sizes: Sizes, progress: Callable[[str], None]) -> list[Figure]:
    """One write at a time: both watchers see the same event, and the proxy adds the difference.

    The answer to the write is read after both events have come: reading it earlier would delay us in noticing them.
    """
    progress(f"latency: {sizes.writes} writes")
    start = (await api.call("POST", CONFIG_MAPS, {"metadata": {"name": "single"}}))["metadata"]["resourceVersion"]
    path = f"{CONFIG_MAPS}?watch=1&resourceVersion={start}&fieldSelector=metadata.name%3Dsingle"
    written: list[float] = []
    arrivals = Arrivals(), Arrivals()
    watches = [await open_watch(end, path, seen.frames) for end, seen in zip((ends.direct, ends.proxied), arrivals, strict=True)]
    writer = Conversation(ends.direct)
    await writer.open()
    try:
        for number in range(1, sizes.writes + 1):
            request = ends.direct.patch(f"{CONFIG_MAPS}/single", b'{"data":{"number":"%d"}}' % number)
            written.append(time.perf_counter())
            writer.send(request)
            async with asyncio.timeout(LIMIT_SECONDS):
                for seen in arrivals:
                    await seen.reached(number)
                await writer.receive()
    finally:
        for watch in watches:
            watch.transport.abort()
        writer.close()
    return _latency_figures(written, *(seen.times for seen in arrivals))


class Arrivals:
    """The times at which the frames of one watch came."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._news = asyncio.Event()

    def frames(self, count: int) -> None:
        self.times += [time.perf_counter()] * (count - len(self.times))
        self._news.set()

    async def reached(self, count: int) -> None:
        while len(self.times) < count:
            self._news.clear()
            await self._news.wait()


def _latency_figures(written: list[float], direct: list[float], proxied: list[float]) -> list[Figure]:
    skip = len(written) // 10
    by_way = {
        "direct": [(seen - at) * 1e3 for at, seen in zip(written, direct, strict=True)][skip:],
        "proxied": [(seen - at) * 1e3 for at, seen in zip(written, proxied, strict=True)][skip:],
    }
    added = [b - a for a, b in zip(by_way["direct"], by_way["proxied"], strict=True)]
    p99 = {name: quantiles(values, n=100)[98] for name, values in by_way.items()}
    return [
        rate("write to event, median", "ms", median(by_way["direct"]), median(by_way["proxied"])),
        rate("write to event, p99", "ms", p99["direct"], p99["proxied"]),
        at_most("added latency, median", "ms", median(added), ADDED_LATENCY_MS),
        Figure(name="added latency, p99", unit="ms", value=quantiles(added, n=100)[98]),
    ]


async def requests(ends: Ends, sizes: Sizes, progress: Callable[[str], None]) -> tuple[list[Figure], list[str]]:
    """GETs of one object over kept-alive connections."""
    figures, notes = [], []
    path = f"{CONFIG_MAPS}/sample-0"
    for connections in (8, 1):
        pairs, busy = [], []
        for number in range(1, sizes.rounds + 1):
            progress(f"GET on {connections} connections: round {number} of {sizes.rounds}")
            cpu, began = time.process_time(), time.perf_counter()
            direct = await gets(ends.direct, path, connections, seconds=_ROUND_SECONDS)
            busy.append((time.process_time() - cpu) / (time.perf_counter() - began))
            pairs.append((direct, await gets(ends.proxied, path, connections, seconds=_ROUND_SECONDS)))
        name = f"GET, {connections} connection{'s' if connections > 1 else ''}"
        direct = median(direct for direct, _ in pairs)
        figures.append(rate(name, "requests/s", direct, direct * median(proxied / direct for direct, proxied in pairs)))
        if (share := median(busy)) > _BUSY:
            notes.append(f"{name}: the client used {share:.0%} of a core against the direct connection: it is the bottleneck there")
    return figures, notes


def resident(ends: Ends, limit_mb: float) -> Figure:
    return at_most("proxy memory at the end", "MB", resident_mb(ends.proxy_pid), limit_mb)


def started(name: str, seconds: float) -> Figure:
    if seconds <= 0:
        raise SetupError(f"{name}: the clock went backwards")
    return Figure(name=name, unit="s", value=seconds)


def token_of(plane: ControlPlane, user: str) -> str:
    if user not in plane.tokens:
        raise UsageError(f"expected a control plane that staleproof starts, found {plane.provider}; its tokens are needed here")
    return plane.tokens[user]
