"""What an object lacks, or has too much, so that its CEL rules are met: the fewest fields added, changed or taken away."""

import copy
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from staleproof.draw.mutations.schema import JSON, Schema

from .cel import UNESCAPED, met_all, named_texts

Path = tuple[str, ...]
_MOST_OPTIONS = {1: 60, 2: 40, 3: 14}
"""How many changes there may be, so that so many of them are tried together."""
_NAMED = re.compile(r"\bself(?:\.\w+\b(?!\())+")
_GONE = object()
_Change = tuple[Path, object]


def mended(value: JSON, schema: Schema, make: Callable[[Schema, Path], object]) -> JSON:
    """The object, changed so that no rule of its schema is known to be broken; as it is if that takes more than a few changes.
    `make` makes a field of this schema at this path below the object."""
    if not schema.rules or met_all(schema.rules, defaulted(schema, value)) is not False:
        return value
    options = list(_options(value, schema, make))
    for count, most in _MOST_OPTIONS.items():
        for changes in itertools.combinations(options[:most], count):
            if len({path for path, _ in changes}) == count:
                other = _changed(value, changes)
                if met_all(schema.rules, defaulted(schema, other)) is not False:
                    return other
    return value


def grown(value: JSON, schema: Schema, keys: Sequence[str], make: Callable[[Schema, Path], object]) -> JSON:
    """With these fields, as far as all rules are known to be met with them."""
    for key in keys:
        other = value | {key: make(schema.fields[key], (key,))}
        if met_all(schema.rules, defaulted(schema, other)):
            value = other
    return value


def named_fields(schema: Schema) -> list[Path]:
    """Fields that its rules name, as paths below it; those above come first."""
    found = {tuple(UNESCAPED.sub(r"\1", each).split(".")[1:]) for rule in schema.rules for each in _NAMED.findall(rule)}
    return sorted(found, key=lambda path: (len(path), path))


def defaulted(schema: Schema, value: Any) -> Any:  # noqa: ANN401  # JSON
    """The value with defaults filled in, as the API server does before it looks at rules."""
    if isinstance(value, list):
        return [defaulted(schema.items, each) for each in value]
    if not isinstance(value, dict):
        return value
    if schema.values is not None:
        return {key: defaulted(schema.values, each) for key, each in value.items()}
    fields = schema.fields
    missing = {key: inner.own["default"] for key, inner in fields.items() if key not in value and "default" in inner.own}
    return {key: defaulted(fields[key], each) if key in fields else each for key, each in (value | missing).items()}


def _options(value: JSON, schema: Schema, make: Callable[[Schema, Path], object]) -> Iterator[_Change]:
    """What can be done to the fields that rules name: added ones first, then other values, then those that go."""
    named = [(path, _found(schema, path), _owner(value, path)) for path in named_fields(schema)]
    known = [(path, inner, owner) for path, inner, owner in named if inner is not None and owner is not None]
    texts = named_texts(schema.rules)
    for path, inner, owner in known:
        if path[-1] not in owner:
            yield path, make(inner, path)
    for path, inner, owner in known:
        choices = inner.enum or ((True, False) if inner.type == "boolean" else texts if inner.type == "string" else ())
        yield from ((path, other) for other in choices if other != owner.get(path[-1]))
        if inner.type == "array" and owner.get(path[-1]) == []:
            yield path, [make(inner.items, (*path, "[]"))]
    for path, _, owner in known:
        if path[-1] in owner and not (len(path) == 1 and path[0] in schema.required):
            yield path, _GONE


def _found(schema: Schema, path: Path) -> Schema | None:
    """The schema of a field; None when there is none."""
    for key in path:
        inner = schema.fields.get(key)
        if inner is None:
            return None
        schema = inner
    return schema


def _owner(value: JSON, path: Path) -> JSON | None:
    """The object that has this field, or would have it; None when it is not there."""
    owner: object = value
    for key in path[:-1]:
        owner = owner.get(key) if isinstance(owner, dict) else None
    return owner if isinstance(owner, dict) else None


def _changed(value: JSON, changes: Sequence[_Change]) -> JSON:
    other = copy.deepcopy(value)
    for path, new in changes:
        owner = _owner(other, path)
        if owner is not None and new is _GONE:
            owner.pop(path[-1], None)
        elif owner is not None:
            owner[path[-1]] = new
    return other
