"""Whether the histories in a run folder are those that a ConformanceReport has the digests of, and show what it says."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from staleproof.assess.store.merging import below
from staleproof.assess.store.reports import read_report
from staleproof.assess.store.run_folder import HISTORY, read_history
from staleproof.assess.trial.suspects import judged_alone
from staleproof.checks.verdict import Outcome
from staleproof.core.plan.stored import digest, plain
from staleproof.errors import UsageError
from staleproof.report.conformance import ConformanceReport, TrialEvidence
from staleproof.report.model import scored


@dataclass(frozen=True, slots=True)
class Evidence:
    """How many histories are what the report says, which trials have none there, and what is otherwise, in words."""

    sound: int
    missing: tuple[str, ...]
    wrong: tuple[str, ...]


def evidence(folder: Path, document: ConformanceReport, *, judges: bool) -> Evidence:
    """What this run folder has of the report's histories. `judges`: each is judged again, by the checkers of this version, which
    have to be those of the report. UsageError when the folder has no report.json, or one that cannot be read."""
    report = read_report(folder)
    folders, listed = {trial.name: trial.folder for trial in report.trials}, {trial.name for trial in document.trials}
    wrong = [f"{folder}: trial {trial.name} is not in the report" for trial in scored(report).trials if trial.name not in listed]
    sound, missing = 0, list[str]()
    for trial in document.trials:
        path = below(folder, folders[trial.name]) / HISTORY if trial.name in folders else None
        if path is None or not path.is_file():
            missing.append(trial.name)
        elif (found := _digest(path)) != trial.history:
            wrong.append(f"{path}: it is {found}, and the report says {trial.history}")
        else:
            sound += 1
            wrong += _otherwise(path, trial) if judges else ()
    return Evidence(sound, tuple(missing), tuple(wrong))


def _otherwise(path: Path, trial: TrialEvidence) -> Iterator[str]:
    """Where the history shows another result than the report says. A finding that did not come back is inconclusive, which one
    history cannot show."""
    try:
        history = read_history(path)
    except UsageError as err:
        yield f"{path}: it cannot be judged again: {err}"
        return
    for verdict in judged_alone(history):
        said = trial.results.get(verdict.requirement, Outcome.NOT_EXERCISED.word)
        may_be = {verdict.outcome.word, *([Outcome.INCONCLUSIVE.word] if verdict.outcome is Outcome.FAIL else [])}
        if said not in may_be:
            yield f"{path}: {verdict.requirement} is {said} in the report, and {verdict.outcome.word} by the history"


def _digest(path: Path) -> str:
    try:
        return f"sha256:{digest(plain(path.read_bytes()))}"
    except (OSError, ValueError) as err:
        return f"not a history ({err})"
