"""Streams: whatever ends a watch, the controller must go on from where it was, and miss nothing."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.draw.scenarios import Family, families


@pytest.mark.parametrize("family", families("streams"), ids=str)
def test_streams(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)
