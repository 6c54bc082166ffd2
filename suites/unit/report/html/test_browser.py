"""The page in a real browser: what is hostile stays text, and what one clicks and presses does something."""

from pathlib import Path

import pytest

from staleproof.report.html.page import render

from . import browser
from .hostile import TEXTS, page

pytestmark = [pytest.mark.io, pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium here (Debian: chromium)")]
OPEN = "document.querySelector('.finding[open] canvas')"


def written(folder: Path, text: str) -> Path:
    path = folder / "report.html"
    path.write_bytes(render(page(text)))
    return path


async def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path) -> None:
    text = " ".join(each for name, each in TEXTS.items() if name != "long")
    file = written(tmp_path, text)
    async with browser.opened(file, tmp_path / "profile") as tab:
        await tab.until(OPEN)
        await tab.value("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        shown = await tab.value("document.body.innerText")

        assert await tab.value("document.querySelectorAll('img, svg[onload], iframe, object, [onerror], [onload]').length") == 0
        assert await tab.value("document.querySelectorAll('script').length") == 0, "those of the page are gone with its first body"
        assert (await tab.value("document.title")).startswith("trial ")
        assert "\u27e8001b\u27e9[31mred" in shown
        assert "\u27e8202e\u27e9" in shown
        assert not set("\x1b\x00\u202e\u2066") & set(shown)
        assert tab.complaints() == []
        assert tab.asked() == [file.as_uri()]


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
        assert last.startswith("1.41 s")

        await tab.value(
            "Object.assign(document.querySelector('.tools select'), {value: 'linear'}).dispatchEvent(new Event('change'))"
        )
        assert "0.2 s" in await tab.value("document.querySelector('.axis').textContent"), "what the story tells of is in sight"

        await tab.value("document.querySelector('.entries').open = true")
        await tab.value(
            "Object.assign(document.querySelector('[type=search]'), {value: 'harmless'}).dispatchEvent(new Event('input'))"
        )
        rows = await tab.value("[...document.querySelectorAll('.entries tbody tr')].map((row) => row.innerText)")
        assert rows
        assert all("harmless" in row for row in rows)
        assert tab.complaints() == []


@pytest.mark.parametrize("width", [1280, 360])
async def test_nothing_is_wider_than_the_screen_whatever_it_is_called(tmp_path: Path, width: int) -> None:
    async with browser.opened(written(tmp_path, TEXTS["long"]), tmp_path / "profile", width=width) as tab:
        await tab.until(OPEN)
        assert await tab.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        for key in "+-0dhl":
            await tab.press(key)
        assert tab.complaints() == []
