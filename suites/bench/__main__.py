"""`ci/bench`: what a run costs its user, and how fast the proxy, the checkers and report.html are, on this machine.

Four parts, each with its share of the time: whole runs of the conformance suite against known controllers, beside another revision
if one is named; proxy and control plane, against a direct connection; the checkers on a long history; its page in a browser. What
has been measured is printed in any case, when the time is over or the run is interrupted, too. Judges only if asked to (`--check`).
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from staleproof.errors import SetupError, UsageError

from . import checking, held, page, runs, streams, traffic, trials
from .checkout import THIS, Checkout, checkout
from .figure import PROXY_MB, Figure, at_most, table
from .process import resident_mb
from .rig import Rig, Sizes, run, say, started_control_plane, started_proxy

_MISSED = 1
_WIDTH = 120
_WIDE = 190
_SHARES = {"runs": 0.62, "proxy": 0.26, "checkers": 0.06, "page": 0.06}
_LAST_SECONDS = 15.0
_MEASUREMENTS = 14
"""Of the proxy, roughly: rounds of each, and what has to be made before."""


@dataclass(slots=True)
class Sheet:
    """What has been measured so far."""

    runs: list[trials.Ran] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def show(self) -> None:
        console = Console(width=None if sys.stdout.isatty() else _WIDE if self.runs else _WIDTH)
        if self.runs:
            console.print(trials.table(self.runs))
        if self.figures:
            console.print(table(self.figures))
        troubles = [f"{ran.controller}, {ran.checkout}: {ran.trouble}" for ran in self.runs if ran.trouble]
        for note in (*self.notes, *troubles):
            console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)

    def as_json(self) -> dict[str, Any]:
        return {
            "runs": [ran.as_json() for ran in self.runs],
            "figures": [figure.as_json() for figure in self.figures],
            "notes": self.notes,
        }


async def measure_proxy(sizes: Sizes, folder: Path, sheet: Sheet) -> None:
    """Measure everything that needs a control plane. Each group has its own proxy, so that none inherits another's memory."""
    say("starting the control plane")
    began = time.perf_counter()
    async with started_control_plane(folder) as plane:
        sheet.figures.append(Figure(name="control plane start", unit="s", value=time.perf_counter() - began))
        began = time.perf_counter()
        async with started_proxy(plane, folder) as rig:
            sheet.figures.append(Figure(name="proxy start", unit="s", value=time.perf_counter() - began))
            await _traffic(rig, sizes, sheet)
            rig.tally.check()
        for group in (streams.figures, held.figures):
            async with started_proxy(plane, folder) as rig:
                sheet.figures += await group(rig, sizes)
                rig.tally.check()


async def _traffic(rig: Rig, sizes: Sizes, sheet: Sheet) -> None:
    before = await traffic.create(rig.api, traffic.NAMESPACE, sizes.events)
    bursts, notes = await traffic.bursts(rig, sizes, before)
    sheet.figures += bursts
    sheet.notes += notes
    sheet.figures += await traffic.latency(rig, sizes)
    requests, notes = await traffic.requests(rig, sizes)
    sheet.figures += requests
    sheet.notes += notes
    sheet.figures.append(at_most("proxy memory at the end", "MB", resident_mb(rig.pid), PROXY_MB))


async def _in_time(sizes: Sizes, folder: Path, sheet: Sheet, until: float) -> None:
    left = until - time.monotonic()
    try:
        async with asyncio.timeout(left if left < float("inf") else None):
            await measure_proxy(sizes, folder, sheet)
    except TimeoutError:
        sheet.notes.append("the time was over before everything about the proxy had been measured")


def _ends(parts: Sequence[str], minutes: float) -> dict[str, float]:
    """Until when each part may work (`time.monotonic`): what one leaves over, the next has as well."""
    begun, total, so_far = time.monotonic(), sum(_SHARES[part] for part in parts), 0.0
    ends = {}
    for part in parts:
        so_far += _SHARES[part]
        ends[part] = begun + max(0.0, minutes * 60 - _LAST_SECONDS) * so_far / total if minutes else float("inf")
    return ends


def _interrupt(*_: object) -> None:
    """SIGTERM ends a run as Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


@click.command()
@click.option("--check", is_flag=True, help="Exit with 1 when a target is missed.")
@click.option("--json", "json_path", type=click.Path(path_type=Path, dir_okay=False), help="Write what was measured to this file.")
@click.option("--minutes", default=10.0, show_default=True, type=click.FloatRange(min=0), help="When to end; 0: when all is done.")
@click.option("--only", "parts", multiple=True, type=click.Choice(list(_SHARES)), help="This part, repeatable; left out: all.")
@click.option("--whole", is_flag=True, help="Run all plans, not only a sample of them; with --minutes=0 this takes half an hour.")
@click.option("--against", default="", help="A git revision to measure beside this one, in turn; left out: none.")
@click.option(
    "--controller", "names", multiple=True, type=click.Choice(list(runs.SUBJECTS)), help="Run this one, repeatable; left out: all."
)
@click.option("--events", default=5_000, show_default=True, type=click.IntRange(min=100), help="ConfigMaps in a burst.")
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(min=1), help="Most rounds of each measurement.")
@click.option("--writes", default=300, show_default=True, type=click.IntRange(min=20), help="Single writes for the latency.")
def main(*, check: bool, json_path: Path | None, minutes: float, parts: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Measure runs, proxy, checkers and report.html on this machine."""
    signal.signal(signal.SIGTERM, _interrupt)
    sheet = Sheet()
    checkouts = _checkouts(given["against"])
    ends = _ends([part for part in _SHARES if part in (parts or _SHARES)], minutes)
    seconds = (_SHARES["proxy"] * minutes * 60 / _MEASUREMENTS) if minutes else float("inf")
    sizes = Sizes(given["events"], given["rounds"], given["writes"], seconds)
    steps: dict[str, Callable[[float], None]] = {
        "runs": lambda until: runs.measure(
            given["names"] or list(runs.SUBJECTS), checkouts, sheet.runs, whole=given["whole"], until=until
        ),
        "proxy": lambda until: run("bench", lambda folder: _in_time(sizes, folder, sheet, until)),
        "checkers": lambda until: checking.measure(sheet.figures, until=until),
        "page": lambda until: page.measure(sheet.figures, until=until),
    }
    try:
        for part, until in ends.items():
            steps[part](until)
    except KeyboardInterrupt:
        sheet.notes.append("interrupted: this is what had been measured")
    finally:
        sheet.show()
        if json_path is not None:
            json_path.write_text(json.dumps(sheet.as_json(), indent=2) + "\n")
    missed = [figure.name for figure in sheet.figures if figure.met is False]
    if check and missed:
        say(f"bench: missed the target: {', '.join(missed)}")
        sys.exit(_MISSED)


def _checkouts(against: str) -> list[Checkout]:
    try:
        return [THIS, checkout(against)] if against else [THIS]
    except (UsageError, SetupError) as err:
        say(f"bench: {err}")
        sys.exit(err.exit_code)


if __name__ == "__main__":
    main()
