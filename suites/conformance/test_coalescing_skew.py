"""Coalescing and skew: the same end, although states in between are never seen and one resource lags behind another."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.draw.scenarios import Family, families


@pytest.mark.parametrize("family", families("coalescing-skew"), ids=str)
def test_coalescing_skew(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)
