"""What belongs to the workload, and to which primary; and which of the controller's writes went to something else.

An object belongs to the workload that the workload applies, or that is owned by one that does, at whatever depth and at any time;
owners that are gone are owners. What any of them mentions by name outside of its status, the controller was asked to manage.

An object that the trial has no owner of may belong to a primary all the same: a claim that a StatefulSet made, a Secret that was
labelled, a Deployment that a GatewayClass owns, which all trials share. How such objects show whose they are is learnt from the
references (`Tie`): a label that has the name or the uid of the primary, or of something that it owns, as its value; or such a name
within their own, as volume claim templates have it (`data-w-0`).
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import view
from staleproof.core.grouping import grouped


class Tie(NamedTuple):
    """How objects of a resource show whose they are: by a label with this key; empty: by their names."""

    resource: str
    label: str


def primary_of(trial: Trial, uid: str) -> Incarnation | None:
    """The primary that an object belongs to: at the top of its owners, or else the one that it, or its owner, is tied to. A primary
    has none."""
    return _owning(trial, uid) or _tied(trial).get(object_history(trial).root_of(uid))


def head_of(trial: Trial, uid: str) -> str:
    """The uid of what an object belongs to: the primary, or else the owner at the top; its own when nothing more is known."""
    root = object_history(trial).root_of(uid)
    tied = _tied(trial).get(root)
    return tied.uid if tied is not None else root


def owner(trial: Trial, resource: str, name: str) -> tuple[str, str]:
    """Resource and name of the primary that something of Kubernetes belongs to, as far as is known: its own, if nothing is."""
    return _heads(trial).get((resource, name), (resource, name))


def incarnation(trial: Trial, of: tuple[str, str], *, at: int) -> Incarnation | None:
    """The primary of that resource and name which was there, and was not to go, before a position; None if there was none."""
    found = [each for each in object_history(trial).named(*of) if each.is_live(before=at)]
    return found[-1] if found and f"{of[0]}/{of[1]}" in trial.applied else None


@fact
def ties(trial: Trial) -> Set[Tie]:
    """How objects that the trial has no owner of showed whose they are, in every reference that had such objects. A label that has
    other values, too, is no tie."""
    # What the objects of a run show by each possible tie: a primary, or nothing that is known (empty).
    by_run = [grouped(pair for each in _unowned(run) for pair in _possible_ties(run, each)) for run in trial.beside.alike]
    holds = [{tie for tie, primaries in each.items() if (all if tie.label else any)(primaries)} for each in by_run]
    there = [{tie.resource for tie in each} for each in by_run]
    every = set[Tie]().union(*holds)
    return {tie for tie in every if all(tie in held or tie.resource not in had for held, had in zip(holds, there, strict=True))}


# --- owners


def is_unowned(trial: Trial, each: Incarnation) -> bool:
    """Whether the trial never had an owner of an object: it has none, or one that is there for all trials (a GatewayClass)."""
    return object_history(trial).objects.keys().isdisjoint(_owners(each))


@fact
def _heads(trial: Trial) -> Mapping[tuple[str, str], tuple[str, str]]:
    """By resource and name of what has a primary: that one's."""
    heads = {(each.resource, each.name): primary_of(trial, each.uid) for each in object_history(trial).objects.values()}
    return {of: (head.resource, head.name) for of, head in heads.items() if head is not None}


def _owning(trial: Trial, uid: str) -> Incarnation | None:
    """The primary at the top of an object's owners, if that is where they lead."""
    objects, seen = object_history(trial).objects, set[str]()
    each = objects.get(uid)
    while each is not None and each.owner_uid and each.uid not in seen:
        seen.add(each.uid)
        each = objects.get(each.owner_uid)
        if each is not None and each.resource in trial.primaries:
            return each
    return None


def uids_of_workload(trial: Trial) -> set[str]:
    """uids of the workload and of what it owned at any time."""
    made = object_history(trial).objects
    owners = {uid: set(_owners(each)) for uid, each in made.items()}
    ours = {uid for uid, each in made.items() if _is_primary(trial, each)}
    while more := {uid for uid in owners.keys() - ours if owners[uid] & ours}:
        ours |= more
    return ours


def _is_primary(trial: Trial, each: Incarnation) -> bool:
    return f"{each.resource}/{each.name}" in trial.applied


def _owners(each: Incarnation) -> Iterator[str]:
    """The uids of all that ever owned it, controllers or not."""
    for commit in each.commits:
        for reference in commit.entry.object["metadata"].get("ownerReferences") or ():
            yield str(reference.get("uid"))


# --- ties


@fact
def _tied(trial: Trial) -> Mapping[str, Incarnation]:
    """By the uid of what the trial has no owner of: the incarnation of the primary that it is tied to, which is the one that the
    controller knew when it made it, or the one that was there."""
    known, made, found = ties(trial), object_history(trial), dict[str, Incarnation]()
    for each in _unowned(trial) if known else ():
        for primary in dict.fromkeys(head for tie, head in _possible_ties(trial, each) if tie in known and head):
            resource, _, name = primary.rpartition("/")
            before = [one for one in made.named(resource, name) if one.created < each.created]
            if before:
                found.setdefault(each.uid, _known(trial, each, before) or before[-1])
    return found


def _known(trial: Trial, each: Incarnation, primaries: Sequence[Incarnation]) -> Incarnation | None:
    """Which of these, of one name, the controller knew when it made an object; None if it knew none, or did not make it."""
    if each.creator is None:
        return None
    uid = view(trial, each.creator.index).present(primaries[-1].resource, primaries[-1].name)
    return next((one for one in primaries if one.uid == uid), None)


def _unowned(trial: Trial) -> list[Incarnation]:
    return [each for each in object_history(trial).objects.values() if not _is_primary(trial, each) and is_unowned(trial, each)]


def _possible_ties(trial: Trial, each: Incarnation) -> Iterator[tuple[Tie, str]]:
    words, metadata = _household(trial), each.first.entry.object["metadata"]
    for key, value in sorted((metadata.get("labels") or {}).items()):
        yield Tie(each.resource, key), words.get(value, "")
    named = {primary for word, primary in words.items() if f"-{word}-" in f"-{each.name}-"}
    yield Tie(each.resource, ""), named.pop() if len(named) == 1 else ""


@fact
def _household(trial: Trial) -> Mapping[str, str]:
    """Names and uids of primaries and of what they own → the primary. A word that may mean several is left out."""
    every = object_history(trial).objects.values()
    heads = ((each, each if _is_primary(trial, each) else _owning(trial, each.uid)) for each in every)
    members = [(each, f"{head.resource}/{head.name}") for each, head in heads if head is not None]
    meant = grouped((word, primary) for each, primary in members for word in (each.name, each.uid))
    return {word: primaries[0] for word, primaries in meant.items() if len(set(primaries)) == 1}
