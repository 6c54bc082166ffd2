"""Deletes of the controller that no reference made by the same step of the workload: work undone, whatever the reason.

An excess alone is no finding: the checkers that use this say what the controller had not been shown. A delete is one too many when

1. it left fewer live objects of the role than any reference had at the end of that step, and as many as that had been alive
   before (a controller that was kept from creating them has not deleted too many);
2. the controller had by then deleted more of the role than any reference had by the end of that step: one that works late, or
   replaces by deleting first, has deleted no more.
"""

from collections import defaultdict
from dataclasses import dataclass

from staleproof.checks.facts.by_step import BySteps
from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.own_work import OwnWork
from staleproof.checks.facts.roles import Role
from staleproof.checks.story.phrases import full_name, kind_of, owner_name, plural
from staleproof.checks.trial import Evidence
from staleproof.core.history import Request


@dataclass(frozen=True, slots=True)
class Undone:
    """`live` objects of the role were left; fault-free runs kept `kept` of them through that step."""

    child: Child
    request: Request
    deleted: int
    live: int
    kept: int

    def left(self, evidence: Evidence) -> str:
        """What was left, in words, as the end of a sentence."""
        role = self.child.role
        if role.stem == self.child.named.name:
            return "fault-free runs kept it"
        owner = f" of {owner_name(role.owner)}" if role.owner else ""
        kind = kind_of(evidence.commit_of(self.child.uid))
        return f"{plural(self.live, f'live {kind}')}{owner} left, fault-free runs kept {self.kept}"

    def name(self, evidence: Evidence) -> str:
        return full_name(evidence.commit_of(self.child.uid))


def undone(evidence: Evidence, work: OwnWork) -> dict[int, Undone]:
    """By the position of the request. A deletecollection names no object, so it counts and is not judged."""
    made, found = evidence.population, {}
    done: dict[Role, int] = defaultdict(int)
    steps = BySteps(evidence)
    gone = [(child.deleted, child) for child in made.children.values() if child.uid in work.deletes and child.deleted is not None]
    for deleted, child in sorted(gone, key=lambda pair: pair[0]):
        role, request = child.role, work.deletes[child.uid]
        done[role] += 1
        live, kept = made.live_after(role, deleted), steps.kept(role, deleted)
        is_below = live < kept <= made.peak_until(role, deleted)
        if is_below and done[role] > steps.deleted(role, deleted) and request.asked.verb == "delete":
            found[request.index] = Undone(child, request, deleted, live, kept)
    return found
