"""Tables in documents come from code, and only what is between the markers is touched."""

from pathlib import Path

import pytest

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.report.documentation import catalogue, requirements, updated

ROOT = Path(__file__).parents[3]

BEGIN, END = "<!-- catalogue: begin (written by ci/docs) -->\n", "<!-- catalogue: end -->"


def test_the_catalogue_has_a_row_for_each_requirement() -> None:
    heading, rule, *rows = catalogue().splitlines()
    assert heading == "| requirement | level | sentence |"
    assert rule == "|---|---|---|"
    assert [row.split("|")[1].strip() for row in rows] == [f"[`{each.slug}`](#{each.slug})" for each in REQUIREMENTS]
    for row, requirement in zip(rows, REQUIREMENTS, strict=True):
        assert len(row.split("|")) == 5, f"a bar in a cell breaks the table: {row}"
        assert requirement.must in row


def test_every_requirement_has_a_section_that_says_all_about_it() -> None:
    sections = requirements().split("### ")[1:]
    for section, requirement in zip(sections, REQUIREMENTS, strict=True):
        assert section.splitlines()[0] == requirement.slug
        for said in (requirement.must, requirement.level, requirement.source, requirement.remedy, *requirement.faults):
            assert said in section


def test_the_page_is_as_the_catalogue_says_and_every_link_leads_to_a_heading() -> None:
    page = (ROOT / "docs" / "requirements.md").read_text()
    assert updated(page) == page, "run ci/docs"
    for requirement in REQUIREMENTS:
        assert f"\n### {requirement.slug}\n" in page


FILLED = f"{BEGIN}{catalogue()}\n{END}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"# Title\n\n{BEGIN}| old |\n| table |\n{END}\n\nafter\n", f"# Title\n\n{FILLED}\n\nafter\n"),
        (f"{BEGIN}{END}", FILLED),
        (f"{BEGIN}{END}\nbetween\n{BEGIN}{END}", f"{FILLED}\nbetween\n{FILLED}"),
        *((text, text) for text in ("", "# Title\n", END, BEGIN)),
    ],
)
def test_what_stands_between_the_markers_is_replaced_and_again_changes_nothing(before: str, after: str) -> None:
    assert updated(before) == after == updated(after)
