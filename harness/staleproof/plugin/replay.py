"""Findings, run again in pytest: those of `--staleproof-replay`, and those that somebody has pinned in a test file of their own.

A pinned finding is a test in one line:

    from staleproof.plugin.replay import pinned

    test_scales_down_too_far = pinned("crashes/db23bff0f6-1a2b3c.json")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from staleproof.plugin.options import settings_of

if TYPE_CHECKING:
    from staleproof.assess import Result
    from staleproof.core.plan import Plan

Trial = Callable[["Plan"], "Result"]


def pinned(file: str) -> Callable[..., None]:
    """A test that runs the plan in this file again. It passes once the plan is fixed, and fails as long as there is a finding, or
    nobody knows: its faults find no occasion any more, for example.

    `file`: a crash file, a plan.json or an exported trial, relative to the test's own file. Whatever controller the run is about is
    tried. The file stays where it is, whatever comes of it.
    """

    def test_pinned(trial: Trial, request: pytest.FixtureRequest) -> None:
        run_again(str(request.path.parent / file), trial, request.config)

    return test_pinned


def run_again(text: str, trial: Trial, config: pytest.Config) -> None:
    """Run what this means to `staleproof replay`, one plan after the other, and fail with the findings, or else with what keeps
    us from knowing."""
    from staleproof.assess.crashes import find, outcome_of
    from staleproof.plugin.fail import assert_known, assert_passed
    from staleproof.plugin.fixtures import told_plainly
    from staleproof.plugin.outcome import begun

    with told_plainly():
        found = find(text, settings_of(config).dir)
    begun(config).replayed |= {each.path for each in found}
    replays = []
    for each in found:
        result = trial(each.plan)
        replays.append((each, result))
        begun(config).tell(f"{outcome_of(each, result).upper()} {each.path.stem}")
    assert_passed([result for _, result in replays])  # whoever asks for a finding wants to know, be it in a baseline or not
    assert_known(replays, accepts_doubt=settings_of(config).inconclusive == "ok")
