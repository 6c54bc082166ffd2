"""Schemas of CustomResourceDefinitions and of built-in kinds."""

from typing import Any

from staleproof.draw.mutations.schema import ANYTHING, Schema, find_schema, of_crd, of_openapi

JSON = dict[str, Any]


def crd(*versions: tuple[str, JSON | None]) -> JSON:
    return {
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget"},
            "versions": [{"name": name, **({"schema": {"openAPIV3Schema": said}} if said else {})} for name, said in versions],
        },
    }


SAMPLE: JSON = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
V1: JSON = {"type": "object", "properties": {"spec": {"type": "integer"}}}
V2: JSON = {"type": "object", "properties": {"spec": {"type": "string"}}}
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
DOCUMENT: JSON = {
    "components": {
        "schemas": {
            "api.Widget": {
                "type": "object",
                "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/api.Spec"}], "default": {}}},
                "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Widget"}],
            },
            "api.Spec": {
                "type": "object",
                "properties": {
                    "size": {"$ref": f"#/components/schemas/{QUANTITY}"},
                    "inner": {"$ref": "#/components/schemas/api.Spec"},
                },
            },
            QUANTITY: {"oneOf": [{"type": "string"}, {"type": "number"}]},
        }
    }
}


def test_each_version_of_a_crd_has_a_schema_of_its_own() -> None:
    definition = crd(("v1", V1), ("v2", V2), ("v3", None))
    found = [of_crd(definition, f"example.com/{version}") for version in ("v1", "v2", "v3", "v4")]
    assert [each.fields["spec"].type if each else None for each in found] == ["integer", "string", None, None]
    assert of_crd(definition, "other.com/v1") is None


def test_a_crd_without_a_schema_says_nothing() -> None:
    assert find_schema(crd(("v1", None)), None, SAMPLE) is ANYTHING
    assert ANYTHING.type == ""
    assert ANYTHING.is_open


def test_built_in_kinds_are_found_by_group_version_and_kind() -> None:
    found = of_openapi(DOCUMENT, "example.com/v1", "Widget")
    assert found == find_schema(None, DOCUMENT, SAMPLE)
    assert found is not None
    assert found.fields["spec"].fields["size"].is_quantity
    assert found.fields["spec"].fields["inner"].fields["inner"].fields["size"].is_quantity
    assert of_openapi(DOCUMENT, "example.com/v2", "Widget") is None


def test_a_reference_to_itself_ends() -> None:
    endless: JSON = {"a": {"$ref": "#/components/schemas/a"}}
    assert Schema({"$ref": "#/components/schemas/a"}, endless).type == ""


def test_a_reference_to_nothing_says_nothing() -> None:
    assert Schema({"$ref": "#/components/schemas/gone"}, {}).type == ""


def test_an_enum_may_be_said_twice() -> None:
    assert Schema({"type": "string", "enum": ["", "a", "b"], "allOf": [{"enum": ["b", "c"]}, {"pattern": "b"}]}, {}).enum == ["b"]
