"""The controller's calls to external systems, each with its answer, and the primary that it is about.

What a call is about is what its words say (`core.history.external_call`): a primary, or something that belongs to one. A call that
says of nothing may be about everything: a list, a session's own statements, a ping.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.belongings import owner
from staleproof.checks.facts.object_history import Incarnation
from staleproof.checks.trial import Trial, fact
from staleproof.core.external import changes_something
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Called, Replied
from staleproof.core.history.history import Position

_NOT_NOW = frozenset({"429", "503", "53300", "57P03", "40001", "40P01"})
"""Too many requests or connections, starting, a conflict: HTTP's codes and PostgreSQL's."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call with its answer, and their positions. Without an answer none was seen. `of`: resource and name of the primary that it
    is about, two empty strings for none that is known."""

    index: Position
    entry: Called
    answer_index: Position | None
    answer: Replied | None
    of: tuple[str, str]

    @property
    def words(self) -> tuple[str, str]:
        """What it asks for: verb and text, in which values have no place."""
        return self.entry.verb, self.entry.text

    @property
    def succeeded(self) -> bool:
        return self.answer is not None and self.answer.outcome == "ok"

    @property
    def failed(self) -> bool:
        """Whether the system itself refused it, and said so to the controller."""
        return self.answer is not None and self.answer.outcome == "fail" and self.answer.effect is None

    @property
    def was_turned_away(self) -> bool:
        """Whether the system said that it can do nothing for it now."""
        return self.failed and self.answer is not None and self.answer.code in _NOT_NOW

    @property
    def is_disturbed(self) -> bool:
        """Whether something was done to it, or it cannot be known what became of it."""
        return self.answer is None or self.answer.effect is not None or self.answer.outcome == "unknown"

    @property
    def may_have_written(self) -> bool:
        """Whether it may have changed what is there: it is no call that reads, and is not known to have done nothing."""
        done = self.answer is None or self.answer.executed is not False
        return done and not self.reads

    @property
    def reads(self) -> bool:
        """Whether it is not there to change anything, as its verb says; in doubt it is."""
        return not changes_something(self.entry.verb)

    def may_be_about(self, primary: Incarnation) -> bool:
        """Whether it is about that one, or does not say what it is about."""
        return self.of in (("", ""), (primary.resource, primary.name))


@fact
def external_calls(trial: Trial) -> Sequence[Call]:
    """In the order in which they were made."""
    return list(_calls(trial))


def _calls(trial: Trial) -> Iterator[Call]:
    answers = grouped(((entry.system, entry.call), (index, entry)) for index, entry in trial.every(Replied))
    for index, entry in trial.every(Called):
        later = (pair for pair in answers.get((entry.system, entry.call), ()) if pair[0] > index)
        answer_index, answer = next(later, (None, None))
        yield Call(index, entry, answer_index, answer, owner(trial, entry.resource, entry.name))
