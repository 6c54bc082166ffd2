"""When a published bug counts as found.

A verdict of a run *shows* a bug if all of this is so:

- it fails a requirement that is scored, in a trial without hostile faults; so it came back when it was run again;
- what it does to people (its severity) is what a bug of this kind does (`HARMS`);
- its headline, the line that says what was found, names an object of one of the kinds in the row.

Whether what is shown is this bug, and not another that does the same to the same objects, is decided by one of two things. Either
the verdict is *named*: its requirement is one of those that the bug's row of `tries.py` names, from the report's words, before the
bug was tried. Or the version without the bug is run with the same options, and shows nothing that the three lines describe.

So a bug is *found* if the version with it shows it by a named verdict, and the version without it, if that was run, shows it by
none; or if the version with it shows it by any verdict, and the version without it was run, and shows it by none at all. What both
show is something else: such a row is `not told apart` and counts as missed. A row counts as tried when the version with the bug was
run to a report that has trials. What was not tried counts nowhere but among the untried.

The second way was added after seventeen bugs had been tried: two of them were in the report under requirements that their rows do
not name, as one fault can break several. No row that counted as found, or as not told apart, counts otherwise because of it.
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
    """A verdict that shows the bug.

    Attributes:
        after: how many minutes after the command its trial was over; None if that is not known.
        named: whether its requirement is one of those that the bug's row names.
    """

    requirement: str
    severity: str
    says: str
    after: float | None
    named: bool


def shown(bug: Bug, tried: Try, report: Report, over: Mapping[str, float]) -> list[Shown]:
    """What in this run shows it: named verdicts before others, and of each the earliest first. `over` says when each trial was
    over, by its folder."""
    found = [
        Shown(
            verdict.requirement,
            verdict.severity,
            verdict.headline,
            over.get(trial.folder),
            verdict.requirement in tried.requirements,
        )
        for trial, verdict in _failed(report)
        if _is_of(bug, tried, verdict)
    ]
    return sorted(found, key=lambda each: (not each.named, float("inf") if each.after is None else each.after))


def _failed(report: Report) -> Iterator[tuple[TrialReport, RequirementVerdict]]:
    for trial in report.trials:
        if not trial.hostile:
            yield from ((trial, verdict) for verdict in trial.verdicts if verdict.result == "failed")


def _is_of(bug: Bug, tried: Try, verdict: RequirementVerdict) -> bool:
    return (
        is_scored(verdict.requirement)
        and verdict.severity in HARMS[bug.kind]
        and any(re.search(rf"\b{kind}s?\b", verdict.headline) for kind in tried.objects)
    )
