"""Inner runs of pytest are as users have them: without pytest-asyncio, which warns where it finds no configuration."""

import os

import hypothesis.core
import pytest

from staleproof.drive.programs.cache import cache_root
from staleproof.settings import OPTIONS

BUILT = str(cache_root(os.environ))
"""Where the programs are that `ci/setup` has built; pytester changes HOME."""


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:asyncio")
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", BUILT)
    theirs = "global_force_seed"  # a run in this process leaves its seed behind, for all tests that come later
    monkeypatch.setattr(hypothesis.core, theirs, getattr(hypothesis.core, theirs))
    return pytester


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer who runs these tests may have variables of their own."""
    for option in OPTIONS:
        monkeypatch.delenv(option.variable, raising=False)
    monkeypatch.delenv("STALEPROOF_ATTACH", raising=False)
