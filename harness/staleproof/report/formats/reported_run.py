"""What every format is made of: a run, what was known before it, where the controller's source is, and histories that were kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from staleproof.checks.catalog import is_scored
from staleproof.core.history.history import History
from staleproof.report.baseline import Baseline
from staleproof.report.inert import all_inert, inert
from staleproof.report.model import FindingReport, Report, RequirementVerdict, TrialReport, findings, replay

NOTHING = Baseline()
Standing = Literal["failed", "known", "not scored", "inconclusive", "passed", "not exercised"]
"""What a verdict comes to in a run: a finding may be known, or about what does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """A run, with what its report needs besides.

    Attributes:
        baseline: what was known before; nothing, unless it is named.
        source: a path in the controller's repository, and perhaps `:LINE`, that code scanning shows findings at; empty: the plans.
        history: that of a trial, if it was kept.
    """

    report: Report
    baseline: Baseline = NOTHING
    source: str = ""
    history: Callable[[TrialReport], History | None] = lambda trial: None

    @property
    def inert(self) -> "ReportedRun":
        """The same without what acts on a reader's program."""
        return replace(
            self, report=all_inert(self.report, None), baseline=all_inert(self.baseline, None), source=inert(self.source)
        )

    def standing(self, trial: TrialReport, verdict: RequirementVerdict) -> Standing:
        """What this verdict of this trial comes to."""
        if verdict.result != "failed":
            return verdict.result
        if trial.hostile or not is_scored(verdict.requirement):
            return "not scored"
        return "known" if self.baseline.has(verdict.cause, verdict.requirement) else "failed"

    @property
    def findings(self) -> list[FindingReport]:
        """What was found, by cause, the worst first."""
        return findings(self.report.trials)

    def is_known(self, finding: FindingReport) -> bool:
        """Whether it is in the baseline."""
        return self.baseline.has(finding.cause, finding.requirements[0])

    def first_trial(self, finding: FindingReport) -> TrialReport:
        """The trial in which it was as bad as the finding says."""
        return next(trial for trial in self.report.trials if trial.name == finding.trials[0])

    def story(self, finding: FindingReport) -> str:
        """What happened there, in lines."""
        return next(
            (verdict.story for verdict in self.first_trial(finding).verdicts if verdict.requirement == finding.requirements[0]), ""
        )

    def again(self, finding: FindingReport) -> str:
        """The command that runs it again."""
        return replay(finding.crash or finding.trials[0], self.report.artefacts)

    def unscored(self) -> Iterator[tuple[TrialReport, RequirementVerdict]]:
        """Findings that fail no run: about provisional requirements, or under faults that no API server shows."""
        for trial in self.report.trials:
            yield from ((trial, verdict) for verdict in trial.verdicts if self.standing(trial, verdict) == "not scored")
