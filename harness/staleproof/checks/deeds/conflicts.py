"""Updates that were refused because of the controller's own writes, and own updates that were hidden when it looked again.

A conflict is with the controller itself if no other user had changed the object since the version that it had been shown, and if it
had heard of each of its own writes since then. Patches are left out, because their conflicts may be about the ownership of fields,
and so are refusals that a competing write of a fault caused.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import view
from staleproof.core.history.entry import Answered, Competed, Delivered, Listed, StepBegan
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import Commit
from staleproof.core.times import CLOSE_SECONDS


@dataclass(frozen=True, slots=True)
class Conflict:
    """A refused update, the object that it was about, and the own writes that the controller had not been shown."""

    request: Request
    target: Incarnation
    unseen: Sequence[Commit]

    @property
    def where(self) -> tuple[str, str]:
        """Resource and subresource."""
        return self.request.asked.resource, self.request.asked.subresource


@fact
def conflicts(trial: Trial) -> Sequence[Conflict]:
    """Those of the controller with itself, in the order of the requests."""
    competed = {entry.request for _, entry in trial.every(Competed)}
    refused = (each for each in trial.work if _is_refused_update(each) and each.asked.request not in competed)
    found = (_with_itself(trial, request) for request in refused)
    return [conflict for conflict in found if conflict is not None]


@fact
def refused_updates(trial: Trial) -> Sequence[tuple[str, str]]:
    """(resource, subresource) of each update that was refused with a conflict. Whether the controller had taken in by then what had
    just been sent to it does not show, so without faults each may have been one with itself."""
    return [(each.asked.resource, each.asked.subresource) for each in trial.work if _is_refused_update(each)]


@fact
def hidden_updates(trial: Trial) -> Sequence[Commit]:
    """Own updates that the life that made them had not been shown when it was shown something else, or when a step began."""
    looks = trial.positions(Delivered, Listed, StepBegan)
    return [commit for commit in trial.commits if _is_own_update(commit) and _is_hidden(trial, commit, looks)]


def _is_refused_update(request: Request) -> bool:
    answer = request.answer
    is_conflict = isinstance(answer, Answered) and (answer.outcome, answer.code, answer.reason) == ("fail", 409, "Conflict")
    return is_conflict and request.asked.verb == "update"


def _with_itself(trial: Trial, request: Request) -> Conflict | None:
    target = _target(trial, request)
    if target is None or request.answer_index is None:
        return None
    shown = view(trial, request.index).of(target.uid).shown or -1
    later_step = next((trial.at(step.began) for step in trial.steps if step.began > request.answer_index), float("inf"))
    until = min(later_step, trial.at(request.answer_index) + CLOSE_SECONDS)
    newer = [commit for commit in target.commits if commit.entry.revision > shown and commit.entry.at <= until]
    unseen = [commit for commit in newer if _is_remembered(trial, commit, request)]
    other_commits = [c for c in newer if c.heard is None or (c.index < request.index and c not in unseen)]
    return Conflict(request, target, unseen) if unseen and not other_commits else None


def _target(trial: Trial, request: Request) -> Incarnation | None:
    """The incarnation that has the name at that moment."""
    named = object_history(trial).named(request.asked.resource, request.asked.name)
    there = [each for each in named if each.created < request.index and request.asked.namespace == trial.namespace]
    return max(there, key=lambda each: each.create_revision, default=None)


def _is_remembered(trial: Trial, commit: Commit, request: Request) -> bool:
    """Whether this life of the controller made the commit and had heard so before it sent the request."""
    by = commit.heard
    if by is None or by.answer_index is None:
        return False
    return by.answer_index < request.index and trial.life(by.index) == trial.life(request.index)


def _is_own_update(commit: Commit) -> bool:
    by = commit.heard
    return commit.entry.type == "MODIFIED" and by is not None and by.asked.verb in ("update", "patch")


def _is_hidden(trial: Trial, commit: Commit, looks: Sequence[int]) -> bool:
    """Whether the controller looked again in the same life before it was shown this."""
    answered = (commit.heard and commit.heard.answer_index) or 0
    first = next(iter(looks[bisect_right(looks, answered) :]), None)
    if first is None or trial.life(first) != trial.life(answered):
        return False
    return not view(trial, first + 1).of(commit.entry.uid).has_seen(commit.entry.revision)
