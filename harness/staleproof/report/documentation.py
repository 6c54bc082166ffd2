"""Tables of the documentation, printed from code. `ci/docs` writes them between their markers; a test fails when they differ."""

import inspect
import re

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.core.fault.legality import ROWS
from staleproof.core.fault.reading import FAULTS


def catalogue() -> str:
    """The requirements as a Markdown table."""
    rows = ["| requirement | level | sentence | source |", "|---|---|---|---|"]
    rows += [f"| `{each.slug}` | {each.level} | {each.must} | {each.source} |" for each in REQUIREMENTS]
    return "\n".join(rows)


def faults() -> str:
    """Every fault as a Markdown table: what it does, and what allows or forbids it."""
    rows = ["| fault | what happens | contract | legality row |", "|---|---|---|---|"]
    for name, kind in FAULTS.items():
        sentence, *_ = inspect.cleandoc(kind.__doc__ or "").split("\n\n")
        rows.append(f"| `{name}` | {_in_one_line(sentence)} | {kind.contract} | {kind.row} |")
    return "\n".join(rows)


def legality() -> str:
    """The table of what a correct API server could show, as Markdown."""
    rows = ["| row | disturbance | contract | because | source |", "|---|---|---|---|---|"]
    rows += [f"| {row.number} | {row.disturbance} | {row.contract} | {row.why} | {row.source} |" for row in ROWS.values()]
    return "\n".join(rows)


def updated(text: str) -> str:
    """The document with each table between its markers."""
    for name, table in (("catalogue", catalogue), ("faults", faults), ("legality", legality)):
        text = re.sub(
            rf"(<!-- {name}: begin[^\n]*-->\n).*?(<!-- {name}: end -->)",
            lambda match, table=table: f"{match[1]}{table()}\n{match[2]}",  # type: ignore[misc]  # bound in this round
            text,
            flags=re.DOTALL,
        )
    return text


def _in_one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
