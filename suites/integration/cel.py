"""CEL rules of a schema, as far as they ask plainly about what is there: presence, values, sizes, macros over lists, `? :`.

This is not all of CEL: what it does not know (types of Kubernetes' own, optional fields) is left to the API server, and
the answer is None. A rule is rewritten as an expression of Python's, parsed, and walked; nothing is ever executed.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

_TOKEN = re.compile(r"""r?"(?:[^"\\]|\\.)*"|r?'(?:[^'\\]|\\.)*'|&&|\|\||!=|!|\.[A-Za-z_]\w*|[A-Za-z_]\w*|\S|\s+""")
_SPELLED = {"&&": " and ", "||": " or ", "!": "~", "true": "True", "false": "False", "null": "None"}
"""`~` binds as tightly as CEL's `!` does."""
_OPEN, _CLOSED = "([{", ")]}"
_FIELD = "f_"
"""Before each name of a field, for it may be a keyword of Python's."""
_IS_ABOUT_CHANGES = re.compile(r"\boldSelf\b")
UNESCAPED = re.compile(r"__(\w+)__")
"""A field whose name is a keyword of CEL's, as rules write it."""
_COMPARED: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.In: lambda one, many: one in many, ast.Add: operator.add, ast.Sub: operator.sub,
}  # fmt: skip
_METHODS: dict[str, Callable[..., Any]] = {
    "size": len, "startsWith": str.startswith, "endsWith": str.endswith, "contains": str.__contains__,
    "matches": lambda text, pattern: bool(re.search(pattern, text)), "lowerAscii": str.lower, "split": str.split,
    "find": lambda text, pattern: found[0] if (found := re.search(pattern, text)) else "",
}  # fmt: skip
Scope = dict[str, Any]


class _NotKnownError(Exception):
    """The rule asks something else."""


_UNSAID = object()


def met(rule: str, value: object, old: object = _UNSAID) -> bool | None:
    """Whether the value meets a rule of its schema; None when that is not for us to say. Defaults must have been filled in. As in
    CEL, what asks for a field that is not there is not met. `old`: what was there before; without it, rules about changes say
    nothing."""
    if old is _UNSAID and _IS_ABOUT_CHANGES.search(rule):
        return None
    try:
        return bool(_value(_parsed(rule), {"self": value, "oldSelf": old}))
    except LookupError:
        return False
    except (_NotKnownError, SyntaxError, TypeError, ValueError, re.error, RecursionError):
        return None


def met_all(rules: Iterable[str], value: object, old: object = _UNSAID) -> bool | None:
    """Whether it meets all of them; False as soon as it is known not to meet one."""
    answers = {met(rule, value, old) for rule in rules}
    return False if False in answers else None if None in answers else True


def named_texts(rules: Iterable[str]) -> list[str]:
    """The texts that rules compare with."""
    tokens = (token for rule in rules for token in _TOKEN.findall(rule))
    return [token[1:-1] for token in dict.fromkeys(tokens) if token[0] in "'\"" and len(token) > 2]


@lru_cache(maxsize=4096)
def _parsed(rule: str) -> ast.expr:
    return ast.parse(_python(iter(_TOKEN.findall(rule))).strip(), mode="eval").body


def _python(tokens: Iterator[str]) -> str:
    """Up to the end or the bracket that closes, in Python's words."""
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token in _CLOSED:
            return ", ".join(map(_choice, parts)) + token
        if token == ",":
            parts.append([])
        elif token in _OPEN:
            parts[-1].append(token + _python(tokens))
        elif token[0] == "." and len(token) > 1:
            parts[-1].append("." + _FIELD + UNESCAPED.sub(r"\1", token[1:]))
        else:
            parts[-1].append(" " if token.isspace() else _SPELLED.get(token, token))
    return ", ".join(map(_choice, parts))


def _choice(words: Sequence[str]) -> str:
    """`a ? b : c` as `b if a else c`."""
    if "?" not in words:
        return "".join(words)
    first, open_choices = words.index("?"), 0
    for at in range(first, len(words)):
        open_choices += {"?": 1, ":": -1}.get(words[at], 0)
        if not open_choices:
            then, otherwise = _choice(words[first + 1 : at]), _choice(words[at + 1 :])
            return f"(({then}) if ({''.join(words[:first])}) else ({otherwise}))"
    raise SyntaxError("a choice without its second half")


def _value(node: ast.expr, scope: Scope) -> Any:  # noqa: ANN401, C901  # JSON; one case for each kind of node
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in scope:
            return scope[name]
        case ast.List(elts=entries):
            return [_value(each, scope) for each in entries]
        case ast.Attribute(value=of, attr=name):
            return _owner(of, scope)[name.removeprefix(_FIELD)]
        case ast.Subscript(value=of, slice=key):
            return _value(of, scope)[_value(key, scope)]
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            return not _value(inner, scope)
        case ast.BoolOp(op=how, values=inners):
            return _decided([partial(_value, each, scope) for each in inners], by=isinstance(how, ast.Or))
        case ast.IfExp(test=test, body=then, orelse=otherwise):
            return _value(then if _value(test, scope) else otherwise, scope)
        case ast.Compare(left=left, ops=[how], comparators=[right]) | ast.BinOp(left=left, op=how, right=right):
            return _compared(how, _value(left, scope), _value(right, scope))
        case ast.Call(func=called, args=arguments):
            return _called(called, arguments, scope)
    raise _NotKnownError


def _owner(node: ast.expr, scope: Scope) -> dict[str, Any]:
    found = _value(node, scope)
    if not isinstance(found, dict):
        raise _NotKnownError
    return found


def _compared(how: ast.AST, left: object, right: object) -> Any:  # noqa: ANN401  # JSON
    if type(how) not in _COMPARED:
        raise _NotKnownError
    return _COMPARED[type(how)](left, right)


def _called(called: ast.expr, arguments: Sequence[ast.expr], scope: Scope) -> Any:  # noqa: ANN401  # JSON
    match called, arguments:
        case ast.Name(id="has"), [ast.Attribute(value=of, attr=name)]:
            return name.removeprefix(_FIELD) in _owner(of, scope)
        case ast.Name(id="size"), [inner]:
            return len(_value(inner, scope))
        case ast.Attribute(value=of, attr=method), [ast.Name(id=name), inner] if method.removeprefix(_FIELD) in _MACROS:
            entries = list(_value(of, scope))
            answers: list[Callable[[], Any]] = [partial(_value, inner, scope | {name: each}) for each in entries]
            return _MACROS[method.removeprefix(_FIELD)](entries, answers)
        case ast.Attribute(value=of, attr=method), _ if method.removeprefix(_FIELD) in _METHODS:
            return _METHODS[method.removeprefix(_FIELD)](_value(of, scope), *(_value(each, scope) for each in arguments))
    raise _NotKnownError


def _decided(answers: Iterable[Callable[[], Any]], *, by: bool) -> bool:
    """Whether one of them is this; what cannot be answered counts only if none is."""
    failure: Exception | None = None
    for answer in answers:
        try:
            if bool(answer()) is by:
                return by
        except (LookupError, TypeError, _NotKnownError) as err:
            failure = failure or err
    if failure is not None:
        raise failure
    return not by


_MACROS: dict[str, Callable[[list[Any], list[Callable[[], Any]]], Any]] = {
    "all": lambda _, answers: _decided(answers, by=False),
    "exists": lambda _, answers: _decided(answers, by=True),
    "exists_one": lambda _, answers: sum(bool(each()) for each in answers) == 1,
    "filter": lambda entries, answers: [entry for entry, each in zip(entries, answers, strict=True) if each()],
    "map": lambda _, answers: [each() for each in answers],
}
