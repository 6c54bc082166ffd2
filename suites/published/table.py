"""The table of published bugs (`bugs.yaml`): what each row says. Which rows there are, and what fields mean, is said there."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import yaml

FILE = Path(__file__).with_name("bugs.yaml")
Kind = Literal[
    "stale-cache", "duplicate", "deleted-live", "lost-update", "missed-event", "stuck-after-relist", "stuck-after-restart",
    "crash-between", "lost-answer", "status-untrue",
]  # fmt: skip
Half = Literal["a", "b"]
HALVES: Mapping[Half, str] = {"a": "open", "b": "held back"}
"""What is tuned may be tuned on the open half; the other is run only to count what is found."""


class Bug(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row. `before` and `after`: versions with and without the bug, where they are known."""

    project: str
    number: int
    link: str
    kind: Kind
    what: str
    lost: str
    before: str | None
    after: str | None
    builds: str | None
    half: Half
    published_in: str | None

    @property
    def name(self) -> str:
        return f"{self.project}#{self.number}"


def half_of(project: str, number: int) -> Half:
    """The half that a row belongs to; it is not chosen."""
    return "b" if int(hashlib.sha256(f"{project}#{number}".encode()).hexdigest()[0], 16) % 2 else "a"


def bugs(file: Path = FILE) -> Sequence[Bug]:
    """All rows. Raises msgspec.ValidationError when one lacks a field, or has one that is unknown or of the wrong type."""
    return msgspec.convert(yaml.safe_load(file.read_text()), list[Bug])
