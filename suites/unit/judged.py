"""Golden histories, judged: results without a cluster."""

from dataclasses import replace
from pathlib import Path

from staleproof.assess.store.run_folder import HISTORY
from staleproof.assess.trial.result import Result
from staleproof.checks.judge import judge
from staleproof.core.history.history import decode
from staleproof.core.plan.stored import compressed, digest

HISTORIES = Path(__file__).parents[2] / "fixtures" / "histories"


def result(name: str, folder: Path | None = None, *, seconds: float = 1.0) -> Result:
    """The trial of this history, kept in the folder if there is one."""
    data = (HISTORIES / f"{name}.jsonl").read_bytes()
    if folder is not None:
        folder.mkdir(parents=True)
        (folder / HISTORY).write_bytes(compressed(data))
    history = replace(decode(data), digest=digest(data))
    kept = folder or Path("trials/001")
    return Result("001", history.header.plan, history, judge(history), kept, seconds, (3, 3))
