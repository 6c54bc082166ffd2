"""Findings, run again: `pytest --staleproof-replay ID`, or a folder of crash files."""

import pytest

from staleproof.plugin.options import settings_of
from staleproof.plugin.replay import Trial, run_again


def test_replay(pytestconfig: pytest.Config, trial: Trial) -> None:
    wanted = settings_of(pytestconfig).replay
    if not wanted:
        pytest.skip("nothing to replay: give --staleproof-replay")
    run_again(wanted, trial, pytestconfig)
