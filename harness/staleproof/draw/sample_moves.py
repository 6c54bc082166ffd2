"""The moves that a sample and its schema give: what users change, and how they change it back.

What is in the sample comes first, then what the schema allows and names a value for; texts come last. A move may still be refused:
the API server decides (webhooks, CEL that `draw.cel` cannot read).
"""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from staleproof.core.move import Move, MoveKind, merge_patch, merged
from staleproof.core.plan import Manifest
from staleproof.draw.breach import breaks
from staleproof.draw.schema import ANYTHING, JSON, Schema
from staleproof.draw.texts import Near, fits, near_number, near_text

Path = tuple[str | int, ...]
_DEEPEST = 12
_MOST_ENUM = 3
_ADDED = "moved"
"""A key, a name, or a text, that is new."""
_LABELS = frozenset({"labels", "annotations", "matchLabels", "nodeSelector", "data", "stringData"})
"""Maps, where no schema tells a map from a block."""
_FIXED = frozenset({"apiVersion", "kind", "metadata", "status"})
_KINDS = {kind: number for number, kind in enumerate(get_args(MoveKind))}
_STRINGS = _KINDS["string"]


def set_to(sample: Manifest, path: str, values: Sequence[object]) -> Iterator[Move]:
    """Moves that set a field, which is named as `words` does, to each of these values. An entry of a list without a number is the
    first; nothing is set within what is not there in a list."""
    for value in values:
        try:
            move = _move(sample, _Draft(_parsed(path), "set", _always(value)))
        except (IndexError, KeyError, TypeError, AttributeError):
            return
        if move is not None:
            yield move


def _parsed(path: str) -> Path:
    return tuple(quoted or (int(index or 0) if index is not None else key) for key, index, quoted in _parts(path))


def _parts(path: str) -> Iterator[tuple[str, str | None, str]]:
    for found in re.finditer(r'\["([^"]+)"\]|\[(\d*)\]|([^.\[\]]+)', path):
        yield found[3] or "", found[2], found[1] or ""


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is done to which field. `edit` makes the new value of the old one; None: the field goes. `is_said`: it is in the sample,
    or in a map or list that is."""

    path: Path
    kind: MoveKind
    edit: Callable[[Any], Any] | None
    is_said: bool = True
    is_blind: bool = False


def find_moves(sample: Manifest, schema: Schema = ANYTHING) -> list[Move]:
    """All of them, each once; the best first."""
    found: dict[str, tuple[tuple[object, ...], Move]] = {}
    for number, draft in enumerate(_primary(sample, schema)):
        move = _move(sample, draft)
        if move is not None and move.name not in found and not breaks(schema, sample, merged(sample, move.do), draft.path):
            found[move.name] = (_rank(draft, number), move)
    return [move for _, move in sorted(found.values(), key=lambda each: each[0])]


def _rank(draft: _Draft, number: int) -> tuple[object, ...]:
    """A removal of which no schema says that it may be is worse than anything."""
    kind = _KINDS[draft.kind]
    return draft.is_blind, kind >= _STRINGS, not draft.is_said, draft.path[0] == "metadata", kind, len(draft.path), number


def words(path: Path) -> str:
    """`spec.containers[0].image`, and `metadata.labels["a.b/c"]`."""
    return "".join(_word(key) for key in path).removeprefix(".")


def _word(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if re.fullmatch(r"[\w-]+", key) else f'["{key}"]'


def _move(sample: Manifest, draft: _Draft) -> Move | None:
    """The move; None when it changes nothing."""
    after = copy.deepcopy(sample)
    was, becomes = _edited(after, draft)
    do, undo = merge_patch(sample, after), merge_patch(after, sample)
    if not do:
        return None
    path, blind = words(draft.path), draft.is_blind
    return Move(path=path, kind=draft.kind, do=do, undo=undo, was=_shown(was), becomes=_shown(becomes), blind=blind)


def _edited(tree: Any, draft: _Draft) -> tuple[Any, Any]:  # noqa: ANN401  # JSON
    """Change the field in this tree; what was there and what is there now (None: nothing)."""
    spot = tree
    for key, below in zip(draft.path, draft.path[1:], strict=False):
        spot = spot.setdefault(key, [] if isinstance(below, int) else {}) if isinstance(spot, dict) else spot[key]
    key = draft.path[-1]
    was = copy.deepcopy(spot.get(key) if isinstance(spot, dict) else spot[key])
    if draft.edit is None:
        del spot[key]
        return was, None
    spot[key] = becomes = draft.edit(was)
    return was, becomes


def _shown(value: object) -> str:
    """A scalar; of anything else only that it is there, or how long it is."""
    if isinstance(value, list):
        return f"{len(value)} entries"
    if isinstance(value, dict):
        return "there"
    return "true" if value is True else "false" if value is False else "" if value is None else str(value)[:40]


# --- what can be done to each field ----------------------------------------------------------------------------------------------


def _primary(sample: Manifest, schema: Schema) -> Iterator[_Draft]:
    fields = schema.fields
    for key, value in sample.items():
        if key not in _FIXED:
            yield from _value((key,), value, fields.get(key, ANYTHING))
    yield from _unsaid((), {key: None for key in sample} | dict.fromkeys(_FIXED), schema)
    yield from _map(("metadata", "labels"), (sample.get("metadata") or {}).get("labels") or {}, ANYTHING, is_said=False)


def _value(path: Path, value: Any, schema: Schema) -> Iterator[_Draft]:  # noqa: ANN401  # JSON
    if len(path) > _DEEPEST:
        return
    if isinstance(value, dict):
        yield from _object(path, value, schema)
    elif isinstance(value, list):
        yield from _list(path, value, schema)
    else:
        yield from _near(path, value, schema)


def _near(path: Path, value: Any, schema: Schema, *, is_said: bool = True) -> Iterator[_Draft]:  # noqa: ANN401  # JSON
    """Other values of a scalar."""
    found: list[Near] = []
    if isinstance(value, bool):
        found = [("toggle", not value)]
    elif schema.enum:
        found = [("enum", each) for each in schema.enum if each != value][:_MOST_ENUM]
    elif isinstance(value, int | float):
        found = list(near_number(value, schema))
    elif isinstance(value, str):
        found = list(near_text(value, schema))
    for kind, other in found:
        yield _Draft(path, kind, _always(other), is_said)


def _object(path: Path, value: JSON, schema: Schema) -> Iterator[_Draft]:
    if schema.values is not None or (not schema.fields and path[-1] in _LABELS):
        yield from _map(path, value, schema.values or ANYTHING, most=schema.count("maxProperties", len(value) + 1))
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _value((*path, key), inner, schema.values or ANYTHING)
        return
    fields = schema.fields
    for key, inner in value.items():
        below = fields.get(key, ANYTHING)
        yield from _value((*path, key), inner, below)
        if key not in schema.required and inner is not None:
            kind: MoveKind = "remove-block" if isinstance(inner, dict | list) else "remove-value"
            yield _Draft((*path, key), kind, None, is_blind=not fields)
    yield from _unsaid(path, value, schema)


def _unsaid(path: Path, said: JSON, schema: Schema) -> Iterator[_Draft]:
    """What the schema allows beside what is said, and has a value for."""
    for key, inner in schema.fields.items():
        if key in said:
            continue
        default = inner.own.get("default")
        others = [each for each in inner.examples if each != default]
        if others or inner.enum:
            values = (others or [each for each in inner.enum if each != default])[:_MOST_ENUM]
            yield from (_Draft((*path, key), "set", _always(each), is_said=False) for each in values)
        elif inner.type == "boolean":
            yield _Draft((*path, key), "toggle", _always(default is not True), is_said=False)
        elif isinstance(default, int | float | str):
            yield from _near((*path, key), default, inner, is_said=False)
        elif inner.values is not None and key in _LABELS:
            yield from _map((*path, key), {}, inner.values, is_said=False)


def _map(path: Path, value: JSON, values: Schema, *, most: int = 1 << 30, is_said: bool = True) -> Iterator[_Draft]:
    """A key more, one less, and another value of the first."""
    model = next(iter(value.values()), _first_value(values))
    if _ADDED not in value and model is not None and len(value) < most:
        text = "-".join((_ADDED, *map(str, path[-3:-2])))  # another in each map, so that one can see where it ends up
        new = text if isinstance(model, str) and fits(text, values) and not values.enum else model
        yield _Draft((*path, _ADDED), "map-add", _always(new), is_said)
    for key, inner in list(value.items())[:1]:
        yield from _near((*path, key), inner, values, is_said=is_said)
    for key in list(value)[-1:]:
        yield _Draft((*path, key), "map-remove", None, is_said)


def _first_value(schema: Schema) -> Any:  # noqa: ANN401  # JSON
    """For a map that has none yet; None when there is no likely one."""
    if schema.examples:
        return schema.examples[0]
    likely = (_ADDED, "1") if schema.type in ("string", "") else ()
    return next((each for each in likely if fits(each, schema)), None)


def _list(path: Path, value: list[Any], schema: Schema) -> Iterator[_Draft]:
    if len(value) > max(schema.count("minItems", 0), 0):
        yield _Draft((*path,), "remove-entry", lambda old: old[:-1], is_blind=len(value) == 1 and not schema.own)
    if len(value) < schema.count("maxItems", len(value) + 1) and value and (entry := _another(value, schema)) is not None:
        yield _Draft((*path,), "append-entry", lambda old: [*old, copy.deepcopy(entry)])
    if len(value) > 1 and value != value[::-1]:
        yield _Draft((*path,), "reorder", lambda old: old[::-1])
    for number, inner in enumerate(value[:1]):
        if isinstance(inner, dict | list):
            yield from _value((*path, number), inner, schema.items)
        elif schema.list_type != "set":
            yield from _near((*path, number), inner, schema.items)


def _another(entries: Sequence[Any], schema: Schema) -> Any:  # noqa: ANN401  # JSON
    """An entry like the last one, which can be told apart from all; None when there is no such."""
    last = entries[-1]
    if not isinstance(last, dict):
        return next((each for each in _others(last, schema.items) if each not in entries), None)
    entry = copy.deepcopy(last)
    for key in schema.list_keys or [key for key in ("name", "key", "id", "port") if key in last][:1]:
        taken = [each.get(key) for each in entries if isinstance(each, dict)]
        others = _others(last.get(key), schema.items.fields.get(key, ANYTHING))
        other = next((each for each in others if each not in taken), None)
        if other is not None:
            entry[key] = other
            break
    return entry if entry not in entries or schema.list_type not in ("set", "map") else None


def _others(value: object, schema: Schema) -> list[object]:
    """Values near this one."""
    near: Iterator[Near] = iter(())
    if isinstance(value, str):
        near = near_text(value, schema)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        near = near_number(value, schema)
    return [other for _, other in near]


def _always(value: Any) -> Callable[[Any], Any]:  # noqa: ANN401  # JSON
    return lambda _: copy.deepcopy(value)
