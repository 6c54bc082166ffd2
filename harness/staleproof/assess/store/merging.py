"""Run folders, put together into one that everything can be done with that can be done with a run's."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from staleproof.assess.store.artefacts import write
from staleproof.assess.store.reports import find_run, read_report
from staleproof.assess.store.run_folder import HISTORY, named_artefacts, new_run_folder
from staleproof.errors import SetupError, UsageError
from staleproof.report.merged import Kept, MergeError, merged
from staleproof.report.model import Report, TrialReport

_SHARED = ("shared/manifests", "shared/references")
"""What trials name by its digest."""
_CRASHES = "crashes"


def merge(runs: Sequence[str], root: Path) -> tuple[Path, Report]:
    """A new run folder in the artefact folder `root`, with the trials of these runs, and its report.

    Raises:
        UsageError: one is no run, or they are not parts of one.
        SetupError: a file cannot be copied.
    """
    folders = [find_run(text) for text in runs]
    try:
        report, kept = merged([read_report(folder) for folder in folders])
    except MergeError as err:
        raise UsageError(str(err)) from err
    folder = new_run_folder(root)
    try:
        _copy(folders, kept, folder)
        _copy_crashes(folders, report, kept, root)
    except OSError as err:
        raise SetupError(f"cannot copy into {folder}: {err.strerror or err}; is the disk full?") from err
    trials = tuple(_as_kept(trial, folder) for trial in report.trials)
    made = msgspec.structs.replace(report, trials=trials, artefacts=named_artefacts(folder))
    write(folder, made)
    return folder, made


def _copy(folders: Sequence[Path], kept: Mapping[str, Kept], into: Path) -> None:
    for made, origin in kept.items():
        source = below(folders[origin.run], origin.folder)
        if source.is_dir():
            shutil.copytree(source, into / made, symlinks=True, copy_function=_linked)
    for folder in folders:
        for name in _SHARED:
            if (folder / name).is_dir():
                shutil.copytree(folder / name, into / name, symlinks=True, copy_function=_linked, dirs_exist_ok=True)


def _copy_crashes(folders: Sequence[Path], report: Report, kept: Mapping[str, Kept], root: Path) -> None:
    """The files of findings lie beside the run folders, in the artefact folder of each."""
    for trial in report.trials:
        name = f"{trial.crash}.json"
        source = folders[kept[trial.folder].run].resolve().parents[1] / _CRASHES / name
        if trial.crash.replace("-", "").isalnum() and source.is_file() and not (root / _CRASHES / name).exists():
            (root / _CRASHES).mkdir(exist_ok=True)
            shutil.copy2(source, root / _CRASHES / name)


def below(folder: Path, inner: str) -> Path:
    """A folder in this one. UsageError when it would lie elsewhere, as only a report says that was changed."""
    path = Path(inner)
    if path.is_absolute() or ".." in path.parts:
        raise UsageError(f"{folder}: its report names {inner!r}, which is not in the run folder; take the report as it was written")
    return folder / path


def _as_kept(trial: TrialReport, folder: Path) -> TrialReport:
    return msgspec.structs.replace(trial, kept=(folder / trial.folder / HISTORY).is_file())


def _linked(source: str, target: str) -> str:
    """A file that is never written again needs no copy, on one file system."""
    if not os.path.lexists(target):
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError:
            shutil.copy2(source, target, follow_symlinks=False)
    return target
