"""Deletion: the controller must delete the incarnation that it decided about, not whatever has the name now."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.core.observed import Observed
from staleproof.core.plan import Plan
from staleproof.draw import deletion
from staleproof.plugin.fail import assert_passed


def test_canonical(observed: list[Observed], trial: Callable[[Plan], Result]) -> None:
    plans = [plan for each in observed for plan in deletion.canonical(each)]
    if not plans:
        pytest.skip("without faults the controller deletes no child whose name could be taken by another")
    assert_passed([trial(plan) for plan in plans])
