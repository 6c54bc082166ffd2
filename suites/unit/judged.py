"""Golden histories, judged: results without a cluster."""

import shutil
from pathlib import Path

from staleproof.assess import Result
from staleproof.checks.judge import judge
from staleproof.core.history import decode

HISTORIES = Path(__file__).parents[2] / "fixtures" / "histories"


def result(name: str, folder: Path | None = None, *, seconds: float = 1.0) -> Result:
    """The trial of this history, kept in the folder if there is one."""
    path = HISTORIES / f"{name}.jsonl"
    if folder is not None:
        folder.mkdir(parents=True)
        shutil.copy(path, folder / "history.jsonl")
    history = decode(path.read_bytes())
    kept = folder or Path("trials/001")
    return Result("001", history.header.plan, history, judge(history), kept, seconds, (3, 3))
