"""no-delete-of-unseen: not delete an incarnation never shown, nor what belongs to a live primary or owner never shown.

The uid that was committed as deleted was not among those that this life of the controller had been shown or told. "Never shown" is
not enough, because a controller may rightly delete by name what it does not watch. So a finding also needs evidence that its view
was old: news of the incarnation had been withheld, or the controller had been shown an earlier incarnation of that name and not its
end, or a list of the past in which it was not yet.

Whoever names the incarnation that it means (a precondition) has learnt of it somehow; whoever deletes a collection has not to know
any. Of the owner or the primary they may have learnt nothing all the same, as a controller that sweeps up what it takes for
leftovers of a predecessor: so that is judged whoever made the object and whatever it is owned by (`belongings`), if no reference
deleted the like while the same owner was there.

Not judged: an incarnation that the controller made itself by a create whose answer was lost; and one that had to go whoever knew of
it, as `w-2` has when fewer replicas are wanted and a name is all that a replica is: a fault-free run, in which the controller had
been shown that incarnation, deleted it by the end of the same step; nor what a controller deletes by its name whoever owns it, as
one does that removes what has failed: a fault-free run did so under the same owner, which it had been shown.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from staleproof.checks.but_for import end_of_step
from staleproof.checks.deeds.children import step_at
from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.object_history import Incarnation, deletions, object_history
from staleproof.checks.facts.reconcile_epochs import reconcile_epochs
from staleproof.checks.facts.usability import reference_trouble
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name, owner_name, short_name
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial, fact
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.checks.view.life import view
from staleproof.core.history.entry import Asked, Listed, Withheld
from staleproof.core.history.history import Request


def check(trial: Trial) -> Iterator[Said]:
    for request, child in deletions(trial):
        yield from _judge(trial, request, child)
    if not any(_takes_hidden(trial, index, asked) for index, asked in trial.every(Asked)):
        yield NotExercised("the controller never deleted by a name that another's object had taken unseen")


def _judge(trial: Trial, request: Request, child: Incarnation) -> Iterator[Finding]:
    asked, commit, committed = request.index, child.first.entry, child.deleted
    assert committed is not None
    if _is_blind(request, child) and _is_unseen(trial, child, asked) and not _is_due(trial, child, asked):
        because = f"the controller deleted {full_name(commit)} (uid {child.uid[:8]}), an incarnation that it had never been shown"
        though = f"though it had not been shown that incarnation (resourceVersion {child.create_revision})"
        yield Finding(because, context(trial, [child.created], asked, committed), though)
        return
    owner = next((each for each in _above(trial, child) if _is_judged(trial, request, child, each)), None)
    if owner is not None:
        yield _bereaved(trial, request, child, owner)


def _is_due(trial: Trial, child: Incarnation, asked: int) -> bool:
    """Whether a fault-free run deleted the like by the end of that step: of the same owner, and the same number of the name or the
    one that was there when the step began (there may have been fewer in the trial, which did not do what it did not see)."""
    nth, step = object_history(trial).named(child.resource, child.name).index(child), step_at(trial, asked)

    def deleted(reference: Trial) -> bool:
        named = object_history(reference).named(child.resource, child.name)
        began, end = _began(reference, step), end_of_step(reference, step)
        there = [each for number, each in enumerate(named) if number == nth or each.is_live(before=began)]
        return any(each.role == child.role and each.deleter is not None and each.is_gone(before=end) for each in there)

    return not reference_trouble(trial) and any(map(deleted, trial.calm))


def _began(reference: Trial, step: int) -> int:
    """Where a step began in a reference."""
    return next((each.began for each in reference.workload if reference.workload_step(each.number) == step), 0)


def _bereaved(trial: Trial, request: Request, child: Incarnation, owner: Incarnation) -> Finding:
    """What belonged to an owner that is there, and that the controller knew nothing of."""
    asked, committed, commit = request.index, child.deleted or child.created, child.first.entry
    whose = f"{'a child of' if child.owner_uid == owner.uid else 'which belongs to'} {owner_name(owner.label)}"
    because = f"the controller deleted {full_name(commit)}, {whose}, an incarnation that it had never been shown"
    kind = "its owner" if child.owner_uid == owner.uid else "that primary"
    though = f"though it had not been shown {kind}, {short_name(owner.first.entry)} of resourceVersion {owner.create_revision}"
    return Finding(because, context(trial, [owner.created, child.created], asked, committed), though)


def _above(trial: Trial, child: Incarnation) -> list[Incarnation]:
    """The object's owner and the primary that it belongs to, as far as they are known."""
    owner, primary = object_history(trial).objects.get(child.owner_uid), primary_of(trial, child.uid)
    return [each for each in (owner, primary) if each is not None]


def _is_judged(trial: Trial, request: Request, child: Incarnation, owner: Incarnation) -> bool:
    """Whether it was deleted while this owner was there and unseen, as no fault-free run did. Where that is not known, only its
    own owner counts."""
    asked = request.index
    if owner.is_gone(before=asked + 1) or not _is_unseen(trial, owner, asked):
        return False
    if reference_trouble(trial):
        return _is_blind(request, child) and child.owner_uid == owner.uid
    return not any(_deletes_like(each, child, owner) for each in trial.references)


def _deletes_like(reference: Trial, child: Incarnation, owner: Incarnation) -> bool:
    """Whether it deleted an object of that role while the owner that is called the same was there."""
    same = object_history(reference).labelled(owner.resource, owner.label)
    return same is not None and any(
        each.role == child.role and same in _above(reference, each) and not same.is_gone(before=request.index + 1)
        for request, each in deletions(reference)
    )


def _is_blind(request: Request, child: Incarnation) -> bool:
    """Deleted by name, without naming the incarnation."""
    asked = request.asked
    return asked.verb == "delete" and asked.precondition_uid != child.uid and not asked.precondition_revision


def _is_unseen(trial: Trial, child: Incarnation, asked: int) -> bool:
    """Never shown or told, although the controller's view of that resource was old."""
    seen = view(trial, asked)
    if seen.of(child.uid).is_known or (child.creator is not None and not child.creator.succeeded):
        return False
    believed = seen.present(child.resource, child.name)
    return bool(believed) or _withheld(trial, child.uid, asked) is not None or _is_of_the_past(trial, child, asked)


def _is_of_the_past(trial: Trial, child: Incarnation, asked: int) -> bool:
    """Whether this life was given a list by a fault that is older than the incarnation."""
    lists = (entry for _, entry in trial.every(Listed, since=trial.life_began(asked), until=asked) if entry.fault is not None)
    return any(entry.resource == child.resource and (entry.revision or 0) < child.create_revision for entry in lists)


def _withheld(trial: Trial, uid: str, before: int) -> int | None:
    """Where this life was last kept from seeing an incarnation that it did not know; None if it was not."""
    born = max((start for start in trial.starts if start < before), default=0)
    kept = [index for index in _kept(trial).get(uid, ()) if born <= index < before]
    return next((index for index in reversed(kept) if not view(trial, index).of(uid).is_known), None)


@fact
def _kept(trial: Trial) -> Mapping[str, Sequence[int]]:
    """By uid, where frames of each incarnation were withheld, in order."""
    found: dict[str, list[int]] = defaultdict(list)
    for index, entry in trial.every(Withheld):
        found[entry.uid].append(index)
    return found


def _takes_hidden(trial: Trial, index: int, asked: Asked) -> bool:
    """Whether it asks to delete by a name that stands for an incarnation, or a child of one, that is another's and hidden."""
    if asked.verb != "delete" or asked.subresource or asked.namespace != trial.namespace:
        return False
    named = object_history(trial).named(asked.resource, asked.name)
    foreign = [each for child in named for each in (child, *_above(trial, child))]
    return any(each.creator is None and _is_hidden(trial, each.uid, index) for each in foreign)


def _is_hidden(trial: Trial, uid: str, before: int) -> bool:
    """Whether it was kept from the controller and has not been shown since."""
    since = _withheld(trial, uid, before)
    return since is not None and not any(since <= index < before for index in reconcile_epochs(trial).shown.get(uid, ()))


REQUIREMENT = Requirement(
    slug="no-delete-of-unseen",
    must="The controller MUST not delete an object incarnation it has never been shown, nor anything of an owner incarnation it "
    "has never been shown.",
    level="core",
    source="kubernetes/kubernetes#59848; API concepts, Preconditions of DeleteOptions",
    faults=("Hold", "Delay", "Skew", "PastSnapshot", "Restart"),
    remedy="send the uid that the decision was made on as a precondition of the delete, and read the owner live before anything "
    "is deleted for its sake: what has its name, or its labels, may belong to another one by now",
    kind="deed",
    wrong="a delete of what was never shown, or of what belongs to an owner never shown",
    reasons=("hidden", "past list", "renamed"),
    check=check,
    needs_references=False,
    explains_end=True,
)
