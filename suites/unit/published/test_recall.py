"""What is kept of tries, and what is counted of them."""

from pathlib import Path

import msgspec
import pytest

from ...published.found import Shown
from ...published.recall import Outcomes, page
from ...published.table import Bug, bugs
from ...published.tried import HEAD, Showing, Tried, Which, is_current, kept, merged, showings, text
from ...published.tries import TRIES

ROOT = Path(__file__).parents[3]
SHOWING = Showing("no-time-travel", "destroyed", "the controller deleted it", 4.2, cause="an old list")
OTHER = Showing("tolerates-skew", "destroyed", "it was deleted", 4.2, cause="an old view", named=False)
OPEN = next(bug for bug in bugs() if bug.name == "rabbitmq/cluster-operator#653")
HELD = next(bug for bug in bugs() if bug.name == "rabbitmq/cluster-operator#648")


def row(bug: Bug = OPEN, of: Which = "before", shows: Showing | None = None, why: str = "", version: str = "v1") -> Tried:
    return Tried(
        bug=bug.name,
        of=of,
        version=version,
        date="2026-01-01",
        profile="standard",
        budget=15.0,
        minutes=14.9,
        trials=80,
        shows=(shows,) if shows else (),
        why=why,
    )


def last(bugs: list[Bug], rows: list[Tried]) -> str:
    return page(bugs, rows).splitlines()[-1]


def test_only_what_was_tried_is_counted() -> None:
    assert last([OPEN, HELD], []) == "| all | 0 of 0 (1) | 0 of 0 (1) |"
    assert last([OPEN, HELD], [row(shows=SHOWING)]) == "| all | 1 of 1 = 100 % (0) | 0 of 0 (1) |"
    assert last([OPEN, HELD], [row(), row(HELD, shows=SHOWING)]) == "| all | 0 of 1 = 0 % (0) | 1 of 1 = 100 % (0) |"
    assert last([OPEN, HELD], [row(of="after")]) == "| all | 0 of 0 (1) | 0 of 0 (1) |"


def test_what_both_versions_show_is_not_the_bug() -> None:
    both = [row(shows=SHOWING), row(of="after", shows=SHOWING)]
    assert last([OPEN], both) == "| all | 0 of 1 = 0 % (0) | 0 of 0 (0) |"
    assert "not told apart" in page([OPEN], both)
    assert last([OPEN], [row(shows=SHOWING), row(of="after")]).startswith("| all | 1 of 1")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param((SHOWING,), None, "found", id="its requirement is named"),
        pytest.param((OTHER,), None, "missed", id="any other bug may do that"),
        pytest.param((OTHER,), (), "found", id="only the version with the bug does that"),
        pytest.param((OTHER,), (SHOWING,), "found", id="the version without it does something else"),
        pytest.param((SHOWING, OTHER), (SHOWING,), "found", id="the version with it does more"),
        pytest.param((SHOWING,), (OTHER, SHOWING), "not told apart", id="both do that"),
        pytest.param((), (SHOWING,), "missed", id="the version with it does nothing"),
    ],
)
def test_the_version_without_the_bug_decides_what_its_cause_is(
    before: tuple[Showing, ...], after: tuple[Showing, ...] | None, expected: str
) -> None:
    sides = [row()] if after is None else [row(), row(of="after")]
    rows = [msgspec.structs.replace(each, shows=shows) for each, shows in zip(sides, (before, after or ()), strict=False)]
    assert Outcomes(rows).word(OPEN) == expected


def test_a_version_without_the_bug_that_was_run_otherwise_decides_nothing() -> None:
    shorter = msgspec.structs.replace(row(of="after", shows=SHOWING), budget=5.0)
    assert Outcomes([row(shows=SHOWING), shorter]).word(OPEN) == "found"
    assert Outcomes([row(shows=OTHER), msgspec.structs.replace(shorter, shows=())]).word(OPEN) != "found"


def test_a_cause_that_the_version_without_the_bug_shows_of_anything_is_not_the_bugs() -> None:
    after = msgspec.structs.replace(row(of="after"), causes=("an old view",))
    assert Outcomes([row(shows=OTHER), after]).word(OPEN) == "not told apart"


def test_the_page_shows_what_decides() -> None:
    both = [msgspec.structs.replace(row(), shows=(SHOWING, OTHER)), row(of="after", shows=SHOWING)]
    assert "v1: shown after 4.2 min, `tolerates-skew`, destroyed: it was deleted" in page([OPEN], both)


def test_kinds_are_counted_apart() -> None:
    lines = page([OPEN, HELD], [row(shows=SHOWING)]).splitlines()
    assert "| deleted-live | 1 of 1 = 100 % (0) | 0 of 0 (1) |" in lines
    assert "| duplicate | 0 of 0 (0) | 0 of 0 (0) |" in lines


def test_a_row_says_what_was_found_and_when() -> None:
    tables = page([OPEN], [row(shows=SHOWING), row(of="after", version="v2")])
    assert "v1: shown after 4.2 min, `no-time-travel`, destroyed: the controller deleted it (80 trials in 15 min)" in tables
    assert "v2: not shown (80 trials in 15 min)" in tables
    assert page([OPEN], [row(why="it never | resized")]).splitlines()[2].endswith("| not run | missed | it never / resized |")


def test_of_each_cause_the_first_is_kept() -> None:
    def seen(cause: str, after: float | None) -> Shown:
        return Shown(requirement="settles", severity="stuck", cause=cause, says="it", after=after, named=False)

    assert showings([]) == ()
    assert showings([seen("a", 3.14159), seen("a", 9.0), seen("b", None)]) == (
        Showing("settles", "stuck", "it", 3.1, cause="a", named=False),
        Showing("settles", "stuck", "it", None, cause="b", named=False),
    )


def test_a_new_try_takes_the_place_of_the_old_one() -> None:
    assert merged([row(why="no time")], [row(HELD)]) == [row(HELD), row(why="no time")]
    assert merged([row(why="no time")], [row()]) == [row(why="no time")]
    assert merged([row(why="no time")], [row(shows=SHOWING)]) == [row(shows=SHOWING)]
    assert merged([row(shows=SHOWING, why="both")], [row(shows=SHOWING)]) == [row(shows=SHOWING, why="both")]
    assert merged([row(why="no time")], [row(version="v2")]) == [row(version="v2")]
    assert merged([row(of="after")], [row()]) == [row(), row(of="after")]


def test_the_file_is_read_as_it_is_written(tmp_path: Path) -> None:
    rows = [row(shows=SHOWING), row(of="after", why="a line: with a colon")]
    file = tmp_path / "tried.yaml"
    file.write_text(text(rows))
    assert kept(file) == rows
    file.write_text(text([]))
    assert kept(file) == []
    file.write_text(HEAD + "- {bug: it}\n")
    with pytest.raises(msgspec.ValidationError):
        kept(file)


def test_what_is_kept_is_of_versions_that_are_tried_and_each_miss_has_its_line() -> None:
    rows, tries = kept(), {each.bug: each for each in TRIES}
    assert [each.bug for each in rows if not is_current(each, tries[each.bug])] == []
    outcomes = Outcomes(rows)
    assert [bug.name for bug in bugs() if outcomes.word(bug) in ("missed", "not told apart") and not outcomes.said(bug)] == []
    assert list(rows) == merged(rows, [])


def test_the_page_prints_what_is_kept() -> None:
    assert page(bugs(), kept()) in (ROOT / "docs" / "published.md").read_text(), "put there what `ci/published --kept` prints"
