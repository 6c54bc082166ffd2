"""Which kinds there are once a document is applied: that of a CustomResourceDefinition, and those that a controller makes one for,
because another object asks for that (Crossplane's CompositeResourceDefinition, Gatekeeper's ConstraintTemplate).

There is no common way to ask for a kind, either. Such an object names a kind, and no object of it: `names: {kind: Shop}`,
`schema: {apiVersion: v1, kind: Shop, spec: …}`. So does what is merely about a kind (`parameters: {kind: Shop}`); only of a
kind that nothing else defines it is taken for the first. A reference to a kind (`compositeTypeRef: {kind: Shop}`) asks for none,
but what has one belongs to that kind: a Composition says what is made of a Shop.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.operator.mention import NOT_READ, REFERENCES
from staleproof.core.plan.manifest import Manifest

CRD = "CustomResourceDefinition"


def defined(definition: Manifest) -> GroupKind | None:
    """The kind that a CustomResourceDefinition defines; None when it is incomplete, which the API server will report."""
    spec = definition.get("spec") or {}
    kind = (spec.get("names") or {}).get("kind")
    return GroupKind(kind, str(spec.get("group", ""))) if isinstance(kind, str) else None


def asks_for(manifest: Manifest) -> frozenset[GroupKind]:
    """The kinds that it may ask for; without a group where it says none."""
    return frozenset(kind for kind, field in _named(manifest) if not field.lower().endswith(REFERENCES))


def is_about(manifest: Manifest) -> frozenset[GroupKind]:
    """The kinds that it may be about, those that it may ask for among them."""
    return frozenset(kind for kind, _ in _named(manifest))


def is_asked_for(kind: GroupKind, kinds: Iterable[GroupKind]) -> bool:
    """Whether a kind is among those that a document asks for. What Kubernetes itself has, no document need ask for."""
    return not is_built_in(kind.group) and any(each.kind == kind.kind and each.group in ("", kind.group) for each in kinds)


def is_built_in(group: str) -> bool:
    """Whether Kubernetes itself has the kinds of this group."""
    return "." not in group or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"))


def _named(manifest: Manifest) -> Iterator[tuple[GroupKind, str]]:
    """Other kinds that it names, with the field in which it does."""
    if manifest["kind"] != CRD:
        inner = [value for field, value in manifest.items() if field not in NOT_READ]
        yield from (each for each in _kinds(inner, "") if each[0].kind != manifest["kind"])


def _kinds(value: Any, field: str) -> Iterator[tuple[GroupKind, str]]:  # noqa: ANN401  # JSON
    match value:
        case list():
            for inner in value:
                yield from _kinds(inner, field)
        case dict():
            if isinstance(kind := value.get("kind"), str) and not _is_object(value):
                yield GroupKind(kind, _group(value)), field
            for key, inner in value.items():
                yield from _kinds(inner, key)


def _is_object(value: dict[str, Any]) -> bool:
    """Whether it is one, or names one, and not only its kind."""
    metadata = value.get("metadata")
    return isinstance(value.get("name"), str) or (isinstance(metadata, dict) and bool(metadata.keys() & {"name", "generateName"}))


def _group(value: dict[str, Any]) -> str:
    said = [value.get("group"), value.get("apiGroup"), str(value.get("apiVersion") or "").rpartition("/")[0]]
    return next((each for each in said if isinstance(each, str) and each), "")
