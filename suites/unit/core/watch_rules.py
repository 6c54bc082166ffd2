"""The properties of a watch, read off a finished stream: slow, with hindsight, and sharing nothing with the monitor it judges.

Initial events are known by their bytes, of which the server makes no two alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from staleproof.core.history.frame import Frame


@dataclass
class Passage:
    """What one stream carried: `came` from upstream, `initial` of those, and what left for the client."""

    start: int | None
    marked: bool  # initial events end with a bookmark that says so
    came: list[Frame] = field(default_factory=list)
    initial: list[Frame] = field(default_factory=list)
    left: list[Frame] = field(default_factory=list)

    def broken(self) -> set[str]:
        """The names of the properties that do not hold."""
        rules = {
            "Ordered": self._ordered(),
            "Unique": self._unique(),
            "Reliable": self._reliable(),
            "Atomic": self._atomic(),
            "Resumable": all(revision > (self.start or 0) for revision in _revisions(self._live(self.left))),
            "Bookmarkable": self._bookmarkable(),
            "Final": all(frame.type != "ERROR" for frame in self.left[:-1]),
        }
        return {name for name, holds in rules.items() if not holds}

    def _live(self, frames: Sequence[Frame]) -> list[Frame]:
        return [frame for frame in frames if frame.is_event and not _is_in(frame, self.initial)]

    def _ordered(self) -> bool:
        return all(earlier <= later for earlier, later in combinations(_revisions(self._live(self.left)), 2))

    def _unique(self) -> bool:
        live = _revisions(self._live(self.left))
        initial = [frame.uid for frame in self.left if _is_in(frame, self.initial) and frame.is_event]
        return len(set(live)) == len(live) and len(set(initial)) == len(initial)

    def _reliable(self) -> bool:
        shown = max(_revisions([frame for frame in self.left if not _is_in(frame, self.initial)]), default=0)
        return all(_is_in(frame, self.left) for frame in self._live(self.came) if (frame.revision or 0) <= shown)

    def _atomic(self) -> bool:
        if not self.marked:
            return True
        end = next((index for index, frame in enumerate(self.left) if frame.initial_end), None)
        complete = end is None or all(_is_in(frame, self.left[: end + 1]) for frame in self.initial)
        return complete and not self._live(self.left[:end])

    def _bookmarkable(self) -> bool:
        for index, frame in enumerate(self.left):
            if frame.type == "BOOKMARK":
                behind, ahead = self._live(self.left[index:]), self.left[:index]
                if not all(revision > (frame.revision or 0) for revision in _revisions(behind)):
                    return False
                if not all(revision <= (frame.revision or 0) for revision in _revisions(ahead)):
                    return False
        return True


def _revisions(frames: Sequence[Frame]) -> list[int]:
    return [frame.revision for frame in frames if frame.revision is not None]


def _is_in(frame: Frame, frames: Sequence[Frame]) -> bool:
    return any(frame.raw == other.raw for other in frames)
