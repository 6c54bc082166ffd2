"""The page of every stored trial in a browser: it is drawn, nothing complains, and nothing else is loaded."""

from pathlib import Path

import pytest

from staleproof.assess.store.pages import trial_page
from staleproof.report.html.page import render

from ..unit.judged import HISTORIES
from ..unit.report.html import browser

pytestmark = [pytest.mark.slow, pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium here (Debian: chromium)")]
STORED = sorted(path for path in HISTORIES.rglob("*.jsonl*"))
KEYS = ("0", "+", "l", "ArrowRight", "End", "d")


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name.partition(".")[0])
async def test_its_page(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(render(trial_page(str(path), tmp_path)))
    async with browser.opened(file, tmp_path / "profile") as tab:
        await tab.until("performance.getEntriesByName('timeline drawn').length")
        await tab.value("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        await tab.value("document.querySelectorAll('.tools > label input').forEach((each) => each.click())")
        await tab.value("document.querySelector('canvas').focus()")
        for key in KEYS:
            await tab.press(key)
        assert not (await tab.value("document.querySelector('.says').innerText")).startswith("Choose")
        assert await tab.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert tab.complaints() == []
        assert tab.addresses() == [file.as_uri()]
