"""Numbers and texts near a value: what a user would write there instead.

Texts have their own arithmetic (`10Gi`, `1h30m`, `25%`); what a pattern or a length forbids is left out.
"""

import contextlib
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import re2

from staleproof.core.plan.move import MoveKind
from staleproof.draw.mutations.schema import Schema

_QUANTITY = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)([KMGTPE]i|[munkMGTPE])")
_PLAIN_QUANTITY = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)()")
"""As precise as quantities are."""
_PLAIN = re.compile(r"\d+")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+")
_PERCENT = re.compile(r"(\d+)%")
_FIRST_NUMBER = re.compile(r"\d+")
_QUIETLY = re2.Options()
_QUIETLY.log_errors = False
Near = tuple[MoveKind, object]


def near_number(value: float, schema: Schema) -> Iterator[Near]:
    """One up, one down, and nothing at all, as far as its range allows. A count is not below 0 unless the schema says so."""
    step = schema.own.get("multipleOf") or 1
    least = schema.least if schema.least > -float("inf") else min(0, value)
    for kind, number in (("up", value + step), ("down", value - step), ("zero", 0)):
        if number != value and least <= number <= schema.most and not (kind == "zero" and abs(value) == step):
            yield kind, number  # type: ignore[misc]  # one of those kinds


def near_text(value: str, schema: Schema) -> Iterator[Near]:
    """Other amounts when the text is one, or else another text."""
    if schema.enum:
        yield from (("enum", each) for each in schema.enum if each != value)
        return
    amounts = [each for each in _amounts(value, schema) if fits(str(each[1]), schema)]
    yield from amounts
    if not amounts:
        other = next((text for text in _texts(value, schema) if text != value and fits(text, schema)), None)
        if other is not None:
            yield "string", other


def fits(text: str, schema: Schema) -> bool:
    """Whether pattern and length allow it. A pattern that RE2 cannot read allows everything: the API server will decide."""
    if not schema.count("minLength", 0) <= len(text) <= schema.count("maxLength", len(text)):
        return False
    return all(pattern.search(text) for pattern in _compiled(schema))


def _compiled(schema: Schema) -> list[Any]:
    """Its patterns, as far as RE2 can read them. They are written for Go, which has RE2's syntax; Python's is another, and
    its engine may search for ever (`^([a-z]+)+$`)."""
    found = []
    for pattern in schema.patterns:
        with contextlib.suppress(re2.error):
            found.append(re2.compile(pattern, _QUIETLY))
    return found


def _amounts(value: str, schema: Schema) -> Iterator[Near]:
    if found := _QUANTITY.fullmatch(value) or (_PLAIN_QUANTITY.fullmatch(value) if schema.is_quantity else None):
        number, unit = Decimal(found[1]), found[2]
        half = max(Decimal(1), number // 2)
        yield "quantity", f"{number + half:f}{unit}"
        if number > 1:
            yield "quantity", f"{number - half:f}{unit}"
    elif _DURATION.fullmatch(value):
        yield "duration", _FIRST_NUMBER.sub(lambda found: str(int(found[0]) * 2 or 1), value, count=1)
    elif found := _PERCENT.fullmatch(value):
        percent = int(found[1])
        yield ("up", f"{percent + 1}%") if percent < 100 else ("down", f"{percent - 1}%")


def _texts(value: str, schema: Schema) -> Iterator[str]:
    """Likely ones first: a name or an address with something added still is one."""
    if schema.format == "date-time":
        yield re.sub(r"^\d{4}", lambda found: str(int(found[0]) + 1), value)
        return
    if schema.format in ("ipv4", "ipv6", "cidr", "byte", "uuid"):
        yield _FIRST_NUMBER.sub(lambda found: str(int(found[0]) + 1), value, count=1)
        return
    if _PLAIN.fullmatch(value):  # a number that is written as a text stays one
        yield str(int(value) + 1)
    yield from (f"{value}-changed", f"{value}changed", f"{value}x", f"{value}1", f"x{value}")
    yield _FIRST_NUMBER.sub(lambda found: str(int(found[0]) + 1), value, count=1)
