"""Every time constant stands in one module, is used, and is printed with what it means."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from staleproof.core import times
from staleproof.report.documentation import time_constants

ROOT = Path(__file__).parents[3]
SOURCES = {
    str(path.relative_to(ROOT)): path.read_text()
    for folder in ("harness", "proxy_addons")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
NAMES = [name for name in vars(times) if name.isupper()]
OF_TIMES = re.compile(
    r"(seconds|minute|day|timeout|interval|wait|delay|grace|period|patience|throttle|lag|rest|factor|jitter)s?($|_)", re.I
)
ELSEWHERE = {
    "harness/staleproof/core/times.py",
    "harness/staleproof/core/fault/hostile.py",  # defaults of what plans say
    "harness/staleproof/core/fault/streams.py",
    "harness/staleproof/drive/process/leash.py",  # a script that imports nothing
    "harness/staleproof/assess/trial/references.py",  # a key, in which times have no say
}


def literals(tree: ast.Module) -> Iterator[str]:
    """Names of constants, fields, parameters and arguments whose value is a number other than 0, or several."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            yield from _bound(ast.Name(node.arg), node.value)
        elif isinstance(node, ast.arguments):
            for parameter, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
                yield from _bound(ast.Name(parameter.arg), default)
        elif isinstance(node, ast.AnnAssign):
            yield from _bound(node.target, node.value)
        elif isinstance(node, ast.Assign):
            yield from _bound(node.targets[0], node.value)


def _bound(target: ast.expr, value: ast.expr | None) -> Iterator[str]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, its in zip(target.elts, value.elts, strict=False):
            yield from _bound(one, its)
    elif isinstance(target, ast.Name) and value is not None and _is_number(value):
        yield target.id


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return any(map(_is_number, value.elts))
    return isinstance(value, ast.Constant) and type(value.value) in (int, float) and value.value != 0


@pytest.mark.parametrize("path", sorted(SOURCES.keys() - ELSEWHERE))
def test_no_other_module_says_how_long_something_takes(path: str) -> None:
    assert [name for name in literals(ast.parse(SOURCES[path])) if OF_TIMES.search(name)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("_AGAIN_SECONDS = 0.2", ["_AGAIN_SECONDS"]),
        ("_TRIES, _FIRST_WAIT, _WIDTH = 3, 0.8, 40", ["_TRIES", "_FIRST_WAIT", "_WIDTH"]),
        ("LAGS: tuple[float, ...] = (0.3, 0.6)", ["LAGS"]),
        ("async def stop(*, grace_seconds: float = 10.0) -> None: ...", ["grace_seconds"]),
        ("ClientTimeout(total_seconds=5)", ["total_seconds"]),
        ("by_seconds: Seconds = 1.0", ["by_seconds"]),
        ("seconds = 0.0", []),
        ("_LOOK_SECONDS = LOOK_SECONDS", []),
    ],
)
def test_what_is_found(source: str, found: list[str]) -> None:
    assert list(literals(ast.parse(source))) == found


@pytest.mark.parametrize("name", NAMES)
def test_each_is_used_and_printed_with_what_it_means(name: str) -> None:
    assert name.endswith(("_SECONDS", "_FACTOR"))
    assert re.search(rf"^\| `{name}` \| [\d., ]+(s|times) \| [^|]+\. \|$", time_constants(), re.MULTILINE)
    assert any(re.search(rf"\b{name}\b", text) for path, text in SOURCES.items() if path != "harness/staleproof/core/times.py")
