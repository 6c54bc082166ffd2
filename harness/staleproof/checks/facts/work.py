"""The controller's writes of one history: whether it had acted, and for whom, between two moments.

Two measures, so that a doubt is always decided for the controller. Of a trial: whatever it asked for, on any other object, refused
or not, counts as having acted. Of a reference: only what was done to the object's own children does.
"""

from dataclasses import dataclass

from staleproof.checks.facts.object_history import Population
from staleproof.checks.facts.provenance import Incarnation
from staleproof.core.entry import Answered
from staleproof.core.history import History, Request, is_work, requests


@dataclass(frozen=True, slots=True)
class Work:
    requests: tuple[Request, ...]
    population: Population

    def asked_on_others(self, of: Incarnation, *, after: int, before: int) -> bool:
        """Whether it asked for anything about another object than this."""
        return any(after < request.index < before and not _is_about(request, of) for request in self.requests)

    def done_to_children(self, of: Incarnation, *, after: int, before: int) -> int | None:
        """When it first did something to a child of this object; None if it did not."""
        return next((r.index for r in self.requests if after < r.index < before and r.succeeded and self._owner(r) == of.uid), None)

    def _owner(self, request: Request) -> str:
        answer = request.answer
        child = self.population.children.get(answer.uid) if isinstance(answer, Answered) else None
        return child.owner_uid if child is not None else ""


def work(history: History, population: Population) -> Work:
    return Work(tuple(request for request in requests(history.entries) if is_work(request.asked)), population)


def _is_about(request: Request, of: Incarnation) -> bool:
    """Whether a request is for this very object, and not for anything that it makes."""
    commit = of.first.commit
    return request.asked.resource == commit.resource and request.asked.name == commit.name
