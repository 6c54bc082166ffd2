"""no-delete-of-unseen: not delete an incarnation never shown, nor a child of a live owner incarnation never shown.

Needs no reference: the uid that was committed as deleted was not among those that this life of the controller had been shown or
told. "Never shown" is not enough, because a controller may rightly delete by name what it does not watch. So a finding also needs
evidence that its view was old: news of the incarnation had been withheld, or the controller had been shown an earlier incarnation
of that name and not its end.

Not judged: a deletecollection, which names no object; a delete whose precondition names this very incarnation, since whoever sends
it has learnt of it somehow; an incarnation that the controller made itself by a create whose answer was lost. Of the owner of what
it names in a precondition it may have learnt nothing all the same: such a delete is judged if no reference made it
(`excess`), as when a controller sweeps up what it takes for orphans.
"""

from collections.abc import Iterator

from staleproof.checks.facts.excess import surplus_deletes
from staleproof.checks.facts.frontier import frontier
from staleproof.checks.facts.object_history import Incarnation, deletions, object_history
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name, owner_name, short_name
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.entry import Asked, Delivered, Listed, Withheld
from staleproof.core.history import Request


def check(trial: Trial) -> Iterator[Said]:
    for request, child in deletions(trial):
        yield from _judge(trial, request, child)
    if not any(_takes_hidden(trial, index, asked) for index, asked in trial.every(Asked)):
        yield NotExercised("the controller never deleted by a name that another's object had taken unseen")


def _judge(trial: Trial, request: Request, child: Incarnation) -> Iterator[Finding]:
    asked, commit, committed, blind = request.index, child.first.entry, child.deleted, _is_blind(request, child)
    assert committed is not None
    if blind and _is_unseen(trial, child, asked):
        because = f"the controller deleted {full_name(commit)} (uid {child.uid[:8]}), an incarnation that it had never been shown"
        though = f"though it had not been shown that incarnation (resourceVersion {child.create_revision})"
        yield Finding(because, context(trial, [child.created], asked, committed), though)
        return
    is_judged = blind or (bool(trial.references) and asked in surplus_deletes(trial))
    owner = object_history(trial).objects.get(child.owner_uid) if is_judged else None
    if owner is not None and _is_unseen(trial, owner, asked) and not owner.is_gone(before=asked + 1):
        label = owner_name(child.role.owner)
        because = f"the controller deleted {full_name(commit)}, a child of {label}, an incarnation that it had never been shown"
        though = (
            f"though it had not been shown its owner, {short_name(owner.first.entry)} of resourceVersion {owner.create_revision}"
        )
        yield Finding(because, context(trial, [owner.created, child.created], asked, committed), though)


def _is_blind(request: Request, child: Incarnation) -> bool:
    """Deleted by name, without naming the incarnation."""
    asked = request.asked
    return asked.verb == "delete" and asked.precondition_uid != child.uid and not asked.precondition_revision


def _is_unseen(trial: Trial, child: Incarnation, asked: int) -> bool:
    """Never shown or told, although the controller's view of that resource was old."""
    seen = frontier(trial)
    if seen.is_known(child.uid, before=asked) or (child.creator is not None and not child.creator.succeeded):
        return False
    believed = seen.present(child.resource, trial.namespace, child.name, before=asked)
    return bool(believed) or _withheld(trial, child.uid, asked) is not None


def _withheld(trial: Trial, uid: str, before: int) -> int | None:
    """Where this life was last kept from seeing an incarnation that it did not know; None if it was not."""
    born = max((start for start in trial.starts if start < before), default=0)
    kept = [index for index, entry in trial.every(Withheld, since=born, until=before) if entry.uid == uid]
    return next((index for index in reversed(kept) if not frontier(trial).is_known(uid, before=index)), None)


def _takes_hidden(trial: Trial, index: int, asked: Asked) -> bool:
    """Whether it asks to delete by a name that stands for an incarnation, or a child of one, that is another's and hidden."""
    if asked.verb != "delete" or asked.subresource or asked.namespace != trial.namespace:
        return False
    objects = object_history(trial).objects
    named = object_history(trial).named(asked.resource, asked.name)
    foreign = [objects[uid] for child in named for uid in (child.uid, child.owner_uid) if uid in objects]
    return any(each.creator is None and _is_hidden(trial, each.uid, index) for each in foreign)


def _is_hidden(trial: Trial, uid: str, before: int) -> bool:
    """Whether it was kept from the controller and has not been shown since."""
    since = _withheld(trial, uid, before)
    if since is None:
        return False
    delivered = any(entry.uid == uid for _, entry in trial.every(Delivered, since=since, until=before))
    listed = (item.uid for _, entry in trial.every(Listed, since=since, until=before) for item in entry.items)
    return not delivered and uid not in listed


REQUIREMENT = Requirement(
    slug="no-delete-of-unseen",
    must="The controller MUST not delete an object incarnation it has never been shown, nor a child of an owner incarnation it "
    "has never been shown.",
    level="core",
    source="kubernetes/kubernetes#59848; API concepts, Preconditions of DeleteOptions",
    faults=("Hold", "Delay", "Skew", "PastSnapshot", "Restart"),
    remedy="send the uid that the decision was made on as a precondition of the delete",
    check=check,
    needs_references=False,
    explains_end=True,
)
