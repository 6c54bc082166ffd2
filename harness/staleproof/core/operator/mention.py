"""What a manifest mentions: other objects by their names, as far as its fields tell that they are names of objects.

Kubernetes has no common way to refer to an object, only habits. A name is told by an object with `name` (and perhaps `kind`) below
a field that says what it is a name of (`secretRef: {name: db}`, `roleRef: {kind: Role, name: r}`), or by a field that says so by
itself (`secretName: db`, `secrets: [db]`). Whatever follows no such habit is not found. Metadata mentions nothing: labels often
have the name of something, and mean no object.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from staleproof.core.plan.manifest import Manifest

_NOT_READ = frozenset({"apiVersion", "kind", "metadata", "status"})
_REFERENCES = ("ref", "refs", "reference", "references")
_ALSO_CALLED = {"PersistentVolumeClaim": "claim"}


@dataclass(frozen=True, slots=True)
class Mention:
    """A name at a path. `kind` is empty where no field says it; `field` is the one that tells what it is a name of.

    `is_reference`: an object with a name is there, and not only the name.
    """

    name: str
    path: str
    field: str
    kind: str = ""
    is_reference: bool = False

    def may_mean(self, kind: str) -> bool:
        """Whether it may be the name of an object of this kind."""
        if self.kind:
            return self.kind == kind
        called, field = (kind.lower(), _ALSO_CALLED.get(kind, kind).lower()), self.field.lower()
        return any(each in field for each in called) or (self.is_reference and field.endswith(_REFERENCES))


def mentions(manifest: Manifest) -> Iterator[Mention]:
    """Every name in it that may be an object's, in the order of its fields."""
    for field, value in manifest.items():
        if field not in _NOT_READ:
            yield from _below(value, field, field)


def mentions_object(manifest: Manifest, other: Manifest) -> bool:
    """Whether it mentions the other object, by a name that it has, as what it is."""
    kind, name = other["kind"], other["metadata"]["name"]
    return any(each.name == name and each.may_mean(kind) for each in mentions(manifest))


def mentions_namespace(value: Any, namespace: str) -> bool:  # noqa: ANN401  # JSON
    """Whether anything in it is said to be in this namespace."""
    match value:
        case dict():
            told = (text for field, text in value.items() if field.lower().endswith("namespace"))
            return namespace in told or any(mentions_namespace(inner, namespace) for inner in value.values())
        case list():
            return any(mentions_namespace(inner, namespace) for inner in value)
    return False


def _below(value: Any, field: str, path: str) -> Iterator[Mention]:  # noqa: ANN401  # JSON
    match value:
        case str():
            yield Mention(value, path, field)
        case list():
            for inner in value:
                yield from _below(inner, field, f"{path}[]")
        case dict():
            if isinstance(name := value.get("name"), str):
                kind = value.get("kind")
                yield Mention(name, f"{path}.name", field, kind if isinstance(kind, str) else "", is_reference=True)
            for key, inner in value.items():
                if key not in ("name", "kind"):
                    yield from _below(inner, key, f"{path}.{key}")
