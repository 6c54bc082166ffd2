"""What the references had by the end of the step of the workload in which something happened in the trial.

A controller that works late does in a later step what the references did in an earlier one, so what is compared only ever grows:
the most that were alive, and the deletes that were done, *until* then. References have no resyncs, so steps are counted without
them. What a reference had not finished within a step proves nothing there.
"""

from staleproof.checks.facts.object_history import Population
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Evidence
from staleproof.core.entry import StepBegan, StepEnded
from staleproof.core.history import History
from staleproof.core.plan import Resync


class BySteps:
    """Positions are those of the trial."""

    def __init__(self, evidence: Evidence) -> None:
        self._steps = [(i, entry.step) for i, entry in enumerate(evidence.history.entries) if isinstance(entry, StepBegan)]
        self._resyncs = [n for n, step in enumerate(evidence.history.header.plan.steps, 1) if isinstance(step, Resync)]
        self._references = list(zip(evidence.references, evidence.reference_populations, strict=True))

    def most(self, role: Role, index: int) -> int:
        """The most live objects of this role that any reference had by then."""
        step = self._at(index)
        return max((max(_live(made, role, _last(history, step)), default=0) for history, made in self._references), default=0)

    def kept(self, role: Role, index: int) -> int:
        """The fewest that any reference had at the end of that step; 0 where that cannot be told."""
        step = self._at(index)
        if not step or any(_was_cut_short(history, step) for history, _ in self._references):
            return 0
        return min((([0, *_live(made, role, _last(history, step))])[-1] for history, made in self._references), default=0)

    def deleted(self, role: Role, index: int) -> int:
        """The most that the controller had deleted in any reference by then."""
        step = self._at(index)
        return max((_deletes(made, role, _last(history, step)) for history, made in self._references), default=0)

    def _at(self, index: int) -> int:
        """The references' number of the step that had begun by then; 0 for none."""
        step = max((step for began, step in self._steps if began < index), default=0)
        return step - sum(number <= step for number in self._resyncs)


def _last(history: History, step: int) -> int:
    """Where the step ended in a reference: at its end if that is not known, or if the step was cut short."""
    begun = (i for i, entry in enumerate(history.entries) if isinstance(entry, StepBegan) and entry.step > step)
    return next(begun, len(history.entries)) if step and not _was_cut_short(history, step) else len(history.entries)


def _was_cut_short(history: History, step: int) -> bool:
    return any(isinstance(entry, StepEnded) and entry.step == step and not entry.idle for entry in history.entries)


def _live(made: Population, role: Role, end: int) -> list[int]:
    """How many were alive after each commit, up to a position."""
    return [count for index, count in made.counts.get(role, {}).items() if index < end]


def _deletes(made: Population, role: Role, end: int) -> int:
    own = (child for child in made.children.values() if child.role == role and child.deleter is not None)
    return sum(child.deleted is not None and child.deleted < end for child in own)
