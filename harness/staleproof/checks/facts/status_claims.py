"""What the controller claims in a status about a generation, when it claims something new, and what it had been shown by then.

`observed` reads status.observedGeneration and that of each condition. `ready` reads for which generation Ready or Available is
True: the condition's own, or that of the whole status. Only the controller's own commits are claims, and only those by which the
claim changed: what an update carries along was claimed before.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.shown_generations import Shown, shown_generations
from staleproof.checks.trial import Commit, Trial, uid_of
from staleproof.core.plan import Manifest

OBSERVED = "status.observedGeneration"
READY = ("Ready", "Available")

Claims = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StatusClaim:
    """An own commit by which a claim changed. `last` is what had been claimed the last time before; None for never."""

    about: str
    generation: int
    last: int | None
    of: Incarnation
    commit: Commit
    asked: int
    shown: Shown


def status_claims(trial: Trial, read: Callable[[Manifest], Claims]) -> Iterator[StatusClaim]:
    """Object by object, each in the order of its commits. `read` is `observed` or `ready`."""
    shown = shown_generations(trial)
    for uid, of in object_history(trial).objects.items():
        last: dict[str, int] = {}
        for commit in of.commits:
            claims = read(commit.entry.object)
            if commit.heard is not None and commit.entry.type != "DELETED":
                before = read(commit.before) if commit.before else {}
                for about in [about for about in claims if claims[about] != before.get(about)]:
                    yield StatusClaim(about, claims[about], last.get(about), of, commit, commit.heard.index, shown[uid])
            last.update(claims)


def acted_before(trial: Trial, claim: StatusClaim) -> bool:
    """Whether it did something to the object's children between being shown the generation and claiming this.

    Only what was done to the object's own children counts: so a doubt is decided for the controller where a reference is looked at.
    """
    shown = claim.shown.known.reached(claim.generation, before=claim.asked)
    return shown is not None and done_to_children(trial, claim.of, after=shown, before=claim.asked) is not None


def done_to_children(trial: Trial, of: Incarnation, *, after: int, before: int) -> int | None:
    """Where it first did something to a child of this object between two positions; None if it did not."""
    objects = object_history(trial).objects
    during = (r for r in trial.work if after < r.index < before and r.succeeded)
    return next((r.index for r in during if (child := objects.get(uid_of(r))) is not None and child.owner_uid == of.uid), None)


def asked_on_others(trial: Trial, of: Incarnation, *, after: int, before: int) -> bool:
    """Whether it asked for anything about another object than this, refused or not.

    Whatever it asked for counts as having acted: so a doubt is decided for the controller where the trial is looked at.
    """
    return any(after < r.index < before and (r.asked.resource, r.asked.name) != (of.resource, of.name) for r in trial.work)


def of_label(trial: Trial, label: str, resource: str) -> Incarnation | None:
    """The incarnation that another run of the workload calls so."""
    objects = object_history(trial).objects.values()
    return next((each for each in objects if each.label == label and each.resource == resource), None)


def observed(obj: Manifest) -> Claims:
    """Path → generation."""
    status = _status(obj)
    claims = {OBSERVED: status.get("observedGeneration")}
    claims |= {f"status.conditions[{each['type']}].observedGeneration": each.get("observedGeneration") for each in _conditions(obj)}
    return {path: generation for path, generation in claims.items() if isinstance(generation, int)}


def ready(obj: Manifest) -> Claims:
    """Condition → the generation it is True for. One that names no generation, in a status that names none, claims nothing."""
    whole = _status(obj).get("observedGeneration")
    claims = {
        each["type"]: each.get("observedGeneration", whole)
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
