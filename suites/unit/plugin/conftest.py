"""Inner runs of pytest are as users have them: without pytest-asyncio, which warns where it finds no configuration."""

import pytest


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:asyncio")
    return pytester
