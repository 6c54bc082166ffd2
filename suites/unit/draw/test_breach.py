"""Changes that the API server would refuse for what a schema says above the changed field."""

from typing import Any

import pytest

from staleproof.draw.breach import breaks
from staleproof.draw.schema import Schema

JSON = dict[str, Any]


def ruled(rule: str, **said: Any) -> JSON:  # noqa: ANN401  # JSON Schema
    return {"properties": {"a": {}, "b": {}, "mode": {"default": "X"}}, "x-kubernetes-validations": [{"rule": rule}], **said}


@pytest.mark.parametrize(
    ("schema", "before", "after", "expected"),
    [
        (ruled("has(self.a)"), {"a": 1}, {}, True),
        (ruled("has(self.a)"), {"a": 1}, {"a": 2}, False),
        (ruled("has(self.a) && has(self.b)"), {"a": 1}, {}, False),  # it was broken before, and the sample is there
        (ruled("self.mode == 'X'"), {}, {"mode": "Y"}, True),
        (ruled("self.mode == 'X'"), {}, {"mode": "X"}, False),
        (ruled("self.a >= oldSelf.a"), {"a": 2}, {"a": 1}, True),
        (ruled("self.a >= oldSelf.a"), {"a": 1}, {"a": 2}, False),
        (ruled("quantity(self.a).isInteger()"), {"a": 1}, {"a": 2}, False),
        ({"minProperties": 1}, {"a": 1}, {}, True),
        ({"maxProperties": 1}, {"a": 1}, {"a": 1, "b": 2}, True),
        ({}, {"a": 1}, {}, False),
    ],
)
def test_of_the_object(schema: JSON, before: JSON, after: JSON, expected: bool) -> None:  # noqa: FBT001  # a row
    assert breaks(Schema(schema, {}), before, after, ["a"]) is expected
    above = Schema({"properties": {"list": {"items": {"additionalProperties": schema}}}}, {})
    assert breaks(above, {"list": [{"k": before}]}, {"list": [{"k": after}]}, ["list", 0, "k", "a"]) is expected


def test_entries_of_a_list() -> None:
    unique = "self.all(x, self.exists_one(y, x == y))"
    schema = Schema({"properties": {"list": {"minItems": 1, "x-kubernetes-validations": [{"rule": unique}]}}}, {})
    assert breaks(schema, {"list": [1]}, {"list": [1, 1]}, ["list"])
    assert breaks(schema, {"list": [1]}, {"list": []}, ["list"])
    assert not breaks(schema, {"list": [1]}, {"list": [1, 2]}, ["list"])


def test_what_was_not_there_has_to_keep_the_rules_too() -> None:
    schema = Schema({"properties": {"o": {**ruled("has(self.a) || has(self.b)"), "maxProperties": 2}}}, {})
    assert breaks(schema, {}, {"o": {"mode": "Y"}}, ["o", "mode"])
    assert not breaks(schema, {}, {"o": {"a": 1}}, ["o", "a"])
    assert breaks(schema, {}, {"o": {"a": 1, "b": 2, "mode": "Y"}}, ["o", "a"])


def test_a_rule_of_what_was_not_there_is_not_about_a_change() -> None:
    schema = Schema({"properties": {"a": {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}}, {})
    assert not breaks(schema, {}, {"a": 1}, ["a"])
    assert not breaks(schema, {"a": 1}, {}, ["a"])
    assert breaks(schema, {"a": 1}, {"a": 2}, ["a"])
