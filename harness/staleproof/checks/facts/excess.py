"""Creates and deletes of the controller that no reference made by the same step of the workload, whatever the reason.

An excess alone is no finding: the rules that use this say what the controller had not been shown, and whether that explains it.

A controller that works late does in a later step what the references did in an earlier one, so what is compared only ever grows:
the most that were alive, and the deletes that were done, *until* the end of a step. References have no resyncs, so steps are
counted without them. Runs in which the controller was restarted are left out: what a restart makes it repeat is no excuse. What a
reference had not finished within a step proves nothing there. Beside the bound by step there is that
of the whole run (`most_ever`, `fewest_ever`).

A create is one too many when more objects of the role were alive than any reference had had by then. A delete is one too many when

1. it left fewer live objects of the role than any reference had at the end of that step, and as many as that had been alive
   before (a controller that was kept from creating them has not deleted too many);
2. the controller had by then deleted more of the role than any reference had by the end of that step: one that works late, or
   replaces by deleting first, has deleted no more.

What a create repeats is work that was done before: where no more were created in all than in a reference by the end of that step,
only what was made alike can have been repeated. A controller that makes a new child for each state of its primary, and removes the
old one when it is shown the new, has more of them alive meanwhile.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.object_history import Incarnation, ObjectHistory, creations, deletions, object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.wording import full_name, kind_of, of_owner, ordinal
from staleproof.checks.trial import Trial, fact
from staleproof.core.history import Request
from staleproof.core.manifest import Manifest
from staleproof.core.wording import plural


@dataclass(frozen=True, slots=True)
class SurplusCreate:
    """It was the `live`-th of its role; fault-free runs never had more than `most` by then. `in_all`: nor had they created so many
    by then, with those that were deleted again."""

    child: Incarnation
    request: Request
    live: int
    most: int
    in_all: bool

    def explained_by(self, others: Iterable[Incarnation]) -> list[Incarnation]:
        """Those of these, of the same role and alive, without which it would not have been too many; empty: they are too few."""
        repeated = [other for other in others if self.in_all or _content(other) == _content(self.child)]
        return repeated if self.live - len(repeated) <= self.most else []

    @property
    def name(self) -> str:
        return full_name(self.child.first.entry)

    @property
    def nth(self) -> str:
        """`the 4th live pod of widget/w`."""
        return f"the {ordinal(self.live)} live {kind_of(self.child.first.entry)}{of_owner(self.child.role.owner)}"

    @property
    def excess(self) -> str:
        """The end of a sentence."""
        return f"fault-free runs never had more than {self.most} by then"


@dataclass(frozen=True, slots=True)
class SurplusDelete:
    """`live` objects of the role were left; fault-free runs kept `kept` of them through that step."""

    child: Incarnation
    request: Request
    deleted: int
    live: int
    kept: int

    @property
    def name(self) -> str:
        return full_name(self.child.first.entry)

    @property
    def left(self) -> str:
        """What was left, in words, as the end of a sentence."""
        role = self.child.role
        if role.stem == self.child.name:
            return "fault-free runs kept it"
        live = plural(self.live, f"live {kind_of(self.child.first.entry)}")
        return f"{live}{of_owner(role.owner)} left, fault-free runs kept {self.kept}"


@fact
def surplus_creates(trial: Trial) -> Mapping[int, SurplusCreate]:
    """By the position of the request, in order."""
    made, found = object_history(trial), dict[int, SurplusCreate]()
    done: dict[Role, int] = defaultdict(int)
    for request, child in sorted(creations(trial), key=lambda each: each[1].created):
        role = child.role
        done[role] += 1
        live, most = made.live_after(role, child.created), most_by_step(trial, role, child.created)
        if live > most:
            in_all = done[role] > created_by_step(trial, role, child.created)
            found[request.index] = SurplusCreate(child, request, live, most, in_all)
    return dict(sorted(found.items()))


@fact
def surplus_deletes(trial: Trial) -> Mapping[int, SurplusDelete]:
    """By the position of the request, in order. A deletecollection names no object, so it counts and is not judged."""
    made, found = object_history(trial), {}
    done: dict[Role, int] = defaultdict(int)
    deleted = [(child.deleted, request, child) for request, child in deletions(trial) if child.deleted is not None]
    for index, request, child in sorted(deleted, key=lambda each: each[0]):
        role = child.role
        done[role] += 1
        live, kept = made.live_after(role, index), kept_by_step(trial, role, index)
        is_below = live < kept <= made.peak_until(role, index)
        if is_below and done[role] > deleted_by_step(trial, role, index) and request.asked.verb == "delete":
            found[request.index] = SurplusDelete(child, request, index, live, kept)
    return dict(sorted(found.items()))


@fact
def surplus_writes(trial: Trial) -> Sequence[SurplusCreate | SurplusDelete]:
    """Creates and deletes, in the order asked."""
    found: dict[int, SurplusCreate | SurplusDelete] = {**surplus_creates(trial), **surplus_deletes(trial)}
    return [found[index] for index in sorted(found)]


# --- the whole run


@fact
def most_ever(trial: Trial) -> Mapping[Role, int]:
    """The most live objects of each role that any reference had."""
    made = [object_history(reference) for reference in trial.calm]
    return {role: max(each.peak(role) for each in made) for role in _roles(made)}


@fact
def fewest_ever(trial: Trial) -> Mapping[Role, int]:
    """The fewest live objects of each role that any reference had after its peak."""
    made = [object_history(reference) for reference in trial.calm]
    return {role: min(each.trough(role) for each in made) for role in _roles(made)}


@fact
def own_deletes_in_all(trial: Trial) -> Counter[Role]:
    """How many objects of each role the controller deleted."""
    return Counter(child.role for _, child in deletions(trial))


def _roles(made: Collection[ObjectHistory]) -> set[Role]:
    return {role for each in made for role in each.counts}


# --- until the end of a step


def most_by_step(trial: Trial, role: Role, index: int) -> int:
    """The most live objects of a role that any reference had by the end of the step that had begun before a position."""
    step = step_at(trial, index)
    return max((max(_live(reference, role, step), default=0) for reference in trial.calm), default=0)


def kept_by_step(trial: Trial, role: Role, index: int) -> int:
    """The fewest that any reference had at the end of that step; 0 where that cannot be told."""
    step = step_at(trial, index)
    if not step or any(_was_cut_short(reference, step) for reference in trial.calm):
        return 0
    return min(([0, *_live(reference, role, step)][-1] for reference in trial.calm), default=0)


def created_by_step(trial: Trial, role: Role, index: int) -> int:
    """The most that the controller had created in any reference by the end of that step."""
    step = step_at(trial, index)
    return max((_creates(reference, role, step) for reference in trial.calm), default=0)


def deleted_by_step(trial: Trial, role: Role, index: int) -> int:
    """The most that the controller had deleted in any reference by the end of that step."""
    step = step_at(trial, index)
    return max((_deletes(reference, role, step) for reference in trial.calm), default=0)


def step_at(trial: Trial, index: int) -> int:
    """The references' number of the step that had begun by then; 0 for none."""
    number = max((step.number for step in trial.steps if step.began < index), default=0)
    return trial.workload_step(number)


def end_of_step(reference: Trial, number: int) -> int:
    """Where the step ended in a reference: at its end if that is not known, or if the step was cut short."""
    following = (step.began for step in reference.steps if reference.workload_step(step.number) > number)
    known = number and not _was_cut_short(reference, number)
    return next(following, len(reference.entries)) if known else len(reference.entries)


def _was_cut_short(reference: Trial, number: int) -> bool:
    steps = (step for step in reference.steps if reference.workload_step(step.number) == number)
    return any(step.ended is not None and not step.idle for step in steps)


def _live(reference: Trial, role: Role, step: int) -> list[int]:
    """How many were alive after each commit, up to the end of a step."""
    end = end_of_step(reference, step)
    return [count for index, count in object_history(reference).counts.get(role, {}).items() if index < end]


def _creates(reference: Trial, role: Role, step: int) -> int:
    end = end_of_step(reference, step)
    return sum(child.role == role and child.created < end for _, child in creations(reference))


def _deletes(reference: Trial, role: Role, step: int) -> int:
    end = end_of_step(reference, step)
    return sum(child.role == role and child.is_gone(before=end) for _, child in deletions(reference))


def _content(child: Incarnation) -> Manifest:
    """What it was made as, whatever it is called."""
    return {key: value for key, value in child.first.entry.object.items() if key not in ("metadata", "status")}
