"""Several ConformanceReports side by side, as Markdown: a column for each implementation, a row for each requirement."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.report.conformance import ConformanceReport, LevelResult, RequirementResult, ToldResult
from staleproof.report.markdown import literal

_MARKS = {"passed": "✅", "failed": "❌", "inconclusive": "❔", "not exercised": "–"}  # noqa: RUF001  # a dash on purpose
_CELL = 80
_HEADINGS = (
    "implementation", "version", "core", "extended", "not scored", "trials", "plans left out", "profile", "Kubernetes", "rights",
    "submittable",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """An implementation's report, and where it is; empty: nowhere to link to."""

    report: ConformanceReport
    link: str = ""


def matrix(columns: Sequence[Column]) -> str:
    """The tables: what was run, and what came of it."""
    every = sorted(
        columns, key=lambda each: (_name(each.report).lower(), each.report.implementation.version, each.report.metadata.date)
    )
    return "\n".join([*_implementations(every), "", *_results(every), ""])


def _implementations(every: Sequence[Column]) -> Iterator[str]:
    yield f"| | {' | '.join(_HEADINGS)} |"
    yield f"|---|{'---|' * len(_HEADINGS)}"
    for number, each in enumerate(every, 1):
        report, ran = each.report, each.report.environment
        (profile,) = report.profiles
        name = _text(_name(report))
        cells = (
            f"[{number}]({each.link})" if each.link else str(number),
            f"[{name}]({_address(report.implementation.url)})" if _address(report.implementation.url) else name,
            _text(report.implementation.version),
            _level(profile.core),
            _level(profile.extended),
            _counted(profile.provisional),
            str(len(report.trials)),
            str(report.plans_left_out) + (", interrupted" if report.partial else ""),
            _text(ran.profile),
            _text(ran.kubernetes),
            "its own" if ran.rbac_checked else "all",
            "yes" if report.submittable else "no",
        )
        yield f"| {' | '.join(cells)} |"


def _results(every: Sequence[Column]) -> Iterator[str]:
    yield f"| requirement | level | {' | '.join(str(number) for number, _ in enumerate(every, 1))} |"
    yield f"|---|---|{'---|' * len(every)}"
    results = [_tests(each.report) for each in every]
    for requirement in REQUIREMENTS:
        cells = (_cell(tests.get(requirement.slug)) for tests in results)
        yield f"| `{requirement.slug}` | {requirement.level} | {' | '.join(cells)} |"


def _cell(test: RequirementResult | None) -> str:
    """The result, what a failure does, and how many trials say so."""
    if test is None:
        return ""
    said = [_MARKS[test.result], *([test.severity] if test.severity else []), *([str(test.trials)] if test.trials else [])]
    return " ".join(said)


def _tests(report: ConformanceReport) -> dict[str, RequirementResult]:
    return {
        test.name: test
        for each in report.profiles
        for level in (each.core, each.extended, each.provisional)
        for test in level.tests
    }


def _level(level: LevelResult) -> str:
    return f"{level.result}: {_counted(level)}"


def _counted(level: LevelResult | ToldResult) -> str:
    """Of all that there are, how many passed, and what else came of some."""
    said = level.statistics
    parts = [f"{said.passed}/{len(level.tests)}"]
    parts += [f"{number} {word}" for number, word in ((said.failed, "failed"), (said.inconclusive, "inconclusive")) if number]
    return ", ".join(parts)


def _name(report: ConformanceReport) -> str:
    implementation = report.implementation
    return "/".join(filter(None, (implementation.organization, implementation.project))) or "unnamed"


def _text(text: str) -> str:
    """A text of others in a cell: nothing in it means anything."""
    return literal(text, _CELL) or "?"


def _address(url: str) -> str:
    """A URL that may stand in a link; empty if it is none of the web's."""
    return url if re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~%/#?=&-]*)?", url) else ""
