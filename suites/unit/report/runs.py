"""Reports of runs, with the few words that matter to a test."""

import hashlib
from typing import Any

from staleproof.report.model import Report, RequirementVerdict, TrialReport, Word

Said = tuple[Word, bool]
"""A result, and whether the requirement was exercised."""
IDLE: Said = ("inconclusive", False)
UNKNOWN: Said = ("inconclusive", True)
GOOD: Said = ("passed", True)
BAD: Said = ("failed", True)


def verdict(slug: str, said: Said, **fields: Any) -> RequirementVerdict:  # noqa: ANN401  # those of a verdict
    result, exercised = said
    return RequirementVerdict(requirement=slug, result=result, exercised=exercised, **fields)


def trial(name: str, *verdicts: RequirementVerdict, **fields: Any) -> TrialReport:  # noqa: ANN401  # those of a report
    usual: dict[str, Any] = {"faults_planned": 2, "faults_fired": 1, "reproduced": (0, 0)}
    return TrialReport(
        name=name,
        scenario="own-writes",
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
