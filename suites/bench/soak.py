"""`ci/soak`: does the proxy last? Ten minutes of events, clients that come and go, faults that open and close.

Every client checks that it receives every event exactly once and in order. In the end memory must be where it was after the first
minute, and everything that was opened must be closed. Prints a line a minute and a verdict; exits with 1 unless the soak passed.
"""

import asyncio
import sys
import time
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

import click

from staleproof.core.history.entry import FaultFired
from staleproof.errors import SetupError

from . import load
from .follower import Follower
from .process import Handles, cpu_seconds, resident_mb
from .rig import BODY_BYTES, Rig, run, say, started_control_plane, started_proxy
from .tally import Tally

_STAYING, _SLOTS = 2, 8
_MINUTE_SECONDS = 60.0
_SAMPLE_SECONDS = 1.0
_GONE_SECONDS = 30.0
_FAILED = 1
_FLAT = 0.10
_SHOWN = 10


class Soak:
    """One run against one proxy; says a line a minute."""

    def __init__(self, rig: Rig) -> None:
        self._rig, self._ledger = rig, load.Ledger()

    async def run(self, *, minutes: int, per_second: int) -> list[str]:
        """Why it did not pass; empty when it did."""
        await self._prepare()
        await self._all_gone()
        before = self._handles()
        say(f"before: {resident_mb(self._rig.pid):.0f} MB, {before}")
        stop, memory = asyncio.Event(), list[float]()
        staying = [self._client() for _ in range(_STAYING)]
        async with asyncio.TaskGroup() as group:
            following = [group.create_task(client.follow()) for client in staying]
            work = [group.create_task(one) for one in self._work(stop, per_second)]
            for number in range(1, minutes + 1):
                memory.append(await self._minute(number))
            stop.set()
            await asyncio.wait(work)
            await self._all_shown(staying)
            for task in following:
                task.cancel()
        await self._all_gone(at_most=before.files)
        after, ledger = self._handles(), self._ledger
        say(
            f"after: {resident_mb(self._rig.pid):.0f} MB, {after}; streams ended {dict(ledger.ends)} and were followed on; "
            f"{ledger.writes:,} writes, {ledger.frames:,} frames, {ledger.clients:,} clients"
        )
        return [*_failures(self._rig.tally, ledger), *_leaked(before, after), *_grown(memory)]

    async def _prepare(self) -> None:
        api = self._rig.api
        await api.call("POST", "/api/v1/namespaces", {"metadata": {"name": load.NAMESPACE}})
        for name in load.OBJECTS:
            body = {"metadata": {"name": name}, "data": {"number": "0", "text": "x" * BODY_BYTES}}
            self._ledger.revisions[name] = int((await api.call("POST", load.CONFIG_MAPS, body))["metadata"]["resourceVersion"])
        await load.primed(self._rig.proxied, self._ledger)

    def _client(self) -> load.Client:
        known = Follower(numbers=self._ledger.numbers, revision=max(self._ledger.revisions.values()))
        return load.Client(self._rig.proxied, known, self._ledger)

    def _work(self, stop: asyncio.Event, per_second: int) -> Iterable[Coroutine[None, None, None]]:
        """The work of all writers, visitors and plans. One of the writers goes through the proxy, too."""
        ways = [self._rig.proxied, *[self._rig.direct] * (len(load.OBJECTS) - 1)]
        for way, name in zip(ways, load.OBJECTS, strict=True):
            yield load.write(name, way, self._ledger, stop, per_second=per_second / len(load.OBJECTS))
        for slot in range(_SLOTS):
            yield load.come_and_go(slot, self._rig.proxied, self._ledger, stop)
        yield load.plans(self._rig.proxy, self._ledger, stop)

    async def _minute(self, number: int) -> float:
        """Wait for a minute and say what happened in it; its peak of memory, because every minute has its holds."""
        pid, ledger = self._rig.pid, self._ledger
        writes, frames, clients, plans = ledger.writes, ledger.frames, ledger.clients, ledger.plans
        worked, began, memory = cpu_seconds(pid), time.monotonic(), []
        while (passed := time.monotonic() - began) < _MINUTE_SECONDS:
            memory.append(resident_mb(pid))
            await asyncio.sleep(_SAMPLE_SECONDS)
        say(
            f"minute {number}: {(ledger.writes - writes) / passed:.0f} writes/s, {(ledger.frames - frames) / passed:.0f} frames/s, "
            f"{ledger.clients - clients} clients left, {ledger.plans - plans} plans, {len(ledger.flaws)} flaws in all; proxy: "
            f"{(cpu_seconds(pid) - worked) / passed:.0%} CPU, {median(memory):.1f} MB, {max(memory):.1f} at most, {self._handles()}"
        )
        return max(memory)

    async def _all_shown(self, staying: list[load.Client]) -> None:
        """Note a flaw unless the last write reaches the clients that stayed."""
        for client in staying:
            if not await client.caught_up(self._ledger.numbers):
                self._ledger.flaws.append(f"expected {self._ledger.numbers} in the end, found {client.follower.numbers}")

    async def _all_gone(self, *, at_most: int | None = None) -> None:
        """Wait until no stream is open and no more than `at_most` files are (None: no fewer than a moment ago), or too long."""
        end, files = time.monotonic() + _GONE_SECONDS, -1
        while time.monotonic() < end:
            await self._rig.proxy.fence()
            found = self._handles().files
            if not self._rig.tally.open and found <= (files if at_most is None else at_most):
                return
            files = found
            await asyncio.sleep(_SAMPLE_SECONDS)

    def _handles(self) -> Handles:
        return Handles.of(self._rig.pid)


def _failures(tally: Tally, ledger: load.Ledger) -> list[str]:
    """What the proxy and the clients have to say against it."""
    found = [*(f"the proxy broke: {why}" for why in tally.broken[:_SHOWN]), *ledger.flaws[:_SHOWN]]
    if len(ledger.flaws) > _SHOWN:
        found.append(f"… and {len(ledger.flaws) - _SHOWN} more of these")
    if not tally.counts[FaultFired]:
        found.append(f"expected faults to fire, found that none of {ledger.plans} plans did anything")
    if tally.open:
        found.append(f"expected no open stream once every client had left, found {len(tally.open)}")
    return found


def _leaked(before: Handles, after: Handles) -> Iterator[str]:
    """`before` is what the proxy held before the first client came, `after` what it held when the last had left."""
    for kind, was, now in (("files", before.files, after.files), ("sockets", before.sockets, after.sockets)):
        if now > was:
            yield f"expected {was} open {kind} once every client had left, as before the first, found {now}"


def _grown(memory_mb: Sequence[float]) -> Iterator[str]:
    """`memory_mb` is the peak of each minute; the first minute is the warm-up."""
    warm, last = memory_mb[1], memory_mb[-1]
    if abs(last - warm) > _FLAT * warm:
        yield f"expected {warm:.0f} MB ±{_FLAT:.0%} (the minute after the warm-up) in the last minute, found {last:.0f} MB"


async def soak(folder: Path, *, minutes: int, per_second: int) -> list[str]:
    """Run the soak; why it did not pass, or nothing."""
    async with started_control_plane(folder) as plane, started_proxy(plane, folder) as rig:
        try:
            return await Soak(rig).run(minutes=minutes, per_second=per_second)
        except* (OSError, EOFError, SetupError) as errors:
            found = [*rig.tally.broken, f"it could not go on: {', '.join(repr(err) for err in _leaves(errors))}"]
        return found


def _leaves(group: BaseExceptionGroup[Exception]) -> Iterator[Exception]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


@click.command()
@click.option("--minutes", default=10, show_default=True, type=click.IntRange(min=3), help="How long; the first is the warm-up.")
@click.option("--rate", default=500, show_default=True, type=click.IntRange(min=8), help="Writes per second that are asked for.")
def main(*, minutes: int, rate: int) -> None:
    """Let the proxy work for a long time, and check that nothing is lost and nothing is left behind."""
    found = run("soak", lambda folder: soak(folder, minutes=minutes, per_second=rate))
    for failure in found:
        say(f"soak: {failure}")
    say("soak: failed" if found else "soak: passed")
    sys.exit(_FAILED if found else 0)


if __name__ == "__main__":
    main()
