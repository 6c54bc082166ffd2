"""What became of tries (`tried.yaml`): one row a version that was run, kept so that recall is known without running them all.

A row is written by `ci/published --write`. Why a bug was missed, or is not told apart from what the mended version does, is for a
person to say, in one line; that stays as long as the same comes of the same version.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
import yaml

from .found import Shown
from .tries import Try

FILE = Path(__file__).with_name("tried.yaml")
HEAD = """\
# What became of tries of published bugs (bugs.yaml): a row for each version that was run, written by `ci/published --write`.
# `of` says whether the version has the bug (before the mend) or not (after). `shows` is what shows the bug by the rule in found.py,
# of each cause the first; `minutes` is how long the run was, not counting the build. `why` is a person's line about a bug that does
# not count as found.
"""
Which = Literal["before", "after"]


class Showing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first verdict of a cause that shows it, a named one if there is one (`found.py`), and how many minutes after the command
    its trial was over. `cause`: empty in rows that were kept before causes were."""

    requirement: str
    severity: str
    says: str
    minutes: float | None
    cause: str = ""
    named: bool = True


class Tried(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row. `budget`: how many minutes the run was given; `causes`: of all findings of the run, whatever they are about."""

    bug: str
    of: Which
    version: str
    date: str
    profile: str
    budget: float | None
    minutes: float
    trials: int
    causes: tuple[str, ...] = ()
    shows: tuple[Showing, ...] = ()
    why: str = ""


def kept(file: Path = FILE) -> Sequence[Tried]:
    """All rows. Raises msgspec.ValidationError when one lacks a field, or has one that is unknown or of the wrong type."""
    return msgspec.convert(yaml.safe_load(file.read_text()) or [], list[Tried])


def merged(old: Sequence[Tried], new: Sequence[Tried]) -> list[Tried]:
    """With new rows in the place of old ones of the same bug and side, in the order of their names. The line that explains what
    came of a version stays when the same comes of it again."""
    rows = {(each.bug, each.of): each for each in old}
    for each in new:
        before = rows.get((each.bug, each.of))
        is_same = before is not None and before.version == each.version and bool(before.shows) is bool(each.shows)
        rows[each.bug, each.of] = msgspec.structs.replace(each, why=each.why or before.why) if before and is_same else each
    return sorted(rows.values(), key=lambda each: (each.bug.lower(), each.of != "before"))


def text(rows: Sequence[Tried]) -> str:
    """The file that holds these rows."""
    entries = [msgspec.to_builtins(each) for each in rows]
    return HEAD + "\n" + "\n".join(yaml.safe_dump([each], sort_keys=False, allow_unicode=True, width=130) for each in entries)


def showings(found: Sequence[Shown]) -> tuple[Showing, ...]:
    """Of each cause the first of what shows it."""
    first: dict[str, Shown] = {}
    for each in found:
        first.setdefault(each.cause, each)
    return tuple(
        Showing(
            requirement=each.requirement,
            severity=each.severity,
            says=each.says,
            minutes=None if each.after is None else round(each.after, 1),
            cause=each.cause,
            named=each.named,
        )
        for each in first.values()
    )


def is_current(row: Tried, tried: Try) -> bool:
    """Whether the row is about the version that the table names today."""
    operator = tried.before if row.of == "before" else tried.after
    return operator is not None and operator.origin.version == row.version
