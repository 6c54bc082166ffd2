"""`ci/planted [NAME…]`: plants errors into a copy of this tree, one at a time, and says which test found each.

Exit codes: 0 when each was found, 1 when one was not, 2 when it was interrupted, 4 for an unknown name, 11 when nothing can be
said, because a test fails without any error, for example.
"""

import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from staleproof.errors import SetupError, UsageError

from ..nightly.choice import chosen
from .copy import LIMIT_SECONDS, Copy, copied
from .slips import SLIPS, Slip

ROOT = Path(__file__).parents[2]
NOT_FOUND = "NOT FOUND"
FAILED, INTERRUPTED = 1, 2


@dataclass(frozen=True, slots=True)
class Row:
    """`found_by`: the first test that failed; empty when none did."""

    slip: Slip
    found_by: str
    seconds: float


def table(rows: Sequence[Row]) -> Table:
    made = Table(title="ci/planted", title_justify="left")
    for heading in ("name", "file", "found by"):
        made.add_column(heading, overflow="fold")
    made.add_column("seconds", justify="right")
    for row in rows:
        found = row.found_by.removeprefix("suites/") or NOT_FOUND
        file = row.slip.file.removeprefix("harness/staleproof/")
        made.add_row(row.slip.name, file, escape(found), f"{row.seconds:.1f}")  # what is in brackets is no style
    return made


def sound(copy: Copy, slips: Sequence[Slip]) -> None:
    """SetupError when a test fails although nothing is planted: then it finds nothing."""
    tests = list(dict.fromkeys(test for slip in slips for test in slip.tests))
    tried = copy.test(tests, limit_seconds=LIMIT_SECONDS * len(slips))
    if tried.failed:
        raise SetupError(f"{tried.failed} fails without any error planted")
    _say(f"without any error planted all tests pass ({tried.seconds:.0f} s)")


def tried(copy: Copy, slip: Slip) -> Row:
    """What became of one; where tests cannot be run, or do not end, nothing is found, and the others are tried all the same."""
    began = time.monotonic()
    try:
        with copy.planted(slip.file, slip.old, slip.new):
            outcome = copy.test(slip.tests)
    except SetupError as err:
        _say(f"{slip.name}: {err}")
        return Row(slip, "", time.monotonic() - began)
    _say(f"{slip.name}: {outcome.failed or NOT_FOUND} ({outcome.seconds:.0f} s)")
    return Row(slip, outcome.failed, outcome.seconds)


@click.command(help=f"Plants these errors; all, if none is named: {', '.join(slip.name for slip in SLIPS)}.")
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    rows: list[Row] = []
    code = 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        slips = chosen(names, SLIPS)
        with tempfile.TemporaryDirectory(prefix="planted-") as folder, copied(ROOT, Path(folder)) as copy:
            sound(copy, slips)
            for slip in slips:
                rows.append(tried(copy, slip))
    except (SetupError, UsageError) as err:
        _say(str(err))
        code = err.exit_code
    except KeyboardInterrupt:
        code = INTERRUPTED
    if rows:
        Console(width=None if sys.stdout.isatty() else 160).print(table(rows))
    sys.exit(code or (FAILED if any(not row.found_by for row in rows) else 0))


def _say(text: str) -> None:
    click.echo(f"planted: {text}", err=True)


if __name__ == "__main__":
    main(prog_name="ci/planted")
