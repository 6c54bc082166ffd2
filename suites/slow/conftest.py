"""Prints the table of the slow tests, and puts it into the page that STALEPROOF_HOLDS names."""

import os
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

HEADINGS = ("controller", "gate", "hold", "most pods without fault → held", "findings", "skips counted", "seconds a trial")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return  # the controlling process has all rows
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    rows = sorted((value for report in reports for name, value in report.user_properties if name == "hold"), reverse=True)
    if not rows:
        return
    table = Table(title="pods hidden for longer than expectations last", title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading)
    for row in rows:
        table.add_row(*row)
    if page := os.environ.get("STALEPROOF_HOLDS"):
        _write(Path(page), [list(HEADINGS), ["---"] * len(HEADINGS), *rows])
    console = Console(width=160)
    with console.capture() as capture:
        console.print(table)
    terminalreporter.write_line(capture.get())


def _write(page: Path, rows: list[list[str]]) -> None:
    """Put the table into the page, between its markers."""
    begin, end = "<!-- holds: begin -->\n", "<!-- holds: end -->"
    before, _, rest = page.read_text().partition(begin)
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    page.write_text(f"{before}{begin}{table}{end}{rest.partition(end)[2]}")
