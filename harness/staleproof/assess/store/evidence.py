"""Whether the histories in a run folder are those that a ConformanceReport has the digests of."""

from dataclasses import dataclass
from pathlib import Path

from staleproof.assess.store.merging import below
from staleproof.assess.store.reports import read_report
from staleproof.assess.store.run_folder import HISTORY
from staleproof.core.plan.stored import digest, plain
from staleproof.report.conformance import ConformanceReport


@dataclass(frozen=True, slots=True)
class Evidence:
    """How many histories are what the report says, which trials have none there, and which have another, in words."""

    sound: int
    missing: tuple[str, ...]
    wrong: tuple[str, ...]


def evidence(folder: Path, document: ConformanceReport) -> Evidence:
    """What this run folder has of the report's histories. UsageError when it has no report.json, or one that cannot be read."""
    folders = {trial.name: trial.folder for trial in read_report(folder).trials}
    sound, missing, wrong = 0, [], []
    for trial in document.trials:
        path = below(folder, folders[trial.name]) / HISTORY if trial.name in folders else None
        if path is None or not path.is_file():
            missing.append(trial.name)
            continue
        found = _digest(path)
        if found == trial.history:
            sound += 1
        else:
            wrong.append(f"{path}: it is {found}, and the report says {trial.history}")
    return Evidence(sound, tuple(missing), tuple(wrong))


def _digest(path: Path) -> str:
    try:
        return f"sha256:{digest(plain(path.read_bytes()))}"
    except (OSError, ValueError) as err:
        return f"not a history ({err})"
