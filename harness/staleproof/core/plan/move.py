"""A move: one change of a primary that a user might make, and the change that takes it back."""

from typing import Literal

from staleproof.core.fault.model import Value
from staleproof.core.plan.manifest import Manifest

MoveKind = Literal[
    "up", "down", "zero", "quantity", "duration", "toggle", "enum", "remove-block", "remove-entry", "append-entry", "reorder",
    "map-add", "map-remove", "set", "string", "remove-value",
]  # fmt: skip
"""In the order in which moves are tried, all else being equal. `set`: an example of what was not there."""
Liveness = Literal["", "at once", "later"]


class Move(Value, frozen=True, kw_only=True):
    """A change of one field, as JSON merge patches: lists are replaced whole.

    Attributes:
        path: the field, e.g. `spec.template.spec.containers[0].image`.
        kind: what is done to it.
        do: the patch of the sample.
        undo: the patch that takes it back.
        was: what the sample says there, in a few words; empty when it says nothing.
        becomes: what is there instead.
        live: when the controller passes it on to anything but the primary: at once, or with what it creates later. Empty: it was
            not seen to.
        blind: no schema says that what goes may be gone.
        returns: it can be taken back: the API server was not seen to refuse that, as it does where a value may only grow. Of what
            the controller was not seen to pass on it is asked about little; what it was not asked about does not count as such.
    """

    path: str
    kind: MoveKind
    do: Manifest
    undo: Manifest
    was: str = ""
    becomes: str = ""
    live: Liveness = ""
    blind: bool = False
    returns: bool = True

    @property
    def name(self) -> str:
        """Tells it apart from every other move of the sample."""
        return f"{self.kind} {self.path}" + (f" = {self.becomes}" if self.kind in ("enum", "set", "quantity") else "")

    @property
    def is_label(self) -> bool:
        """It changes labels or annotations, which may always be taken back."""
        return self.path.startswith("metadata.")

    def __str__(self) -> str:
        change = " → ".join(filter(None, (self.was, self.becomes)))
        return f"{self.path} {self.kind}" + (f" ({change})" if change else "")


def merge_patch(before: Manifest, after: Manifest) -> Manifest:
    """The JSON merge patch that makes one of the other (RFC 7386). Neither may hold null."""
    patch: Manifest = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            if inner := merge_patch(old, value):
                patch[key] = inner
        elif key not in before or type(old) is not type(value) or old != value:  # 1 is not true
            patch[key] = value
    return patch


def merged(base: Manifest, patch: Manifest) -> Manifest:
    """What a JSON merge patch makes of an object (RFC 7386)."""
    result = {key: value for key, value in base.items() if not (key in patch and patch[key] is None)}
    for key, value in patch.items():
        if isinstance(value, dict):
            inner = result.get(key)
            result[key] = merged(inner if isinstance(inner, dict) else {}, value)
        elif value is not None:
            result[key] = value
    return result


def collide(one: Manifest, other: Manifest) -> bool:
    """Whether two merge patches change the same field, or one a field within what the other replaces."""
    pairs = ((one[key], other[key]) for key in one.keys() & other.keys())
    return any(not (isinstance(a, dict) and isinstance(b, dict)) or collide(a, b) for a, b in pairs)
