"""Several reports side by side: what each says, and nothing that a name makes of it."""

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.report.conformance import ConformanceReport, conformance
from staleproof.report.inert import all_inert
from staleproof.report.matrix import Column, matrix
from staleproof.report.model import Implementation

from .formats.hostile import TEXTS
from .test_conformance import BAD, CORE, EVERYTHING_PASSED, NAMED, PROVISIONAL, UNKNOWN, report, trial


def named(project: str, report_: ConformanceReport) -> ConformanceReport:
    return replace(report_, implementation=replace(report_.implementation, project=project))


GOOD = named("good", conformance(report(trial(EVERYTHING_PASSED))))
WORSE = named("Bad", conformance(report(trial(EVERYTHING_PASSED | {CORE[0]: BAD, CORE[1]: UNKNOWN, PROVISIONAL[0]: BAD}))))


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_each_implementation_is_a_row_and_then_a_column() -> None:
    found = rows(matrix([Column(GOOD, "reports/good.yaml"), Column(WORSE)]))
    heading, _, first, second = found[:4]
    assert heading[1:4] == ["implementation", "version", "core"]
    assert first[:4] == ["1", "[acme/Bad](https://example.com/widgets)", "v1.4.0", "failure: 19/21, 1 failed, 1 inconclusive"]
    assert second[:2] == ["[2](reports/good.yaml)", "[acme/good](https://example.com/widgets)"]
    assert (second[3], second[-2], second[-1]) == (f"success: {len(CORE)}/{len(CORE)}", "its own", "yes")


def test_each_requirement_is_a_row() -> None:
    found = rows(matrix([Column(GOOD), Column(WORSE)]))[4:]
    assert found[0] == ["requirement", "level", "1", "2"]
    cells = {row[0].strip("`"): row[2:] for row in found[2:]}
    assert list(cells) == [requirement.slug for requirement in REQUIREMENTS]
    assert cells[CORE[0]] == ["❌ 1", "✅ 1"]
    assert cells[CORE[1]] == ["❔ 1", "✅ 1"]
    assert cells[PROVISIONAL[1]] == ["–", "–"]  # noqa: RUF001  # a dash on purpose


def test_what_a_failure_does_is_reported() -> None:
    of = report(trial({CORE[0]: BAD}))
    verdicts = (replace(of.trials[0].verdicts[0], severity="destroyed"),)
    found = matrix([Column(conformance(replace(of, trials=(replace(of.trials[0], verdicts=verdicts),))))])
    assert "❌ destroyed 1" in found


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_names_never_become_markdown(text: str) -> None:
    def tokens(of: str) -> list[str]:
        named_so = Implementation(organization=of, project=of, url=of, version=of, contact=(of,))
        made = conformance(all_inert(replace(report(trial(EVERYTHING_PASSED)), implementation=named_so, profile=of)))
        parsed = MarkdownIt("commonmark", {"html": True}).enable("table").parse(matrix([Column(made)]))
        inner = [child.type for token in parsed for child in token.children or () if child.type not in ("text", "text_special")]
        return [token.type for token in parsed] + inner

    assert tokens(text) == tokens("harmless")


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a.example/) [x](http://b.example", 'https://a.example/"onclick="'])
def test_a_link_leads_to_the_web_or_nowhere(url: str) -> None:
    made = conformance(report(trial(EVERYTHING_PASSED), implementation=replace(NAMED, url=url)))
    assert url not in matrix([Column(made)])
