"""Metrics: what the controller counts as skipped for staleness is what it skipped."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.draw.scenarios import Family, families


@pytest.mark.parametrize("family", families("metrics"), ids=str)
def test_metrics(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)
