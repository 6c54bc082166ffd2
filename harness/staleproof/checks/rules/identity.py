"""Requirements about telling one incarnation of an object from another: what was never shown, and what took another's name."""

from collections.abc import Iterator, Sequence

from staleproof.checks.but_for import in_alike, in_calm, in_references, unheard_of
from staleproof.checks.deeds.children import step_at
from staleproof.checks.deeds.unseen_deletes import UnseenDelete, deletes_by_step, deletes_of_hidden, deletes_under, unseen_deletes
from staleproof.checks.facts.object_history import Incarnation, creations, is_bare, object_history
from staleproof.checks.facts.recreations import Recreation, children_of_recreated, confusions, recreations
from staleproof.checks.facts.usability import reference_trouble
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name, kind_of, owner_name, short_name
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Said, Suspicion
from staleproof.core.history.history import Request
from staleproof.core.wording import plural


def no_delete_of_unseen(trial: Trial) -> Iterator[Said]:
    """Not delete an incarnation never shown, nor what belongs to a live primary or owner never shown.

    The uid that was committed as deleted was not among those that this life of the controller had been shown, or had learnt from an
    answer. "Never shown" is not enough, because a controller may rightly delete by name what it does not watch. So a finding also
    needs evidence that its view was old: news of the incarnation had been withheld, or the controller had been shown an earlier
    incarnation of that name and not its end, or a list of the past in which it was not yet.

    A controller that names the incarnation that it means (a precondition) has learnt of it somehow; one that deletes a collection
    has not to know any. Of the owner or the primary they may have learnt nothing all the same, as a controller that sweeps up what
    it takes for leftovers of a predecessor: so that is judged whatever made the object and owns it (`belongings`), if no reference
    deleted the like while the same owner was there.

    Not judged: an incarnation that the controller made itself by a create whose answer was lost; and one that had to go whatever
    knew of it, as `w-2` has when fewer replicas are wanted and a name is all that a replica is: a fault-free run, in which the
    controller had been shown that incarnation, deleted it by the end of the same step; nor what a controller deletes by its name
    whatever owns it, as one does that removes what has failed: a fault-free run did so under the same owner, which it had been
    shown.
    """
    for deed in unseen_deletes(trial):
        of = next((of for of in deed.unseen if not _is_usual(trial, deed, of)), None)
        if of is not None:
            yield _deleted(trial, deed, of)
    if not deletes_of_hidden(trial):
        yield NotExercised("the controller never deleted by a name that another's object had taken unseen")


def _is_usual(trial: Trial, deed: UnseenDelete, of: Incarnation) -> bool:
    """Whether a fault-free run did the like though it had been shown that object, or that owner; where that is not known, only what
    was deleted blindly, and its own owner, count."""
    child = deed.child
    if reference_trouble(trial):
        return of is not child and not (deed.is_blind and child.owner_uid == of.uid)
    if of is not child:
        return any(in_references(trial, lambda run: deletes_under(run, child, of)))
    nth, step = object_history(trial).named(child.resource, child.name).index(child), step_at(trial, deed.request.index)
    return any(in_calm(trial, lambda run: deletes_by_step(run, child, nth, step)))


def _deleted(trial: Trial, deed: UnseenDelete, of: Incarnation) -> Finding:
    """Of an object: itself was never shown, or an owner of it that was there."""
    child, index, name = deed.child, deed.request.index, full_name(deed.child.first.entry)
    what, unseen = f"{name} (uid {child.uid[:8]})", f"that incarnation (resourceVersion {of.create_revision})"
    if of is not child:
        whose, which = ("a child of", "its owner") if child.owner_uid == of.uid else ("which belongs to", "that primary")
        what = f"{name}, {whose} {owner_name(of.label)}"
        unseen = f"{which}, {short_name(of.first.entry)} of resourceVersion {of.create_revision}"
    because = f"the controller deleted {what}, an incarnation that it had never been shown"
    witnesses = context(trial, [of.created, child.created], index, child.deleted or child.created)
    return Finding(because, witnesses, f"though it had not been shown {unseen}")


NO_DELETE_OF_UNSEEN = Requirement(
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
    check=no_delete_of_unseen,
    needs_references=False,
    explains_end=True,
)


def name_reuse(trial: Trial) -> Iterator[Said]:
    """Tell a recreated primary from its predecessor.

    It is looked at only when the controller learnt late of the recreation (`recreations`): on a healthy stream nothing can mislead
    it. Any of these is a finding:

    1. it deleted children of the new incarnation: fewer live ones than any reference kept, and more deletes than any made;
    2. it created a child for the old incarnation after it had been shown the new one, and had come to rest or created such a child
       for the new one since, which it did in no reference: not knowing better is no fault, nor is what was under way when it was
       shown;
    3. in the end, after a time that any client can do with, the new incarnation has fewer children than any reference ended with,
       and more than any reference ended with belong to the old one. That there are such children proves nothing by itself: to
       collect them is the garbage collector's work;
    4. in the end the new incarnation, though it was shown, has no children at all, or has never been written by a controller that
       creates nothing, and nothing was done to the controller but to hide the recreation from it for a while (`Suspicion`).

    A child that is recreated under its own name is for `no-delete-of-unseen`.
    """
    created = unheard_of(trial, confusions, lambda _: "confused")  # unless a fault-free run made such a mistake, too
    found = [_mistaken(trial, *each) for each in created if each[2].was_late(before=each[0].index)]
    late = [one for one in recreations(trial) if one.late is not None]
    if found:
        yield from found
    elif late:
        yield from list(_misplaced(trial, late[-1])) or _missing(trial, late[-1])
    elif recreations(trial):
        yield NotExercised("the controller was never late to learn that a primary had been recreated")
    else:
        yield NotExercised("no primary was deleted and created again under its name")


def _mistaken(trial: Trial, request: Request, child: Incarnation, one: Recreation) -> Finding:
    """Of a create for the old incarnation."""
    index, name = request.index, short_name(one.after.first.entry)
    because = f"the controller created {full_name(child.first.entry)} for the {name} that had been recreated since"
    though = f"though it had been shown that {name} is another one now (uid {one.after.uid[:8]})"
    return Finding(because, context(trial, one.moments(trial, before=index), index, child.created), though)


def _misplaced(trial: Trial, one: Recreation) -> Iterator[Finding]:
    """At the end of the settling and at the end of the trial: what is done in between is done in time."""
    settled = trial.settled
    if settled is None or one.after.deleted is not None:
        return
    usual, name = list(in_alike(trial, children_of_recreated)), short_name(one.after.first.entry)
    ends = [children_of_recreated(trial, until=settled), children_of_recreated(trial)]
    own_then, strays_then = ends[0]
    for resource in sorted(strays_then):
        least, most = min(own[resource] for own, _ in usual), max(strays[resource] for _, strays in usual)
        if all(own[resource] < least and strays[resource] > most for own, strays in ends):
            children = (child for child in object_history(trial).objects.values() if child.resource == resource)
            kind = next((kind_of(child.first.entry) for child in children), resource)
            because = (
                f"{plural(own_then[resource], kind)} belong to the recreated {name} and {strays_then[resource]} to the one before "
                f"it; fault-free runs ended with {least} and {most}"
            )
            acts = {*one.moments(trial, before=len(trial.entries)), *_last_stale(trial, one.before), settled}
            yield Finding(because, tuple(sorted(acts)), basis="unfinished")


def _last_stale(trial: Trial, owner: Incarnation) -> Sequence[int]:
    """Where the controller last created a child of an owner that was gone by then, if ever."""
    gone = max(owner.created, owner.deleted or 0)
    stale = [request.index for request, child in creations(trial) if child.owner_uid == owner.uid and child.created > gone]
    return stale[-1:]


def _missing(trial: Trial, one: Recreation) -> Iterator[Said]:
    """It has less, and its predecessor does not have it either: did the controller take what it had done for that one for done? Of
    one that creates nothing the question is whether it has written to it."""
    if is_bare(trial):
        untested = "in fault-free runs the controller did not write to the recreated primary, and creates nothing"
        is_usual, has_nothing = all(in_alike(trial, _is_written)), not _is_written(trial)
        unknown = "the controller never wrote to the recreated primary, as it does in fault-free runs" if has_nothing else ""
    else:
        untested = "in fault-free runs the recreated primary ended without children of its own"
        wanted, found = [own for own, _ in in_alike(trial, children_of_recreated)], children_of_recreated(trial)[0]
        short = sorted(r for r in set.intersection(*map(set, wanted)) if found[r] < min(counts[r] for counts in wanted))
        is_usual, has_nothing = all(wanted), not found
        missing = f"the recreated primary ended with fewer {', '.join(short)} than in fault-free runs"
        unknown = f"{missing}, and its predecessor does not have them" if short else ""
    was_shown = one.shown_at(trial, before=len(trial.entries)) is not None and one.after.deleted is None
    if not is_usual:
        yield NotExercised(untested)
    elif unknown and has_nothing and was_shown:
        charge = f"the controller was shown that {short_name(one.after.first.entry)} had been recreated, and did nothing for it"
        acts = tuple(one.moments(trial, before=len(trial.entries)))
        yield Suspicion(acts, charge, resource=one.after.resource, otherwise=f"{unknown}: that may have another reason")
    elif unknown:
        yield Inconclusive(f"{unknown}: that may have another reason")


def _is_written(trial: Trial) -> bool:
    """Whether the controller wrote to the newest incarnation of each primary that was recreated."""
    old = {one.before.uid for one in recreations(trial)}
    newest = [one.after for one in recreations(trial) if one.after.uid not in old]
    return bool(newest) and all(any(commit.by is not None for commit in each.commits) for each in newest)


NAME_REUSE = Requirement(
    slug="name-reuse",
    must="The controller MUST tell a recreated object from its predecessor.",
    level="core",
    source="API concepts, Object names and UIDs",
    faults=("Hold", "Delay", "Coalesce", "Restart", "PastSnapshot"),
    remedy="keep what is remembered under the uid, not under the name; "
    "check that the uid in a child's owner reference is that of the owner at hand before touching the child",
    kind="deed",
    wrong="a delete too many, a create for the predecessor, or nothing done for the new one",
    reasons=("renamed",),
    verbs=("delete",),
    effects=frozenset({"hides"}),
    check=name_reuse,
)
