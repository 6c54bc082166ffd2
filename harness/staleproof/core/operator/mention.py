"""What a manifest mentions: other objects by their names, as far as its fields say that they are names of objects.

Kubernetes has no common way to refer to an object, only habits. An object states a name with `name` (and perhaps `kind`) below
a field that says what it is a name of (`secretRef: {name: db}`, `roleRef: {kind: Role, name: r}`), or with a field that says so by
itself (`secretName: db`, `secrets: [db]`). It is suggested by a field with the last word of its kind (`queueName: q`, of a
LocalQueue), and by a label or an annotation of that kind's own API group. Any other word may happen to be a name (`tier: gold`):
that is for the caller to weigh. Other labels often have the name of something, and mean no object; status mentions nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.plan.manifest import Manifest

NOT_READ = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Fields of a document in which no other one is mentioned."""
REFERENCES = ("ref", "refs", "reference", "references")
"""How a field ends that refers to an object."""
_ALSO_CALLED = {"PersistentVolumeClaim": "claim"}
_LABELS = ("labels", "annotations")
_NO_OBJECTS = frozenset(
    {"containers", "initContainers", "ephemeralContainers", "env", "ports", "volumes", "volumeMounts"}
    | {"selector", "matchLabels", "nodeSelector", *_LABELS}
)
"""Below these a name is that of a part of the object itself, or a label."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


class Means(IntEnum):
    """How sure it is that a name means an object."""

    PERHAPS = 1
    SUGGESTED = 2
    STATED = 3


@dataclass(frozen=True, slots=True)
class Mention:
    """A name, below these fields. `kind` is empty where no field says it; `field` is the one that says what it is a name of.

    `is_reference`: an object with a name is there, and not only the name; `is_label`: it is the value of a label or an annotation.
    """

    name: str
    fields: tuple[str, ...]
    kind: str = ""
    is_reference: bool = False
    is_label: bool = False

    @property
    def path(self) -> str:
        return ".".join(self.fields)

    @property
    def field(self) -> str:
        return self.fields[-2 if self.is_reference else -1].removesuffix("[]")

    def may_mean(self, kind: str) -> bool:
        """Whether it is stated to be the name of an object of this kind."""
        if self.kind or self.is_label:
            return self.kind == kind
        called, field = (kind.lower(), _ALSO_CALLED.get(kind, kind).lower()), self.field.lower()
        return any(each in field for each in called) or (self.is_reference and field.endswith(REFERENCES))

    def means(self, kind: GroupKind) -> Means | None:
        """How sure it is that an object of this kind is meant, if it has that name; None: it is not."""
        if self.is_label:
            return Means.SUGGESTED if _are_related(self.fields[-1].partition("/")[0], kind.group) else None
        if self.may_mean(kind.kind):
            return Means.STATED
        if self.kind or not _NO_OBJECTS.isdisjoint(each.removesuffix("[]") for each in self.fields):
            return None
        if self._has_last_word_of(kind.kind):
            return Means.SUGGESTED
        is_entrys_own = self.is_reference and self.fields[-2].endswith("[]")  # as `listeners: [{name: web}]`
        return None if is_entrys_own else Means.PERHAPS

    def _has_last_word_of(self, kind: str) -> bool:
        """Whether the field, or the one around it, has it: the flavor in `flavors: [{name: spot}]`."""
        *_, last = _words(kind)
        forms = {last, f"{last}s", f"{last}es", f"{last[:-1]}ies"}
        return not forms.isdisjoint(word for each in self.fields[-2:] for word in _words(each))


def mentions(manifest: Manifest) -> Iterator[Mention]:
    """Every word in it that may be an object's name, in the order of its fields; then labels and annotations that another API
    group has a say in."""
    for field, value in manifest.items():
        if field not in NOT_READ:
            yield from _below(value, (field,))
    yield from _labels(manifest, ())


def mentions_namespace(value: Any, namespace: str) -> bool:  # noqa: ANN401  # JSON
    """Whether anything in it is said to be in this namespace."""
    match value:
        case dict():
            namespaces = (text for field, text in value.items() if field.lower().endswith("namespace"))
            return namespace in namespaces or any(mentions_namespace(inner, namespace) for inner in value.values())
        case list():
            return any(mentions_namespace(inner, namespace) for inner in value)
    return False


def _below(value: Any, fields: tuple[str, ...]) -> Iterator[Mention]:  # noqa: ANN401  # JSON
    match value:
        case str():
            yield Mention(value, fields)
        case list():
            for inner in value:
                yield from _below(inner, (*fields[:-1], f"{fields[-1]}[]"))
        case dict():
            if isinstance(name := value.get("name"), str):
                kind = value.get("kind")
                yield Mention(name, (*fields, "name"), kind if isinstance(kind, str) else "", is_reference=True)
            for key, inner in value.items():
                if key not in ("name", "kind", *_LABELS):  # those of a template, too: `_labels` reads them
                    yield from _below(inner, (*fields, key))


def _labels(value: Any, fields: tuple[str, ...]) -> Iterator[Mention]:  # noqa: ANN401  # JSON
    """Those with a domain in their key, wherever metadata are."""
    match value:
        case list():
            for inner in value:
                yield from _labels(inner, fields)
        case dict():
            for key, inner in value.items():
                if key in _LABELS and isinstance(inner, dict):
                    yield from (
                        Mention(text, (*fields, key, label), is_label=True)
                        for label, text in inner.items()
                        if isinstance(text, str) and "/" in label
                    )
                elif key != "status":
                    yield from _labels(inner, (*fields, key))


def _are_related(domain: str, group: str) -> bool:
    """Whether a label's domain is that of an API group, or one of the two is a part of the other."""
    return "." in group and (domain == group or group.endswith(f".{domain}") or domain.endswith(f".{group}"))


def _words(name: str) -> list[str]:
    """Of a name in camel case, in lower case."""
    return [word.lower() for word in _WORD.findall(name)] or [""]
