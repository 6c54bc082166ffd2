"""no-blind-retry: not repeat an own committed write only because it has not been seen: a conflict with oneself.

What counts is an update refused with 409 Conflict although nobody but the controller had changed the object since the version that
it had been shown, and although each of those own writes had been answered before. Only how many there are beyond every reference
is told: several controllers in one program conflict without any fault.

This is a cost and not a failure, so it is provisional: optimistic concurrency makes it harmless, and a controller that keeps no
record of its writes, tries, and comes back later is a correct one. Left out for honesty: AlreadyExists, by which deterministic
names live; patches, whose conflict may be about the ownership of fields; own writes of which it never heard the end; objects that
somebody else wrote to about then.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.frontier import frontier
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.requirement import HIDDEN, SEED, Requirement
from staleproof.checks.story.phrases import full_name, plural, span
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import Commit, Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.entry import Answered, Competed, Delivered, Listed, StepBegan
from staleproof.core.history import Request

_CLOSE_SECONDS = 0.5
"""A change by somebody else that was recorded so soon after a conflict may have been its cause."""


@dataclass(frozen=True, slots=True)
class _Conflict:
    """A refused update, and the own writes that it had not been shown."""

    request: Request
    target: Incarnation
    unseen: Sequence[Commit]


def check(trial: Trial) -> Iterator[Said]:
    usual = [_conflicts(reference) for reference in trial.references]
    for where, conflicts in _conflicts(trial).items():
        most = max((len(found.get(where, ())) for found in usual), default=0)
        if len(conflicts) > most:
            yield _finding(trial, conflicts, most)
    looks = trial.positions(Delivered, Listed, StepBegan)
    if not any(_is_hidden(trial, commit, looks) for commit in trial.commits):
        yield NotExercised("the controller was never made to look again while an own update was hidden from it")


def _finding(trial: Trial, conflicts: Sequence[_Conflict], usual: int) -> Finding:
    last = conflicts[-1]
    asked = last.request.asked
    part = f"the {asked.subresource} of " if asked.subresource else ""
    because = (
        f"{plural(len(conflicts), 'update')} of {part}{full_name(last.target.last.entry)} "
        f"{'was' if len(conflicts) == 1 else 'were'} refused with 409 Conflict because of the controller's own writes; "
        f"fault-free runs had {f'at most {usual}' if usual else 'none'}"
    )
    though = f"though it had not been shown its own writes {span([commit.entry.revision for commit in last.unseen])}"
    answered = [commit.heard.answer_index for commit in last.unseen if commit.heard]
    return Finding(because, context(trial, answered, last.request.index, last.request.answer_index or 0), though)


def _conflicts(trial: Trial) -> Mapping[tuple[str, str], Sequence[_Conflict]]:
    """Those that the controller had with itself, in the order asked, by resource and subresource."""
    competed = {entry.request for _, entry in trial.every(Competed)}
    found = defaultdict(list)
    for request in trial.work:
        if _is_refused_update(request) and request.asked.request not in competed:
            for conflict in _with_itself(trial, request):
                found[request.asked.resource, request.asked.subresource].append(conflict)
    return found


def _is_refused_update(request: Request) -> bool:
    answer = request.answer
    is_conflict = isinstance(answer, Answered) and (answer.outcome, answer.code, answer.reason) == ("fail", 409, "Conflict")
    return is_conflict and request.asked.verb == "update"


def _with_itself(trial: Trial, request: Request) -> Iterator[_Conflict]:
    """Nobody else had written to the object since the controller was shown it."""
    target = _target(trial, request)
    if target is None or request.answer_index is None:
        return
    shown = frontier(trial).shown(target.uid, before=request.index)
    until = trial.at(request.answer_index) + _CLOSE_SECONDS
    newer = [c for c in target.commits if c.entry.revision > (-1 if shown is None else shown) and c.entry.at <= until]
    unseen = [commit for commit in newer if _is_remembered(trial, commit, request)]
    others = [c for c in newer if c.heard is None or (c.index < request.index and c not in unseen)]
    if unseen and not others:
        yield _Conflict(request, target, unseen)


def _target(trial: Trial, request: Request) -> Incarnation | None:
    """The incarnation that has the name at that moment."""
    named = object_history(trial).named(request.asked.resource, request.asked.name)
    there = [each for each in named if each.created < request.index and request.asked.namespace == trial.namespace]
    return max(there, key=lambda each: each.create_revision, default=None)


def _is_remembered(trial: Trial, commit: Commit, request: Request) -> bool:
    """Whether this life of the controller made the commit and had heard so before it asked."""
    by = commit.heard
    is_heard = by is not None and by.answer_index is not None and by.answer_index < request.index
    return by is not None and is_heard and trial.life(by.index) == trial.life(request.index)


def _is_hidden(trial: Trial, commit: Commit, looks: Sequence[int]) -> bool:
    """Whether it is an own update, and the controller looked again in the same life before it was shown it."""
    by, entry = commit.heard, commit.entry
    if by is None or by.answer_index is None or entry.type != "MODIFIED" or by.asked.verb not in ("update", "patch"):
        return False
    first = next(iter(looks[bisect_right(looks, by.answer_index) :]), None)
    if first is None or trial.life(first) != trial.life(by.answer_index):
        return False
    return not frontier(trial).has_seen(entry.uid, entry.revision, before=first + 1)


REQUIREMENT = Requirement(
    slug="no-blind-retry",
    must="The controller MUST not repeat its own committed write only because it has not been shown it.",
    level="provisional",
    source=f"KEP-5647; {SEED}, section Expectations pattern",
    faults=HIDDEN,
    remedy="keep the resourceVersion of the last own write and skip the object until the cache has reached it; "
    "a conflict costs a request and is harmless otherwise, so this is a cost and not a failure",
    check=check,
)
