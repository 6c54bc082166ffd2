"""A trial of 100,000 entries is there in time, and moves."""

import time

import pytest

from ..bench import page
from ..bench.figure import Figure
from ..unit.report.html import browser

pytestmark = [pytest.mark.slow, pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium here (Debian: chromium)")]
LIMIT_SECONDS = 300


def test_a_hundred_thousand_entries() -> None:
    found: list[Figure] = []
    page.measure(found, until=time.monotonic() + LIMIT_SECONDS)

    assert len(found) == 3
    assert [figure for figure in found if not figure.met] == []
