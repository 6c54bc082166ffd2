"""Which generation of an object the controller had been shown, at every moment: by its caches (frames and lists), or by any means.

Any means are, besides, the answers to GET and to its own writes, which carry the object as it is now. Both belong to one life of
the process. When in doubt we say the newest that it can have been: a doubt must never become an accusation.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.timeline import Timeline
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Answered, Delivered, Entry, Listed, Started


class Generations(Timeline[str, int]):
    """By uid, the newest generation of an object that the controller had been shown: it rises within a life, and begins at 0."""

    def __init__(self) -> None:
        super().__init__(0)

    def show(self, index: int, uid: str, generation: int) -> None:
        """What is shown at this position; an older generation takes nothing back."""
        if generation > self.now(uid):
            self.note(index, uid, generation)

    def reached(self, uid: str, generation: int, *, before: int) -> int | None:
        """Since when this generation had been shown, in the life that the position is in; None if it had not."""
        found = None
        for since, shown in self.steps(uid):
            if since < before:
                found = None if shown < generation else since if found is None else found
        return found

    def rises(self, uid: str, generation: int, *, after: int) -> int | None:
        """Where this generation is first shown from the position on, in whichever life; None if it never is."""
        return next((since for since, shown in self.steps(uid) if since >= after and shown >= generation), None)


@dataclass(frozen=True, slots=True)
class ShownGenerations:
    """What the controller's caches had, and what it knew by any means."""

    cached: Generations = field(default_factory=Generations)
    known: Generations = field(default_factory=Generations)


@fact
def shown_generations(trial: Trial) -> ShownGenerations:
    """Of all objects of the trial."""
    objects, shown = object_history(trial).objects, ShownGenerations()
    for index, entry in enumerate(trial.entries):
        if isinstance(entry, Started):
            shown.cached.forget(index)
            shown.known.forget(index)
        for uid, revision in _told(entry):
            if uid in objects:
                generation = objects[uid].generation_at(revision)
                shown.known.show(index, uid, generation)
                if not isinstance(entry, Answered):
                    shown.cached.show(index, uid, generation)
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
