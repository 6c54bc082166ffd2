"""Findings, run again: `pytest --staleproof-replay ID`, or a folder of crash files."""

import pytest

from staleproof.plugin.options import settings_of
from staleproof.plugin.replay import Trial, run_again


def test_replay(trial: Trial, request: pytest.FixtureRequest) -> None:
    wanted = settings_of(request.config).replay
    if not wanted:
        pytest.skip("nothing to replay: give --staleproof-replay")
    run_again(wanted, trial, request)
