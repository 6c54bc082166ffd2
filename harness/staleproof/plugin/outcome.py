"""What a pytest run came to: the trials of this process and of xdist's workers, the reports, the exit code."""

import io
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from staleproof.assess.artefacts import keep_crash, now, trial_report, write
from staleproof.assess.result import Result
from staleproof.assess.session import new_run_folder
from staleproof.checks.verdict import Outcome
from staleproof.errors import SetupError, UsageError
from staleproof.plugin.options import text, values
from staleproof.report.model import Implementation, Report, TrialReport, overall
from staleproof.report.terminal import sentence, table

_OK, _FAILED, _INTERRUPTED, _USAGE = 0, 1, 2, 4
_INCONCLUSIVE, _ENVIRONMENT = 10, 11


class _Parcel(msgspec.Struct):
    """What a worker hands to the controlling process."""

    trials: list[TrialReport]
    environment: dict[str, str]
    broken: list[str]
    misused: list[str]
    other_failures: bool


@dataclass(slots=True)
class Outcomes:
    """`folder` is the run's; a worker's own results go to a part of it."""

    folder: Path
    root: Path
    is_worker: bool
    trials: list[TrialReport] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    misused: list[str] = field(default_factory=list)
    other_failures: bool = False
    report: Report | None = None

    def add(self, result: Result, environment: dict[str, str]) -> str:
        """Take a result; the id that replays it when it failed."""
        crash = keep_crash(self.root, result)
        self.trials.append(trial_report(result, self.folder, crash))
        self.environment = dict(environment)
        return crash

    def take(self, parcel: str | None, *, lost: bool) -> None:
        """What an xdist worker sends when it ends."""
        if parcel is not None:
            found = msgspec.json.decode(parcel, type=_Parcel)
            self.trials += found.trials
            self.environment |= found.environment
            self.broken += found.broken
            self.misused += found.misused
            self.other_failures |= found.other_failures
        elif lost:
            self.broken.append("an xdist worker died before it could send its results")

    def note_error(self, error: BaseException) -> None:
        """An exception in a test or fixture: whose fault is it?"""
        cause = error.__cause__ or error
        if isinstance(cause, SetupError):
            self.broken.append(str(cause))
        elif isinstance(cause, UsageError):
            self.misused.append(str(cause))
        elif not isinstance(error, pytest.skip.Exception):
            self.other_failures = True

    def finish(self, config: pytest.Config, exitstatus: int) -> int:
        """Write the reports; the exit code."""
        if self.is_worker:
            parcel = _Parcel(self.trials, self.environment, self.broken, self.misused, self.other_failures)
            config.workeroutput["staleproof"] = msgspec.json.encode(parcel).decode()  # type: ignore[attr-defined]  # xdist's
            return exitstatus
        if self.trials:
            self.report = self._report(config, partial=exitstatus == _INTERRUPTED)
            write(self.folder, self.report)
            copy = text(config, "--conformance-report")
            if copy:
                Path(copy).parent.mkdir(parents=True, exist_ok=True)
                Path(copy).write_bytes((self.folder / "conformance.yaml").read_bytes())
        return self._exit_code(config, exitstatus)

    def summarize(self, terminal: pytest.TerminalReporter) -> None:
        for problem in dict.fromkeys(self.broken):
            terminal.write_line(f"staleproof: the environment failed: {problem.splitlines()[0]}", red=True)
        if self.report is None:
            return
        out = io.StringIO()
        Console(file=out, force_terminal=terminal.hasmarkup, width=max(terminal._tw.fullwidth, 80)).print(table(self.report))
        terminal.write_line("")
        terminal.write(out.getvalue())
        terminal.write_line(f"staleproof: {sentence(self.report)}")
        terminal.write_line(f"run folder: {self.folder}")

    def _exit_code(self, config: pytest.Config, exitstatus: int) -> int:
        """pytest's own codes win; ours are for when nothing worse happened."""
        found = self.report is not None and Outcome.FAIL in overall(self.report).values()
        if exitstatus == _FAILED and not self.other_failures and not found and (self.broken or self.misused):
            return _ENVIRONMENT if self.broken else _USAGE
        if exitstatus != _OK or self.report is None or Outcome.INCONCLUSIVE not in overall(self.report).values():
            return exitstatus
        return {"ok": _OK, "fail": _FAILED}.get(text(config, "--staleproof-inconclusive"), _INCONCLUSIVE)

    def _report(self, config: pytest.Config, *, partial: bool) -> Report:
        told = {name: text(config, f"--implementation-{name}") for name in ("organization", "project", "url", "version")}
        environment = dict(self.environment)
        return Report(
            run_id=self.folder.name,
            date=now(),
            partial=partial,
            seed=str(config.getoption("--hypothesis-seed", default=None) or ""),
            reproduce=shlex.join(["pytest", *config.invocation_params.args]),
            environment=environment,
            implementation=Implementation(
                **told, contact=values(config, "--implementation-contact"), image_digest=environment.pop("imageDigest", "")
            ),
            trials=tuple(sorted(self.trials, key=lambda trial: trial.name)),
        )


OUTCOMES = pytest.StashKey[Outcomes]()


def begin(config: pytest.Config) -> None:
    """Make the run folder, or join the one of the controlling process."""
    root = Path(text(config, "--staleproof-dir"))
    worker = getattr(config, "workerinput", None)
    if worker is not None and "staleproof_run" in worker:
        config.stash[OUTCOMES] = Outcomes(Path(worker["staleproof_run"]), root, is_worker=True)
    else:
        config.stash[OUTCOMES] = Outcomes(new_run_folder(root), root, is_worker=False)
