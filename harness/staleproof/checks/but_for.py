"""What of the controller's deeds goes beyond what it does without the faults: here the references' deeds are subtracted.

A controller that works late does in a later step what the references did in an earlier one, so what is compared only ever grows:
the most that were alive, and the deletes that were done, *until* the end of a step. References have no resyncs, so steps are
counted without them. Runs in which the controller was restarted are left out: what a restart makes it repeat is no excuse. What a
reference had not finished within a step proves nothing there.

A create is one too many when more objects of the role were alive than any reference had had by then. A delete is one too many for
that step when

1. it left fewer live objects of the role than any reference had at the end of that step, and as many as that had been alive
   before (a controller that was kept from creating them has not deleted too many);
2. the controller had by then deleted more of the role than any reference had by the end of that step: one that works late, or
   replaces by deleting first, has deleted no more.

It is one too many in any step when it left fewer than any reference ever had once it had the most of them.

What a create repeats is work that was done before: where no more were created in all than in a reference by the end of that step,
only what was made alike can have been repeated. A controller that makes a new child for each state of its primary, and removes the
old one when it is shown the new, has more of them alive meanwhile.

An excess alone is no finding: a row of the catalogue says what the controller had not been shown, and whether that explains it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from staleproof.checks.deeds.children import ChildDeed, child_deeds
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.own_writes import OwnVerb
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.core.plan.manifest import content_of

D = TypeVar("D")
Deeds = Callable[[Trial], Iterable[D]]
"""Sees one history, and tells what was done in it."""


# --- children


@dataclass(frozen=True, slots=True)
class Surplus:
    """A create or delete too many.

    Attributes:
        usual: the most live objects of the role that any reference had had by the end of that step; of a delete, the fewest that
            any of them had left then, or, if it is not one too many for that step, ever.
        ever: the most of the whole run, or the fewest from the peak on.
        in_all: nor had any of them created, or deleted, so many by then; a delete is one too many for that step.
    """

    deed: ChildDeed
    usual: int
    ever: int
    in_all: bool

    def explained_by(self, children: Iterable[Incarnation], *, ever: bool = False) -> list[Incarnation]:
        """Those of these, created or deleted and of the same role, without which it would not have been too many for its step, or
        (`ever`; of a delete) beside the whole run; empty: they are too few."""
        if self.deed.verb == "delete":
            found = [*children]
            return found if self.deed.live + len(found) >= (self.ever if ever else self.usual) else []
        like = content_of(self.deed.child.first.entry.object)
        found = [each for each in children if self.in_all or content_of(each.first.entry.object) == like]
        return found if self.deed.live - len(found) <= self.usual else []

    @property
    def is_below_all(self) -> bool:
        """Whether a delete left fewer than any reference ever had from its peak on."""
        return self.deed.verb == "delete" and self.deed.live < self.ever <= self.deed.peak

    @property
    def words(self) -> str:
        """What is usual, as the end of a sentence."""
        if self.deed.verb == "create":
            return f"fault-free runs never had more than {self.usual}{' by then' if self.usual < self.ever else ''}"
        if self.deed.role.stem == self.deed.child.name:
            return "fault-free runs kept it"
        return f"{self.deed.left} left, fault-free runs kept {self.usual}"


@fact
def surplus(trial: Trial) -> Sequence[Surplus]:
    """Creates and deletes, in the order asked; none where there is nothing to compare with. A deletecollection names no object: it
    counts and is not judged."""
    if not trial.calm:
        return ()
    judged = (deed for deed in child_deeds(trial) if deed.request.asked.verb != "deletecollection")
    found = (_beyond(trial, deed) for deed in judged)
    return sorted((each for each in found if each is not None), key=lambda each: each.deed.asked)


def _beyond(trial: Trial, deed: ChildDeed) -> Surplus | None:
    role, by_then, made = deed.role, usual(trial, deed.role, deed.step), [object_history(reference) for reference in trial.calm]
    if deed.verb == "create":
        ever = max((each.peak(role) for each in made), default=0)
        return Surplus(deed, by_then.most, ever, deed.done > by_then.created) if deed.live > by_then.most else None
    is_too_many = deed.live < by_then.kept <= deed.peak and deed.done > by_then.deleted
    ever = min((each.trough(role) for each in made), default=0)
    found = Surplus(deed, by_then.kept if is_too_many else ever, ever, is_too_many)
    return found if is_too_many or found.is_below_all else None


def kept_roles(trial: Trial) -> Iterator[Role]:
    """Roles of which every reference kept something once it had the most of them: there can be too few."""
    made = [object_history(reference) for reference in trial.calm]
    return (role for role in {role for each in made for role in each.counts} if min(each.trough(role) for each in made))


class Usual(NamedTuple):
    """What there was of a role in the references by the end of a step: the `most` live objects that any of them had had, the fewest
    that any had then (`kept`; 0 where that cannot be told), and the most that the controller had created and deleted in any."""

    most: int
    kept: int
    created: int
    deleted: int


def usual(trial: Trial, role: Role, step: int) -> Usual:
    """By the end of a step of the workload, whose number is the same in every run of it."""
    known = _usual(trial)
    if (role, step) not in known:
        live = [_live(reference, role, step) for reference in trial.calm]
        can_tell = step and not any(_was_cut_short(reference, step) for reference in trial.calm)
        known[role, step] = Usual(
            most=max((max(counts, default=0) for counts in live), default=0),
            kept=min(([0, *counts][-1] for counts in live), default=0) if can_tell else 0,
            created=max((_done(reference, "create", role, step) for reference in trial.calm), default=0),
            deleted=max((_done(reference, "delete", role, step) for reference in trial.calm), default=0),
        )
    return known[role, step]


@fact
def _usual(_: Trial) -> dict[tuple[Role, int], Usual]:
    """What has been worked out so far."""
    return {}


def _live(reference: Trial, role: Role, step: int) -> list[int]:
    """How many were alive after each commit, up to the end of a step."""
    end = end_of_step(reference, step)
    return [count for index, count in object_history(reference).counts.get(role, {}).items() if index < end]


def _done(reference: Trial, verb: OwnVerb, role: Role, step: int) -> int:
    """How many of the role a reference had created, or deleted, by the end of that step."""
    end = end_of_step(reference, step)
    return sum(deed.verb == verb and deed.role == role and deed.at < end for deed in child_deeds(reference))


def end_of_step(reference: Trial, number: int) -> int:
    """Where the step ended in a reference: at its end if that is not known, or if the step was cut short."""
    following = (step.began for step in reference.steps if reference.workload_step(step.number) > number)
    known = number and not _was_cut_short(reference, number)
    return next(following, len(reference.entries)) if known else len(reference.entries)


def _was_cut_short(reference: Trial, number: int) -> bool:
    steps = (step for step in reference.steps if reference.workload_step(step.number) == number)
    return any(step.ended is not None and not step.idle for step in steps)


# --- everything else


def unheard_of(trial: Trial, deeds: Deeds[D], key: Callable[[D], Hashable], *, usual: Deeds[D] | None = None) -> Iterator[D]:
    """The deeds of a trial of a kind (`key`) that no reference shows. `usual`: what references may show, if that is more."""
    found = list(deeds(trial))
    references = trial.references if found else ()  # to look at them costs as much as to look at the trial
    known = {key(deed) for reference in references for deed in (usual or deeds)(reference)}
    return (deed for deed in found if key(deed) not in known)


def most_often(references: Collection[Trial], deeds: Deeds[D], key: Callable[[D], Hashable]) -> Counter[Hashable]:
    """By kind, how often any one of these runs shows such deeds, at most."""
    most = Counter[Hashable]()
    for reference in references:
        most |= Counter(map(key, deeds(reference)))
    return most
