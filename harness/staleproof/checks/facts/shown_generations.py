"""Which generation of an object the controller had been shown, at every moment: by its caches (frames and lists), or by any means.

Any means are, besides, the answers to GET and to its own writes, which carry the object as it is now. Both belong to one life of
the process. When in doubt we say the newest that it can have been: a doubt must never become an accusation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from staleproof.checks.facts.object_history import object_history
from staleproof.checks.trial import Trial, fact
from staleproof.core.entry import Answered, Delivered, Entry, Listed, Started


@dataclass(slots=True)
class Level:
    """A generation over time: (position, generation from there on). It rises within a life and starts at 0 in the next."""

    steps: list[tuple[int, int]] = field(default_factory=list)

    def at(self, index: int) -> int:
        """What had been shown before the entry at this position; 0 for nothing."""
        return next((generation for since, generation in reversed(self.steps) if since < index), 0)

    def reached(self, generation: int, *, before: int) -> int | None:
        """Since when this generation had been shown, in the life that the position is in."""
        found = None
        for since, shown in self.steps:
            if since >= before:
                break
            found = None if shown < generation else since if found is None else found
        return found

    def rises(self, generation: int, *, after: int) -> int | None:
        """When this generation is first shown from the position on."""
        return next((since for since, shown in self.steps if since >= after and shown >= generation), None)

    def note(self, index: int, generation: int) -> None:
        """It was shown at this position; 0: a new life begins there."""
        highest = self.steps[-1][1] if self.steps else 0
        if generation > highest or (self.steps and not generation):
            self.steps.append((index, generation))


@dataclass(frozen=True, slots=True)
class Shown:
    """Of one incarnation: what its caches had, and what it knew by any means."""

    cached: Level = field(default_factory=Level)
    known: Level = field(default_factory=Level)


@fact
def shown_generations(trial: Trial) -> Mapping[str, Shown]:
    """By uid."""
    objects = object_history(trial).objects
    shown = {uid: Shown() for uid in objects}
    for index, entry in enumerate(trial.entries):
        if isinstance(entry, Started):
            for each in shown.values():
                each.cached.note(index, 0)
                each.known.note(index, 0)
            continue
        for uid, revision in _told(entry):
            if uid in shown:
                generation = objects[uid].generation_at(revision)
                shown[uid].known.note(index, generation)
                if not isinstance(entry, Answered):
                    shown[uid].cached.note(index, generation)
    return shown


def _told(entry: Entry) -> Iterator[tuple[str, int]]:
    """Objects that an entry shows, with their revisions."""
    match entry:
        case Delivered(uid=uid, revision=int(revision)) if uid:
            yield uid, revision
        case Answered(uid=uid, revision=int(revision), outcome="ok"):
            yield uid, revision
        case Listed(items=items):
            yield from ((item.uid, item.revision) for item in items if item.revision is not None)
