"""Words that every message needs."""

from collections.abc import Sequence


def plural(number: int, noun: str) -> str:
    """The number with its noun: 1 pod, 2 policies, 3 ingresses."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith(("s", "x", "ch")):
        return f"{number} {noun}es"
    return f"{number} {noun[:-1]}ies" if noun.endswith("cy") or noun.endswith("ty") else f"{number} {noun}s"


def some(names: Sequence[str], most: int) -> str:
    """The first of them, and how many there are besides."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def not_yaml(error: Exception) -> str:
    """What keeps a text from being YAML: `line 5: not YAML: …`."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or error
    return f"{f'line {mark.line + 1}: ' if mark else ''}not YAML: {problem}"


def part_of(subresource: str) -> str:
    """`the status of `, to go before what has it; empty for the whole."""
    return f"the {subresource} of " if subresource else ""
