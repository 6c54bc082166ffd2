"""The moves that a sample and its schema give: what users change, and how they change it back.

What is in the sample comes first, then what the schema allows and names a value for: beside what is there, and then within objects
that are not there; texts come last. A move may still be refused: the API server decides (counts, webhooks, CEL).
"""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, get_args

from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.move import Move, MoveKind, merge_patch
from staleproof.draw.mutations.schema import ANYTHING, JSON, Schema
from staleproof.draw.mutations.texts import Near, fits, near_number, near_text

Path = tuple[str | int, ...]
_DEEPEST = 12
_MOST_ENUM = 3
_MOST_ENTRIES, _MOST_LATER = 4, 6
"""So many entries of a list are changed, and so much in each but the first."""
_MOST_LEVELS, _MOST_WITHIN = 2, 8
"""So far a move goes into objects that are not there, and so many are found in each of them, and in each default."""
_ADDED = "moved"
"""A key, a name, or a text, that is new."""
LABEL_MAPS = frozenset({"labels", "annotations", "matchLabels", "nodeSelector", "data", "stringData"})
"""Maps, where no schema tells a map from a block."""
_FIXED = frozenset({"apiVersion", "kind", "metadata", "status"})
_KINDS = {kind: number for number, kind in enumerate(get_args(MoveKind))}
_STRINGS = _KINDS["string"]
_SCALARS = frozenset({"up", "down", "zero", "quantity", "duration", "toggle", "enum", "string"})


def set_to(sample: Manifest, path: str, value: object) -> Move | None:
    """The move that sets a field, which is named as `words` does, to this value; None when it has it already. An entry of a list
    without a number is the first. LookupError when there is nothing to set it in: no such entry of a list, or a value above it."""
    try:
        return _move(sample, _Draft(parsed(path), "set", _always(value)))
    except (IndexError, KeyError, TypeError, AttributeError) as err:
        raise LookupError(path) from err


def parsed(path: str) -> Path:
    """The keys and numbers of a path that `words` made."""
    parts = re.finditer(r'\["(?P<quoted>[^"]+)"\]|\[(?P<index>\d*)\]|(?P<key>[^.\[\]]+)', path)
    return tuple(found["quoted"] or found["key"] or int(found["index"] or 0) for found in parts)


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is done to which field.

    Attributes:
        edit: makes the new value of the old one; None: the field goes.
        unsaid: how far it is from what the sample says: 0 for that, and for what is in its maps and lists; 1 for a field beside it;
            more within objects that are not there.
        defaults: what the API server puts, and where, before it is changed.
    """

    path: Path
    kind: MoveKind
    edit: Callable[[Any], Any] | None
    unsaid: int = 0
    is_blind: bool = False
    defaults: tuple[tuple[Path, Any], ...] = ()


def find_moves(sample: Manifest, schema: Schema = ANYTHING) -> list[Move]:
    """All of them, each once; the best first. Where a user left out the spec, or wrote a key with nothing behind it, an empty
    object is meant; what is taken back is as the sample says it."""
    said = _without_nulls(sample, schema)
    meant = _without_nulls(_with_blocks({**sample, "spec": sample.get("spec")}, schema), schema)
    found: dict[str, tuple[tuple[object, ...], Move]] = {}
    for number, draft in enumerate(_primary(meant, schema)):
        move = _move(said, draft)
        if move is not None and move.name not in found:
            found[move.name] = (_rank(draft, number), move)
    return [move for _, move in sorted(found.values(), key=lambda each: each[0])]


def _rank(draft: _Draft, number: int) -> tuple[object, ...]:
    """A removal of which no schema says that it may be is worse than anything."""
    kind = _KINDS[draft.kind]
    is_later = any(isinstance(key, int) and key > 0 for key in draft.path)
    return draft.is_blind, kind >= _STRINGS, draft.unsaid, is_later, draft.path[0] == "metadata", kind, len(draft.path), number


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
    for path, value in draft.defaults:
        _around(after, path)[path[-1]] = copy.deepcopy(value)
    spot, key = _around(after, draft.path), draft.path[-1]
    was = copy.deepcopy(spot.get(key) if isinstance(spot, dict) else spot[key])
    becomes = draft.edit(was) if draft.edit is not None else None
    if draft.edit is not None:
        spot[key] = becomes
    else:
        spot.pop(key, None)
    do, undo = merge_patch(sample, after), merge_patch(after, sample)
    said = "" if draft.defaults else _shown(was)
    made = Move(path=words(draft.path), kind=draft.kind, do=do, undo=undo, was=said, becomes=_shown(becomes), blind=draft.is_blind)
    return made if do else None


def _around(tree: Any, path: Path) -> Any:  # noqa: ANN401  # JSON
    """What holds the field. What is not there is made, but for entries of lists."""
    for key, below in pairwise(path):
        if isinstance(tree, dict) and tree.get(key) is None:
            tree[key] = [] if isinstance(below, int) else {}
        tree = tree[key]
    return tree


def _shown(value: object) -> str:
    """A scalar; of anything else only that it is there, or how long it is."""
    if isinstance(value, list):
        return f"{len(value)} entries"
    if isinstance(value, dict):
        return "there"
    return "true" if value is True else "false" if value is False else "" if value is None else str(value)[:40]


# --- what the sample says --------------------------------------------------------------------------------------------------------


def _without_nulls(value: Any, schema: Schema) -> Any:  # noqa: ANN401  # JSON
    """The same without keys that have nothing behind them: the API server drops them, or puts their defaults, unless the schema
    lets them be null, or does not know them."""
    match value:
        case dict():
            below = {key: schema.below(key) for key in value}
            kept = (key for key in value if value[key] is not None or not below[key].drops_null)
            return {key: _without_nulls(value[key], below[key]) for key in kept}
        case list():
            return [_without_nulls(inner, schema.items) for inner in value]
    return value


def _with_blocks(value: Any, schema: Schema) -> Any:  # noqa: ANN401  # JSON
    """The same with an empty object behind each key that has nothing behind it and is there for one: unless the API server puts
    something there, or would refuse an empty one."""
    match value:
        case dict():
            return {key: _with_blocks(inner, schema.below(key)) for key, inner in value.items()}
        case list():
            return [_with_blocks(inner, schema.items) for inner in value]
        case None if schema.drops_null and schema.type == "object" and schema.own.get("default") is None and not schema.needed:
            return {}
    return value


# --- what can be done to each field ----------------------------------------------------------------------------------------------


def _primary(sample: Manifest, schema: Schema) -> Iterator[_Draft]:
    fields = schema.fields
    for key, value in sample.items():
        if key not in _FIXED:
            yield from _value((key,), value, fields.get(key, ANYTHING))
    yield from _unsaid((), {key: None for key in sample} | dict.fromkeys(_FIXED), schema)
    yield from _map(("metadata", "labels"), (sample.get("metadata") or {}).get("labels") or {}, ANYTHING, unsaid=1)


def _value(path: Path, value: Any, schema: Schema) -> Iterator[_Draft]:  # noqa: ANN401  # JSON
    ways = _object if isinstance(value, dict) else _list if isinstance(value, list) else _near
    return ways(path, value, schema) if len(path) <= _DEEPEST else iter(())


def _near(path: Path, value: Any, schema: Schema, *, unsaid: int = 0) -> Iterator[_Draft]:  # noqa: ANN401  # JSON
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
        yield _Draft(path, kind, _always(other), unsaid)


def _object(path: Path, value: JSON, schema: Schema) -> Iterator[_Draft]:
    if schema.values is not None or (not schema.fields and path[-1] in LABEL_MAPS):
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


def _unsaid(path: Path, said: JSON, schema: Schema, *, unsaid: int = 1) -> Iterator[_Draft]:
    """What the schema allows beside what is said, and has a value for. An object that is not there has to be complete with it: the
    API server adds what has a default."""
    for key, inner in schema.fields.items():
        if key not in said and (unsaid == 1 or schema.needed <= {key}):
            yield from _absent((*path, key), inner, unsaid)


def _absent(path: Path, schema: Schema, unsaid: int) -> Iterator[_Draft]:
    """A field that is not there. Within an object that is not there, too, only a default, an enum or an example says what fits."""
    default = schema.own.get("default")
    examples = [each for each in schema.examples if each != default]
    if examples or schema.enum:
        values = (examples or [each for each in schema.enum if each != default])[:_MOST_ENUM]
        yield from (_Draft(path, "set", _always(each), unsaid) for each in values)
    elif isinstance(default, dict | list) and default:
        # what can be changed in what the API server adds; what goes from it, it would add again
        within = (each for each in _value(path, default, schema) if each.edit is not None)
        added = (replace(each, unsaid=each.unsaid + unsaid, defaults=((path, default), *each.defaults)) for each in within)
        yield from islice(added, _MOST_WITHIN)
    elif schema.type == "boolean":
        if unsaid == 1 or default is not None:
            yield _Draft(path, "toggle", _always(default is not True), unsaid)
    elif isinstance(default, int | float | str):
        yield from _near(path, default, schema, unsaid=unsaid)
    elif schema.values is not None and path[-1] in LABEL_MAPS:
        yield from _map(path, {}, schema.values, unsaid=unsaid) if unsaid == 1 else ()
    elif unsaid <= _MOST_LEVELS:
        yield from islice(_unsaid(path, {}, schema, unsaid=unsaid + 1), _MOST_WITHIN)


def _map(path: Path, value: JSON, values: Schema, *, most: int = 1 << 30, unsaid: int = 0) -> Iterator[_Draft]:
    """A key more, one less, and another value of the first."""
    model = next(iter(value.values()), _first_value(values))
    if _ADDED not in value and model is not None and len(value) < most:
        text = "-".join((_ADDED, *map(str, path[-3:-2])))  # another in each map, so that one can see where it ends up
        new = text if isinstance(model, str) and fits(text, values) and not values.enum else model
        yield _Draft((*path, _ADDED), "map-add", _always(new), unsaid)
    for key, inner in list(value.items())[:1]:
        yield from _near((*path, key), inner, values, unsaid=unsaid)
    for key in list(value)[-1:]:
        yield _Draft((*path, key), "map-remove", None, unsaid)


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
    for number, inner in enumerate(value[:_MOST_ENTRIES]):
        if isinstance(inner, dict | list) or schema.list_type != "set":
            drafts = _value((*path, number), inner, schema.items)
            said = (each for each in drafts if each.kind in _SCALARS and not each.unsaid)
            yield from islice(said, _MOST_LATER) if number else drafts


def _another(entries: Sequence[Any], schema: Schema) -> Any:  # noqa: ANN401  # JSON
    """An entry like the last one, which can be told apart from all; None when there is no such."""
    last = entries[-1]
    if not isinstance(last, dict):
        return next((each for each in _nearby_values(last, schema.items) if each not in entries), None)
    entry = copy.deepcopy(last)
    for key in schema.list_keys or [key for key in ("name", "key", "id", "port") if key in last][:1]:
        taken = [each.get(key) for each in entries if isinstance(each, dict)]
        values = _nearby_values(last.get(key), schema.items.fields.get(key, ANYTHING))
        other = next((each for each in values if each not in taken), None)
        if other is not None:
            entry[key] = other
            break
    return entry if entry not in entries or schema.list_type not in ("set", "map") else None


def _nearby_values(value: object, schema: Schema) -> list[object]:
    """Values near this one."""
    if isinstance(value, str):
        return [other for _, other in near_text(value, schema)]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [other for _, other in near_number(value, schema)]
    return []


def _always(value: Any) -> Callable[[Any], Any]:  # noqa: ANN401  # JSON
    return lambda _: copy.deepcopy(value)
