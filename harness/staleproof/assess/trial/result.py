"""What came of the trials of a run, and when a finding is believed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import comb
from pathlib import Path

from staleproof.checks.catalog import is_scored
from staleproof.checks.ends.healing import Healed, healed
from staleproof.checks.facts.fault_outcomes import FaultOutcome, fault_outcomes, hostility
from staleproof.checks.story.narrative import Story, stories
from staleproof.checks.trial import indexed
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history.history import History
from staleproof.core.plan.coverage import Occasion, occasions
from staleproof.core.plan.plan import Plan

BELIEVED = 0.04
"""Twice in two re-runs, and never in six runs without the faults, is chance once in 28 times."""


@dataclass(frozen=True, slots=True)
class Result:
    """One plan, run and judged.

    Attributes:
        reproduced: how often the findings came back, and how often the plan was run; (0, 0) without findings.
        references_seconds: what its references took; 0 when they had been run before, or by another worker.
        confirming_seconds: how long it took besides to compare it, to wait for what may heal, and to run it again.
        shrunk: how small a drawn plan with a finding could be made, in words; empty: that was not tried.
        again: why the plan was run once more, and this is what came of it; empty: it was run once.
        swept: the sweep in which its primary was suspected; None: it was run for itself.
        interrupted: why the trial or what it is compared with could not be carried out, in words; empty: both were.
        is_unconfirmed: there was a finding, and no time to run it again.
        healed_by: what healed the controller once a re-run was over, in words; empty: it ended as it should, or nothing was tried.
    """

    name: str
    plan: Plan
    history: History
    verdicts: tuple[Verdict, ...]
    folder: Path
    seconds: float
    reproduced: tuple[int, int] = (0, 0)
    references_seconds: float = 0.0
    confirming_seconds: float = 0.0
    shrunk: str = ""
    again: str = ""
    swept: "Result | None" = None
    interrupted: str = ""
    is_unconfirmed: bool = False
    healed_by: str = ""

    @property
    def failures(self) -> list[Verdict]:
        """What fails a run."""
        return failures(self.verdicts)

    @property
    def passed(self) -> bool:
        """Whether nothing was found, and nothing that was exercised is open."""
        return all(verdict.outcome <= Outcome.PASS for verdict in self.verdicts)

    @property
    def stories(self) -> list[Story]:
        """The findings in words, one for each cause, the worst first. What is found under hostile faults, or about a provisional
        requirement, is among them, under a heading that says so."""
        return stories(self.verdicts, self.history)

    @property
    def faults(self) -> tuple[FaultOutcome, ...]:
        """What came of each planned fault."""
        return fault_outcomes(self.history)

    @property
    def covered(self) -> list[Occasion]:
        """On which occasions its faults did something."""
        every = zip(occasions(self.history.header.plan), self.faults, strict=True)
        return [occasion for occasion, fault in every if fault.outcome == "fired"]

    @property
    def fired(self) -> int:
        """How many of the planned faults did something to the controller."""
        return sum(fault.outcome == "fired" for fault in self.faults)

    @property
    def healed(self) -> Healed | None:
        """How it came to a good end only because it was waited for long; None: it did not, or needed no patience."""
        return healed(indexed(self.history))

    @property
    def hostile(self) -> str:
        """In words, what no API server does in it: then it says something about robustness, not about conformance. Else empty."""
        return hostility(self.plan)

    def of(self, slug: str) -> Verdict:
        return next(verdict for verdict in self.verdicts if verdict.requirement == slug)


@dataclass(slots=True)
class Run:
    """Where a run keeps its files, what reports say about where it ran, and how often the controller asked for what it may not
    do."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)


def failures(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Those with findings about requirements that are scored."""
    return [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL and is_scored(verdict.requirement)]


def unconfirmed(verdicts: Sequence[Verdict], some: Sequence[Verdict] | None = None, why: str = "") -> tuple[Verdict, ...]:
    """The verdicts of a trial whose findings could not be confirmed: they are inconclusive. `some`: those that it is about; None:
    all that are scored. `why`, in words; empty: the run ended first."""
    found = failures(verdicts) if some is None else some

    def inconclusive(verdict: Verdict) -> Verdict:
        reason = f"unconfirmed, because {why or 'the run ended first'}: {verdict.findings[0].because}"
        return Verdict(verdict.requirement, Outcome.INCONCLUSIVE, why=reason)

    return tuple(inconclusive(verdict) if verdict in found else verdict for verdict in verdicts)


def chance(times: int, runs: int, without: int) -> float:
    """How likely it is that something that happens `times` in all, with the faults and without, happens in `runs` re-runs with
    them only, and in none of `without` runs without them, if the faults have nothing to do with it (Fisher's exact test)."""
    return comb(runs, times) / comb(runs + without, times)


def is_undecided(first: Sequence[Verdict], again: Sequence[Sequence[Verdict]]) -> bool:
    """Whether a finding of the trial came back in some of its re-runs and not in others."""
    return any(0 < times < len(again) for times in _times(first, again).values())


def confirmed(
    first: Sequence[Verdict], again: Sequence[Sequence[Verdict]], *, without: int = 0
) -> tuple[tuple[Verdict, ...], tuple[int, int]]:
    """The verdicts of a trial and how often its findings came back, given those of its re-runs, and how many runs without faults it
    was compared with. The trial itself does not count for a rate: it was chosen because there was a finding.

    A finding that did not come back every time, and so often that chance is no explanation, becomes inconclusive.
    """
    runs, times = 1 + len(again), _times(first, again)

    def judged(verdict: Verdict) -> Verdict:
        came_back = times.get(verdict.requirement, len(again))
        if came_back == len(again):
            return verdict
        how_often = f"came back in {1 + came_back} of {runs} runs"
        odds = chance(came_back, len(again), without)
        if came_back and odds <= BELIEVED:
            return replace(verdict, why=f"it {how_often}, and in none of {without} without the faults: chance {odds:.1%}")
        why = f"a finding {how_often}: {verdict.findings[0].because}"
        return Verdict(verdict.requirement, Outcome.INCONCLUSIVE, why=why)

    return tuple(map(judged, first)), (1 + max(times.values(), default=-1), runs)


def _times(first: Sequence[Verdict], again: Sequence[Sequence[Verdict]]) -> dict[str, int]:
    """How often each requirement that failed in the trial failed in the re-runs."""
    failed = [{verdict.requirement for verdict in failures(verdicts)} for verdicts in again]
    return {verdict.requirement: sum(verdict.requirement in slugs for slugs in failed) for verdict in failures(first)}
