"""Isolation: one object that waits must not hold up the others."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.draw.scenarios import Family, families


@pytest.mark.parametrize("family", families("isolation"), ids=str)
def test_isolation(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)
