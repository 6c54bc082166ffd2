"""Tables of the documentation, printed from code. `ci/docs` writes them between their markers; a test fails when they differ."""

import re

from staleproof.checks.catalog import REQUIREMENTS


def catalogue() -> str:
    """The requirements as a Markdown table."""
    rows = ["| requirement | level | sentence | source |", "|---|---|---|---|"]
    rows += [f"| `{each.slug}` | {each.level} | {each.must} | {each.source} |" for each in REQUIREMENTS]
    return "\n".join(rows)


def updated(text: str) -> str:
    """The document with the catalogue between its markers."""
    return re.sub(
        r"(<!-- catalogue: begin[^\n]*-->\n).*?(<!-- catalogue: end -->)",
        lambda match: f"{match[1]}{catalogue()}\n{match[2]}",
        text,
        flags=re.DOTALL,
    )
