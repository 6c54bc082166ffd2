"""What is wrong with a body that is to become a plan, in words: unknown names and what was probably meant, what is missing, what is
out of range.

Walks a decoded body along the types that it is to become, as msgspec describes them: nothing about any fault is written down here.
A value of a wrong type is left to msgspec's own message, and whether fields go together is for `Fault.misfits` to say.
"""

import difflib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

import msgspec
from msgspec import inspect

from staleproof.core.fault import AnyFault, Fault

FAULTS: dict[str, type[Fault]] = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyFault)}
"""By their names in plans."""


class _OnlyFaults(msgspec.Struct):
    faults: tuple[AnyFault, ...] = ()


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where in the body: `item` of a list (`fault 1 (Hold)`), and the dotted name of a field inside it."""

    item: str = ""
    path: str = ""

    def of(self, name: str) -> "_Spot":
        return _Spot(self.item, f"{self.path}.{name}" if self.path else name)

    def number(self, number: int) -> "_Spot":
        """Lists have names in the plural."""
        return _Spot(f"{self.item} {self.path.removesuffix('s')} {number}".lstrip())

    def named(self, tag: str) -> "_Spot":
        return _Spot(f"{self.item or self.path} ({tag})")

    def says(self, problem: str) -> str:
        where = self.item or self.path
        return f"{where}: {problem}" if where else problem

    def says_of_value(self, problem: str) -> str:
        return _Spot(self.item).says(f"{self.path} is {problem}")


def mistakes(raw: object, model: type[msgspec.Struct] = _OnlyFaults) -> list[str]:
    """What is wrong with a decoded body that is to become the model (by default only its faults matter), each in words.

    A struct that was not decoded is looked at in the same way: as `msgspec.to_builtins` of it.
    """
    return list(_walk(raw, _described(model), _Spot()))


@lru_cache(maxsize=16)
def _described(model: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(model)


def _walk(raw: object, kind: inspect.Type, spot: _Spot) -> Iterator[str]:
    match kind:
        case inspect.UnionType():
            yield from _union(raw, kind, spot)
        case inspect.StructType() if isinstance(raw, dict):
            yield from _fields(raw, kind, spot)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item) if isinstance(raw, list | tuple):
            for number, one in enumerate(raw, 1):
                yield from _walk(one, item, spot.number(number))
        case inspect.DictType(value_type=item) if isinstance(raw, dict):
            for name, one in raw.items():
                yield from _walk(one, item, spot.of(str(name)))
        case inspect.Metadata(type=inner, extra_json_schema=schema):
            yield from _walk(raw, inner, spot) if raw and _is_spelt(raw, inner) else _unlike(raw, schema or {}, spot)
        case _:
            yield from _value(raw, kind, spot)


def _value(raw: object, kind: inspect.Type, spot: _Spot) -> Iterator[str]:
    match kind:
        case inspect.LiteralType(values=values) if isinstance(raw, str | int) and raw not in values:
            close = _nearest(raw, [value for value in values if isinstance(value, str)]) if isinstance(raw, str) else None
            meant = f"; did you mean {close!r}?" if close else ""
            yield spot.says_of_value(f"{raw!r}, expected one of {', '.join(map(str, values))}{meant}")
        case inspect.IntType(ge=1) | inspect.FloatType(gt=0) if isinstance(raw, int | float) and raw <= 0:
            yield spot.says_of_value(f"{raw:g}, expected a positive number")


def _is_spelt(raw: object, kind: inspect.Type) -> bool:
    """Whether a text is one that the pattern allows."""
    pattern = kind.pattern if isinstance(kind, inspect.StrType) and isinstance(raw, str) else None
    return pattern is None or re.search(pattern, str(raw)) is not None


def _unlike(raw: object, schema: dict[str, list[object]], spot: _Spot) -> Iterator[str]:
    """Fields with examples must not be empty, and must be spelt like these."""
    found = repr(raw) if raw else "empty"
    yield spot.says_of_value(f"{found}, expected for example {', '.join(json.dumps(one) for one in schema['examples'])}")


def _union(raw: object, kind: inspect.UnionType, spot: _Spot) -> Iterator[str]:
    tagged = {str(one.tag): one for one in kind.types if isinstance(one, inspect.StructType) and one.tag is not None}
    if tagged:
        yield from _tagged(raw, tagged, spot)
    elif raw is not None:
        choices = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
        if len(choices) > 1:  # an object or a word: it is clear which of them is meant
            choices = [one for one in choices if isinstance(one, inspect.StructType) is isinstance(raw, dict)]
        yield from _walk(raw, choices[0], spot) if len(choices) == 1 else ()


def _tagged(raw: object, kinds: dict[str, inspect.StructType], spot: _Spot) -> Iterator[str]:
    """One of several structs, told apart by one of its fields."""
    field = str(next(iter(kinds.values())).tag_field)
    if not isinstance(raw, dict):
        yield spot.says(f"expected an object, found {type(raw).__name__}")
    elif raw.get(field) is None:
        yield spot.says(f'"{field}" is missing; it names one of {", ".join(sorted(kinds))}')
    elif not isinstance(raw[field], str) or raw[field] not in kinds:
        what = spot.item.split()[0] if spot.item else field  # `there is no fault 'Hodl'`, `there is no step 'wait'`
        yield spot.says(f"there is no {what} {raw[field]!r}{_meant(str(raw[field]), kinds)}")
    else:
        yield from _fields(raw, kinds[raw[field]], spot.named(raw[field]))


def _fields(raw: dict[str, object], kind: inspect.StructType, spot: _Spot) -> Iterator[str]:
    """Unknown fields, missing ones (unless an unknown one was probably meant for it), and whatever is wrong inside the known."""
    known = {field.encode_name: field for field in kind.fields}
    unknown = sorted(raw.keys() - known.keys() - {kind.tag_field}) if kind.forbid_unknown_fields else []
    here, prefix = _Spot(spot.item), f"{spot.path}." if spot.path else ""
    for name in unknown:
        yield here.says(f"there is no field {prefix + name!r}{_meant(name, known, prefix)}")
    meant = {_nearest(name, known) for name in unknown}
    for name, field in known.items():
        if name in raw:
            yield from _walk(raw[name], field.type, spot.of(name))
        elif field.required and name not in meant:
            yield here.says(f"{prefix}{name} is missing")


def _meant(word: str, known: Collection[str], prefix: str = "") -> str:
    close = _nearest(word, known)
    return f"; did you mean {prefix + close!r}?" if close else f"; there are {', '.join(prefix + name for name in sorted(known))}"


def _nearest(word: str, known: Collection[str]) -> str | None:
    by_class = {kind.__name__: tag for tag, kind in FAULTS.items()}
    if by_class.get(word) in known:
        return by_class[word]  # what it is called in Python
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None
