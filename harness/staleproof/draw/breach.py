"""Whether a change breaks what a schema says of the objects and lists around the changed field: the API server would refuse it."""

from collections.abc import Sequence

from staleproof.draw.cel import met_all
from staleproof.draw.schema import ANYTHING, Schema

_NOTHING = object()
_LIMITS = (("minProperties", "maxProperties", dict), ("minItems", "maxItems", list))


def breaks(schema: Schema, before: object, after: object, path: Sequence[str | int]) -> bool:
    """Whether a rule or a count that was kept before, or is about what was not there, is known not to be kept after, at the changed
    field or above it."""
    for key in (*path, None):
        if _is_broken(schema, before, after):
            return True
        if key is None or not _has(after, key):
            return False
        before = before[key] if _has(before, key) else _NOTHING  # type: ignore[index]  # it has it
        after = after[key]  # type: ignore[index]  # it has it
        schema = schema.items if isinstance(key, int) else schema.fields.get(key, schema.values or ANYTHING)
    return False


def _is_broken(schema: Schema, before: object, after: object) -> bool:
    if before is _NOTHING:
        return not _counts(schema, after) or met_all(schema.rules, schema.defaulted(after)) is False
    if not _counts(schema, after) and _counts(schema, before):
        return True
    if not schema.rules:
        return False
    was, becomes = schema.defaulted(before), schema.defaulted(after)
    return met_all(schema.rules, becomes, was) is False and met_all(schema.rules, was, was) is not False


def _counts(schema: Schema, value: object) -> bool:
    """Whether there are neither too few nor too many entries."""
    for least, most, kind in _LIMITS:
        if isinstance(value, kind) and not schema.count(least, 0) <= len(value) <= schema.count(most, len(value)):
            return False
    return True


def _has(value: object, key: str | int) -> bool:
    return key in value if isinstance(value, dict) else isinstance(value, list) and isinstance(key, int) and key < len(value)
