"""Why the controller did not know what it had done, or what it was doing it for, when it made one child too many or took one.

Each reason is a question about one surplus create or delete: what had this life not known by then, for that reason, and does it
explain the excess? What explains it makes a sentence: how it came about, and though what it did so. A row of the catalogue names
the reasons that it is about.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from staleproof.checks.but_for import in_calm
from staleproof.checks.deeds.children import done_in_all
from staleproof.checks.ends.hull import ends_with_more
from staleproof.checks.ends.outdated import is_outdated, is_usual
from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.object_history import Incarnation, OwnVerb, creations, object_history
from staleproof.checks.facts.own_writes import (
    adopted_unseen,
    is_inherited,
    own_children,
    own_creates,
    own_deletes,
    taken_unseen,
    unheard_writes,
    unseen_children,
)
from staleproof.checks.facts.primary_view import acted_on_more, primary_view
from staleproof.checks.facts.reconcile_epochs import reconcile_epochs
from staleproof.checks.facts.recreations import recreations
from staleproof.checks.facts.witnesses import context, inherited
from staleproof.checks.facts.wording import listing, short_name, span
from staleproof.checks.requirement import Reason
from staleproof.checks.surplus import Surplus, surplus
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Basis, Finding
from staleproof.checks.view.life import view
from staleproof.core.history.history import Request

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Ignorance:
    """What was not known, and explains a deed.

    Attributes:
        how: how the deed came about, as it follows its name in a sentence; empty: the deed says it.
        though: the end of the sentence: what the controller had not been shown.
        witnesses: positions of the entries that prove it.
        basis: what the finding rests on.
    """

    how: str
    though: str
    witnesses: tuple[int, ...]
    basis: Basis = "surplus"


def ignorant_deeds(trial: Trial, kinds: Collection[tuple[OwnVerb, Reason]]) -> Iterator[Finding]:
    """A finding for each surplus create or delete of these kinds, in the order of the requests."""
    for each in surplus(trial):
        questions = (question for kind, question in _REASONS.items() if kind in kinds and _concerns(each, *kind))
        ignorance = next((found for question in questions if (found := question(trial, each)) is not None), None)
        if ignorance is not None:
            yield Finding(_because(each, ignorance.how), ignorance.witnesses, ignorance.though, basis=ignorance.basis)


def _concerns(each: Surplus, verb: OwnVerb, reason: Reason) -> bool:
    """Whether a reason may explain it: what is hidden explains deletes that left fewer than there ever were in fault-free runs,
    every other reason those that are too many for their step."""
    fits = verb == "create" or (each.is_below_all if reason == "hidden" else each.in_all)
    return verb == each.deed.verb and fits


def _because(each: Surplus, how: str) -> str:
    if each.deed.verb == "create":
        return f"{each.deed.name} is {each.deed.nth}{how}; {each.words}"
    return f"the controller deleted {each.deed.name}{how}: {each.words}"


# --- hidden


def _hidden_creates(trial: Trial, create: Surplus) -> Ignorance | None:
    deed = create.deed
    unseen = create.explained_by(own_creates(trial).behind(deed.child, before=deed.request_index))
    if not unseen or _is_for_outdated(trial, create):
        return None
    if create.explained_by(adopted_unseen(trial, deed.child, before=deed.request_index)):
        return None  # what another user has made, and it is to take over, was hidden
    creates = "create" if len(unseen) == 1 else "creates"
    though = f"though it had not been shown its own {creates} (resourceVersion {span([other.create_revision for other in unseen])})"
    answered = [other.creator.answer_index for other in unseen if other.creator]
    return Ignorance("", though, context(trial, answered, deed.request_index, deed.at))


def _is_for_outdated(trial: Trial, create: Surplus) -> bool:
    """Whether it is as fault-free runs make it, and it is too many only because of those that were made from an input shown late (a
    Job for each state)."""
    deed = create.deed
    made = (each for each in own_children(trial, before=deed.request_index) if each.role == deed.role)
    return is_usual(trial, deed.child) and bool(create.explained_by(each for each in made if is_outdated(trial, each)))


def _hidden_deletes(trial: Trial, delete: Surplus) -> Ignorance | None:
    """Not if what another user deleted unseen would do: then it would have been too many all the same."""
    deed = delete.deed
    if is_outdated(trial, deed.child):
        return None
    unseen = delete.explained_by(own_deletes(trial).behind(deed.child, before=deed.request_index), ever=True)
    if not unseen or delete.explained_by(taken_unseen(trial, deed.role, before=deed.request_index), ever=True):
        return None
    if _counts_on(trial, delete, unseen):
        return None
    though = f"though it had not been shown its own deletes of {listing([other.name for other in unseen])}"
    answered = [other.deleter.answer_index for other in unseen if other.deleter]
    return Ignorance("", though, context(trial, answered, deed.request_index, deed.at))


def _counts_on(trial: Trial, delete: Surplus, deleted: Collection[Incarnation]) -> bool:
    """Whether it acts as if these were gone: it has made as many anew since the first, and takes one that it was never shown. One
    that miscounts takes what it sees."""
    child, index, since = delete.deed.child, delete.deed.request_index, min(each.deleted or 0 for each in deleted)
    own = (made for _, made in creations(trial) if (made.owner_uid, made.resource) == (child.owner_uid, child.resource))
    anew = [made for made in own if since < made.created < index]
    return view(trial, index).of(child.uid).shown is None and len(anew) >= len(deleted)


# --- first list


def _unlisted_children(trial: Trial, create: Surplus) -> Ignorance | None:
    index, resource = create.deed.request_index, create.deed.child.resource
    unseen = [other for other in unseen_children(trial, at=index) if other.role == create.deed.role]
    if not view(trial, index).awaits_first_list(resource) or not create.explained_by(unseen):
        return None
    if _is_for_outdated(trial, create):
        return None
    how, though = f", made before its first list of {resource} was complete", f"though {resource} had not been listed yet"
    return Ignorance(how, though, inherited(trial, unseen, index, create.deed.at))


def _unlisted_primary(trial: Trial, delete: Surplus) -> Ignorance | None:
    index, primary = delete.deed.request_index, primary_of(trial, delete.deed.child.uid)
    if primary is None or primary.is_gone(before=index) or primary_view(trial).known(primary.uid, before=index):
        return None
    if not view(trial, index).awaits_first_list(primary.resource):
        return None
    how = f" before its first list of {primary.resource} was complete"
    though = f"though {short_name(primary.first.entry)} had not been listed yet"
    return Ignorance(how, though, inherited(trial, [], index, delete.deed.at))


# --- past list


def _older_primary(trial: Trial, delete: Surplus) -> Ignorance | None:
    primaries, index = primary_view(trial), delete.deed.request_index
    primary = primary_of(trial, delete.deed.child.uid)
    newer = [child for child in primaries.ahead(before=index) if primary_of(trial, child.uid) is primary]
    if primary is None or not newer:
        return None
    answered = [primaries.answer_to(child.uid, before=index) for child in newer[:_EXAMPLES]]
    how, though = f" on an older view of {short_name(primary.first.entry)}", acted_on_more(trial, primary, newer, index)
    return Ignorance(how, though, context(trial, answered, index, delete.deed.at), "write")


# --- earlier life


def _repeated(trial: Trial, create: Surplus) -> Ignorance | None:
    """Not what unseen writes of the same life explain: that is hidden. Nor a moment's excess among children that it knew."""
    index, child = create.deed.request_index, create.deed.child
    earlier = [o for o in own_children(trial, before=index) if o.role == child.role and is_inherited(trial, o, at=index)]
    unseen = [other for other in earlier if not view(trial, index).of(other.uid).is_known]
    behind = (other.creator for other in own_creates(trial).behind(child, before=index))
    if _is_of_this_life(trial, behind, index) or not create.explained_by(earlier):
        return None
    if not create.explained_by(unseen) and not _stays(trial, child):
        return None
    if _is_for_outdated(trial, create):
        return None
    shown = "had not been shown" if unseen else "had been shown"
    though = f"though it {shown} the {len(unseen or earlier)} that it had created in an earlier life"
    return Ignorance(", made after a restart", though, inherited(trial, unseen or earlier, index, create.deed.at), "memory")


def _stays(trial: Trial, child: Incarnation) -> bool:
    """Whether it is there in the end, with more of its role than any reference ended with."""
    settled, role = trial.settled, child.role
    is_there = child.deleted is None and settled is not None
    return is_there and ends_with_more(trial, role, until=settled) and ends_with_more(trial, role)


def _undone(trial: Trial, delete: Surplus) -> Ignorance | None:
    """Not what any reference did later: what takes longer under a fault reaches the controller's own timers in an earlier step."""
    index, child = delete.deed.request_index, delete.deed.child
    usual = max(in_calm(trial, lambda run: done_in_all(run, "delete", child.role)), default=0)
    behind = (other.deleter for other in own_deletes(trial).behind(child, before=index))
    if _is_of_this_life(trial, behind, index) or done_in_all(trial, "delete", child.role) <= usual:
        return None
    if not is_inherited(trial, child, at=index) or _is_begun_anew(trial, child, index) or is_outdated(trial, child):
        return None
    though = "though an earlier life had created it, and no fault-free run took it back"
    return Ignorance(" after a restart", though, inherited(trial, [child], index, delete.deed.at), "memory")


def _is_begun_anew(trial: Trial, child: Incarnation, index: int) -> bool:
    """Whether the life that made it ended in the midst of what it had decided, and another was made in its place afterwards: a new
    life may take back what is half done and begin anew, as with a Helm release whose install is still pending."""
    died = next((start for start in trial.starts if start > child.created), len(trial.entries))
    if not reconcile_epochs(trial).is_same(child.owner_uid, child.resource, since=child.created, before=died):
        return False
    made = object_history(trial).objects.values()
    return any(each.role == child.role and each.creator is not None and each.created > index for each in made)


def _is_of_this_life(trial: Trial, behind: Iterable[Request | None], index: int) -> bool:
    """Whether unseen writes of this very life, from an earlier decision, may be the reason."""
    return any(request is not None and trial.life(request.index) == trial.life(index) for request in behind)


# --- lost answer


def _unheard(trial: Trial, surplus: Surplus) -> Ignorance | None:
    deed, child, index = surplus.deed, surplus.deed.child, surplus.deed.request_index
    unheard = {at: other for at, other in unheard_writes(trial, deed.verb, before=index).items() if other is not child}
    if deed.verb == "create":
        lost = {at: other for at, other in unheard.items() if other.role == child.role}
        how, done = ", made after the answer to an earlier create was lost", "created"
    else:
        lost = {
            at: other for at, other in unheard.items() if (other.owner_uid, other.resource) == (child.owner_uid, child.resource)
        }
        how, done = " after the answer to an earlier delete was lost", "deleted"
    if not surplus.explained_by(lost.values()):
        return None
    if _is_for_outdated(trial, surplus) if deed.verb == "create" else is_outdated(trial, child):
        return None
    though = f"though {listing([other.name for other in lost.values()])} may have been {done}"
    return Ignorance(how, though, context(trial, lost, index, deed.at), "memory")


# --- renamed


def _recreated_primary(trial: Trial, delete: Surplus) -> Ignorance | None:
    index = delete.deed.request_index
    if is_outdated(trial, delete.deed.child):
        return None
    for one in recreations(trial):
        if one.after.uid == delete.deed.child.owner_uid and one.was_late(before=index) and not one.after.is_gone(before=index):
            name, known = short_name(one.after.first.entry), view(trial, index).of(one.after.uid).is_known
            though = f"though it had {'' if known else 'not '}been shown that {name} had been recreated"
            witnesses = context(trial, one.moments(trial, before=index), index, delete.deed.at)
            return Ignorance(f", a child of the recreated {name}", though, witnesses, "write")
    return None


_REASONS: Mapping[tuple[OwnVerb, Reason], Callable[[Trial, Surplus], Ignorance | None]] = {
    ("create", "hidden"): _hidden_creates,
    ("delete", "hidden"): _hidden_deletes,
    ("create", "first list"): _unlisted_children,
    ("delete", "first list"): _unlisted_primary,
    ("delete", "past list"): _older_primary,
    ("create", "earlier life"): _repeated,
    ("delete", "earlier life"): _undone,
    ("create", "lost answer"): _unheard,
    ("delete", "lost answer"): _unheard,
    ("delete", "renamed"): _recreated_primary,
}
