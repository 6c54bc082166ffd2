"""What the controller makes and removes over and over: objects of a role in one step, each made after the one before was removed.

One round is an object that the controller created and deleted itself within the step; rounds follow one another, so objects that
were there at the same time are one round, however many there were. A rejected create makes nothing, and is no round. Nor is one
what was removed after a fault had made another request fail.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from staleproof.checks.deeds.children import step_at
from staleproof.checks.facts.object_history import Incarnation, creations
from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.wording import kind_of, of_owner
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Answered

_GOES_ON = 2.0
"""So many times its longest pause between two rounds, and no more came: then it has come to an end."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """The longest row of rounds of a role in one step (0: before the first), in order."""

    role: Role
    step: int
    objects: Sequence[Incarnation]

    @property
    def kind(self) -> str:
        """`configmap of widget/w`."""
        return f"{kind_of(self.objects[0].first.entry)}{of_owner(self.role.owner)}"

    def seconds(self, trial: Trial) -> float:
        """From the first create to the last."""
        return trial.at(self.objects[-1].created) - trial.at(self.objects[0].created)

    def goes_on(self, trial: Trial) -> bool:
        """Whether the trial ended before it was clear that no more would come."""
        made = [trial.at(each.created) for each in self.objects]
        longest = max((later - earlier for earlier, later in pairwise(made)), default=0.0)
        return trial.at(len(trial.entries) - 1) - made[-1] <= _GOES_ON * longest


@fact
def rounds(trial: Trial) -> Sequence[Rounds]:
    """Of each role and step in which there was one."""
    taken = ((child, child.deleted) for _, child in creations(trial) if child.deleter is not None and child.deleted is not None)
    spans = ((child, step_at(trial, child.created), step_at(trial, deleted)) for child, deleted in taken)
    kept = ((child, made) for child, made, gone in spans if made == gone and not _is_rolled_back(trial, child))
    found = grouped(((child.role, made), child) for child, made in kept)
    return [Rounds(role, step, _row(objects)) for (role, step), objects in found.items()]


def most_rounds(trial: Trial) -> Mapping[Role, int]:
    """By role, how many there were in all steps together."""
    return Counter(each.role for each in rounds(trial) for _ in each.objects)


def _is_rolled_back(trial: Trial, child: Incarnation) -> bool:
    """Whether a request failed by a fault between the requests that made and removed it, so that the controller may have taken back
    all that it had begun, as `helm install --atomic` does."""
    if child.creator is None or child.deleter is None:
        return False
    answers = (entry for _, entry in trial.every(Answered, since=child.creator.index, until=child.deleter.index))
    return any(answer.fault is not None and answer.outcome != "ok" for answer in answers)


def _row(objects: Sequence[Incarnation]) -> Sequence[Incarnation]:
    """As many of these as followed one another: each made after the one before was removed."""
    row: list[Incarnation] = []
    for each in sorted(objects, key=lambda each: each.deleted or 0):
        if not row or each.created > (row[-1].deleted or 0):
            row.append(each)
    return row
