"""Golden histories, judged: results without a cluster."""

from dataclasses import replace
from pathlib import Path

from staleproof.assess.store.artefacts import trial_report
from staleproof.assess.store.run_folder import HISTORY, PLAN
from staleproof.assess.trial.result import Result
from staleproof.checks.judge import judge
from staleproof.core.history.history import decode
from staleproof.core.plan.plan import encode as encode_plan
from staleproof.core.plan.stored import compressed, digest, plain
from staleproof.report.model import Report

HISTORIES = Path(__file__).parents[2] / "fixtures" / "histories"


def result(name: str, folder: Path | None = None, *, seconds: float = 1.0) -> Result:
    """The trial of this history (`mutants/NAME` of a guilty controller), kept in the folder if there is one."""
    data = plain(next(HISTORIES.glob(f"{name}.jsonl*")).read_bytes())
    if folder is not None:
        folder.mkdir(parents=True)
        (folder / HISTORY).write_bytes(compressed(data))
    history = replace(decode(data), digest=digest(data))
    kept = folder or Path("trials/001")
    return Result("001", history.header.plan, history, judge(history), kept, seconds, (3, 3))


def run_of(folder: Path, *names: str) -> Report:
    """A run of these, a trial each, kept in the folder."""
    trials = []
    for number, name in enumerate(names, 1):
        done = replace(result(name, folder / "trials" / f"{number:03}"), name=f"{number:03}")
        (done.folder / PLAN).write_bytes(encode_plan(done.plan))
        trials.append(trial_report(done, folder))
    return Report(run_id="run", date="2026-01-01T00:00:00+00:00", reproduce="pytest", trials=tuple(trials))
