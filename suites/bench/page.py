"""Measures report.html of a trial of 100,000 entries in a browser: from the file to its timeline, and each frame while it moves."""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

from staleproof.core.fault import HideOwnWrite
from staleproof.report.html.of_trial import page_of_trial
from staleproof.report.html.page import render

from ..unit.checks.script import Script
from ..unit.report.html import browser
from .checking import ENTRIES, PER_WIDGET, played
from .figure import Figure, at_most
from .rig import say

_RUNS = 5
_SHOWN_SECONDS, _FRAME_MS, _MB = 3.0, 50.0, 20.0
_FRAMES = 120
_MOVING = """
(async () => {
  const canvas = document.querySelector("canvas");
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  const frame = () => new Promise(requestAnimationFrame);
  const taken = [];
  press("0");
  let before = await frame();
  for (let n = 0; n < FRAMES; n += 1) {
    press(n < FRAMES / 4 ? "+" : n < FRAMES / 2 ? "l" : n < 3 * FRAMES / 4 ? "-" : n % 2 ? "h" : "+");
    const now = await frame();
    taken.push(now - before);
    before = now;
  }
  return taken;
})()
""".replace("FRAMES", str(_FRAMES))


def measure(found: list[Figure], *, until: float) -> None:
    """How long the page takes is added to `found`; nothing without a browser. `until`: from when on it is not opened once more
    (`time.monotonic`)."""
    if browser.PROGRAM is None:
        say("bench: there is no Chromium here: report.html is not measured")
        return
    say("making report.html of 100,000 entries")
    with tempfile.TemporaryDirectory(prefix="staleproof-page-") as folder:
        file = Path(folder) / "report.html"
        file.write_bytes(page())
        size = file.stat().st_size / 1e6
        shown, frames = asyncio.run(_opened(file, Path(folder), until))
    worst = sorted(frames)[int(len(frames) * 0.95)]
    found += [
        at_most("report.html of 100,000 entries", "MB", size, _MB),
        at_most("report.html: file to timeline", "s", median(shown), _SHOWN_SECONDS),
        at_most("report.html: a frame while it moves, p95", "ms", worst, _FRAME_MS),
    ]


def page() -> bytes:
    """The file of a trial as long as that of the checkers."""
    return render(page_of_trial("long", played(Script(HideOwnWrite(resource="pods")), ENTRIES // PER_WIDGET), (), ()))


async def _opened(file: Path, folder: Path, until: float) -> tuple[list[float], list[float]]:
    """Seconds until the timeline was there, of each time that it was opened, and milliseconds of each frame."""
    shown: list[float] = []
    frames: list[float] = []
    for run in range(_RUNS):
        if shown and time.monotonic() >= until:
            break
        say(f"report.html: opened for the {run + 1}. time")
        async with browser.opened(file, folder / f"profile-{run}") as tab:
            await tab.until("performance.getEntriesByName('timeline drawn').length")
            shown.append(await tab.value("performance.getEntriesByName('timeline drawn')[0].startTime") / 1000)
            frames += await tab.value(_MOVING)
    return shown, frames
