"""Deletion: what is deleted, made anew, or deleted unseen is finished, and never mistaken for what had its name."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.draw.scenarios import Family, families


@pytest.mark.parametrize("family", families("deletion"), ids=str)
def test_deletion(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)
