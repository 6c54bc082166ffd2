"""What became of drawn plans, in the format that Hypothesis documents."""

import json

import pytest

from staleproof.report.model import FaultReport, Word
from staleproof.report.observations import observations

from .runs import BAD, GOOD, IDLE, UNKNOWN, report, trial, verdict

FIELDS = {
    "type", "status", "status_reason", "representation", "arguments", "how_generated", "features", "coverage", "timing", "metadata",
    "property", "run_start",
}  # fmt: skip
"""Those of a test case: all are required, and there may be no other."""
CAUSE = "it creates pods on an old view of pods"
FAULT = FaultReport(fault="HideOwnWrite", resource="pods", outcome="fired")


@pytest.mark.parametrize(
    ("said", "fields", "status", "reason"),
    [
        (GOOD, {}, "passed", ""),
        (IDLE, {}, "passed", ""),
        (BAD, {"cause": CAUSE}, "failed", CAUSE),
        (BAD, {}, "failed", "no-duplicate-create"),
        (UNKNOWN, {"why": "the reference is unusable"}, "gave_up", "the reference is unusable"),
    ],
)
def test_a_trial_is_a_test_case(said: Word, fields: dict[str, str], status: str, reason: str) -> None:
    verdicts = (verdict("no-duplicate-create", said, **fields), verdict("settles", GOOD))
    run = report(trial("001", *verdicts, plan="0123456789", faults=(FAULT,)), seed="7")
    line = json.loads(observations(run, {"own-writes"}))

    assert line.keys() == FIELDS
    assert (line["status"], line["status_reason"]) == (status, reason)
    assert line["arguments"] == {"plan": "0123456789", "faults": ["HideOwnWrite of pods"]}
    assert line["features"]["HideOwnWrite of pods"] == "fired"
    assert line["features"]["settles"] == "passed"
    assert line["how_generated"] == "drawn from the seed 7"
    assert line["run_start"] == 1767225600.0
    assert line["metadata"]["folder"] == "trials/001"


def test_only_what_was_drawn_is_among_them() -> None:
    run = report(trial("001", verdict("settles", GOOD)), trial("002", verdict("settles", GOOD)))
    assert observations(run, {"drawn"}) == b""
    assert observations(run, {"own-writes"}).count(b"\n") == 2


def test_a_trial_that_put_nothing_to_the_test_was_given_up() -> None:
    run = report(trial("001", verdict("settles", IDLE, why="the fault found no occasion")))
    line = json.loads(observations(run, {"own-writes"}))
    assert (line["status"], line["status_reason"]) == ("gave_up", "the fault found no occasion")
