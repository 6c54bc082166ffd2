"""What makes an object meet its CEL rules."""

from typing import Any

import pytest

from staleproof.draw.mending import grown, mended
from staleproof.draw.schema import Schema

JSON = dict[str, Any]
TEXT: JSON = {"type": "string"}
FIELDS: JSON = {
    "a": TEXT,
    "b": TEXT,
    "c": TEXT,
    "mode": {"type": "string", "enum": ["X", "Y"], "default": "X"},
    "on": {"type": "boolean"},
    "list": {"type": "array", "items": TEXT},
    "ref": {"type": "object", "properties": {"name": TEXT, "namespace": TEXT}},
}


def schema(*rules: str, required: tuple[str, ...] = ()) -> Schema:
    return Schema(
        {"properties": FIELDS, "required": list(required), "x-kubernetes-validations": [{"rule": each} for each in rules]}, {}
    )


def make(inner: Schema, path: tuple[str, ...]) -> object:
    return {"array": [], "object": {}, "boolean": False}.get(inner.type, ".".join(path))


@pytest.mark.parametrize(
    ("rules", "value", "expected"),
    [
        (["has(self.a) || has(self.b)"], {}, {"a": "a"}),
        (["has(self.a) || has(self.b)"], {"b": "1"}, {"b": "1"}),
        (["has(self.a) != has(self.b)"], {"a": "1", "b": "2"}, {"b": "2"}),
        (["has(self.a) && has(self.b) && has(self.c)"], {}, {"a": "a", "b": "b", "c": "c"}),
        (["self.mode == 'X' ? has(self.a) : true"], {}, {"a": "a"}),
        (["self.mode == 'Y'"], {"mode": "X"}, {"mode": "Y"}),
        (["!self.on"], {"on": True}, {"on": False}),
        (["self.a == 'Z' && has(self.b)"], {"a": "1"}, {"a": "Z", "b": "b"}),
        (["size(self.list) > 0"], {"list": []}, {"list": ["list.[]"]}),
        (
            ["has(self.ref.name) && has(self.ref.__namespace__)"],
            {"ref": {}},
            {"ref": {"name": "ref.name", "namespace": "ref.namespace"}},
        ),
        (["self.a == oldSelf.a", "has(self.b)"], {}, {"b": "b"}),
        (["self.a == 'X' && self.a == 'Y'"], {"a": "1"}, {"a": "1"}),  # nothing helps
    ],
)
def test_mended(rules: list[str], value: JSON, expected: JSON) -> None:
    before = repr(value)
    assert mended(value, schema(*rules), make) == expected
    assert repr(value) == before


def test_what_is_required_stays() -> None:
    assert mended({"a": "1", "b": "2"}, schema("has(self.a) != has(self.b)", required=("a",)), make) == {"a": "1"}
    assert mended({"a": "1", "b": "2"}, schema("has(self.a) != has(self.b)", required=("b",)), make) == {"b": "2"}


def test_grown_as_far_as_all_rules_are_known_to_be_met() -> None:
    assert grown({"a": "1"}, schema("!(has(self.a) && has(self.b))"), ["b", "c"], make) == {"a": "1", "c": "c"}
    assert grown({"a": "1"}, schema("quantity(self.c).isInteger()"), ["c"], make) == {"a": "1"}
