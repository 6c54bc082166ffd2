"""Status: the controller must report only what it has been shown and done."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.draw.scenarios import Family, families


@pytest.mark.parametrize("family", families("status"), ids=str)
def test_status(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)
