"""A finding in plain words: a headline, a few lines told by its witnesses, the remedy. Never a raw object."""

from dataclasses import dataclass

from staleproof.checks.catalog import BY_SLUG, is_scored
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.checks.story.narrative import Telling
from staleproof.checks.verdict import Finding
from staleproof.core.history import History


@dataclass(frozen=True, slots=True)
class Story:
    """`lines` are (seconds, sentence). `heading` is there when it proves nothing about conformance, and says why."""

    requirement: str
    headline: str
    lines: tuple[tuple[float, str], ...]
    remedy: str
    heading: str = ""

    def text(self) -> str:
        body = [f"  {at:8.3f} s  {sentence}" for at, sentence in self.lines]
        heading = [self.heading] if self.heading else []
        return "\n".join([*heading, f"{self.requirement}  {self.headline}", *body, f"  remedy: {self.remedy}"])


def explain(finding: Finding, history: History) -> Story:
    """Tell a finding from its witnesses, and what was done to the controller between the first and the last of them.

    Neighbouring entries of one kind become one line.
    """
    told = Telling(history, finding)
    lines: list[tuple[float, str]] = []
    for group in told.groups(sorted({*finding.witnesses, *told.asides(finding.witnesses)})):
        sentence = told.sentence(group)
        if sentence:
            lines.append((history.entries[group[0]].at, sentence))
    heading = _heading(finding, history)
    return Story(finding.requirement, finding.because, tuple(lines), BY_SLUG[finding.requirement].remedy, heading)


def _heading(finding: Finding, history: History) -> str:
    hostile = hostility(history.header.plan)
    if hostile:
        return f"Not about conformance: no API server does this. It was found under {hostile}:"
    return "" if is_scored(finding.requirement) else "Not scored: this requirement is provisional."
