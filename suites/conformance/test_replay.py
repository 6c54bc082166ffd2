"""A finding, run again: `pytest --staleproof-replay ID`."""

from collections.abc import Callable

import pytest

from staleproof.assess import Result
from staleproof.assess.artefacts import find_plan
from staleproof.core.plan import Plan
from staleproof.plugin.fail import assert_passed
from staleproof.plugin.fixtures import told_plainly
from staleproof.plugin.options import settings_of


def test_replay(pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> None:
    wanted = settings_of(pytestconfig).replay
    if not wanted:
        pytest.skip("nothing to replay: give --staleproof-replay")
    with told_plainly():
        plan = find_plan(wanted, settings_of(pytestconfig).dir)
    trial: Callable[[Plan], Result] = request.getfixturevalue("trial")
    assert_passed([trial(plan)])
