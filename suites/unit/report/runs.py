"""Reports of runs, with the few words that matter to a test."""

import hashlib
from typing import Any

from staleproof.report.model import Report, RequirementVerdict, TrialReport, Word

IDLE: Word = "not exercised"
UNKNOWN: Word = "inconclusive"
GOOD: Word = "passed"
BAD: Word = "failed"


def verdict(slug: str, said: Word, **fields: Any) -> RequirementVerdict:  # noqa: ANN401  # those of a verdict
    return RequirementVerdict(requirement=slug, result=said, **fields)


def trial(name: str, *verdicts: RequirementVerdict, **fields: Any) -> TrialReport:  # noqa: ANN401  # those of a report
    usual: dict[str, Any] = {"scenario": "own-writes", "faults_planned": 2, "faults_fired": 1, "reproduced": (0, 0)}
    return TrialReport(
        name=name,
        title="",
        folder=f"trials/{name}",
        evidence=hashlib.sha256(name.encode()).hexdigest(),
        seconds=1.0,
        verdicts=verdicts,
        **usual | fields,
    )


def report(*trials: TrialReport, **fields: Any) -> Report:  # noqa: ANN401  # those of a report
    usual: dict[str, Any] = {"reproduce": "pytest", "environment": {"kubernetes": "v1.36.3"}}
    return Report(run_id="run", date="2026-01-01T00:00:00+00:00", trials=trials, **usual | fields)
