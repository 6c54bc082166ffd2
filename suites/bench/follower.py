"""Checks that a client of watches receives every event exactly once and in order. Frames in, flaws out; no sockets.

Every object has one writer, which counts its writes in `data.number`: the numbers that a client is shown of an object must be
consecutive, across all its streams. Revisions must rise, from one stream to the next as well.
"""

from collections.abc import Mapping

import msgspec

_INITIAL_END = "k8s.io/initial-events-end"


class _Metadata(msgspec.Struct):
    name: str = ""
    resourceVersion: str = "0"
    annotations: dict[str, str] = {}


class _Data(msgspec.Struct):
    number: str = "0"


class Written(msgspec.Struct):
    """The part of an object that matters here; only a Status has a `message`."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    data: _Data = msgspec.field(default_factory=_Data)
    message: str = ""

    @property
    def revision(self) -> int:
        return int(self.metadata.resourceVersion)

    @property
    def number(self) -> int:
        return int(self.data.number)


class Shown(msgspec.Struct):
    """One frame."""

    type: str
    object: Written


read_frame = msgspec.json.Decoder(Shown).decode
read_object = msgspec.json.Decoder(Written).decode


class Follower:
    """What one client knows: the `numbers` of the objects, and the `revision` to resume from.

    `initial`: it knows nothing yet, and its stream begins with the current state (WatchList).
    """

    def __init__(self, *, numbers: Mapping[str, int] | None = None, revision: int = 0) -> None:
        self.initial = numbers is None
        self.numbers, self.revision = dict(numbers or {}), revision
        self.flaws: list[str] = []

    def begin(self) -> None:
        """Prepare for a new stream: an initial state that came incompletely is forgotten, and asked for again."""
        if self.initial:
            self.numbers, self.revision = {}, 0

    def see(self, frame: Shown) -> None:
        shown = frame.object
        if frame.type == "BOOKMARK":
            self._expect(shown.revision >= self.revision, f"expected a bookmark not below {self.revision}, found {shown.revision}")
            self.initial = self.initial and _INITIAL_END not in shown.metadata.annotations
            self.revision = shown.revision
        elif self.initial and frame.type == "ADDED":
            self.numbers[shown.metadata.name] = shown.number
        elif frame.type == "MODIFIED":
            self._event(shown.metadata.name, shown)
        else:
            self.flaws.append(f"expected writes alone, found {frame.type} {shown.metadata.name}{shown.message}")

    def has(self, numbers: Mapping[str, int]) -> bool:
        """Whether it has been shown these writes to the objects that it follows."""
        return not self.initial and all(number >= numbers[name] for name, number in self.numbers.items())

    def _event(self, name: str, shown: Written) -> None:
        next_number = self.numbers.get(name, 0) + 1
        what = "lost" if shown.number > next_number else "given again"
        self._expect(
            shown.number == next_number,
            f"expected write {next_number} of {name}, found {shown.number} at revision {shown.revision}: {what}",
        )
        self._expect(shown.revision > self.revision, f"expected a revision above {self.revision}, found {shown.revision} ({name})")
        self.numbers[name], self.revision = shown.number, shown.revision

    def _expect(self, fulfilled: object, flaw: str) -> None:
        if not fulfilled:
            self.flaws.append(flaw)
