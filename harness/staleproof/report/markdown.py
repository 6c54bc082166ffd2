"""Texts of others in Markdown: as code, where neither Markdown nor HTML means anything, or with every mark taken literally."""

import re

from staleproof.report.inert import in_one_line, inert


def code(text: str, most: int | None = None) -> str:
    """Within a line, or a cell of a table."""
    told = in_one_line(text, most)
    fence = "`" * (_longest(told) + 1)
    padded = f" {told} " if told.startswith("`") or told.endswith("`") or not told else told
    return f"{fence}{padded}{fence}".replace("|", "\\|")


def block(text: str, language: str = "text") -> str:
    """On lines of its own."""
    told = inert(text, None)
    fence = "`" * max(3, _longest(told) + 1)
    return f"{fence}{language}\n{told}\n{fence}"


def literal(text: str, most: int | None = None) -> str:
    """As words after others in a line: each mark that may mean something there is taken literally."""
    return re.sub(r"([\\`*_\[\]<>&|~!#$])", r"\\\1", in_one_line(text, most))


def _longest(text: str) -> int:
    """The longest row of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)
