"""What makes an object meet its CEL rules."""

from typing import Any

import pytest

from staleproof.draw.mutations.schema import Schema

from ...integration.mending import defaulted, grown, mended, named_fields

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


def test_the_fields_that_rules_name_are_paths_and_those_above_come_first() -> None:
    rule = {"rule": "self.c > 1 && has(self.d.e) && self.f.size() > self.size()"}
    assert named_fields(Schema({"x-kubernetes-validations": [rule]}, {})) == [("c",), ("f",), ("d", "e")]


def test_defaults_are_filled_in_wherever_they_are() -> None:
    part = {"properties": {"a": {"default": 1}, "b": {"default": {}, "properties": {"c": {"default": "x"}}}}}
    said = Schema({"properties": {"list": {"items": part}, "map": {"additionalProperties": part}}}, {})
    full = {"a": 1, "b": {"c": "x"}}
    assert defaulted(said, {"list": [{}, {"a": 2}], "map": {"k": {}}}) == {"list": [full, full | {"a": 2}], "map": {"k": full}}
