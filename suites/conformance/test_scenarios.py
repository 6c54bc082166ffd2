"""Every scenario, family by family: first the canonical plans, `test_canonical[SCENARIO/FAMILY]`, then plans drawn by Hypothesis.

Its module in `staleproof.draw` says what a scenario is about, and what its families are.
"""

from collections.abc import Callable

import pytest

from staleproof.assess.trial.result import Result
from staleproof.draw.family import Family
from staleproof.draw.scenarios import DRAWN, FAMILIES


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_canonical(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)


@pytest.mark.parametrize("family", DRAWN, ids=lambda family: family.scenario)
def test_drawn(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)
