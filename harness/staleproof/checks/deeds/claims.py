"""What the controller claims in a status about a generation, when it claims something new, and what it had been shown by then.

`observed` reads status.observedGeneration and that of each condition. `ready` reads for which generation Ready or Available is
True: the condition's own, or that of the whole status. Only the controller's own commits are claims, whether it heard of them or
not, and only those by which the claim changed: what an update carries along was claimed before.

It has been shown a generation by its caches (frames and lists), or by any means: those are, besides, the answers to GET and to its
own writes, which carry the object as it is now. Both belong to one life of the process. When in doubt we say the newest that it can
have been: a doubt must never become an accusation.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import Known, lives, view
from staleproof.core.grouping import grouped
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import Commit, uid_of
from staleproof.core.plan.manifest import Manifest

OBSERVED = "status.observedGeneration"
READY = ("Ready", "Available")

Claims = Mapping[str, int]


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


@dataclass(frozen=True, slots=True)
class StatusClaim:
    """An own commit by which a claim changed. `last` is what had been claimed the last time before; None for never."""

    about: str
    generation: int
    last: int | None
    of: Incarnation
    commit: Commit
    request: Request

    @property
    def request_index(self) -> int:
        """The position of the write that made it."""
        return self.request.index

    @property
    def is_carried_along(self) -> bool:
        """Whether the condition that it is about is as it was: what is new is the generation of the whole status."""
        before, after = (
            [each for each in _conditions(state or {}) if each["type"] == self.about]
            for state in (self.commit.before, self.commit.entry.object)
        )
        return before == after != []

    def is_like(self, about: str, of: Incarnation) -> bool:
        """Whether it claims something about the same as here, if only of the object that another run of the workload calls so."""
        return (self.about, self.of.label, self.of.resource) == (about, of.label, of.resource)


@fact
def observed_claims(trial: Trial) -> Sequence[StatusClaim]:
    """Of the generation observed: object by object, each in the order of its commits."""
    return list(_claims(trial, observed))


@fact
def ready_claims(trial: Trial) -> Sequence[StatusClaim]:
    """Of the generation that is Ready or Available: object by object, each in the order of its commits."""
    return list(_claims(trial, ready))


def _claims(trial: Trial, read: Callable[[Manifest], Claims]) -> Iterator[StatusClaim]:
    for of in object_history(trial).objects.values():
        last: dict[str, int] = {}
        for commit in of.commits:
            claims = read(commit.entry.object)
            if commit.by is not None and commit.entry.type != "DELETED":
                before = read(commit.before) if commit.before else {}
                for about in [about for about in claims if claims[about] != before.get(about)]:
                    earlier = last.get(about) if commit.heard is not None else None  # it may be late
                    yield StatusClaim(about, claims[about], earlier, of, commit, commit.by)
            last.update(claims)


def acted_before(trial: Trial, claim: StatusClaim) -> bool:
    """Whether it did something to the object's children between being shown the generation and claiming this.

    Only what was done to the object's own children counts: so a doubt is decided for the controller where a reference is looked at.
    """
    shown = shown_generations(trial).known.reached(claim.of.uid, claim.generation, before=claim.request_index)
    return shown is not None and acted_on_children(trial, claim.of, after=shown, before=claim.request_index)


def acted_on_children(trial: Trial, of: Incarnation, *, after: int, before: int) -> bool:
    """Whether it did something to a child of this object between two positions."""
    return any(after < index < before for index in _written_children(trial).get(of.uid, ()))


@fact
def _written_children(trial: Trial) -> Mapping[str, Sequence[int]]:
    """By the uid of an owner, where the controller asked for the writes to its children that succeeded."""
    objects = object_history(trial).objects
    wrote = ((request.index, objects.get(uid_of(request))) for request in trial.work if request.succeeded)
    return grouped((child.owner_uid, index) for index, child in wrote if child is not None)


def acted_on_other_objects(trial: Trial, of: Incarnation, *, after: int, before: int) -> bool:
    """Whether it asked for anything about another object than this, refused or not.

    Whatever it asked for counts as having acted: so a doubt is decided for the controller where the trial is looked at.
    """
    first = bisect_right(trial.work, after, key=lambda request: request.index)
    later = takewhile(lambda request: request.index < before, (trial.work[place] for place in range(first, len(trial.work))))
    return any((request.asked.resource, request.asked.name) != (of.resource, of.name) for request in later)


def first_ready(trial: Trial, of: Incarnation, about: str, generation: int) -> StatusClaim | None:
    """The first claim that this generation is Ready or Available, of the object that another run of the workload calls so."""
    return _first_ready(trial).get((about, generation, of.label, of.resource))


@fact
def _first_ready(trial: Trial) -> Mapping[tuple[str, int, str, str], StatusClaim]:
    """By condition, generation, label and resource."""
    every = reversed(ready_claims(trial))
    return {(claim.about, claim.generation, claim.of.label, claim.of.resource): claim for claim in every}


def children_when_ready(trial: Trial, of: Incarnation, about: str, generation: int) -> Mapping[Role, int]:
    """Per role, the fewest children that such an object had whenever the controller claimed this of it; empty where it never did,
    or had not acted before."""
    claim = first_ready(trial, of, about, generation)
    if claim is None or not acted_before(trial, claim):
        return {}
    own = [(commit.by, ready(commit.entry.object)) for commit in claim.of.commits if commit.by is not None]
    positions = [request.index for request, claims in own if claims.get(about) == generation]
    made = object_history(trial)
    return {role: min(made.live_at(role, i) for i in positions) for role in made.roles_of(claim.of.label)}


def observed(obj: Manifest) -> Claims:
    """Path → generation."""
    status = _status(obj)
    claims = {OBSERVED: status.get("observedGeneration")}
    claims |= {f"status.conditions[{each['type']}].observedGeneration": each.get("observedGeneration") for each in _conditions(obj)}
    return {path: generation for path, generation in claims.items() if isinstance(generation, int)}


def ready(obj: Manifest) -> Claims:
    """Condition → the generation it is True for. One that names no generation, in a status that names none, claims nothing."""
    status_generation = _status(obj).get("observedGeneration")
    claims = {
        each["type"]: each.get("observedGeneration", status_generation)
        for each in _conditions(obj)
        if each["type"] in READY and each.get("status") == "True"
    }
    return {condition: generation for condition, generation in claims.items() if isinstance(generation, int)}


def _status(obj: Manifest) -> Mapping[str, Any]:
    status = obj.get("status")
    return status if isinstance(status, dict) else {}


def _conditions(obj: Manifest) -> list[Mapping[str, Any]]:
    conditions = _status(obj).get("conditions")
    found = conditions if isinstance(conditions, list) else []
    return [each for each in found if isinstance(each, dict) and isinstance(each.get("type"), str)]
