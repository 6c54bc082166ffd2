"""What the controller's writes are for: which primary each of them belongs to, and when a primary first had an effect.

A write belongs to the primary that it is about, or that owns what it is about, however far up. A write that was refused counts if
it names its object: it shows that the controller looked at it. And how long a primary had to wait: in the references, and while the
controller's own writes for others were hidden from it.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from staleproof.checks.facts.belongings import head_of
from staleproof.checks.facts.object_history import creations, deletions, object_history
from staleproof.checks.facts.pending_events import PendingEvent, pending_events
from staleproof.checks.facts.reconcile_epochs import reconcile_epochs
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Answered, Settled, Started
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import uid_of


@dataclass(frozen=True, slots=True)
class FirstEffect:
    """Of the first incarnation of a primary that another user created.

    `shown`: where the controller was first shown it; `first`: where it then first asked for a write for it. None: it never came.
    """

    uid: str
    shown: int | None
    first: int | None


@fact
def first_effects(trial: Trial) -> Mapping[str, FirstEffect]:
    """By resource and name, as `widgets.staleproof.dev/sample`, in the order of their creation."""
    made = object_history(trial)
    writes = grouped((head_of(trial, uid), request.index) for request in trial.work for uid in _about(request, trial))
    found: dict[str, FirstEffect] = {}
    for each in sorted(made.objects.values(), key=lambda each: each.create_revision):
        primary = f"{each.resource}/{each.name}"
        if primary in trial.applied and primary not in found and each.creator is None:
            shown = next(iter(reconcile_epochs(trial).shown.get(each.uid, ())), None)
            later = (index for index in writes.get(each.uid, ()) if shown is not None and index > shown)
            found[primary] = FirstEffect(each.uid, shown, next(later, None))
    return found


def seconds_to_effect(trial: Trial, primary: str) -> float | None:
    """How long it took from showing a primary to the first write for it; None if nothing was done for it."""
    effect = first_effects(trial).get(primary)
    if effect is None or effect.shown is None or effect.first is None:
        return None
    return trial.at(effect.first) - trial.at(effect.shown)


def written_on_the_way(trial: Trial, primary: str) -> Set[tuple[str, str]]:
    """Resource and name of what was written from showing a primary to the first write for it."""
    effect = first_effects(trial).get(primary)
    if effect is None or effect.shown is None or effect.first is None:
        return frozenset()
    between = (request for request in trial.work if effect.shown < request.index < effect.first and request.succeeded)
    return {(request.asked.resource, _name(request)) for request in between}


@dataclass(frozen=True, slots=True)
class Standstill:
    """A primary was shown at a position, while own creates and deletes for other primaries were hidden, the last one up to `until`.

    At the latest it ended with the settling phase, or with the life of the process. `first` is as in `FirstEffect`.
    """

    primary: str
    shown: int
    first: int | None
    hidden: Sequence[PendingEvent]
    until: int


@fact
def waits(trial: Trial) -> Sequence[Standstill]:
    """In the order in which they ended. Of primaries that one list showed together, there is the youngest's."""
    found = []
    by_position = {effect.shown: (primary, effect) for primary, effect in first_effects(trial).items()}
    for shown, (primary, effect) in by_position.items():
        if shown is None or (trial.settled is not None and shown > trial.settled):
            continue
        unseen = pending_events(trial).before(shown + 1)
        hidden = [event for event in unseen if _written_for(trial).get(event.index, effect.uid) != effect.uid]
        seen = [event.until for event in hidden if event.until is not None]
        until: list[int] = [max(seen)] if seen and len(seen) == len(hidden) else []
        until += [end for end in trial.positions(Settled, Started) if end > shown][:1]
        if hidden and until:
            found.append(Standstill(primary, shown, effect.first, hidden, min(until)))
    return sorted(found, key=lambda wait: (wait.until, wait.shown))


@fact
def _written_for(trial: Trial) -> Mapping[int, str]:
    """By position, the creates and deletes of the controller's: the uid of the primary that each was for."""
    created = [(child.created, child) for _, child in creations(trial)]
    deleted = [(child.deleted, child) for _, child in deletions(trial) if child.deleted is not None]
    return {index: head_of(trial, child.uid) for index, child in (*created, *deleted)}


def _name(request: Request) -> str:
    return request.asked.name or (request.answer.name if isinstance(request.answer, Answered) else "")


def _about(request: Request, trial: Trial) -> Iterator[str]:
    """The uids of what was written, or was to be."""
    uid = uid_of(request)
    if uid:
        yield uid
    elif request.asked.name:
        yield from (each.uid for each in object_history(trial).named(request.asked.resource, request.asked.name))
