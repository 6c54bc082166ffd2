"""One run of the conformance suite against a public operator, as its author would start it, and the row that comes of it.

It decides how a row of the table becomes a command line, and what is reported of a run; pytest and the operator run in processes of
their own, with nothing of ours between them but the command line.
"""

import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import msgspec

from staleproof.checks.catalog import is_scored
from staleproof.checks.verdict import Outcome
from staleproof.report.coverage import faults_and_fields
from staleproof.report.model import Report, overall

from .model import MADE, PUBLISHED, Operator, implementation_of
from .source import Built

LATEST = "latest"
_WORDS = {
    Outcome.PASS: "passed",
    Outcome.FAIL: "failed",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.NOT_EXERCISED: "not exercised",
}
_UNSCORED = "failed (not scored)"
_PACE = ("seconds a trial", "pairs a minute")
HEADINGS = ("operator", "library", "first result", "all", "trials", *_PACE, "requirements", "findings", "exit code")
"""Pairs are of a fault and a field that a plan changes, each counted once, over all minutes of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What became of a run. `first_minutes` is from the command to the first trial that was over; None: none was. `over` has that
    of each trial whose history was kept, by the folder of the trial."""

    operator: Operator
    exit_code: int
    minutes: float
    first_minutes: float | None = None
    report: Report | None = None
    over: Mapping[str, float] = field(default_factory=dict)


def named(operator: Operator) -> list[str]:
    """What a conformance report calls it, as options."""
    names = ("organization", "project", "url", "version")
    return [f"--implementation-{name}={text}" for name, text in zip(names, implementation_of(operator), strict=True)]


def options(operator: Operator, built: Built) -> list[str]:
    """What pytest is given."""
    folders = {PUBLISHED: str(built.published), MADE: str(built.made)}
    arguments, more = ([_filled(each, folders) for each in words] for words in (operator.arguments, operator.options))
    return [f"--controller-cmd={shlex.join([*built.command, *arguments])}", *more]


def _filled(word: str, folders: Mapping[str, str]) -> str:
    for name, folder in folders.items():
        word = word.replace(name, folder)
    return word


def run(operator: Operator, built: Built, folder: Path, more: Sequence[str], *, through: Sequence[str] = ()) -> Ran:
    """Run it in this folder, through a command that runs another; what pytest says is seen as it says it."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in operator.copies:
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).unlink(missing_ok=True)
        (folder / each).symlink_to(built.command[0])
    artefacts = folder / "artefacts"
    argv = [
        *through,
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        *options(operator, built),
        *named(operator),
        f"--staleproof-dir={artefacts}",
        *more,
    ]
    before = _latest(artefacts)
    began, clock = time.time(), time.monotonic()
    code = subprocess.run(argv, cwd=folder, env=_environment(), check=False).returncode
    minutes = (time.monotonic() - clock) / 60
    latest = _latest(artefacts)
    if latest is None or latest == before or not (latest / "report.json").is_file():
        return Ran(operator=operator, exit_code=code, minutes=minutes)
    report = msgspec.json.decode((latest / "report.json").read_bytes(), type=Report)
    finished = {trial.name for trial in report.trials}
    histories = (path for path in latest.rglob("trials/*/history.jsonl.gz") if path.parent.name in finished)
    over = {str(path.parent.relative_to(latest)): (path.stat().st_mtime - began) / 60 for path in histories}
    first = min(over.values(), default=None)
    return Ran(operator=operator, exit_code=code, minutes=minutes, first_minutes=first, report=report, over=over)


def _latest(artefacts: Path) -> Path | None:
    link = artefacts / LATEST
    return link.resolve() if link.exists() else None


def _environment() -> dict[str, str]:
    """Without what pytest was given for a run of our own."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHONPATH"))}


def row(ran: Ran) -> list[str]:
    begin = [
        f"{ran.operator.name} {ran.operator.origin.version}",
        ran.operator.library,
        _minutes(ran.first_minutes),
        _minutes(ran.minutes),
    ]
    if ran.report is None:
        return [*begin, "0", "", "", "", "", str(ran.exit_code)]
    seconds = [trial.seconds for trial in ran.report.trials]
    counts = Counter(_in_words(slug, outcome) for slug, outcome in overall(ran.report).items())
    verdicts = ", ".join(f"{counts[word]} {word}" for word in (*_WORDS.values(), _UNSCORED) if counts[word])
    found = "; ".join(f"{', '.join(each.requirements)} ({len(each.trials)} trials)" for each in ran.report.findings) or "none"
    pace = f"{len(faults_and_fields(ran.report)) / ran.minutes:.1f}"
    return [*begin, str(len(seconds)), f"{median(seconds):.1f}" if seconds else "", pace, verdicts, found, str(ran.exit_code)]


def _in_words(slug: str, outcome: Outcome) -> str:
    return _UNSCORED if outcome is Outcome.FAIL and not is_scored(slug) else _WORDS[outcome]


def _minutes(minutes: float | None) -> str:
    return "" if minutes is None else f"{minutes:.1f} min"


def page(every: Sequence[Ran]) -> str:
    """The table in Markdown, and the options that each operator needs."""
    lines = [HEADINGS, ["---"] * len(HEADINGS), *map(row, every)]
    text = "".join(f"| {' | '.join(' '.join(cell.split()).replace('|', '/') for cell in line)} |\n" for line in lines)
    for ran in every:
        said = [f"--controller-cmd={shlex.join(['PROGRAM', *ran.operator.arguments])}", *ran.operator.options]
        text += f"\n{ran.operator.name} needs {len(said)} options:\n\n"
        text += "".join(f"    {shlex.quote(each) if ' ' in each else each}\n" for each in said)
    return text
