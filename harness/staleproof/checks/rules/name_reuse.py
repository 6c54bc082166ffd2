"""name-reuse: tell a recreated primary from its predecessor.

It is looked at only when the controller learnt late of the recreation (`recreations`): on a healthy stream nothing can mislead it.
Any of these is a finding:

1. it deleted children of the new incarnation: fewer live ones than any reference kept, and more deletes than any made (`but_for`);
2. it created a child for the old incarnation after it had been shown the new one, and had come to rest or created such a child for
   the new one since, which it did in no reference: not knowing better is no fault, nor is what was under way when it was shown;
3. in the end, after a time that any client can do with, the new incarnation has fewer children than any reference ended with, and
   more than any reference ended with belong to the old one. That there are such children proves nothing by itself: to collect them
   is the garbage collector's work;
4. in the end the new incarnation, though it was shown, has no children at all, or has never been written by a controller that
   creates nothing, and nothing was done to the controller but to hide the recreation from it for a while (`Suspicion`).

A child that is recreated under its own name is for `no-delete-of-unseen`.
"""

from collections.abc import Iterator, Sequence

from staleproof.checks.but_for import unheard_of
from staleproof.checks.facts.object_history import Incarnation, creations, is_bare, object_history
from staleproof.checks.facts.recreations import Recreation, children_of_recreated, confusions, recreations
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name, kind_of, short_name
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Said, Suspicion
from staleproof.core.wording import plural


def check(trial: Trial) -> Iterator[Said]:
    found = list(_creates(trial))
    late = [one for one in recreations(trial) if one.late is not None]
    if found:
        yield from found
    elif late:
        yield from list(_misplaced(trial, late[-1])) or _missing(trial, late[-1])
    elif recreations(trial):
        yield NotExercised("the controller was never late to learn that a primary had been recreated")
    else:
        yield NotExercised("no primary was deleted and created again under its name")


def _creates(trial: Trial) -> Iterator[Finding]:
    """Creates for the old incarnation, unless a fault-free run made such a mistake, too."""
    for request, child, one in unheard_of(trial, confusions, lambda _: "confused"):
        asked, name = request.index, short_name(one.after.first.entry)
        if one.was_late(before=asked):
            because = f"the controller created {full_name(child.first.entry)} for the {name} that had been recreated since"
            though = f"though it had been shown that {name} is another one now (uid {one.after.uid[:8]})"
            yield Finding(because, context(trial, one.moments(trial, before=asked), asked, child.created), though)


def _misplaced(trial: Trial, one: Recreation) -> Iterator[Finding]:
    """At the end of the settling and at the end of the trial: what is done in between is done in time."""
    settled = trial.settled
    if settled is None or one.after.deleted is not None:
        return
    others = [children_of_recreated(reference) for reference in trial.alike]
    ends = [children_of_recreated(trial, until=settled), children_of_recreated(trial)]
    own_then, strays_then = ends[0]
    for resource in sorted(strays_then):
        least, most = min(own[resource] for own, _ in others), max(strays[resource] for _, strays in others)
        if all(own[resource] < least and strays[resource] > most for own, strays in ends):
            name, left = short_name(one.after.first.entry), plural(own_then[resource], _kind(trial, resource))
            because = f"{left} belong to the recreated {name} and {strays_then[resource]} to the one before it; "
            because += f"fault-free runs ended with {least} and {most}"
            acts = {*one.moments(trial, before=len(trial.entries)), *_last_stale(trial, one.before), settled}
            yield Finding(because, tuple(sorted(acts)), basis="unfinished")


def _last_stale(trial: Trial, owner: Incarnation) -> Sequence[int]:
    """Where the controller last created a child of an owner that was gone by then, if ever."""
    gone = max(owner.created, owner.deleted or 0)
    stale = [request.index for request, child in creations(trial) if child.owner_uid == owner.uid and child.created > gone]
    return stale[-1:]


def _kind(trial: Trial, resource: str) -> str:
    children = object_history(trial).objects.values()
    return next((kind_of(child.first.entry) for child in children if child.resource == resource), resource)


def _missing(trial: Trial, one: Recreation) -> Iterator[Said]:
    """It has fewer children, and its predecessor does not have them either: did it take what it had done for that one for done?"""
    wanted, found = [children_of_recreated(reference)[0] for reference in trial.alike], children_of_recreated(trial)[0]
    if is_bare(trial):
        yield from _unwritten(trial, one)
        return
    if not all(wanted):
        yield NotExercised("in fault-free runs the recreated primary ended without children of its own")
        return
    short = sorted(r for r in set.intersection(*map(set, wanted)) if found[r] < min(counts[r] for counts in wanted))
    missing = f"the recreated primary ended with fewer {', '.join(short)} than in fault-free runs"
    unknown = f"{missing}, and its predecessor does not have them: that may have another reason"
    if short and not found and _was_shown(trial, one):
        yield _ignored(trial, one, unknown)
    elif short:
        yield Inconclusive(unknown)


def _unwritten(trial: Trial, one: Recreation) -> Iterator[Said]:
    """The same of a controller that writes nothing but to what others have made."""
    if not all(_is_written(reference) for reference in trial.alike):
        yield NotExercised("in fault-free runs the controller did not write to the recreated primary, and creates nothing")
    elif not _is_written(trial):
        unknown = "the controller never wrote to the recreated primary, as it does in fault-free runs: that may have another reason"
        yield _ignored(trial, one, unknown) if _was_shown(trial, one) else Inconclusive(unknown)


def _is_written(trial: Trial) -> bool:
    """Whether the controller wrote to the newest incarnation of each primary that was recreated."""
    old = {one.before.uid for one in recreations(trial)}
    newest = [one.after for one in recreations(trial) if one.after.uid not in old]
    return bool(newest) and all(any(commit.by is not None for commit in each.commits) for each in newest)


def _was_shown(trial: Trial, one: Recreation) -> bool:
    """Whether the controller was shown the new one, which is there in the end."""
    return one.shown_at(trial, before=len(trial.entries)) is not None and one.after.deleted is None


def _ignored(trial: Trial, one: Recreation, unknown: str) -> Suspicion:
    charge = f"the controller was shown that {short_name(one.after.first.entry)} had been recreated, and did nothing for it"
    acts = tuple(one.moments(trial, before=len(trial.entries)))
    return Suspicion(acts, charge, resource=one.after.resource, otherwise=unknown)


REQUIREMENT = Requirement(
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
    check=check,
)
