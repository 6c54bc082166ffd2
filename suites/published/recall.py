"""The tables that `ci/published` prints: what became of each bug that was tried, and how many were found, by half and by kind."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from .table import HALVES, Bug, Kind
from .tried import Showing, Tried

Word = Literal["found", "not told apart", "missed", "untried"]
BUGS = ("bug", "kind", "half", "what users lost", "version before", "version after", "counts as", "why")
RECALL = ("", *(f"{half}: found of tried (untried)" for half in HALVES.values()))


class Outcomes:
    """What became of bugs, by what is kept of their tries."""

    def __init__(self, rows: Sequence[Tried]) -> None:
        self._rows: Mapping[tuple[str, str], Tried] = {(each.bug, each.of): each for each in rows}

    def of(self, bug: Bug, which: str) -> Tried | None:
        return self._rows.get((bug.name, which))

    def word(self, bug: Bug) -> Word:
        """What the bug counts as (`found.py` has the rule)."""
        before, after = self.of(bug, "before"), self.of(bug, "after")
        if before is None:
            return "untried"
        if deciding(before, after) is not None:
            return "found"
        return "not told apart" if before.shows and after is not None else "missed"

    def said(self, bug: Bug) -> str:
        """A person's line about it, if there is one."""
        before = self.of(bug, "before")
        return before.why if before else ""


def deciding(before: Tried, after: Tried | None) -> Showing | None:
    """What makes it count as found: what the version without the bug does not show, or what is named, if that was not run in the
    same way."""
    if after is None or (after.profile, after.budget) != (before.profile, before.budget):
        return next((each for each in before.shows if each.named), None)
    causes = {*(each.cause for each in after.shows), *after.causes}
    return next((each for each in before.shows if each.cause not in causes), None)


def page(bugs: Sequence[Bug], rows: Sequence[Tried]) -> str:
    """Both tables in Markdown: of the bugs that were tried, and of recall."""
    outcomes = Outcomes(rows)
    lines = [_row(bug, outcomes) for bug in bugs if outcomes.word(bug) != "untried"]
    return _table(BUGS, lines) + "\n" + _table(RECALL, _recall(bugs, outcomes))


def _row(bug: Bug, outcomes: Outcomes) -> list[str]:
    before, after = outcomes.of(bug, "before"), outcomes.of(bug, "after")
    assert before is not None
    first = deciding(before, after)
    sides = (_side(before, "shown", first), _side(after, "shown, too", None) if after else "not run")
    return [f"[{bug.name}]({bug.link})", bug.kind, HALVES[bug.half], bug.lost, *sides, outcomes.word(bug), outcomes.said(bug)]


def _side(row: Tried, yes: str, first: Showing | None) -> str:
    run = f"{row.trials} trials in {row.minutes:.0f} min"
    if not row.shows:
        return f"{row.version}: not shown ({run})"
    shows = first or row.shows[0]
    after = "" if shows.minutes is None else f" after {shows.minutes:.1f} min"
    return f"{row.version}: {yes}{after}, `{shows.requirement}`, {shows.severity}: {shows.says} ({run})"


def _recall(bugs: Sequence[Bug], outcomes: Outcomes) -> list[list[str]]:
    by_kind = {kind: [bug for bug in bugs if bug.kind == kind] for kind in get_args(Kind)}
    return [_counted(name, those, outcomes) for name, those in {**by_kind, "all": bugs}.items()]


def _counted(name: str, bugs: Sequence[Bug], outcomes: Outcomes) -> list[str]:
    cells = []
    for half in HALVES:
        words = [outcomes.word(bug) for bug in bugs if bug.half == half]
        tried = len(words) - words.count("untried")
        percent = f" = {100 * words.count('found') / tried:.0f} %" if tried else ""
        cells.append(f"{words.count('found')} of {tried}{percent} ({words.count('untried')})")
    return [name, *cells]


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    every = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(' '.join(cell.split()).replace('|', '/') for cell in line)} |\n" for line in every)
