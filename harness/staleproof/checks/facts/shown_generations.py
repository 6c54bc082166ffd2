"""Which generation of an object the controller had been shown, at every moment: by its caches (frames and lists), or by any means.

Any means are, besides, the answers to GET and to its own writes, which carry the object as it is now. Both belong to one life of
the process. When in doubt we say the newest that it can have been: a doubt must never become an accusation.
"""

from collections.abc import Callable
from dataclasses import dataclass

from staleproof.checks.facts.object_history import object_history
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import Known, lives, view


@dataclass(frozen=True, slots=True)
class Generations:
    """Of the objects of a trial, by uid: of the revision that counts. They rise within a life, and begin at 0."""

    trial: Trial
    counts: Callable[[Known], int | None]

    def before(self, index: int, uid: str) -> int:
        return self._of(uid, view(self.trial, index).of(uid))

    def reached(self, uid: str, generation: int, *, before: int) -> int | None:
        """Since when this generation had been shown, in the life that the position is in; None if it had not."""
        states = view(self.trial, before).life.objects.since(0, uid)
        return next((since for since, known in states if since < before and self._of(uid, known) >= generation), None)

    def rises(self, uid: str, generation: int, *, after: int) -> int | None:
        """Where this generation, which is not known yet, is first shown from the position on, in whichever life; None: nowhere."""
        states = (state for life in lives(self.trial) for state in life.objects.since(after, uid))
        return next((since for since, known in states if self._of(uid, known) >= generation), None)

    def _of(self, uid: str, known: Known) -> int:
        revision = self.counts(known)
        return object_history(self.trial).objects[uid].generation_at(revision) if revision else 0


@dataclass(frozen=True, slots=True)
class ShownGenerations:
    """What the controller's caches had, and what it knew by any means."""

    cached: Generations
    known: Generations


@fact
def shown_generations(trial: Trial) -> ShownGenerations:
    """Of all objects of the trial."""
    return ShownGenerations(Generations(trial, lambda known: known.cached), Generations(trial, lambda known: known.revision))
