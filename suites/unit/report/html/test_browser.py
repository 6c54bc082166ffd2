"""The page in a real browser: what is hostile stays text, clicks and keys do something, and every reader can use it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from staleproof.assess.store.pages import run_page, trial_page
from staleproof.core.history.history import decode
from staleproof.report.html.page import render

from ...judged import HISTORIES, run_of
from . import browser
from .hostile import TEXTS, page

pytestmark = [pytest.mark.io, pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium here (Debian: chromium)")]
OPEN = "document.querySelector('.finding[open] canvas')"
SEARCH = "document.querySelector('[type=search]')"
DRAWN = "performance.getEntriesByName('timeline drawn').length"
TRIALS = ("naive-hidden-creates", "naive-hidden-deletes", "mutants/gives_up", "mutants/crash_loops", "expectations-hidden-creates")
EVERYTHING = "document.querySelectorAll('details').forEach((each) => (each.open = true))"
"""Unfold it."""
ONE = "document.querySelectorAll('details:not(.finding)').forEach((each) => (each.open = true))"
"""All but the findings that are folded: they are like the first."""
SERIOUS = """axe.run(document).then(({violations}) => violations.filter(({impact}) => impact === "serious" || impact === "critical")
  .map(({id, help, nodes}) => `${id}: ${help}: ${nodes.map(({html}) => html.slice(0, 120)).join("; ")}`))"""


def written(folder: Path, text: str) -> Path:
    path = folder / "report.html"
    path.write_bytes(render(page(text)))
    return path


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run of stored trials: with findings, with something inconclusive, and with nothing wrong."""
    folder = tmp_path_factory.mktemp("run")
    path = folder / "report.html"
    path.write_bytes(render(run_page(folder, run_of(folder, *TRIALS))))
    return path


@pytest.fixture
async def tab(run_file: Path, tmp_path: Path) -> AsyncIterator[browser.Tab]:
    """That page, when its first timeline is there. Whatever a test does, it requests nothing, and reports no error."""
    async with browser.opened(run_file, tmp_path / "profile") as opened:
        await opened.until(DRAWN)
        yield opened
        assert opened.complaints() == []
        assert {address for address in opened.addresses() if not address.startswith("blob:")} == {run_file.as_uri()}


async def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path) -> None:
    text = " ".join(each for name, each in TEXTS.items() if name != "long")
    file = written(tmp_path, text)
    async with browser.opened(file, tmp_path / "profile") as tab:
        await tab.until(OPEN)
        await tab.value(EVERYTHING)
        shown = await tab.value("document.body.innerText")

        assert await tab.value("document.querySelectorAll('img, svg[onload], iframe, object, [onerror], [onload]').length") == 0
        assert await tab.value("document.querySelectorAll('script').length") == 0, "those of the page are gone with its first body"
        assert (await tab.value("document.title")).startswith("trial ")
        assert "\u27e8001b\u27e9[31mred" in shown
        assert "\u27e8202e\u27e9" in shown
        assert not set("\x1b\x00\u202e\u2066") & set(shown)
        assert tab.complaints() == []
        assert tab.addresses() == [file.as_uri()]


async def test_from_the_story_to_the_timeline_and_back(tmp_path: Path) -> None:
    async with browser.opened(written(tmp_path, "harmless"), tmp_path / "profile") as tab:
        await tab.until(OPEN)
        await tab.value("document.querySelectorAll('.story button')[3].click()")
        assert (await tab.value("document.querySelector('.says').innerText")).endswith("(line 4 of the story)")
        assert await tab.value("document.querySelector('.story .chosen').innerText.includes('it created pod/harmless')")

        await tab.value(f"{OPEN}.focus()")
        await tab.press("End")
        last = await tab.value("document.querySelector('.says').innerText")
        await tab.press("ArrowLeft")
        before = await tab.value("document.querySelector('.says').innerText")
        assert last != before
        assert last.startswith("1.66 s")
        await tab.press("Home")
        for _ in range(100):
            await tab.press("ArrowRight")
            if "(line 2 of the story)" in await tab.value("document.querySelector('.says').innerText"):
                break
        assert await tab.value("document.querySelectorAll('.story li')[1].classList.contains('chosen')")

        await tab.value(
            "Object.assign(document.querySelector('.tools select'), {value: 'linear'}).dispatchEvent(new Event('change'))"
        )
        await tab.until("document.querySelector('.axis').textContent.includes('0.2 s')")  # what the story tells of is in sight
        assert tab.complaints() == []


async def test_the_table_has_the_entries_of_the_timeline(tab: browser.Tab) -> None:
    await tab.value("document.querySelector('.entries').open = true")
    await tab.until("document.querySelector('.virtual .rows .row')")
    total = await tab.value("Number(document.querySelector('.virtual').getAttribute('aria-rowcount'))")
    assert await tab.value("document.querySelectorAll('.virtual .rows .row').length") < total - 1, "only those in sight are there"

    await tab.value("document.querySelector('.virtual').focus()")
    for key in ("Home", "ArrowDown", "PageDown"):
        await tab.press(key)
    assert await tab.value("document.activeElement.getAttribute('aria-rowindex')") == "18"
    chosen = await tab.value("document.querySelector('.virtual [aria-selected=true]').lastChild.title")
    assert chosen in await tab.value("document.querySelector('.says[aria-live=polite]').innerText")
    await tab.press("End")
    assert await tab.value("document.activeElement.getAttribute('aria-rowindex')") == str(total)

    pod = await tab.value("document.querySelector('.finding .story').innerText.match(/sample-\\w+/)[0]")
    for text, least in ((pod, 2), ("widgets", 4)):
        await tab.value(f"Object.assign({SEARCH}, {{value: '{text}'}}).dispatchEvent(new Event('input'))")
        rows = await tab.value("[...document.querySelectorAll('.virtual .rows .row')].map((row) => row.innerText)")
        assert len(rows) >= least
        assert not [row for row in rows if "pods" in row and text == "widgets"], "of a resource all, and of others none"
        assert not [row for row in rows if pod not in row and text == pod]


async def test_an_external_system_has_a_lane_whose_entries_the_table_has(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(render(trial_page(str(HISTORIES / "mutants" / "first_error_bucket.jsonl.gz"), tmp_path)))
    async with browser.opened(file, tmp_path / "profile") as tab:
        await tab.until(DRAWN)
        await tab.value(f"{EVERYTHING}, Object.assign({SEARCH}, {{value: 'store'}}).dispatchEvent(new Event('input'))")
        await tab.until("document.querySelector('.virtual .rows .row')")
        rows = await tab.value("[...document.querySelectorAll('.virtual .rows .row')].map((row) => row.lastChild.title)")
        text = " ".join(rows)
        for part in ("store went down", "store was up and in time again", "it never heard whether it was done", "refused 409"):
            assert part in text
        says = await tab.value("document.querySelector('.story li button').click(), document.querySelector('.says').innerText")
        assert says == "720 ms store went down (line 1 of the story)"
        assert tab.complaints() == []
        assert tab.addresses() == [file.as_uri()]


async def test_zoom_and_kinds_change_what_is_drawn(tab: browser.Tab) -> None:
    picture = f"{OPEN}.toDataURL()"
    await tab.value(f"{OPEN}.focus()")
    seen = []
    for key in "d0+ld":
        await tab.press(key)
        await tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen.append(await tab.value(picture))
    assert len(set(seen)) == 4
    assert seen[-1] == seen[0], "d shows the finding, wherever one was"

    await tab.value("[...document.querySelectorAll('.kinds label')].find((each) => each.textContent === 'faults').control.click()")
    assert await tab.value(picture) != seen[-1]


async def test_a_run_without_the_faults_is_drawn_beside_it(tab: browser.Tab) -> None:
    box = "[...document.querySelectorAll('.tools label')].find((each) => each.innerText.startsWith('beside')).control"
    before = await tab.value(f"{OPEN}.clientHeight")
    await tab.value(f"{box}.click()")
    assert await tab.value(f"{OPEN}.clientHeight") > before
    await tab.value(f"{box}.click()")
    assert await tab.value(f"{OPEN}.clientHeight") == before


async def test_a_number_of_the_matrix_leads_to_its_trials_and_a_card_to_its_finding(tab: browser.Tab) -> None:
    await tab.value("document.querySelector('.matrix button .failed').click()")
    assert await tab.value("document.querySelector('#trials details').open")
    assert {await tab.value(f"document.querySelectorAll('#trials tbody tr')[{n}].cells[1].innerText") for n in range(1)} == {
        "✗ failed"
    }
    assert await tab.value("document.querySelectorAll('#trials tbody tr').length") < len(TRIALS)

    await tab.value("document.querySelectorAll('.card a')[1].click()")
    await tab.until("document.querySelector('#finding-2').open && document.querySelector('#finding-2 canvas')")


async def test_the_history_in_the_page_can_be_saved(tab: browser.Tab, tmp_path: Path) -> None:
    await tab.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "saved"))
    await tab.value("document.querySelector('.finding[open] button.save').click()")
    async with asyncio.timeout(30):
        while not (saved := list((tmp_path / "saved").glob("*.jsonl.gz"))):
            await asyncio.sleep(0.05)
    history = decode(saved[0].read_bytes())
    assert history.complete
    assert history.references


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_axe_finds_no_serious_violation(tab: browser.Tab, installed: Path, theme: str) -> None:
    await tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    await tab.value(ONE)
    await tab.until("document.querySelector('.virtual .rows .row')")
    await tab.call("Runtime.evaluate", expression=(installed / "node_modules" / "axe-core" / "axe.min.js").read_text())
    assert await tab.value(SERIOUS) == []


@pytest.mark.parametrize("width", [1280, 360])
async def test_nothing_is_wider_than_the_screen_whatever_it_is_called(tmp_path: Path, width: int) -> None:
    async with browser.opened(written(tmp_path, TEXTS["long"]), tmp_path / "profile", width=width) as tab:
        await tab.until(OPEN)
        assert await tab.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        for key in "+-0dhl":
            await tab.press(key)
        assert tab.complaints() == []


@pytest.mark.parametrize("width", [1280, 360])
async def test_a_run_is_no_wider_than_the_screen(run_file: Path, tmp_path: Path, width: int) -> None:
    async with browser.opened(run_file, tmp_path / "profile", width=width) as tab:
        await tab.until(DRAWN)
        await tab.value(EVERYTHING)
        assert await tab.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
