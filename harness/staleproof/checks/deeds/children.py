"""Creates and deletes of children by the controller, with how many of the role there were, and how many it had done by then."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from staleproof.checks.facts.object_history import Incarnation, OwnVerb, creations, deletions, object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.wording import full_name, kind_of, of_owner, ordinal
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.history import Request
from staleproof.core.wording import plural


@dataclass(frozen=True, slots=True)
class ChildDeed:
    """A create or a delete of a child.

    Attributes:
        at: the position of its commit; `step`: the number of the workload's step that had begun by then, 0 for none.
        live: the live objects of the role after it, and `peak` the most that there had been by then.
        done: so many of the role the controller had created, or deleted, with this one.
    """

    verb: OwnVerb
    child: Incarnation
    request: Request
    at: int
    step: int
    live: int
    peak: int
    done: int

    @property
    def request_index(self) -> int:
        """The position of the request."""
        return self.request.index

    @property
    def role(self) -> Role:
        return self.child.role

    @property
    def name(self) -> str:
        return full_name(self.child.first.entry)

    @property
    def nth(self) -> str:
        """`the 4th live pod of widget/w`."""
        return f"the {ordinal(self.live)} live {kind_of(self.child.first.entry)}{of_owner(self.role.owner)}"

    @property
    def left(self) -> str:
        """`2 live pods of widget/w`."""
        return f"{plural(self.live, f'live {kind_of(self.child.first.entry)}')}{of_owner(self.role.owner)}"


@fact
def child_deeds(trial: Trial) -> Sequence[ChildDeed]:
    """All that were carried out, in the order of their commits. A deletecollection is one for each object that it deleted."""
    made, done, found = object_history(trial), Counter[tuple[OwnVerb, Role]](), list[ChildDeed]()
    created: list[tuple[int, OwnVerb, Request, Incarnation]] = [(c.created, "create", r, c) for r, c in creations(trial)]
    deleted: list[tuple[int, OwnVerb, Request, Incarnation]] = [
        (c.deleted, "delete", r, c) for r, c in deletions(trial) if c.deleted is not None
    ]
    for at, verb, request, child in sorted([*created, *deleted], key=lambda each: each[0]):
        role = child.role
        done[verb, role] += 1
        live, peak, step = made.counts[role][at], made.peaks[role][at], step_at(trial, at)
        found.append(ChildDeed(verb, child, request, at, step, live, peak, done[verb, role]))
    return found


def step_at(trial: Trial, index: int) -> int:
    """The number of the workload's step that had begun before a position, the same in every run of it; 0 for none."""
    number = max((step.number for step in trial.steps if step.began < index), default=0)
    return trial.workload_step(number)


def end_of_step(run: Trial, number: int) -> int:
    """Where a step of the workload ended in a run: at the run's end if that is not known, or if the step was cut short."""
    following = (step.began for step in run.steps if run.workload_step(step.number) > number)
    known = number and not was_cut_short(run, number)
    return next(following, len(run.entries)) if known else len(run.entries)


def was_cut_short(run: Trial, number: int) -> bool:
    """Whether the controller had not finished by the end of a step of the workload."""
    steps = (step for step in run.steps if run.workload_step(step.number) == number)
    return any(step.ended is not None and not step.idle for step in steps)


def done_in_all(trial: Trial, verb: OwnVerb, role: Role) -> int:
    """How many of a role the controller created, or deleted."""
    return sum(deed.verb == verb and deed.role == role for deed in child_deeds(trial))
