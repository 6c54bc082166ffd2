"""Texts of others in Markdown: as code, where neither Markdown nor HTML means anything, or with every mark taken literally."""

import re

from staleproof.report.inert import in_one_line, inert


def code(text: str, most: int | None = None) -> str:
    """Within a line; `in_cell` is for tables."""
    line = in_one_line(text, most)
    fence = "`" * (_longest(line) + 1)
    padded = f" {line} " if line.startswith("`") or line.endswith("`") or not line else line
    return f"{fence}{padded}{fence}"


def in_cell(text: str, most: int | None = None) -> str:
    """Within a cell of a table, where a bar ends the cell even in code."""
    return code(text, most).replace("|", "\\|")


def block(text: str, language: str = "text") -> str:
    """On lines of its own."""
    body = inert(text, None)
    fence = "`" * max(3, _longest(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def literal(text: str, most: int | None = None) -> str:
    """As words after others in a line: each mark that may mean something there is taken literally."""
    return re.sub(r"([\\`*_\[\]<>&|~!#$])", r"\\\1", in_one_line(text, most))


def _longest(text: str) -> int:
    """The longest row of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)
