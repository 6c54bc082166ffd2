"""What has been kept from the controller and not shown since, stream by stream: a fold over the history.

Frames leave a stream in order, so while one is kept nothing newer can have been shown on that stream. What a stream kept when it
ended is forgotten: whoever opens the next one is shown it again, or lists.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from staleproof.core.entry import Closed, Delivered, Dropped, Entry, Opened, Started, Withheld


@dataclass(slots=True)
class _Stream:
    resource: str
    revisions: list[int] = field(default_factory=list)

    def pass_to(self, revision: int | None) -> None:
        if revision is not None:
            self.revisions = [kept for kept in self.revisions if kept > revision]


@dataclass(slots=True)
class WithheldFrames:
    """Call `advance` with each entry in order; ask in between."""

    _streams: dict[int, _Stream] = field(default_factory=dict)

    def advance(self, entry: Entry) -> None:
        step = _STEPS.get(type(entry))
        if step is not None:
            step(self, entry)

    @property
    def resources(self) -> set[str]:
        """Of which something is being kept."""
        return {stream.resource for stream in self._streams.values() if stream.revisions}

    def oldest(self, resource: str) -> int | None:
        """The revision from which on no open stream of this resource can have shown anything; None if one may have."""
        streams = [stream for stream in self._streams.values() if stream.resource == resource]
        if not streams or not all(stream.revisions for stream in streams):
            return None
        return max(min(stream.revisions) for stream in streams)

    def _opened(self, entry: Opened) -> None:
        self._streams[entry.stream] = _Stream(entry.resource)

    def _closed(self, entry: Closed) -> None:
        self._streams.pop(entry.stream, None)

    def _withheld(self, entry: Withheld) -> None:
        if entry.stream in self._streams and entry.revision is not None:
            self._streams[entry.stream].revisions.append(entry.revision)

    def _passed(self, entry: Delivered) -> None:
        if entry.stream in self._streams:
            self._streams[entry.stream].pass_to(entry.revision)

    def _dropped(self, entry: Dropped) -> None:
        stream = self._streams.get(entry.stream)
        if stream is not None and entry.revision in stream.revisions:
            stream.revisions.remove(entry.revision)

    def _started(self, entry: Started) -> None:
        self._streams.clear()


_STEPS: dict[type, Callable[[WithheldFrames, Any], None]] = {
    Opened: WithheldFrames._opened,
    Closed: WithheldFrames._closed,
    Withheld: WithheldFrames._withheld,
    Delivered: WithheldFrames._passed,
    Dropped: WithheldFrames._dropped,
    Started: WithheldFrames._started,
}
