"""What was being kept from the controller, stream by stream, at every moment.

Frames leave a stream in order, so while one is kept nothing newer can have been shown on that stream. What a stream kept when it
ended is forgotten: a client that opens the next one is shown it again, or lists.
"""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from staleproof.checks.facts.timeline import Timeline
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Closed, Delivered, Dropped, Opened, Started, StreamId, Withheld


@dataclass(frozen=True, slots=True)
class WithheldFrames:
    """Every question names a position and is about what had happened before it."""

    _ever: set[str] = field(default_factory=set)
    _kept: Timeline[str, bool] = field(default_factory=lambda: Timeline(default=False))
    _oldest: Timeline[str, int | None] = field(default_factory=lambda: Timeline(None))

    def resources(self, *, before: int) -> set[str]:
        """Of which something is being kept."""
        return {resource for resource in self._ever if self._kept.before(before, resource)}

    def resources_between(self, since: int, until: int) -> set[str]:
        """Of which something was being kept at some time from behind the entry at `since` to before that at `until`."""
        if since >= until:
            return set()
        return {resource for resource in self._ever if self._is_kept_between(resource, since + 1, until)}

    def oldest(self, resource: str, *, before: int) -> int | None:
        """The revision from which on no open stream of this resource can have shown anything; None if one may have."""
        return self._oldest.before(before, resource)

    def _is_kept_between(self, resource: str, since: int, until: int) -> bool:
        later = (kept for _, kept in self._kept.steps(resource, since=since, until=until))
        return self._kept.before(since, resource) or any(later)

    # --- folding

    def _forget(self, index: int) -> None:
        self._kept.forget(index)
        self._oldest.forget(index)

    def _keep(self, index: int, resource: str, streams: Collection[list[int]]) -> None:
        """`streams` has the revisions that each open stream of the resource keeps, in order."""
        kept, oldest = any(streams), max(revisions[0] for revisions in streams) if streams and all(streams) else None
        if kept:
            self._ever.add(resource)
        if kept != self._kept.now(resource):
            self._kept.note(index, resource, kept)
        if oldest != self._oldest.now(resource):
            self._oldest.note(index, resource, oldest)


@fact
def withheld_frames(trial: Trial) -> WithheldFrames:
    """Of all streams of the controller."""
    frames = WithheldFrames()
    every: dict[str, dict[StreamId, list[int]]] = defaultdict(dict)
    for index, entry in enumerate(trial.entries):
        if isinstance(entry, Started):
            every.clear()
            frames._forget(index)
        elif isinstance(entry, Opened | Closed | Withheld | Delivered | Dropped):
            resource = trial.resource_of(entry.stream)
            _advance(every[resource], entry)
            frames._keep(index, resource, every[resource].values())
    return frames


def _advance(streams: dict[StreamId, list[int]], entry: Opened | Closed | Withheld | Delivered | Dropped) -> None:
    """Note what an entry does to the streams of a resource."""
    match entry:
        case Opened():
            streams[entry.stream] = []
        case Closed():
            streams.pop(entry.stream, None)
        case Withheld(revision=int(revision)) if entry.stream in streams:
            insort(streams[entry.stream], revision)
        case Delivered(revision=int(revision)) if entry.stream in streams:
            del streams[entry.stream][: bisect_right(streams[entry.stream], revision)]
        case Dropped(revision=int(revision)) if revision in streams.get(entry.stream, ()):
            streams[entry.stream].remove(revision)
