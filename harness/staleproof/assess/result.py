"""What came of the trials of a run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from staleproof.checks.catalog import is_scored
from staleproof.checks.facts.fault_outcomes import PlannedFault, hostility, planned_faults
from staleproof.checks.story.narrative import Story, explain
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history import History
from staleproof.core.plan import Plan


@dataclass(frozen=True, slots=True)
class Result:
    """One plan, run and judged. `reproduced` is (times the findings came back, times the plan was run), (0, 0) without findings.

    `references_seconds` is what its references took, 0 when they had been run before.
    """

    name: str
    plan: Plan
    history: History
    verdicts: tuple[Verdict, ...]
    folder: Path
    seconds: float
    reproduced: tuple[int, int] = (0, 0)
    references_seconds: float = 0.0

    @property
    def failures(self) -> list[Verdict]:
        """What fails a run: findings about requirements that are scored."""
        return [verdict for verdict in self.verdicts if verdict.outcome is Outcome.FAIL and is_scored(verdict.requirement)]

    @property
    def stories(self) -> list[Story]:
        """The findings in words, one for each requirement with any (the first finding tells it).

        Not only of failures: what is found under hostile faults, or about a provisional requirement, is told under a heading that
        says so.
        """
        return [explain(verdict.findings[0], self.history) for verdict in self.verdicts if verdict.findings]

    @property
    def faults(self) -> tuple[PlannedFault, ...]:
        """What came of each planned fault."""
        return planned_faults(self.history)

    @property
    def fired(self) -> int:
        """How many of the planned faults did something to the controller."""
        return sum(fault.outcome == "fired" for fault in self.faults)

    @property
    def hostile(self) -> str:
        """What no API server does in it, in words; then it tells about robustness, not about conformance."""
        return hostility(self.plan)

    def of(self, slug: str) -> Verdict:
        return next(verdict for verdict in self.verdicts if verdict.requirement == slug)


@dataclass(slots=True)
class Run:
    """All results of a run. `environment` is what reports say about where it ran."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)


def join(verdicts: Sequence[Verdict]) -> Outcome:
    """One outcome for a requirement over all trials: the worst wins; not exercised here is fine if it was elsewhere."""
    return max((verdict.outcome for verdict in verdicts), default=Outcome.NOT_EXERCISED)
