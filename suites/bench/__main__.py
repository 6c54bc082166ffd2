"""`ci/bench`: how fast are the proxy and the checkers, on this machine, in one run.

Starts a control plane and a proxy, measures, prints a table. Judges only when told to (`--check`).
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from staleproof.drive.api import connect
from staleproof.drive.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, control_plane
from staleproof.drive.proxy import proxy
from staleproof.errors import SetupError, UsageError
from staleproof.progress import progress_on

from . import checking, traffic
from .client import Address
from .figure import PROXY_MB, Figure, table

_MISSED = 1
_SETUP_FAILED = 11
_WIDTH = 120


class Progress:
    """What is going on, on stderr."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def __call__(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)


async def measure(sizes: traffic.Sizes, folder: Path, progress: Progress) -> tuple[list[Figure], list[str]]:
    """Everything that needs a control plane."""
    progress("starting the control plane")
    began = time.perf_counter()
    async with control_plane(ControlPlaneOptions(), folder / "control-plane", progress_on(progress.console)) as plane:
        started = [traffic.started("control plane start", time.perf_counter() - began)]
        direct = Address.of(plane.server, plane.ca_file, _token(plane, RUNNER))
        headers = {"Authorization": f"Bearer {direct.token}"}
        async with connect(plane.server, direct.tls, headers) as api:
            progress(f"creating {sizes.events} ConfigMaps")
            before = await traffic.prepare(api, sizes)
            began = time.perf_counter()
            async with proxy(plane, folder / "proxy", lambda entry: None, log=folder / "proxy.log") as running:
                started.append(traffic.started("proxy start", time.perf_counter() - began))
                proxied = Address.of(running.server, running.ca_file, _token(plane, CONTROLLER))
                ends = traffic.Ends(direct, proxied, running.process.pid)
                figures, notes = await traffic.bursts(ends, sizes, before, progress)
                figures += await traffic.latency(api, ends, sizes, progress)
                more, more_notes = await traffic.requests(ends, sizes, progress)
                memory = traffic.resident(ends, PROXY_MB)
                return [*figures, *more, memory, *started], [*notes, *more_notes]


def _token(plane: ControlPlane, user: str) -> str:
    if user not in plane.tokens:
        raise UsageError(f"expected a control plane that staleproof starts, found {plane.provider}; bench needs its tokens")
    return plane.tokens[user]


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
        except (SetupError, UsageError) as err:
            progress(f"bench: {err}")
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
