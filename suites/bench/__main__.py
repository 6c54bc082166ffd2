"""`ci/bench`: how fast the proxy and the checkers are, on this machine, in one run.

Starts a control plane and a proxy, measures, and prints a table. Judges only if asked to (`--check`).
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import click
from rich.console import Console

from staleproof.assess.blame import known
from staleproof.drive.cluster.api import Api, connect
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, control_plane
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import proxy
from staleproof.errors import SetupError, UsageError
from staleproof.progress import progress_on

from . import checking, held, streams, traffic
from .client import Address
from .figure import PROXY_MB, Figure, table
from .tally import Tally

_MISSED = 1
_SETUP_FAILED = 11
_WIDTH = 120


class Progress:
    """Says on stderr what is going on."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def __call__(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)


class Bench:
    """The measurements on one control plane. Each group has its own proxy, so that none inherits another's memory."""

    def __init__(self, plane: ControlPlane, folder: Path, sizes: traffic.Sizes, progress: Progress) -> None:
        self._plane, self._folder, self._sizes, self._progress = plane, folder, sizes, progress
        self.direct = Address.of(plane.server, plane.ca_file, traffic.token_of(plane, RUNNER))
        self.figures: list[Figure] = []
        self.notes: list[str] = []

    async def measure(self) -> None:
        async with connect(self._plane.server, self.direct.tls, {"Authorization": f"Bearer {self.direct.token}"}) as api:
            self._progress(f"creating {self._sizes.events} ConfigMaps")
            before = await traffic.create(api, traffic.NAMESPACE, self._sizes.events)
            await self._traffic(api, before)
            await self._streams(api)
            await self._held(api)

    async def _traffic(self, api: Api, before: str) -> None:
        began = time.perf_counter()
        async with self._proxy(Tally()) as (_, ends):
            start = traffic.started("proxy start", time.perf_counter() - began)
            figures, notes = await traffic.bursts(ends, self._sizes, before, self._progress)
            figures += await traffic.latency(api, ends, self._sizes, self._progress)
            more, more_notes = await traffic.requests(ends, self._sizes, self._progress)
            self.figures += [*figures, *more, traffic.resident(ends, PROXY_MB), start]
            self.notes += [*notes, *more_notes]

    async def _streams(self, api: Api) -> None:
        async with self._proxy(Tally()) as (_, ends):
            self.figures += await streams.idle(api, ends, self._progress)
            self.figures += await streams.busy(ends, self._sizes, self._progress)

    async def _held(self, api: Api) -> None:
        tally = Tally()
        async with self._proxy(tally) as (running, ends):
            self.figures += await held.hold_and_release(api, ends, running, tally, self._sizes, self._progress)

    @asynccontextmanager
    async def _proxy(self, tally: Tally) -> AsyncIterator[tuple[Proxy, traffic.Ends]]:
        async with proxy(self._plane, self._folder / "proxy", tally.take, log=self._folder / "proxy.log") as running:
            proxied = Address.of(running.server, running.ca_file, traffic.token_of(self._plane, CONTROLLER))
            yield running, traffic.Ends(self.direct, proxied, running.process.pid)
            tally.check()


async def measure(sizes: traffic.Sizes, folder: Path, progress: Progress) -> tuple[list[Figure], list[str]]:
    """Measure everything that needs a control plane; figures and notes."""
    progress("starting the control plane")
    began = time.perf_counter()
    async with control_plane(ControlPlaneOptions(), folder / "control-plane", progress_on(progress.console)) as plane:
        start = traffic.started("control plane start", time.perf_counter() - began)
        bench = Bench(plane, folder, sizes, progress)
        await bench.measure()
        return [*bench.figures, start], bench.notes


def _show(figures: Sequence[Figure], notes: Sequence[str]) -> None:
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    console.print(table(figures))
    for note in notes:
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)


@click.command()
@click.option("--check", is_flag=True, help="Exit with 1 when a target is missed.")
@click.option("--json", "json_path", type=click.Path(path_type=Path, dir_okay=False), help="Write the figures to this file.")
@click.option("--events", default=5_000, show_default=True, type=click.IntRange(min=100), help="ConfigMaps in a burst.")
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(min=1), help="Rounds of each measurement.")
@click.option("--writes", default=300, show_default=True, type=click.IntRange(min=20), help="Single writes for the latency.")
def main(*, check: bool, json_path: Path | None, events: int, rounds: int, writes: int) -> None:
    """Measure proxy and checkers on this machine."""
    progress = Progress(Console(stderr=True))
    with tempfile.TemporaryDirectory(prefix="staleproof-bench-") as folder:
        try:
            figures, notes = asyncio.run(measure(traffic.Sizes(events, rounds, writes), Path(folder), progress))
        except Exception as err:
            if not isinstance(cause := known(err), SetupError | UsageError):
                raise
            progress(f"bench: {cause}")
            sys.exit(_SETUP_FAILED)
    figures += checking.speeds(progress)
    _show(figures, notes)
    if json_path is not None:
        json_path.write_text(json.dumps({"figures": [figure.as_json() for figure in figures], "notes": notes}, indent=2) + "\n")
    missed = [figure.name for figure in figures if figure.met is False]
    if check and missed:
        progress(f"bench: missed the target: {', '.join(missed)}")
        sys.exit(_MISSED)


if __name__ == "__main__":
    main()
