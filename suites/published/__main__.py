"""`ci/published [ID…] [OPTION…]`: tries published bugs with generic options, and prints what was found and how many.

Each is run in the version that has it and in the one that has not. What begins with a dash goes to pytest, but for these:

    --held-back  bugs of the half that is held back, too
    --before     only the versions that have the bug
    --after      only the versions that have not
    --build      build, and run nothing
    --kept       build and run nothing: print the tables from what is kept
    --write      keep what came of it in tried.yaml

A run is given fifteen minutes and the profile standard, unless options or STALEPROOF_PROFILE say otherwise, and sees no network but
its own loopback, where the machine lets us: some operators dial their pods, and nothing here may answer.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from rich.console import Console

from staleproof.errors import SetupError, UsageError
from staleproof.progress import progress_on

from ..nightly.choice import chosen
from ..operators.model import Operator
from ..operators.run import Ran, run
from ..operators.source import Built, ensure_operator
from .found import shown
from .recall import page
from .table import Bug, bugs
from .tried import FILE, Tried, Which, kept, merged, showings, text
from .tries import TRIES, Try

FOLDER = Path(".staleproof") / "published"
BUDGET = 15
"""How many minutes a run is given."""
PROFILE = "STALEPROOF_PROFILE"
OURS = ("--held-back", "--before", "--after", "--build", "--kept", "--write")
_ALONE = ("unshare", "--map-root-user", "--net", "sh", "-c")
_LOOPBACK = 'ip link set lo up && exec "$@"'


@dataclass(frozen=True, slots=True)
class Row:
    """A bug, and how it is tried. Words choose it by the bug's name, or by a part of that which no other has."""

    bug: Bug
    tried: Try

    @property
    def name(self) -> str:
        return self.bug.name


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the words of the command ask for."""

    rows: Sequence[Row]
    flags: frozenset[str] = frozenset()
    options: Sequence[str] = field(default_factory=list)

    @property
    def sides(self) -> Sequence[Which]:
        only = tuple(each for each in get_args(Which) if f"--{each}" in self.flags)
        return only or get_args(Which)

    @property
    def profile(self) -> str:
        """The last word about it counts."""
        said = [word.partition("=")[2] for word in self.options if word.startswith("--staleproof-profile=")]
        return said[-1] if said else os.environ[PROFILE]


def wanted(words: Sequence[str], tries: Sequence[Try] = TRIES) -> Wanted:
    """UsageError when there is no such bug, or when a name is given of the half that is held back without `--held-back`."""
    cut = next((index for index, word in enumerate(words) if word.startswith("-")), len(words))
    names, more = words[:cut], words[cut:]
    flags = frozenset(more) & frozenset(OURS)
    by_name = {bug.name: bug for bug in bugs()}
    every = [Row(by_name[each.bug], each) for each in tries]
    late = [word for word in more if set(word) & set("/#") and any(word in row.name for row in every)]
    if late:
        raise UsageError(f"{', '.join(late)}: say which bugs before all options")
    rows = chosen([_full(name, every) for name in names], every)
    held = [row.name for row in rows if row.bug.half == "b"]
    if held and "--held-back" not in flags:
        if names:
            raise UsageError(
                f"{', '.join(held)}: held back, and run only to count what is found; say --held-back if that is meant."
            )
        rows = [row for row in rows if row.bug.half == "a"]
    return Wanted(rows, flags, [word for word in more if word not in OURS])


def _full(name: str, rows: Sequence[Row]) -> str:
    """The only name that ends so, else the word itself."""
    meant = [row.name for row in rows if row.name.endswith(name)]
    return meant[0] if len(meant) == 1 else name


def main(words: Sequence[str]) -> int:
    console = Console(stderr=True)
    try:
        given = wanted(words)
    except UsageError as err:
        return _report(console, err)
    if "--kept" in given.flags:
        sys.stdout.write(page(bugs(), kept()))
        return 0
    tries = _Tries(given, console)
    rows = list(tries.run())
    if "--write" in given.flags:
        FILE.write_text(text(merged(kept(), rows)))
    if "--build" not in given.flags:
        sys.stdout.write(page(bugs(), merged(kept(), rows)))
    return tries.exit_code


def _report(console: Console, err: SetupError | UsageError, about: str = "") -> int:
    console.print(f"{about}{err}", markup=False, highlight=False, soft_wrap=True)
    return err.exit_code


class _Tries:
    """Builds and runs; what cannot be built or run is reported, and the others are run."""

    def __init__(self, given: Wanted, console: Console) -> None:
        self._given = given
        self._console = console
        self.exit_code = 0

    def run(self) -> Iterator[Tried]:
        for row in self._given.rows:
            for which, operator in _operators(row, self._given.sides):
                try:
                    built = asyncio.run(ensure_operator(operator, progress_on(sys.stderr)))
                except SetupError as err:
                    self.exit_code = _report(self._console, err, f"{row.name} {operator.origin.version}: ")
                    continue
                if "--build" not in self._given.flags:
                    yield from self._one(row, which, operator, built)

    def _one(self, row: Row, which: Which, operator: Operator, built: Built) -> Iterator[Tried]:
        self._console.rule(f"{row.name} {operator.origin.version}")
        folder = FOLDER.resolve() / row.name.replace("/", "-").replace("#", "-") / which
        options = [f"--staleproof-minutes={BUDGET}", *self._given.options]
        ran = run(operator, built, folder, options, through=alone())
        if why := uncounted(ran):
            self.exit_code = SetupError.exit_code
            message = f"{row.name} {operator.origin.version} {why} (exit code {ran.exit_code}), so it counts as untried"
            self._console.print(message, markup=False, highlight=False, soft_wrap=True)
            return
        yield tried(row, which, ran, self._given.profile)


def _operators(row: Row, sides: Sequence[Which]) -> Iterator[tuple[Which, Operator]]:
    every: Mapping[Which, Operator | None] = {"before": row.tried.before, "after": row.tried.after}
    yield from ((which, operator) for which, operator in every.items() if operator is not None and which in sides)


def alone(environment: Mapping[str, str] = os.environ) -> Sequence[str]:
    """What a command is run through so that it has no network but its own loopback; nothing where the machine does not let us."""
    if any(shutil.which(tool, path=environment.get("PATH")) is None for tool in ("unshare", "ip")):
        return ()
    through = (*_ALONE, _LOOPBACK, "sh")
    can = subprocess.run([*through, "true"], capture_output=True, check=False).returncode == 0
    return through if can else ()


def uncounted(ran: Ran) -> str:
    """Why this run says nothing of a bug; empty: it does."""
    if ran.report is None or not ran.report.trials:
        return "ran no trial"
    return "was interrupted" if ran.report.partial else ""


def tried(row: Row, which: Which, ran: Ran, profile: str) -> Tried:
    """What is kept of a run that has a report."""
    assert ran.report is not None
    return Tried(
        bug=row.name,
        of=which,
        version=ran.operator.origin.version,
        date=datetime.now(UTC).date().isoformat(),
        profile=profile,
        budget=ran.report.minutes,
        minutes=round(ran.minutes, 1),
        trials=len(ran.report.trials),
        causes=tuple(each.cause or ", ".join(each.requirements) for each in ran.report.findings),
        shows=showings(shown(row.bug, row.tried, ran.report, ran.over)),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
