"""A kind as people name it on a command line: `Widget.example.com`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GroupKind:
    """A kind with its group, in whatever version. The core group has no name."""

    kind: str
    group: str = ""

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> "GroupKind":
        """Of an object."""
        return cls(manifest["kind"], manifest["apiVersion"].rpartition("/")[0])

    @classmethod
    def read(cls, text: str) -> "GroupKind":
        """What `str` makes of one. ValueError with what was expected when it is something else."""
        kind, dot, group = text.partition(".")
        if not kind[:1].isupper() or not kind.isalnum() or (dot and not group):
            raise ValueError("Kind.group, as Widget.example.com")
        return cls(kind, group)

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind
