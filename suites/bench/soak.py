"""`ci/soak`: does the proxy last? Ten minutes of events, clients that come and go, faults that open and close.

Every client checks that it receives every event exactly once and in order. In the end memory must be where it was after the first
minute, and everything that was opened must be closed. Prints a line a minute and a verdict; exits with 1 unless the soak passed.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from pathlib import Path
from statistics import median

import click
from rich.console import Console

from staleproof.assess.blame import known
from staleproof.core.entry import FaultFired
from staleproof.drive.cluster.api import Api, connect
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlaneOptions, control_plane
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import proxy
from staleproof.errors import SetupError, UsageError
from staleproof.progress import progress_on

from . import load
from .client import Address
from .endurance import Observed, failures
from .follower import Follower
from .process import Handles, cpu_seconds, resident_mb
from .tally import Tally
from .traffic import BODY_BYTES, Ends, token_of

_STAYING, _SLOTS = 2, 8
_MINUTE_SECONDS = 60.0
_SAMPLE_SECONDS = 1.0
_GONE_SECONDS = 30.0
_FAILED, _SETUP_FAILED = 1, 11
Say = Callable[[str], None]


class Soak:
    """One run against one proxy; `say` gets a line a minute."""

    def __init__(self, ends: Ends, running: Proxy, tally: Tally, say: Say) -> None:
        self._ends, self._running, self._tally, self._say = ends, running, tally, say
        self._ledger = load.Ledger()

    async def run(self, api: Api, *, minutes: int, per_second: int) -> Observed:
        await self._prepare(api)
        await self._all_gone()
        before = self._handles()
        self._say(f"before: {resident_mb(self._ends.proxy_pid):.0f} MB, {before}")
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
        return self._observed(memory, before)

    async def _prepare(self, api: Api) -> None:
        await api.call("POST", "/api/v1/namespaces", {"metadata": {"name": load.NAMESPACE}})
        for name in load.OBJECTS:
            body = {"metadata": {"name": name}, "data": {"number": "0", "text": "x" * BODY_BYTES}}
            self._ledger.revisions[name] = int((await api.call("POST", load.CONFIG_MAPS, body))["metadata"]["resourceVersion"])
        await load.primed(self._ends.proxied, self._ledger)

    def _client(self) -> load.Client:
        known = Follower(numbers=self._ledger.numbers, revision=max(self._ledger.revisions.values()))
        return load.Client(self._ends.proxied, known, self._ledger)

    def _work(self, stop: asyncio.Event, per_second: int) -> Iterable[Coroutine[None, None, None]]:
        """The work of all writers, visitors and plans. One of the writers goes through the proxy, too."""
        ways = [self._ends.proxied, *[self._ends.direct] * (len(load.OBJECTS) - 1)]
        for way, name in zip(ways, load.OBJECTS, strict=True):
            yield load.Writer(way, name, self._ledger).run(stop, per_second=per_second / len(load.OBJECTS))
        for slot in range(_SLOTS):
            yield load.come_and_go(slot, self._ends.proxied, self._ledger, stop)
        yield load.plans(self._running, self._ledger, stop)

    async def _minute(self, number: int) -> float:
        """Wait for a minute and say what happened in it; its peak of memory, because every minute has its holds."""
        pid, ledger = self._ends.proxy_pid, self._ledger
        writes, frames, clients, plans = ledger.writes, ledger.frames, ledger.clients, ledger.plans
        worked, began, memory = cpu_seconds(pid), time.monotonic(), []
        while (passed := time.monotonic() - began) < _MINUTE_SECONDS:
            memory.append(resident_mb(pid))
            await asyncio.sleep(_SAMPLE_SECONDS)
        self._say(
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
            await self._running.fence()
            found = self._handles().files
            if not self._tally.open and found <= (files if at_most is None else at_most):
                return
            files = found
            await asyncio.sleep(_SAMPLE_SECONDS)

    def _handles(self) -> Handles:
        return Handles.of(self._ends.proxy_pid)

    def _observed(self, memory: list[float], before: Handles) -> Observed:
        after, ledger = self._handles(), self._ledger
        self._say(
            f"after: {resident_mb(self._ends.proxy_pid):.0f} MB, {after}; streams ended {dict(ledger.ends)} and were followed on; "
            f"{ledger.writes:,} writes, {ledger.frames:,} frames, {ledger.clients:,} clients"
        )
        return Observed(
            memory_mb=memory,
            before=before,
            after=after,
            streams_left=len(self._tally.open),
            plans=ledger.plans,
            fired=self._tally.counts[FaultFired],
            flaws=ledger.flaws,
            broken=self._tally.broken,
        )


async def soak(folder: Path, console: Console, say: Say, *, minutes: int, per_second: int) -> list[str]:
    """Run the soak; why it did not pass, or nothing."""
    async with control_plane(ControlPlaneOptions(), folder / "control-plane", progress_on(console)) as plane:
        direct, tally = Address.of(plane.server, plane.ca_file, token_of(plane, RUNNER)), Tally()
        async with (
            connect(plane.server, direct.tls, {"Authorization": f"Bearer {direct.token}"}) as api,
            proxy(plane, folder / "proxy", tally.take, log=folder / "proxy.log") as running,
        ):
            proxied = Address.of(running.server, running.ca_file, token_of(plane, CONTROLLER))
            one = Soak(Ends(direct, proxied, running.process.pid), running, tally, say)
            try:
                return failures(await one.run(api, minutes=minutes, per_second=per_second))
            except* (OSError, EOFError, SetupError) as errors:
                found = [*tally.broken, f"it could not go on: {', '.join(repr(err) for err in _leaves(errors))}"]
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
    console = Console(stderr=True)

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    with tempfile.TemporaryDirectory(prefix="staleproof-soak-") as folder:
        try:
            found = asyncio.run(soak(Path(folder), console, say, minutes=minutes, per_second=rate))
        except Exception as err:
            if not isinstance(cause := known(err), SetupError | UsageError):
                raise
            say(f"soak: {cause}")
            sys.exit(_SETUP_FAILED)
    for failure in found:
        say(f"soak: {failure}")
    say("soak: failed" if found else "soak: passed")
    sys.exit(_FAILED if found else 0)


if __name__ == "__main__":
    main()
