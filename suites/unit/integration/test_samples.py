"""Samples that a schema alone gives."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.draw.mutations.schema import Schema

from ...integration.samples import entangled, filled, minimal, samples

JSON = dict[str, Any]
FIELDS: JSON = {
    "size": {"type": "integer", "minimum": 2, "maximum": 6, "multipleOf": 2},
    "mode": {"type": "string", "enum": ["A", "B"]},
    "when": {"type": "string", "format": "date-time"},
    "class": {"type": "string", "pattern": "^q[0-9]{3}z$"},
    "storage": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
    "labels": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 3}},
    "ports": {
        "type": "array",
        "minItems": 2,
        "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "on": {"type": "boolean"}}},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    },
    "either": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "few": {"type": "object", "maxProperties": 1, "minProperties": 1, "properties": {each: {"type": "string"} for each in "abc"}},
}


def schema(*required: str) -> Schema:
    spec = {"type": "object", "required": list(required), "properties": FIELDS}
    return Schema({"type": "object", "required": ["spec"], "properties": {"spec": spec, "status": {"type": "object"}}}, {})


REQUIRED = [(), ("mode",), ("class", "ports", "few", "storage"), tuple(FIELDS)]


def check(made: JSON, of: Schema) -> None:
    jsonschema.validate(made, dict(of.raw))
    assert (made["apiVersion"], made["kind"], made["metadata"]["name"]) == ("example.com/v1", "Widget", "sample")
    assert "status" not in made


@pytest.mark.parametrize("required", REQUIRED)
def test_the_least_and_the_most_are_what_the_schema_asks_for(required: tuple[str, ...]) -> None:
    of = schema(*required)
    check(minimal(of, "example.com/v1", "Widget"), of)
    check(filled(of, "example.com/v1", "Widget"), of)


@given(st.data(), st.sampled_from(REQUIRED))
def test_drawn_samples_are_what_the_schema_asks_for(data: st.DataObject, required: tuple[str, ...]) -> None:
    of = schema(*required)
    check(data.draw(samples(of, "example.com/v1", "Widget")), of)


def test_the_least_and_more() -> None:
    of = schema("mode")
    assert minimal(of, "v1", "Widget")["spec"] == {"mode": "A"}
    assert filled(of, "v1", "Widget")["spec"].keys() == FIELDS.keys()


def test_entries_of_a_list_can_be_told_apart() -> None:
    assert [each["name"] for each in minimal(schema("ports"), "v1", "Widget")["spec"]["ports"]] == ["sample", "sample-1"]


def test_a_schema_that_never_ends_gives_a_sample() -> None:
    parts: JSON = {"a": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/a"}}}}
    of = Schema({"type": "object", "properties": {"spec": {"$ref": "#/components/schemas/a"}}}, parts)
    assert filled(of, "v1", "Widget")["spec"]


def test_where_everything_may_be_nothing_is_made() -> None:
    fields = {"free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, "any": {"x-kubernetes-int-or-string": True}}
    of = Schema({"properties": {"spec": {"type": "object", "required": ["free", "any"], "properties": fields}}}, {})
    assert minimal(of, "v1", "Widget")["spec"] == {"free": {}, "any": 1}


RULED: JSON = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"type": "string", "enum": ["Service", "Other"]},
        "mode": {"type": "string", "enum": ["Strict", "Loose"], "default": "Strict"},
        "port": {"type": "integer"},
        "refs": {"type": "array", "items": {"type": "string"}},
        "hosts": {
            "type": "array",
            "items": {"type": "string"},
            "x-kubernetes-validations": [{"rule": "self.all(h, h.startsWith('x'))"}],
        },
        "near": {"type": "string", "x-kubernetes-validations": [{"rule": "self.startsWith('/')"}]},
        "far": {"type": "string", "x-kubernetes-validations": [{"rule": "isIP(self)"}]},
    },
    "x-kubernetes-validations": [
        {"rule": "self.type == 'Service' ? has(self.port) : true"},
        {"rule": "self.mode != 'Strict' || size(self.refs) > 0"},
        {"rule": "self == oldSelf"},
    ],
}


@given(st.data())
def test_drawn_samples_meet_rules_as_far_as_they_are_understood(data: st.DataObject) -> None:
    of = Schema({"properties": {"spec": RULED}}, {})
    for made in (minimal(of, "v1", "Widget")["spec"], data.draw(samples(of, "v1", "Widget"))["spec"]):
        assert made["type"] != "Service" or "port" in made
        assert made.get("mode") == "Loose" or made["refs"]
        assert not made.get("hosts")
        assert made.get("near", "/").startswith("/")
        assert "far" not in made


def test_much_is_filled_in_beside_what_rules_name() -> None:
    assert filled(Schema({"properties": {"spec": RULED}}, {}), "v1", "Widget")["spec"].keys() >= {"type", "port", "refs", "near"}


def test_a_combination_entangles_the_fields_that_it_names() -> None:
    said = {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert entangled(Schema(said, {})) == {"a", "b"}
