"""`staleproof check`: judge a stored history. Needs no cluster."""

from pathlib import Path

import click
from rich.console import Console

from staleproof.checks.catalog import worst
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import explain
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.cli.show import show_verdicts
from staleproof.core.history import HistoryError, decode
from staleproof.errors import UsageError

EXIT_FINDING, EXIT_INCONCLUSIVE = 1, 10


@click.command()
@click.argument("history", type=click.Path(path_type=Path))
def check(history: Path) -> int:
    """Judge HISTORY, a history.jsonl or the folder of a trial, with the checkers of this version.

    Exit code 0: no finding. 1: findings. 10: no finding, but something is inconclusive. 4: it is not a history.
    """
    path = history / "history.jsonl" if history.is_dir() else history
    try:
        found = decode(path.read_bytes())
    except OSError as err:
        raise UsageError(f"cannot read {path}: {err.strerror}; give a history.jsonl or the folder of a trial") from err
    except HistoryError as err:
        raise UsageError(f"{path}: {err}") from err
    console = Console()
    for note in found.notes:
        console.print(f"note: {note}", style="yellow")
    verdicts = judge(found)
    console.print(f"{path}: {found.header.plan.title or found.header.plan.scenario}, {len(found.entries)} entries", soft_wrap=True)
    show_verdicts(console, verdicts, [explain(v.findings[0], found) for v in verdicts if v.findings])
    return exit_code(verdicts)


def exit_code(verdicts: tuple[Verdict, ...]) -> int:
    """The exit code that pytest would have: whether there is a finding, or else whether something that is scored is unknown."""
    outcome = worst((verdict.requirement, verdict.outcome) for verdict in verdicts)
    return {Outcome.FAIL: EXIT_FINDING, Outcome.INCONCLUSIVE: EXIT_INCONCLUSIVE}.get(outcome, 0)
