"""Findings, run again in pytest: those of `--staleproof-replay`, and those that are pinned in a test file of their own.

A pinned finding is a test in one line:

    from staleproof.plugin.replay import pinned

    test_scales_down_too_far = pinned("crashes/db23bff0f6-1a2b3c.json")
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from staleproof.assess.trial.result import Result
    from staleproof.core.plan.plan import Plan

Trial = Callable[["Plan"], "Result"]


def pinned(file: str) -> Callable[..., None]:
    """A test that runs the plan in this file again. It passes once the plan is fixed, and fails as long as there is a finding, or
    it is not known: its faults find no occasion any more, for example.

    `file`: a crash file, a plan.json or an exported trial, relative to the test's own file. Whatever controller the run is about is
    tried. The file stays where it is, whatever comes of it.
    """

    def test_pinned(trial: Trial, request: pytest.FixtureRequest) -> None:
        run_again(str(request.path.parent / file), trial, request)

    return test_pinned


def run_again(text: str, trial: Trial, request: pytest.FixtureRequest) -> None:
    """Run what this means to `staleproof replay`, one plan after the other, and fail with the findings, or else with what keeps
    us from knowing. Of several plans each is reported as it ends."""
    from staleproof.assess.run.notes import Note
    from staleproof.assess.run.selection import Selection
    from staleproof.assess.store.crashes import find, outcome_of
    from staleproof.core.wording import plural
    from staleproof.plugin.fail import assert_known, assert_passed
    from staleproof.plugin.families import plan_ended
    from staleproof.plugin.fixtures import plain_errors
    from staleproof.plugin.outcome import begun
    from staleproof.plugin.plan_reports import reports_of

    notes, reports, replays = begun(request.config), reports_of(request.config), []
    with plain_errors():
        every, selection = find(text, notes.settings.dir), Selection(notes.settings.only, reports.failed)
        selection.check(every)
    found = selection.of(request.node.nodeid, every)
    notes.replayed |= {each.path for each in found}
    report = plan_ended(reports)  # a finding that is asked for counts, be it in a baseline or not
    for each in found:
        began = time.monotonic()
        result = trial(each.plan)
        replays.append((each, result))
        notes.note(Note(line=f"{outcome_of(each, result).upper()} {each.path.stem}"))
        if len(every) > 1:
            report(request.node.nodeid, result, time.monotonic() - began)
        if reports.stops:
            break
    failed = sum(outcome_of(each, result) == "still fails" for each, result in replays)
    if failed and len(every) > 1:
        pytest.fail(f"{failed} of {plural(len(replays), 'plan')} still {'fails' if failed == 1 else 'fail'}", pytrace=False)
    assert_passed([result for _, result in replays])
    assert_known(replays, accepts_doubt=notes.settings.inconclusive == "ok")
