"""The formats in which a run can be reported, one row each: what asks for them, which file they are, and what makes it.

Cheap to import: a module is loaded when its format is asked for.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from staleproof.report.formats.reported_run import ReportedRun


@dataclass(frozen=True, slots=True)
class Format:
    """A format. `file` is what its file in the run folder is called; `about` is for people; `maker` is module and function."""

    file: str
    about: str
    maker: str

    def make(self, run: "ReportedRun") -> bytes:
        """The file of this run, whose texts are made inert before, whichever version has written them."""
        module, _, name = self.maker.partition(":")
        made: Callable[[ReportedRun], bytes] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
        return made(run.inert)


FORMATS = {
    "junit": Format(
        "junit.xml", "JUnit XML: a suite for each trial, a case for each requirement that it put to the test", "junit:junit"
    ),
    "summary": Format("summary.md", "Markdown for the step summary of a CI job", "summary:summary"),
    "sarif": Format("results.sarif", "SARIF 2.1.0 for code scanning: a result for each finding", "sarif:sarif"),
    "badge": Format("badge.svg", "a badge, as a picture", "badge:picture"),
    "badge-json": Format("badge.json", "a badge, as the endpoint document of shields.io", "badge:endpoint"),
    "trace": Format("trace.json", "a trace for Perfetto of each trial with a finding", "trace:trace"),
    "results": Format("results.ndjson", "JSON, a line for each trial, result and finding", "results:results"),
}
"""By the names that `--staleproof-report` takes."""


IN_EACH_RUN = "html"
"""report.html is written whether it is asked for or not."""


def named(text: str) -> tuple[str, ...]:
    """The formats in a list with commas, without what is in each run. ValueError, with what there is, when one is none."""
    names = dict.fromkeys(name.strip() for name in text.split(",") if name.strip())
    known = (*FORMATS, IN_EACH_RUN)
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"formats, with commas, of these: {', '.join(known)} (there is no {', '.join(map(repr, unknown))})")
    return tuple(name for name in names if name != IN_EACH_RUN)
