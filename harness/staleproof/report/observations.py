"""What became of drawn plans, a line for each, in the format of PBT Observations that Hypothesis documents and Tyche shows.

Hypothesis can write such lines itself (HYPOTHESIS_EXPERIMENTAL_OBSERVABILITY), but all plans are drawn before the first is run, so
its lines would say that each of them passed; and the interface for lines of one's own is in `hypothesis.internal`. So they are
written here, from the report.
"""

import datetime
from collections.abc import Collection, Iterator

import msgspec

from staleproof.checks.catalog import is_scored, worst
from staleproof.checks.verdict import Outcome
from staleproof.report.model import Report, TrialReport, outcome

_STATUS = {Outcome.FAIL: "failed", Outcome.INCONCLUSIVE: "gave_up", Outcome.NOT_EXERCISED: "gave_up"}
_PROPERTY = "the controller under test keeps every requirement"


def observations(report: Report, scenarios: Collection[str]) -> bytes:
    """The lines for all trials of these scenarios, as JSON; empty without any. A trial with a finding has failed; one with
    something inconclusive, or that put nothing to the test, was given up."""
    lines = [_observation(report, trial) for trial in report.trials if trial.scenario in scenarios]
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _observation(report: Report, trial: TrialReport) -> dict[str, object]:
    status = worst((verdict.requirement, outcome(verdict)) for verdict in trial.verdicts)
    return {
        "type": "test_case",
        "run_start": datetime.datetime.fromisoformat(report.date).timestamp(),
        "property": _PROPERTY,
        "status": _STATUS.get(status, "passed"),
        "status_reason": "; ".join(_reasons(trial, status)) if status in _STATUS else "",
        "representation": trial.title,
        "arguments": {"plan": trial.plan, "faults": [f"{fault.fault} of {fault.resource}" for fault in trial.faults]},
        "how_generated": f"drawn from the seed {report.seed}" if report.seed else None,
        "features": {
            **{f"{fault.fault} of {fault.resource}": fault.outcome for fault in trial.faults},
            **{verdict.requirement: verdict.result for verdict in trial.verdicts if verdict.exercised},
        },
        "coverage": None,
        "timing": {"execute:test": trial.seconds, "references": trial.references_seconds},
        "metadata": {
            "run": report.run_id,
            "folder": trial.folder,
            "crash": trial.crash,
            "shrunk": trial.shrunk,
            "reproduced": trial.reproduced,
        },
    }


def _reasons(trial: TrialReport, status: Outcome) -> Iterator[str]:
    """Of the requirements that say so, what was found or why nothing is known, each once."""
    verdicts = [verdict for verdict in trial.verdicts if is_scored(verdict.requirement) and outcome(verdict) is status]
    yield from dict.fromkeys(verdict.cause or verdict.why or verdict.requirement for verdict in verdicts)
