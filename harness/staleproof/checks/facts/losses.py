"""Children that another user deleted, though their primary stays, and where the controller made another in their place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.wakings import wakings
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.history import Position
from staleproof.core.plan.step import Remove


@dataclass(frozen=True, slots=True)
class Loss:
    """A child that the controller had made for a primary, and that was deleted at `index` by another user.

    Attributes:
        again: where there was another of its resource, which the controller had made for that primary; None if there was none
            before the user wanted something else, or the trial ended.
        until: there, or up to where it is looked at.
        woken: where something else than the deletion may have woken the controller to look at the primary meanwhile.
    """

    child: Incarnation
    of: Incarnation
    index: Position
    again: Position | None
    until: Position
    woken: Sequence[Position]


@fact
def losses(trial: Trial) -> Sequence[Loss]:
    """In the order in which they were deleted."""
    return sorted(_losses(trial), key=lambda each: each.index)


def _losses(trial: Trial) -> Iterator[Loss]:
    made = object_history(trial).objects.values()
    for child in made:
        of = primary_of(trial, child.uid)
        if of is None or child.end is None or child.creator is None or not _is_removed(trial, child):
            continue
        index, ends = child.end.index, _wanted_until(trial, of, child.end.index)
        successors = (
            each.created
            for each in made
            if (each.resource, each.creator is not None) == (child.resource, True)
            and index < each.created < ends
            and primary_of(trial, each.uid) is of
        )
        again = min(successors, default=None)
        until = ends if again is None else again
        woken = wakings(trial, of, since=index, before=until, besides={child.uid})
        yield Loss(child, of, index, Position(again) if again is not None else None, Position(until), woken)


def _is_removed(trial: Trial, child: Incarnation) -> bool:
    """Whether a step of the plan deleted it, for good."""
    if child.end is None or child.deleter is not None:
        return False
    number = max((step.number for step in trial.steps if step.began < child.end.index), default=0)
    return any(isinstance(step, Remove) and step.resource == child.resource for step in trial.plan.steps[number - 1 : number])


def _wanted_until(trial: Trial, of: Incarnation, since: int) -> int:
    """Up to where the user wants what was wanted at a position."""
    before = next((commit.entry.object.get("spec") for commit in reversed(of.commits) if commit.index < since), None)
    later = (
        commit.index
        for commit in of.commits
        if commit.index > since and (commit.deletes or commit.entry.object.get("spec") != before)
    )
    return min([*list(later)[:1], trial.unwoken])
