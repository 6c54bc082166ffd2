"""When a published bug counts as found: the rule, written down before any of them was tried.

A verdict of a run *shows* a bug if all of this is so:

- it fails a requirement that is scored, in a trial without hostile faults; so it came back when it was run again;
- the requirement is one of those that the bug's row of `tries.py` names;
- what it does to people (its severity) is what a bug of this kind does (`HARMS`);
- its headline, the line that says what was found, names an object of one of the kinds in the row.

A bug is *found* if the version with it shows it, and the version without it, if that was run, does not: what both show is
something else, so such a row is `not told apart` and counts as missed. A row counts as tried when the version with the bug was run
to a report that has trials. What was not tried counts nowhere but among the untried.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from staleproof.checks.catalog import is_scored
from staleproof.checks.verdict import Severity
from staleproof.report.model import Report, RequirementVerdict, TrialReport

from .table import Bug, Kind
from .tries import Try

HARMS: Mapping[Kind, frozenset[Severity]] = {
    "stale-cache": frozenset({"destroyed", "duplicated", "undone", "misreported", "stuck", "leaked"}),
    "duplicate": frozenset({"duplicated"}),
    "deleted-live": frozenset({"destroyed"}),
    "lost-update": frozenset({"undone"}),
    "missed-event": frozenset({"misreported", "stuck", "leaked", "duplicated"}),
    "stuck-after-relist": frozenset({"misreported", "stuck", "leaked"}),
    "stuck-after-restart": frozenset({"destroyed", "duplicated", "undone", "misreported", "stuck", "leaked"}),
    "crash-between": frozenset({"duplicated", "misreported", "stuck", "leaked"}),
    "lost-answer": frozenset({"duplicated", "stuck", "leaked"}),
    "status-untrue": frozenset({"misreported", "stuck"}),
}
"""What a bug of a kind does to people. It follows from the kind's sentence at the head of `bugs.yaml`; no row has its own."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A verdict that shows the bug; `after`: how many minutes after the command its trial was over, None if that is not known."""

    requirement: str
    severity: str
    says: str
    after: float | None


def shown(bug: Bug, tried: Try, report: Report, over: Mapping[str, float]) -> list[Shown]:
    """What in this run shows it, the earliest first. `over` says when each trial was over, by its folder."""
    found = [
        Shown(verdict.requirement, verdict.severity, verdict.headline, over.get(trial.folder))
        for trial, verdict in _failed(report)
        if _is_of(bug, tried, verdict)
    ]
    return sorted(found, key=lambda each: float("inf") if each.after is None else each.after)


def _failed(report: Report) -> Iterator[tuple[TrialReport, RequirementVerdict]]:
    for trial in report.trials:
        if not trial.hostile:
            yield from ((trial, verdict) for verdict in trial.verdicts if verdict.result == "failed")


def _is_of(bug: Bug, tried: Try, verdict: RequirementVerdict) -> bool:
    return (
        is_scored(verdict.requirement)
        and verdict.requirement in tried.requirements
        and verdict.severity in HARMS[bug.kind]
        and any(re.search(rf"\b{kind}s?\b", verdict.headline) for kind in tried.objects)
    )
