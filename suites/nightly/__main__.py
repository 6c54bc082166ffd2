"""`ci/nightly [COMMAND…]`: runs what is too slow for `ci/check`, and says what became of it.

Exit codes: 0 when all that was run passed, 1 when a command failed, 2 when it was interrupted, 4 for an unknown command.
"""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from staleproof.errors import UsageError

from .choice import chosen
from .commands import COMMANDS
from .night import Night, Row

ROOT = Path(__file__).parents[2]
FAILED, INTERRUPTED = 1, 2


def table(rows: Sequence[Row]) -> Table:
    made = Table(title="ci/nightly", title_justify="left")
    made.add_column("command")
    made.add_column("minutes", justify="right")
    made.add_column("result")
    for row in rows:
        made.add_row(row.name, "" if row.seconds is None else f"{row.seconds / 60:.1f}", row.result)
    return made


@click.command(help=f"Runs them one after the other; all, if none is named: {', '.join(command.name for command in COMMANDS)}.")
@click.argument("commands", nargs=-1)
def main(commands: tuple[str, ...]) -> None:
    try:
        night = Night(ROOT)
        wanted = chosen(commands, COMMANDS)
    except UsageError as err:
        click.echo(str(err), err=True)
        sys.exit(UsageError.exit_code)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, night.stop)
    night.spend(wanted)
    Console(width=None if sys.stdout.isatty() else 120).print(table(night.rows))
    sys.exit(INTERRUPTED if night.stopped_by else FAILED if any(row.failed for row in night.rows) else 0)


if __name__ == "__main__":
    main(prog_name="ci/nightly")
