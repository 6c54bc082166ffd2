"""Deletes of what this life of the controller had never been shown, or of what belongs to an owner that it had never been shown.

Never shown is not enough, because a controller may rightly delete by name what it does not watch: its view of that resource was
old, too. And deletes by a name that another user's object had taken unseen, which invite that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from staleproof.checks.deeds.children import end_of_step
from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.object_history import Incarnation, deletions, object_history
from staleproof.checks.facts.reconcile_epochs import reconcile_epochs
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import view
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Asked, Listed, Withheld
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import EVICTION, is_removal


@dataclass(frozen=True, slots=True)
class UnseenDelete:
    """A delete that succeeded.

    Attributes:
        is_blind: it named no incarnation.
        unseen: what had never been shown: the object itself, if it was deleted blindly; its owner and primary, if they were there.
    """

    request: Request
    child: Incarnation
    is_blind: bool
    unseen: Sequence[Incarnation]


def unseen_deletes(trial: Trial) -> list[UnseenDelete]:
    """In the order of the requests."""
    found = (_judged(trial, request, child) for request, child in deletions(trial))
    return [each for each in found if each.unseen]


def _judged(trial: Trial, request: Request, child: Incarnation) -> UnseenDelete:
    entry, index = request.asked, request.index
    is_blind = entry.verb != "deletecollection" and entry.precondition_uid != child.uid and not entry.precondition_revision
    at_risk = [*([child] if is_blind else []), *(each for each in _above(trial, child) if not each.is_gone(before=index + 1))]
    return UnseenDelete(request, child, is_blind, [each for each in at_risk if _is_unseen(trial, each, index)])


def deletes_by_step(run: Trial, child: Incarnation, nth: int, step: int) -> bool:
    """Whether this run deleted the like by the end of that step: of the same owner, and the same number of the name (`nth`) or the
    one that was there when the step began (there may be fewer in a trial, which does not do what it does not see)."""
    named, end = object_history(run).named(child.resource, child.name), end_of_step(run, step)
    began = next((each.began for each in run.workload if run.workload_step(each.number) == step), 0)
    there = [each for number, each in enumerate(named) if number == nth or each.is_live(before=began)]
    return any(each.role == child.role and each.deleter is not None and each.is_gone(before=end) for each in there)


def deletes_under(run: Trial, child: Incarnation, owner: Incarnation) -> bool:
    """Whether this run deleted an object of that role while the owner, or primary, that is called the same was there."""
    same = object_history(run).labelled(owner.resource, owner.label)
    return same is not None and any(
        each.role == child.role and same in _above(run, each) and not same.is_gone(before=request.index + 1)
        for request, each in deletions(run)
    )


def deletes_of_hidden(trial: Trial) -> bool:
    """Whether it asked to delete by a name that stood for an incarnation, or a child of one, that was another's and hidden."""
    return any(_takes_hidden(trial, index, entry) for index, entry in trial.every(Asked))


def _above(trial: Trial, child: Incarnation) -> list[Incarnation]:
    """The object's owner and the primary that it belongs to, as far as they are known."""
    owner, primary = object_history(trial).objects.get(child.owner_uid), primary_of(trial, child.uid)
    return [each for each in (owner, primary) if each is not None]


def _is_unseen(trial: Trial, child: Incarnation, index: int) -> bool:
    """Neither shown nor learnt from an answer, although the controller's view of that resource was old."""
    seen = view(trial, index)
    if seen.of(child.uid).is_known or (child.creator is not None and not child.creator.succeeded):
        return False
    believed = seen.present(child.resource, child.name)
    return bool(believed) or _withheld(trial, child.uid, index) is not None or _is_of_the_past(trial, child, index)


def _is_of_the_past(trial: Trial, child: Incarnation, index: int) -> bool:
    """Whether this life was given a list by a fault that is older than the incarnation."""
    lists = (entry for _, entry in trial.every(Listed, since=trial.life_began(index), until=index) if entry.fault is not None)
    return any(entry.resource == child.resource and (entry.revision or 0) < child.create_revision for entry in lists)


def _withheld(trial: Trial, uid: str, before: int) -> int | None:
    """Where this life was last kept from seeing an incarnation that it did not know; None if it was not."""
    born = max((start for start in trial.starts if start < before), default=0)
    kept = [index for index in _kept(trial).get(uid, ()) if born <= index < before]
    return next((index for index in reversed(kept) if not view(trial, index).of(uid).is_known), None)


@fact
def _kept(trial: Trial) -> Mapping[str, Sequence[int]]:
    """By uid, where frames of each incarnation were withheld, in order."""
    return grouped((entry.uid, index) for index, entry in trial.every(Withheld))


def _takes_hidden(trial: Trial, index: int, entry: Asked) -> bool:
    is_by_name = is_removal(entry) and entry.verb != "deletecollection"
    if not is_by_name or entry.subresource not in ("", EVICTION) or entry.namespace != trial.namespace:
        return False
    named = object_history(trial).named(entry.resource, entry.name)
    foreign = [each for child in named for each in (child, *_above(trial, child))]
    return any(each.creator is None and _is_hidden(trial, each.uid, index) for each in foreign)


def _is_hidden(trial: Trial, uid: str, before: int) -> bool:
    """Whether it was kept from the controller and has not been shown since."""
    since = _withheld(trial, uid, before)
    return since is not None and not any(since <= index < before for index in reconcile_epochs(trial).shown.get(uid, ()))
