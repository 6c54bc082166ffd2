"""Restart: whenever the controller starts again, it must neither repeat nor undo what was done before."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.draw.scenarios import Family, families


@pytest.mark.parametrize("family", families("restart"), ids=str)
def test_restart(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)
