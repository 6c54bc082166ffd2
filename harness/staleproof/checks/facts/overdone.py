"""Creates of the controller that made more live objects of a role than any reference had by that step, whatever the reason.

An excess alone is no finding: the checkers that use this say what the controller had not been shown, and whether that explains it.
"""

from collections.abc import Collection
from dataclasses import dataclass

from staleproof.checks.facts.by_step import BySteps
from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.own_work import OwnWork
from staleproof.checks.story.phrases import full_name, kind_of, ordinal, owner_name
from staleproof.checks.trial import Evidence
from staleproof.core.history import Request


@dataclass(frozen=True, slots=True)
class Overdone:
    """It was the `live`-th; fault-free runs never had more than `most` by then."""

    child: Child
    request: Request
    live: int
    most: int

    def is_explained_by(self, others: Collection[Child]) -> bool:
        """Whether it would not have been too many without these, of the same role and alive."""
        return bool(others) and self.live - len(others) <= self.most

    def name(self, evidence: Evidence) -> str:
        return full_name(evidence.commit_of(self.child.uid))

    def nth(self, evidence: Evidence) -> str:
        """`the 4th live pod of widget/w`."""
        owner = f" of {owner_name(self.child.role.owner)}" if self.child.role.owner else ""
        return f"the {ordinal(self.live)} live {kind_of(evidence.commit_of(self.child.uid))}{owner}"

    @property
    def excess(self) -> str:
        """The end of a sentence."""
        return f"fault-free runs never had more than {self.most} by then"


def overdone(evidence: Evidence, work: OwnWork) -> dict[int, Overdone]:
    """By the position of the request."""
    made, steps, found = evidence.population, BySteps(evidence), {}
    for uid, request in work.creates.items():
        child = made.children[uid]
        live, most = made.live_after(child.role, child.created), steps.most(child.role, child.created)
        if live > most:
            found[request.index] = Overdone(child, request, live, most)
    return found
