"""Samples that only a schema tells of: the least that it asks for, more than that, and whatever Hypothesis draws between.

Values are likely ones, so that the API server accepts the object, and CEL rules are met as far as `cel` can read them; what a
webhook asks for is not known.
hypothesis-jsonschema is not used: it knows nothing of Kubernetes' own keywords (int-or-string, lists as maps and sets), draws texts
that fit a schema and no operator, and would bring jsonschema along.
"""

import contextlib
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import HypothesisException

from staleproof.core.plan.manifest import Manifest
from staleproof.draw.mutations.schema import JSON, Schema
from staleproof.draw.mutations.texts import fits

from .cel import met_all
from .mending import defaulted, grown, mended, named_fields

Path = tuple[str, ...]
_DEEPEST = 15
_FILLED_DEPTH = 4
_NAME, _IGNORES_CASE = "sample", "(?i)"
_FORMATS = {
    "date-time": "2030-01-01T00:00:00Z",
    "date": "2030-01-01",
    "duration": "30s",
    "uri": "https://example.com/sample",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "ip": "192.0.2.1",
    "cidr": "192.0.2.0/24",
    "byte": "c2FtcGxl",
    "email": "sample@example.com",
    "hostname": "sample.example.com",
    "uuid": "01234567-89ab-4def-8123-456789abcdef",
}
_TEXTS = (
    _NAME, "other", "Sample", "SAMPLE", "sample.example.com", "registry.example.com/sample:1.0", "https://example.com/sample",
    "30s", "1h", "10m", "1", "10", "1Gi", "1.0", "v1", "10%", "oci://example.com/sample", "ssh://git@example.com/sample", "ssh",
    "1.2.3", "http://example.com", "5.6.7.8", "192.0.2.0/24", "/sample", "*", "0 3 * * *", "* * * * *", "@daily",
    "example.com/sample", "./sample", "sample@example.com", "c2FtcGxl", "2030-01-01T00:00:00Z", "apps/v1", "a",
    "arn:aws:iam::123456789012:role/sample", "sample:sample", "registry.example.com/sample/package:v1.0.0", "1G",
    "100MB", "00:00", "Always",
)  # fmt: skip
"""Whatever a pattern may mean."""


@dataclass(frozen=True)
class _Maker:
    """`wants` is asked of each optional field, `picks` for one of several values, `matches` for a text with a rare pattern."""

    wants: Callable[[Path, Schema], bool]
    picks: Callable[[Sequence[Any]], Any]
    matches: Callable[[Schema], str]

    def make(self, schema: Schema, path: Path) -> Any:  # noqa: ANN401  # JSON
        if schema.enum:
            return self.picks(_fitting(schema.enum, schema))
        if schema.examples and schema.type not in ("object", "array"):
            return self.picks(schema.examples)
        match schema.type:
            case "object":
                return self._object(schema, path)
            case "array":
                return self._array(schema, path)
            case "integer" | "number":
                return self.picks(_numbers(schema))
            case "boolean":
                return self.picks((True, False))
            case "string":
                known = _texts(schema)
                return self.picks(known) if known else self.matches(schema)
        return {}

    def _object(self, schema: Schema, path: Path) -> JSON:
        if schema.own.get("x-kubernetes-embedded-resource"):
            return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": _NAME}}
        if schema.values is not None:
            wanted = schema.count("minProperties", 0) or self._wants(schema.values, path)
            return {_NAME: self.make(schema.values, (*path, _NAME))} if wanted and len(path) < _DEEPEST else {}
        keys = self._keys(schema, path)
        made = {key: self.make(schema.fields[key], (*path, key)) for key in keys}
        return self.ruled(made, schema, path) if schema.rules else made

    def ruled(self, made: JSON, schema: Schema, path: Path) -> JSON:
        """So that its rules are met, with more of the fields that they name."""

        def make(inner: Schema, below: Path) -> object:
            return self.make(inner, (*path, *below))

        made = mended(made, schema, make)
        named = dict.fromkeys(below[0] for below in named_fields(schema))
        free = [key for key in named if key in schema.fields and key not in made and key not in entangled(schema)]
        room = schema.count("maxProperties", len(schema.fields)) - len(made)
        return grown(made, schema, [key for key in free if self._wants(schema.fields[key], (*path, key))][: max(0, room)], make)

    def _keys(self, schema: Schema, path: Path) -> list[str]:
        """Which fields are there: those that must, and optional ones that are wanted, no more than there may be."""
        fields, unclear = schema.fields, entangled(schema) | {below[0] for below in named_fields(schema)}
        needed = [key for key in dict.fromkeys((*schema.required, *_first_alternative(schema))) if key in fields]
        free = [key for key in fields if key not in needed and key not in unclear]
        wanted = [key for key in free if self._wants(fields[key], (*path, key))]
        least, most = schema.count("minProperties", 0), schema.count("maxProperties", len(fields))
        spare = [key for key in (*free, *fields) if key not in needed and key not in wanted]
        wanted += dict.fromkeys(spare[: max(0, least - len(needed) - len(wanted))])
        return [*needed, *wanted][: max(most, len(needed))]

    def _wants(self, schema: Schema, path: Path) -> bool:
        """Whether an optional field is wanted; never a text with rules of which no value is known to meet them."""
        is_met = not schema.rules or schema.type in ("object", "array", "integer", "number", "boolean") or _is_known(schema)
        return is_met and len(path) < _DEEPEST and self.wants(path, schema)

    def _array(self, schema: Schema, path: Path) -> list[Any]:
        least = schema.count("minItems", 0)
        if not least and schema.count("maxItems", 1):
            least = int(self._wants(schema.items, path) or met_all(schema.rules, []) is False)
        made = [self.make(schema.items, (*path, "[]")) for _ in range(least)]
        made = [_apart(entry, number, schema) for number, entry in enumerate(made)]
        may_be_empty = not schema.count("minItems", 0) and met_all(schema.rules, []) is not False
        return [] if may_be_empty and schema.rules and not met_all(schema.rules, defaulted(schema, made)) else made


def minimal(schema: Schema, api_version: str, kind: str) -> Manifest:
    """What the schema requires, and nothing else. Not to be called where Hypothesis draws."""
    return _sample(_Maker(lambda path, _: False, _first, _simplest), schema, api_version, kind)


def filled(schema: Schema, api_version: str, kind: str) -> Manifest:
    """That, and what may be there besides, some levels deep, as far as no rule speaks of it. Not to be called where
    Hypothesis draws."""
    return _sample(_Maker(lambda path, _: len(path) <= _FILLED_DEPTH, _first, _simplest), schema, api_version, kind)


@st.composite
def samples(draw: st.DrawFn, schema: Schema, api_version: str, kind: str) -> Manifest:
    """Any sample of the kind; it shrinks towards the minimal one."""
    maker = _Maker(
        wants=lambda path, _: draw(st.booleans()),
        picks=lambda values: draw(st.sampled_from(values)),
        matches=lambda text: draw(_matching(text)),
    )
    return _sample(maker, schema, api_version, kind)


def _first(values: Sequence[Any]) -> Any:  # noqa: ANN401  # JSON
    return values[0]


def _sample(maker: _Maker, schema: Schema, api_version: str, kind: str) -> Manifest:
    made: Manifest = {"apiVersion": api_version, "kind": kind, "metadata": {"name": _NAME}}
    given = {*made, "status"}
    needed = {*schema.required, "spec"}
    below = {key: inner for key, inner in schema.fields.items() if key not in given}
    made |= {key: maker.make(inner, (key,)) for key, inner in below.items() if key in needed or maker.wants((key,), inner)}
    return mended(made, schema, maker.make)


def _first_alternative(schema: Schema) -> list[str]:
    """Fields of the first combination of those of which one has to be there. `oneOf: [{not: {anyOf: ...}}, ...]` allows that none
    is (Istio)."""
    may_be_none = any("not" in each for each in schema.own.get("oneOf") or () if isinstance(each, dict))
    return next(iter(_alternatives(schema)), []) if not may_be_none else []


def _alternatives(schema: Schema) -> list[list[str]]:
    """Sets of fields of which a combination says that one is to be there (`oneOf` and `anyOf` that only require)."""
    return [
        [str(name) for name in each["required"]]
        for key in ("oneOf", "anyOf")
        for each in schema.own.get(key) or ()
        if isinstance(each, dict) and isinstance(each.get("required"), list)
    ]


def entangled(schema: Schema) -> set[str]:
    """Fields that combinations name: whether they go together is not for us to say."""
    named = {name for names in _alternatives(schema) for name in names}
    denied = (schema.own.get("not") or {}).get("required") or ()
    return named | {str(name) for name in denied}


def _is_known(schema: Schema) -> bool:
    """Whether there is a value for a text with rules."""
    return bool(_meant(schema)) or any(met_all(schema.rules, each) for each in schema.enum or schema.examples or _texts(schema))


def _meant(schema: Schema) -> str:
    """What the rules of a text are plainly about."""
    rules = " ".join(schema.rules)
    return "30s" if "duration(" in rules else _FORMATS["uri"] if "url(" in rules.lower() or "://" in rules else ""


def _apart(entry: Any, number: int, schema: Schema) -> Any:  # noqa: ANN401  # JSON
    """Another entry each time: lists as sets and maps have none twice."""
    if not number:
        return entry
    if isinstance(entry, dict):
        return entry | {key: _apart(entry[key], number, schema) for key in schema.list_keys or ("name",) if key in entry}
    return f"{entry}-{number}" if isinstance(entry, str) else entry + number if isinstance(entry, int | float) else entry


def _fitting(values: Sequence[Any], schema: Schema) -> Sequence[Any]:
    """Those that are not known to break a rule; all when each is."""
    return [each for each in values if met_all(schema.rules, each) is not False] or values


def _numbers(schema: Schema) -> list[float]:
    step = schema.own.get("multipleOf") or 1
    least = schema.least if schema.least > -float("inf") else 0
    found = [1, least, 10, schema.most if schema.most < float("inf") else 5]
    fitting = [each for each in _fitting(found, schema) if schema.least <= each <= schema.most and each % step == 0]
    return fitting or [-(-least // step) * step]


def _texts(schema: Schema) -> list[Any]:
    """Values of a text; none when its pattern fits no usual one."""
    if schema.is_quantity:
        return ["1Gi", "1", "2Gi"]
    if schema.is_int_or_string:
        return [1, 2]
    if schema.format in _FORMATS:
        return [_FORMATS[schema.format]]
    if meant := _meant(schema):
        return [meant]
    found = [text for text in _TEXTS if fits(text, schema) and met_all(schema.rules, text) is not False]
    if not schema.patterns:
        least = schema.count("minLength", 0)
        return found[:2] or [_NAME.ljust(least, "e")[: schema.count("maxLength", max(least, len(_NAME)))]]
    return list(found[:3])


def _simplest(schema: Schema) -> str:
    """A simple text that fits the patterns, as Hypothesis begins with such; an ordinary one where Python cannot read them."""
    known = settings(
        database=None, derandomize=True, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck)
    )
    with contextlib.suppress(HypothesisException):
        return find(_matching(schema), lambda _: True, settings=known)
    return next(itertools.chain((text for text in _TEXTS if len(text) >= schema.count("minLength", 0)), (_NAME,)))


def _matching(schema: Schema) -> st.SearchStrategy[str]:
    """Texts that fit the patterns."""
    patterns = _readable(schema.patterns)
    texts = st.from_regex(patterns[0]) if patterns else st.sampled_from(_TEXTS)
    return texts.filter(lambda text: fits(text, schema) and text.isprintable())


def _readable(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    """Those that Python can read, which are all but few: they are written for Go, which allows `(?i)` anywhere, and whose classes
    are ASCII."""
    found = []
    for pattern in patterns:
        flags = re.ASCII | (re.IGNORECASE if _IGNORES_CASE in pattern else re.RegexFlag(0))
        with contextlib.suppress(re.error, OverflowError):
            found.append(re.compile(pattern.replace(_IGNORES_CASE, ""), flags))
    return found
