"""CEL rules that only ask which fields are there: `has(self.a) || has(self.b)`, exactly one of several, one only with another.

Whatever else a rule asks is left to the API server; this is no CEL.
"""

import ast
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_HAS = re.compile(r"has\(self\.(\w+)\)")
_AS_NUMBER = re.compile(r"\?\s*1\s*:\s*0")
_COUNTED = re.compile(r"\[([^\[\]]*)\]\.(?:filter\((\w+), ?\2(?: ?== ?true)?\)\.size\(\)|exists_one\((\w+), ?\3(?: ?== ?true)?\))")
_COMPARED = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt}
_MOST_NAMES, _MOST_ADDED = 12, 2


def lacking(rules: Iterable[str], names: Sequence[str], present: Iterable[str]) -> list[str]:
    """The fewest of these fields that have to be there besides those present, so that every rule that is understood is met; none
    when it takes more than a few."""
    given = set(present)
    read = [found for rule in rules if (found := _read(rule)) is not None]
    free = [name for name in names if name not in given][:_MOST_NAMES]
    for count in range(_MOST_ADDED + 1):
        for added in itertools.combinations(free, count):
            if all(rule(given | set(added)) for rule in read):
                return list(added)
    return []


def _read(rule: str) -> Callable[[set[str]], bool] | None:
    """The rule as a question about the fields that are there; None when it asks anything else."""
    text = _AS_NUMBER.sub("", _COUNTED.sub(_sum, rule))
    text = _HAS.sub(r"has_\1", text).replace("&&", " and ").replace("||", " or ").replace("\n", " ")
    text = re.sub(r"!(?!=)", " not ", text).strip()
    try:
        tree = ast.parse(text, mode="eval").body
        _value(tree, set())
    except (SyntaxError, ValueError, KeyError, TypeError):
        return None
    return lambda present: bool(_value(tree, present))


def _sum(found: re.Match[str]) -> str:
    added = "+".join(f"({each})" for each in found[1].split(","))
    return f"({added})" if found[2] else f"(({added}) == 1)"


def _value(node: ast.expr, present: set[str]) -> Any:  # noqa: ANN401  # a truth or a number
    """Raises ValueError for what is not about presence."""
    match node:
        case ast.Name(id=name) if name.startswith("has_"):
            return name.removeprefix("has_") in present
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _value(inner, present)
        case ast.BoolOp(op=ast.And(), values=inner):
            return all([_value(each, present) for each in inner])
        case ast.BoolOp(values=inner):
            return any([_value(each, present) for each in inner])
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _value(left, present) + _value(right, present)
        case ast.Compare(left=left, ops=[how], comparators=[right]):
            return _COMPARED[type(how)](_value(left, present), _value(right, present))
    raise ValueError("not about presence")
