"""The reports of a run folder: read again, and written in whatever formats are asked for."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from staleproof.assess.store.run_folder import HISTORY, read_history, run_above, write_atomically
from staleproof.core.history.history import History
from staleproof.errors import UsageError
from staleproof.report.baseline import Baseline
from staleproof.report.formats import FORMATS
from staleproof.report.formats.reported_run import NOTHING, ReportedRun
from staleproof.report.model import Report, TrialReport
from staleproof.settings import ARTEFACTS

REPORT = "report.json"
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def is_run(text: str) -> bool:
    """Whether this is a run folder, or its report.json."""
    named = Path(text)
    return (named.parent if named.name == REPORT else named).joinpath(REPORT).is_file()


def find_run(text: str, root: Path = ARTEFACTS) -> Path:
    """The run folder that a person means: the folder, or its report.json; empty: the latest in the artefact folder `root`.
    UsageError when there is none."""
    named = Path(text) if text else root / "latest"
    folder = named.parent if named.name == REPORT else named
    if not is_run(str(named)):
        latest = str(root / "latest")
        if str(folder) == latest:
            raise UsageError(f"there is no run here yet ({latest}): name the folder of one, or go to where it was started")
        lacking = f"there is no {REPORT} in {folder}" if folder.is_dir() else f"there is no folder {folder}"
        raise UsageError(f"{lacking}: name the folder of a run (the latest is {latest})")
    return folder


def read_report(folder: Path) -> Report:
    """The report of the run in this folder. UsageError when it cannot be read."""
    path = folder / REPORT
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as err:
        raise UsageError(f"cannot read {path}: {err.strerror or err}; name the folder of a run") from err
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise UsageError(f"{path}: {err}; it is not what a run of this version writes") from err


def reported_trial(history: Path) -> TrialReport | None:
    """What the report of its run says of the trial with this history; None where no report has it, or none that can be read."""
    run, folder = run_above(history), history.resolve().parent
    if run is None:
        return None
    try:
        trials = read_report(run).trials
    except UsageError:  # the history can be judged all the same
        return None
    return next((trial for trial in trials if (run / trial.folder).resolve() == folder), None)


def reported_run(folder: Path, report: Report, *, baseline: Baseline = NOTHING, source: str = "") -> ReportedRun:
    """What formats are made of, of the run in this folder."""

    def history(trial: TrialReport) -> History | None:
        try:
            return read_history(folder / trial.folder / HISTORY)
        except UsageError:  # it was not kept, or the report was moved away from it
            return None

    return ReportedRun(report=report, baseline=baseline, source=source, history=history)


def add_step_summary(of: ReportedRun, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Add the summary to the one that a CI job shows, where the job says which file that is; why that failed, in words."""
    path = environ.get(STEP_SUMMARY)
    if not path:
        return []
    try:
        with Path(path).open("ab") as file:
            file.write(FORMATS["summary"].make(of))
    except OSError as err:
        return [
            f"cannot add the summary to {STEP_SUMMARY}={path}: {err.strerror or err}; --staleproof-report=summary writes one, too"
        ]
    return []


def write_formats(folder: Path, names: Iterable[str], of: ReportedRun) -> Iterator[Path]:
    """Write the run in each of these formats into its folder, and yield the files. SetupError when one cannot be written."""
    for name in names:
        path = folder / FORMATS[name].file
        write_atomically(path, FORMATS[name].make(of))
        yield path
