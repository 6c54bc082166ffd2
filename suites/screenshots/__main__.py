"""`ci/screenshots`: the pictures of report.html in docs/report, made by a browser of runs that are there."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from staleproof.assess.store.pages import run_page, trial_page
from staleproof.assess.store.reports import read_report
from staleproof.report.html.page import render

from ..bench import page as long_page
from ..unit.judged import HISTORIES
from ..unit.report.html import browser

INTO = Path(__file__).parents[2] / "docs" / "report"
_DRAWN = "performance.getEntriesByName('timeline drawn').length"
_SHOWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
_FINDING = "document.querySelector('.finding')"
_BESIDE = "[...document.querySelectorAll('.tools label')].find((each) => each.innerText.startsWith('beside')).control.click()"
_BEHIND = f"[...{_FINDING}.querySelectorAll('h3')].find((each) => each.innerText.startsWith('How far behind'))"
_OVER = "document.querySelector('#run')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A picture. `since`: the element at its top, empty for the page's; `does`: scripts that are run before."""

    name: str
    width: int = 1200
    height: int = 800
    since: str = ""
    does: Sequence[str] = ()
    dark: bool = False
    printed: bool = False


FOUND = (
    Shot(name="overview"),
    Shot(name="finding", since=_FINDING, height=1330),
    Shot(name="timeline", since=f"{_FINDING}.querySelector('.stage')", height=500),
    Shot(name="beside-dark", since=f"{_FINDING}.querySelector('.chart')", does=(_BESIDE,), height=760, dark=True),
    Shot(name="behind", since=_BEHIND, height=560),
    Shot(name="over-the-run", since=_OVER, height=330),
    Shot(name="narrow", width=390, height=1100),
    Shot(name="narrow-timeline", width=390, height=800, since=f"{_FINDING}.querySelector('.chart')"),
    Shot(name="printed", width=1000, height=1300, printed=True),
)
CLEAN = (Shot(name="clean"),)
LONG = (Shot(name="long", height=620),)
OUTSIDE = (Shot(name="outside", since="document.querySelector('.chart')", height=700),)
_OUTSIDE = "mutants/first_error_bucket.jsonl.gz"
"""The stored trial of a controller that keeps something in an external system, which goes down."""


@click.command()
@click.argument("found", type=click.Path(path_type=Path, exists=True))
@click.argument("clean", type=click.Path(path_type=Path, exists=True))
def main(found: Path, clean: Path) -> None:
    """Make the pictures of FOUND, the folder of a run with findings, of CLEAN, one of a run without, of a stored trial with an
    external system, and of a long one."""
    INTO.mkdir(exist_ok=True)
    outside = trial_page(str(HISTORIES / _OUTSIDE), INTO)
    pages = ((_rendered(found), FOUND), (_rendered(clean), CLEAN), (render(outside), OUTSIDE), (long_page.page(), LONG))
    for page, shots in pages:
        asyncio.run(_take(page, shots))


def _rendered(run: Path) -> bytes:
    return render(run_page(run, read_report(run)))


async def _take(page: bytes, shots: Sequence[Shot]) -> None:
    with tempfile.TemporaryDirectory(prefix="staleproof-screenshots-") as folder:
        file = Path(folder) / "report.html"
        file.write_bytes(page)
        for shot in shots:
            data = await _taken(file, Path(folder) / shot.name, shot)
            (INTO / f"{shot.name}.png").write_bytes(data)
            click.echo(f"docs/report/{shot.name}.png: {len(data) / 1000:.0f} kB", err=True)


async def _taken(file: Path, profile: Path, shot: Shot) -> bytes:
    async with browser.opened(file, profile, width=shot.width) as tab:
        theme = {"name": "prefers-color-scheme", "value": "dark" if shot.dark else "light"}
        await tab.call("Emulation.setEmulatedMedia", media="print" if shot.printed else "", features=[theme])
        if await tab.value("Boolean(document.querySelector('.finding, [data-trial]'))"):
            await tab.until(_DRAWN)
        for script in shot.does:
            await tab.value(script)
        await tab.value(_SHOWN)
        top = await tab.value(f"{shot.since}.getBoundingClientRect().top + scrollY") if shot.since else 0
        return await tab.picture(top=int(top), height=shot.height)


if __name__ == "__main__":
    main()
