"""API failure: what is rejected must be tried again with patience, and what is not answered may have been done."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.draw.scenarios import Family, families


@pytest.mark.parametrize("family", families("api-failure"), ids=str)
def test_api_failure(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)
