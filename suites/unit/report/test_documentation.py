"""Tables in documents come from code, and only what is between the markers is touched."""

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.report.documentation import catalogue, updated

BEGIN, END = "<!-- catalogue: begin (written by ci/docs) -->\n", "<!-- catalogue: end -->"


def test_the_catalogue_has_a_row_for_each_requirement() -> None:
    heading, rule, *rows = catalogue().splitlines()
    assert heading == "| requirement | level | sentence | source |"
    assert rule == "|---|---|---|---|"
    assert [row.split("|")[1].strip() for row in rows] == [f"`{requirement.slug}`" for requirement in REQUIREMENTS]
    for row, requirement in zip(rows, REQUIREMENTS, strict=True):
        assert len(row.split("|")) == 6, f"a bar in a cell breaks the table: {row}"
        assert requirement.must in row


def test_what_stands_between_the_markers_is_replaced() -> None:
    text = f"# Title\n\n{BEGIN}| old |\n| table |\n{END}\n\nafter\n"
    assert updated(text) == f"# Title\n\n{BEGIN}{catalogue()}\n{END}\n\nafter\n"


def test_an_empty_place_is_filled_and_again_changes_nothing() -> None:
    once = updated(f"{BEGIN}{END}")
    assert once == f"{BEGIN}{catalogue()}\n{END}"
    assert updated(once) == once


def test_each_place_is_filled_by_itself() -> None:
    assert updated(f"{BEGIN}{END}\nbetween\n{BEGIN}{END}").count("between") == 1


def test_a_document_without_markers_is_left_alone() -> None:
    for text in ("", "# Title\n", END, BEGIN):
        assert updated(text) == text
