"""What a command has run so far: kept and reported after each trial, so that an interruption takes nothing with it."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from staleproof.assess import Result
from staleproof.assess.artefacts import now, trial_report, write
from staleproof.assess.crashes import keep_crash
from staleproof.assess.result import Run
from staleproof.checks.catalog import BY_SLUG
from staleproof.report.model import LeftOut, Report, TrialReport
from staleproof.report.terminal import sentence, table
from staleproof.settings import ARTEFACTS

ROOT = ARTEFACTS


@dataclass(slots=True, kw_only=True)
class Ledger:
    """The results of a command.

    Attributes:
        reproduce: the command that gives these results again.
        environment: overrides what the run says of itself.
        replayed: files of findings that are tried again, perhaps with a fixed build.
        wanted: the requirements that have to be exercised.
        left_out: plans that could not be carried out.
    """

    run: Run
    reproduce: Callable[[Sequence[Result]], str]
    environment: dict[str, str] = field(default_factory=dict)
    replayed: tuple[Path, ...] = ()
    wanted: frozenset[str] = frozenset()
    left_out: list[LeftOut] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    trials: list[TrialReport] = field(default_factory=list)

    def add(self, result: Result) -> str:
        """Keep a result. Returns the id that replays it if it failed."""
        crash = keep_crash(ROOT, result, replayed=self.replayed)
        self.results.append(result)
        self.trials.append(trial_report(result, self.run.folder, crash))
        self.report(partial=True)
        return crash

    def made(self, *, partial: bool) -> Report:
        """The report."""
        return Report(
            run_id=self.run.folder.name,
            date=now(),
            partial=partial,
            reproduce=self.reproduce(self.results),
            environment={**self.run.environment, **self.environment},
            trials=tuple(self.trials),
            wanted=tuple(slug for slug in BY_SLUG if slug in self.wanted),
            left_out=tuple(self.left_out),
            refused=self.run.refused,
        )

    def report(self, *, partial: bool) -> Report:
        """Write the reports."""
        report = self.made(partial=partial)
        write(self.run.folder, report)
        return report


def run_again(results: Sequence[Result]) -> str:
    """The command that runs these plans."""
    return shlex.join(["staleproof", "run", *(str(result.folder / "plan.json") for result in results)])


@contextmanager
def kept(ledger: Ledger, console: Console, *, in_words: bool = True) -> Iterator[Ledger]:
    """However the block ends, what was finished is reported, and where it is; the last line says what to think of it. Unless it
    ends by itself, the report is a partial one; when it is interrupted, there is one even of nothing."""
    whole = is_due = False
    last = ""
    try:
        yield ledger
        whole = is_due = True
    except KeyboardInterrupt:
        is_due = True
        raise
    finally:
        try:
            report = ledger.report(partial=not whole) if ledger.trials or is_due else None
            if report is not None and in_words:
                _tell(report, console)
                last = sentence(report)
        finally:
            console.print(f"run folder: {ledger.run.folder}", highlight=False, soft_wrap=True)
            if last:
                console.print(last, highlight=False, markup=False, soft_wrap=True)


def _tell(report: Report, console: Console) -> None:
    console.print(table(report))
    for crash in dict.fromkeys(trial.crash for trial in report.trials if trial.crash):
        console.print(f"reproduce with: staleproof replay {crash}", highlight=False)
