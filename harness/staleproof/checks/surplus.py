"""Creates and deletes of children beyond those that the controller does without the faults.

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

Of a ControllerRevision, an immutable copy of an owner's state, none is deleted too many while another one of that owner holds the
same state under another number (`history.FindEqualRevisions`, pkg/controller/history/controller_history.go).

An excess alone is no finding: a row of the catalogue says what the controller had not been shown, and whether that explains it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from staleproof.checks.but_for import in_calm, is_compared
from staleproof.checks.deeds.children import ChildDeed, child_deeds, end_of_step, was_cut_short
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.revisions import is_kept_as_another
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.core.plan.manifest import content_of


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
    """Creates and deletes, in the order sent; none where there is nothing to compare with. A deletecollection names no object: it
    counts and is not judged."""
    if not is_compared(trial):
        return ()
    deeds = (deed for deed in child_deeds(trial) if deed.request.asked.verb != "deletecollection")
    judged = (
        deed for deed in deeds if deed.verb == "create" or not is_kept_as_another(trial, deed.child, before=deed.request_index)
    )
    found = (_beyond(trial, deed) for deed in judged)
    return sorted((each for each in found if each is not None), key=lambda each: each.deed.request_index)


def _beyond(trial: Trial, deed: ChildDeed) -> Surplus | None:
    role, by_then = deed.role, usual(trial)(deed.role, deed.step)
    if deed.verb == "create":
        ever = max(in_calm(trial, lambda run: object_history(run).peak(role)), default=0)
        return Surplus(deed, by_then.most, ever, deed.done > by_then.created) if deed.live > by_then.most else None
    is_too_many = deed.live < by_then.kept <= deed.peak and deed.done > by_then.deleted
    ever = _trough(trial, role)
    found = Surplus(deed, by_then.kept if is_too_many else ever, ever, is_too_many)
    return found if is_too_many or found.is_below_all else None


def kept_roles(trial: Trial) -> Iterator[Role]:
    """Roles of which every reference kept something once it had the most of them: there can be too few."""
    roles = {role for counts in in_calm(trial, lambda run: object_history(run).counts) for role in counts}
    return (role for role in roles if _trough(trial, role))


def _trough(trial: Trial, role: Role) -> int:
    """The fewest that any reference had once it had the most of them."""
    return min(in_calm(trial, lambda run: object_history(run).trough(role)), default=0)


class Usual(NamedTuple):
    """What there was of a role by the end of a step: the `most` live objects until then, how many were left (`kept`; 0 where that
    is not known), and how many the controller had created and deleted. Of all references the most, but the fewest kept."""

    most: int
    kept: int
    created: int
    deleted: int


@fact
def usual(trial: Trial) -> Callable[[Role, int], Usual]:
    """Of a role, by the end of a step of the workload, whose number is the same in every run of it: what the references had."""

    def by_then(role: Role, step: int) -> Usual:
        runs = list(in_calm(trial, lambda run: _reached(run, role, step)))
        most, kept, created, deleted = zip(*runs, strict=True) if runs else ((0,),) * 4
        return Usual(max(most), min(kept), max(created), max(deleted))

    return cache(by_then)


def _reached(run: Trial, role: Role, step: int) -> Usual:
    """What there was in one run."""
    end = end_of_step(run, step)
    live = [count for index, count in object_history(run).counts.get(role, {}).items() if index < end]
    done = Counter(deed.verb for deed in child_deeds(run) if deed.role == role and deed.at < end)
    kept = live[-1] if live and step and not was_cut_short(run, step) else 0
    return Usual(max(live, default=0), kept, done["create"], done["delete"])
