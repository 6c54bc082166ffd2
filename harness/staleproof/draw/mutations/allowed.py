"""What the user says of moves: which fields may be changed, which not, and which values are tried besides."""

import difflib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from staleproof.core.fault.model import Value
from staleproof.core.kubernetes_yaml import document
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.move import Move
from staleproof.core.plan.plan import PlanError, converted
from staleproof.core.wording import not_yaml
from staleproof.draw.mutations.sample_moves import find_moves, set_to, words
from staleproof.draw.mutations.schema import ANYTHING, Schema

_SCHEMA_DEPTH = 10
_WIDTH = 40
_INDEX = re.compile(r"\[\d*\]")


class MutationError(ValueError):
    """What was said of moves cannot be read, or names a field that there is not; the message says where."""


class Extension(Value, frozen=True, kw_only=True):
    """Values that a field is set to, whatever the schema names."""

    path: str
    values: tuple[Any, ...]


class Mutations(Value, frozen=True, kw_only=True):
    """A path stands for the field and all within it: `spec.template`, `spec.ports[].name`, `metadata.labels`.

    Attributes:
        only: nothing but these fields is changed; empty means all.
        forbid: these are not.
        extend: values that are tried first.
    """

    only: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    extend: tuple[Extension, ...] = ()


def read(text: str) -> Mutations:
    """From a YAML document. MutationError when it is something else."""
    try:
        raw = document(text)
    except yaml.YAMLError as err:
        raise MutationError(not_yaml(err)) from err
    if not isinstance(raw, dict):
        raise MutationError(f"expected only, forbid or extend, found {'nothing' if raw is None else type(raw).__name__}")
    try:
        return converted(raw, Mutations, lambda _: [])
    except PlanError as err:
        raise MutationError(str(err)) from err


@dataclass(frozen=True, slots=True)
class Allowed:
    """What of a sample may be changed. `own`: with the user's values. `idle`: in words, what the user said that changes nothing."""

    own: tuple[Move, ...]
    found: tuple[Move, ...]
    idle: tuple[str, ...] = ()


def raise_unknown(samples: Sequence[tuple[Manifest, Schema]], mutations: Mutations) -> None:
    """MutationError when a path is a field of none of these samples, nor of their schemas."""
    known = set[str]().union(*(_known(sample, schema) for sample, schema in samples))
    of = "it or of its schema" if len(samples) == 1 else "them or of their schemas"
    if wrong := [f"{word}: {path!r} is no field of {of}{_meant(path, known)}" for word, path in _unknown(mutations, known)]:
        raise MutationError(f"{', '.join(_name(sample) for sample, _ in samples)}: {'; '.join(wrong)}")


def allowed_moves(sample: Manifest, schema: Schema, mutations: Mutations) -> Allowed:
    """The sample's moves as far as the user allows them. What is a field of other samples changes nothing in this one."""
    whose, every = _name(sample), find_moves(sample, schema)
    unknown = _unknown(mutations, _known(sample, schema))
    foreign = {path for _, path in unknown}
    own, idle = _extended(sample, [each for each in mutations.extend if each.path not in foreign], whose)
    names = {move.name for move in own}
    found = tuple(move for move in every if move.name not in names and _is_allowed(move.path, mutations))
    idle += [f"{word}: {path!r} is no field of {whose} or of its schema" for word, path in unknown]
    idle += [
        f"only: {path!r} allows no change of {whose}: neither sample nor schema gives another value for anything in it, or it is "
        "forbidden; give values with extend, or name the field around it"
        for path in mutations.only
        if path not in foreign and not any(_is_within(move.path, path) for move in (*own, *found))
    ]
    return Allowed(tuple(own), found, tuple(idle))


def _name(sample: Manifest) -> str:
    return f"{sample['kind']}/{sample['metadata']['name']}"


def _extended(sample: Manifest, extensions: Sequence[Extension], whose: str) -> tuple[list[Move], list[str]]:
    """The moves with the user's values; and in words, those of which none could be made."""
    own, idle = [], []
    for each in extensions:
        if not each.values:
            idle.append(f"extend: {each.path!r} has no values; give some")
        for value in each.values:
            try:
                move = set_to(sample, each.path, value)
            except LookupError:
                idle.append(
                    f"extend: {each.path!r} cannot be set, because {whose} has no such entry of a list, or a plain value above it; "
                    "put it into the sample, or extend what is above it"
                )
                break
            if move is None:
                idle.append(
                    f"extend: {each.path!r} is {json.dumps(value, default=str)[:_WIDTH]} in {whose} already; give another value"
                )
            else:
                own.append(move)
    return own, idle


def _is_allowed(path: str, mutations: Mutations) -> bool:
    is_chosen = not mutations.only or any(_is_within(path, each) for each in mutations.only)
    return is_chosen and not any(_is_within(path, each) or _is_within(each, path) for each in mutations.forbid)


def _is_within(path: str, field: str) -> bool:
    inner, outer = _plain(path), _plain(field)
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


def _plain(path: str) -> str:
    """All entries of a list alike."""
    return _INDEX.sub("[]", path)


def _known(sample: Manifest, schema: Schema) -> set[str]:
    """All fields of a sample and its schema."""
    moved = {_plain(move.path) for move in find_moves(sample, schema)}
    return {*_said(sample, ()), *_allowed(schema, "", _SCHEMA_DEPTH), "metadata.labels", "metadata.labels.*"} | moved


def _unknown(mutations: Mutations, known: Collection[str]) -> list[tuple[str, str]]:
    """The paths that are none of these fields, each with the word that it is said under."""
    extended = tuple(each.path for each in mutations.extend)
    named = {"only": mutations.only, "forbid": mutations.forbid, "extend": extended}
    return [(word, path) for word, paths in named.items() for path in paths if not _is_known(_plain(path), known)]


def _is_known(plain: str, known: Collection[str]) -> bool:
    return plain in known or any(each.endswith(".*") and _is_within(plain, each[:-2]) for each in known)


def _meant(path: str, known: Collection[str]) -> str:
    """The field that may be meant, in words; empty when none is like it."""
    close = difflib.get_close_matches(_plain(path), sorted(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _said(value: object, path: tuple[str | int, ...]) -> Iterator[str]:
    if path:
        yield _plain(words(path))
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from _said(each, (*path, key))


def _allowed(schema: Schema, path: str, depth: int) -> Iterator[str]:
    """What may be there: entries of lists are `[]`, those of maps `*`, and so is whatever is in a field that may hold anything."""
    if depth == 0:
        return
    below = {f"{path}.{key}".removeprefix("."): inner for key, inner in schema.fields.items()}
    if schema.type == "array":
        below[f"{path}[]"] = schema.items
    if schema.values is not None:
        below[f"{path}.*"] = schema.values
    if path and schema.is_open and schema.own != ANYTHING.own:
        yield f"{path}.*"
    for inner_path, inner in below.items():
        yield inner_path
        yield from _allowed(inner, inner_path, depth - 1)
