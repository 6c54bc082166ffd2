"""`ci/bench`: how fast the proxy and the checkers are, on this machine, in one run.

Starts a control plane and a proxy, measures, and prints a table. Judges only if asked to (`--check`).
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from . import checking, held, streams, traffic
from .figure import PROXY_MB, Figure, at_most, table
from .process import resident_mb
from .stage import Sizes, Stage, run, say, staged, started_control_plane

_MISSED = 1
_WIDTH = 120


async def measure(sizes: Sizes, folder: Path) -> tuple[list[Figure], list[str]]:
    """Measure everything that needs a control plane; figures and notes.

    Each group has its own proxy, so that none inherits another's memory.
    """
    say("starting the control plane")
    began = time.perf_counter()
    async with started_control_plane(folder) as plane:
        start = Figure(name="control plane start", unit="s", value=time.perf_counter() - began)
        began = time.perf_counter()
        async with staged(plane, folder) as stage:
            proxy_start = Figure(name="proxy start", unit="s", value=time.perf_counter() - began)
            figures, notes = await _traffic(stage, sizes)
            stage.tally.check()
        figures.append(proxy_start)
        for group in (streams.figures, held.figures):
            async with staged(plane, folder) as stage:
                figures += await group(stage, sizes)
                stage.tally.check()
        return [*figures, start], notes


async def _traffic(stage: Stage, sizes: Sizes) -> tuple[list[Figure], list[str]]:
    before = await traffic.create(stage.api, traffic.NAMESPACE, sizes.events)
    bursts, notes = await traffic.bursts(stage, sizes, before)
    latency = await traffic.latency(stage, sizes)
    requests, more_notes = await traffic.requests(stage, sizes)
    resident = at_most("proxy memory at the end", "MB", resident_mb(stage.pid), PROXY_MB)
    return [*bursts, *latency, *requests, resident], notes + more_notes


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
    figures, notes = run("bench", lambda folder: measure(Sizes(events, rounds, writes), folder))
    figures += checking.speeds()
    _show(figures, notes)
    if json_path is not None:
        json_path.write_text(json.dumps({"figures": [figure.as_json() for figure in figures], "notes": notes}, indent=2) + "\n")
    missed = [figure.name for figure in figures if figure.met is False]
    if check and missed:
        say(f"bench: missed the target: {', '.join(missed)}")
        sys.exit(_MISSED)


if __name__ == "__main__":
    main()
