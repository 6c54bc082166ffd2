"""What was being kept from the controller, stream by stream, at every moment.

Frames leave a stream in order, so while one is kept nothing newer can have been shown on that stream. What a stream kept when it
ended is forgotten: a client that opens the next one is shown it again, or lists.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from staleproof.checks.facts.timeline import Timeline
from staleproof.checks.trial import Trial, fact
from staleproof.core.entry import Closed, Delivered, Dropped, Opened, Started, StreamId, Withheld

_Kept = Mapping[str, int | None]
"""Resources of which something is kept → the revision from which on no open stream can have shown anything; None: one may have."""


@dataclass(frozen=True, slots=True)
class WithheldFrames:
    """Every question names a position and is about what had happened before it."""

    _kept: Timeline[None, _Kept]

    def resources(self, *, before: int) -> set[str]:
        """Of which something is being kept."""
        return set(self._kept.before(before, None))

    def resources_between(self, since: int, until: int) -> set[str]:
        """Of which something was being kept at some time from behind the entry at `since` to before that at `until`."""
        during = (kept for index, kept in self._kept.steps(None) if since < index < until)
        return self.resources(before=min(since + 1, until)).union(*during) if since < until else set()

    def oldest(self, resource: str, *, before: int) -> int | None:
        """The revision from which on no open stream of this resource can have shown anything; None if one may have."""
        return self._kept.before(before, None).get(resource)


@fact
def withheld_frames(trial: Trial) -> WithheldFrames:
    """Of all streams of the controller."""
    streams: dict[StreamId, list[int]] = {}
    kept: Timeline[None, _Kept] = Timeline({})
    for index, entry in enumerate(trial.entries):
        match entry:
            case Started():
                streams.clear()
            case Opened():
                streams[entry.stream] = []
            case Closed():
                streams.pop(entry.stream, None)
            case Withheld(revision=int(revision)) if entry.stream in streams:
                streams[entry.stream].append(revision)
            case Delivered(revision=int(revision)) if entry.stream in streams:
                streams[entry.stream] = [other for other in streams[entry.stream] if other > revision]
            case Dropped(revision=int(revision)) if revision in streams.get(entry.stream, ()):
                streams[entry.stream].remove(revision)
            case _:
                continue
        kept.note(index, None, _kept(trial, streams))
    return WithheldFrames(kept)


def _kept(trial: Trial, streams: Mapping[StreamId, list[int]]) -> _Kept:
    found: dict[str, list[list[int]]] = defaultdict(list)
    for stream, revisions in streams.items():
        found[trial.resource_of(stream)].append(revisions)
    return {
        resource: max(map(min, revisions)) if all(revisions) else None for resource, revisions in found.items() if any(revisions)
    }
