"""When a published bug counts as found.

A verdict of a run *shows* a bug if all of this is so:

- it fails a requirement that is scored, in a trial without hostile faults; so it came back when it was run again;
- what it does to people (its severity) is what a bug of this kind does (`HARMS`);
- its headline, the line that says what was found, names an object of one of the kinds in the row.

Whether what is shown is this bug, and not another that does the same to the same objects, is decided by the version without the
bug, if that was run, with the same options: the bug is *found* if the version with it shows it with a cause (the words by which a
report sums findings up) that the version without it does not show. What both show is something else; if there is nothing but that,
the row is `not told apart` and counts as missed. Where the version without the bug was not run, a verdict has to be *named*: its
requirement is one of those that the bug's row of `tries.py` names, from the report's words, before the bug was tried.

A row counts as tried when the version with the bug was run to a report that has trials. What was not tried counts nowhere but among
the untried.

Until seventeen bugs had been tried, verdicts had to be named in both versions. One bug was in its report, under requirements that
its row does not name, as one fault can break several; and of another both versions showed a named verdict, with several causes, of
which one was seen in the version with the bug alone. So the rule is about causes, as the aim is: in the mended version that cause
is not reported.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A verdict that shows the bug.

    Attributes:
        cause: by which the report sums it up with others, or its requirement where it has none.
        after: how many minutes after the command its trial was over; None if that is not known.
        named: whether its requirement is one of those that the bug's row names.
    """

    requirement: str
    severity: str
    cause: str
    says: str
    after: float | None
    named: bool


def shown(bug: Bug, tried: Try, report: Report, over: Mapping[str, float]) -> list[Shown]:
    """What in this run shows it: named verdicts before others, and of each the earliest first. `over` says when each trial was
    over, by its folder."""
    found = [
        Shown(
            requirement=verdict.requirement,
            severity=verdict.severity,
            cause=verdict.cause or verdict.requirement,
            says=verdict.headline,
            after=over.get(trial.folder),
            named=verdict.requirement in tried.requirements,
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
