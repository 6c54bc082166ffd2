"""What a kind's schema says of each field: OpenAPI v3, of a CustomResourceDefinition or of a built-in kind.

Values in, values out: the documents are read elsewhere. What no schema says, or says in CEL, is for the API server to decide.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from staleproof.core.plan.manifest import Manifest

JSON = dict[str, Any]
FieldType = Literal["integer", "number", "string", "boolean", "object", "array", ""]
_REFERENCE = "#/components/schemas/"
_MOST_REFERENCES = 20
_MATCHES = re.compile(r"self\.matches\((r?)(['\"])((?:(?!\2)[^\\]|\\.)*)\2\)")
_ESCAPED = re.compile(r"\\(.)")
_QUANTITY = "KMGTPE"
"""What patterns of quantities have, and no other pattern."""


@dataclass(frozen=True)
class Schema:
    """One field's schema. `parts` are the schemas that references name."""

    raw: Mapping[str, Any]
    parts: Mapping[str, JSON]

    @cached_property
    def own(self) -> Mapping[str, Any]:
        """What it says, with references followed and `allOf` joined. What stands beside a reference comes first."""
        found: JSON = dict(self.raw)
        for _ in range(_MOST_REFERENCES):
            if reference := found.pop("$ref", None):
                found = dict(self.parts.get(str(reference).removeprefix(_REFERENCE), {})) | found
            elif isinstance(found.get("allOf"), list) and len(found["allOf"]) == 1 and "properties" not in found:
                found = dict(found.pop("allOf")[0]) | found
            else:
                break
        return found

    def _at(self, raw: object) -> "Schema":
        return Schema(raw if isinstance(raw, dict) else {}, self.parts)

    @property
    def type(self) -> FieldType:
        """Empty when it says none: anything may be there. A number or a text is a text."""
        said = self.own.get("type")
        if said is None and (self.is_int_or_string or self.is_quantity):
            return "string"
        return said if said in ("integer", "number", "string", "boolean", "object", "array") else ""

    @property
    def is_int_or_string(self) -> bool:
        return bool(self.own.get("x-kubernetes-int-or-string")) or self.own.get("format") == "int-or-string"

    @property
    def is_quantity(self) -> bool:
        """resource.Quantity: built-in kinds name it, CustomResourceDefinitions have its pattern (controller-gen)."""
        types = [each.get("type") for each in self.own.get("oneOf") or () if isinstance(each, dict)]
        return types == ["string", "number"] or _QUANTITY in str(self.own.get("pattern"))

    @cached_property
    def fields(self) -> dict[str, "Schema"]:
        return {key: self._at(value) for key, value in (self.own.get("properties") or {}).items()}

    @cached_property
    def values(self) -> "Schema | None":
        """The schema of a map's values; None when it is no map."""
        found = self.own.get("additionalProperties")
        return self._at(found) if found and not self.own.get("properties") else None

    @cached_property
    def items(self) -> "Schema":
        return self._at(self.own.get("items"))

    def below(self, key: str) -> "Schema":
        """The schema of what is behind this key; one that says nothing where it does not know the key."""
        return self.fields.get(key) or self.values or self._at(None)

    @property
    def drops_null(self) -> bool:
        """Whether nothing, in its place, is the same as no such key."""
        return bool(self.own) and not self.own.get("nullable")

    @property
    def is_open(self) -> bool:
        """Whether fields may be there that it does not know (`x-kubernetes-preserve-unknown-fields`), or it says nothing at all."""
        return bool(self.own.get("x-kubernetes-preserve-unknown-fields")) or not self.own.keys() & {
            "type",
            "properties",
            "items",
            "additionalProperties",
            "x-kubernetes-int-or-string",
            "oneOf",
        }

    @property
    def required(self) -> Sequence[str]:
        found = self.own.get("required")
        always = ["apiVersion", "kind"] if self.own.get("x-kubernetes-embedded-resource") else []
        return always + [str(each) for each in found] if isinstance(found, list) else always

    @property
    def needed(self) -> set[str]:
        """What is required and has no default, so that a user has to say it."""
        return {each for each in self.required if self.fields.get(each, ANYTHING).own.get("default") is None}

    @property
    def enum(self) -> Sequence[object]:
        each = [said for said in self._each("enum") if isinstance(said, list)]
        return [value for value in each[0] if value not in (None, "") and all(value in other for other in each)] if each else []

    def _each(self, keyword: str) -> list[Any]:
        """What it says there itself, and what `allOf` adds."""
        return [said.get(keyword) for said in (self.own, *(self.own.get("allOf") or ())) if isinstance(said, Mapping)]

    @property
    def patterns(self) -> list[str]:
        """Its own, those that `allOf` adds, and those of plain rules."""
        said = [str(each) for each in self._each("pattern") if each]
        matches = (_MATCHES.fullmatch(rule) for rule in self.rules)
        return said + [found[3] if found[1] else _ESCAPED.sub(r"\1", found[3]) for found in matches if found]

    @property
    def format(self) -> str:
        return str(self.own.get("format") or "")

    @property
    def least(self) -> float:
        """The least number that it allows; minus infinite when it does not say."""
        found, is_integer = self.own.get("minimum"), self.type == "integer"
        if not isinstance(found, int | float):
            return -float("inf")
        return found + (1 if is_integer else 0.5) * bool(self.own.get("exclusiveMinimum"))

    @property
    def most(self) -> float:
        found, is_integer = self.own.get("maximum"), self.type == "integer"
        if not isinstance(found, int | float):
            return float("inf")
        return found - (1 if is_integer else 0.5) * bool(self.own.get("exclusiveMaximum"))

    def count(self, limit: str, otherwise: int) -> int:
        """A limit that is a count, as `minItems`."""
        found = self.own.get(limit)
        return int(found) if isinstance(found, int | float) else otherwise

    @property
    def list_type(self) -> str:
        return str(self.own.get("x-kubernetes-list-type") or ("set" if self.own.get("uniqueItems") else ""))

    @property
    def list_keys(self) -> Sequence[str]:
        """The fields that tell a list's entries apart."""
        found = self.own.get("x-kubernetes-list-map-keys")
        key = self.own.get("x-kubernetes-patch-merge-key")
        return [str(each) for each in found] if isinstance(found, list) else [str(key)] if key else []

    @property
    def examples(self) -> list[object]:
        """Values that it names: the default and the examples, in this order."""
        named = [self.own[key] for key in ("default", "example") if self.own.get(key) is not None]
        return named + [each for each in self.own.get("examples") or () if each is not None]

    @cached_property
    def rules(self) -> list[str]:
        """Its CEL expressions, with single spaces."""
        found = self.own.get("x-kubernetes-validations") or ()
        return [" ".join(str(each.get("rule", "")).split()) for each in found if isinstance(each, dict)]


ANYTHING = Schema({}, {})
"""Where no schema says anything."""


def of_crd(crd: Manifest, api_version: str) -> Schema | None:
    """The schema of one version of a CustomResourceDefinition; None when it has none, or is of another group or version."""
    spec = crd.get("spec") or {}
    group, _, name = api_version.rpartition("/")
    versions = [each for each in spec.get("versions") or () if (spec.get("group"), each.get("name")) == (group, name)]
    found = (versions[0].get("schema") or {}).get("openAPIV3Schema") if versions else None
    return Schema(found, {}) if isinstance(found, dict) and found else None


def of_openapi(document: Manifest, api_version: str, kind: str) -> Schema | None:
    """The schema of a kind in the API server's `/openapi/v3` document of its group and version; None when it is not there."""
    group, _, version = api_version.rpartition("/")
    parts = (document.get("components") or {}).get("schemas") or {}
    wanted = {"group": group, "version": version, "kind": kind}
    found = (each for each in parts.values() if wanted in (each.get("x-kubernetes-group-version-kind") or ()))
    return next((Schema(each, parts) for each in found), None)


def find_schema(crd: Manifest | None, document: Manifest | None, sample: Manifest) -> Schema:
    """The schema of a sample's kind: of its CustomResourceDefinition, or else of the API server's document; `ANYTHING` when neither
    has one."""
    found = of_crd(crd, sample["apiVersion"]) if crd else None
    return found or (of_openapi(document, sample["apiVersion"], sample["kind"]) if document else None) or ANYTHING
