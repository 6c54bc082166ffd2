"""`ci/operators [NAME…] [OPTION…]`: builds public operators, runs the suite against each, and prints what came of it.

What begins with a dash goes to pytest. An operator that cannot be built, or runs no trial, is reported, and the others are run;
then the exit code says so. Findings are in the table, and change no exit code.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from staleproof.errors import SetupError, UsageError
from staleproof.progress import progress_on

from ..nightly.choice import chosen
from .model import Operator
from .run import Ran, page, run
from .source import ensure_operator
from .table import OPERATORS

FOLDER = Path(".staleproof") / "operators"


def parted(words: Sequence[str]) -> tuple[list[Operator], list[str]]:
    """The operators that these words name, or all, and what is for pytest: everything from the first option on. UsageError when
    there is no such operator."""
    cut = next((index for index, word in enumerate(words) if word.startswith("-")), len(words))
    return chosen(words[:cut], OPERATORS), list(words[cut:])


def main(words: Sequence[str]) -> int:
    console, every, trouble = Console(stderr=True), list[Ran](), 0
    try:
        operators, more = parted(words)
    except UsageError as err:
        console.print(str(err), markup=False, highlight=False, soft_wrap=True)
        return UsageError.exit_code
    for operator in operators:
        try:
            built = asyncio.run(ensure_operator(operator, progress_on(sys.stderr)))
        except SetupError as err:
            console.print(f"{operator.name}: {err}", markup=False, highlight=False, soft_wrap=True)
            trouble = SetupError.exit_code
            continue
        console.rule(operator.name)
        ran = run(operator, built, FOLDER.resolve() / operator.name, more)
        if ran.report is None or not ran.report.trials:
            console.print(
                f"{operator.name} ran no trial (exit code {ran.exit_code})", markup=False, highlight=False, soft_wrap=True
            )
            trouble = SetupError.exit_code
        every.append(ran)
    sys.stdout.write(page(every))
    return trouble


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
