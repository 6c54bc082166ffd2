"""Whom the controller's writes are for: which primary each of them belongs to, and when a primary first had an effect.

A write belongs to the primary that it is about, or that owns what it is about, however far up. A write that was refused counts if
it names its object: it shows that the controller looked at it. And how long a primary had to wait: in the references, and while the
controller's own writes for others were hidden from it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.pending_events import PendingEvent, pending_events
from staleproof.checks.trial import Trial, fact
from staleproof.core.entry import Delivered, Listed, Settled, Started
from staleproof.core.history import Request
from staleproof.core.provenance import uid_of


@dataclass(frozen=True, slots=True)
class FirstEffect:
    """Of the first incarnation of a primary that somebody else created.

    `shown`: where the controller was first shown it; `first`: where it then first asked for a write for it. None: it never came.
    """

    uid: str
    shown: int | None
    first: int | None


@fact
def first_effects(trial: Trial) -> Mapping[str, FirstEffect]:
    """By resource and name, as `widgets.staleproof.dev/sample`, in the order of their creation."""
    made = object_history(trial)
    writes: dict[str, list[int]] = defaultdict(list)
    for request in trial.work:
        for uid in _about(request, trial):
            writes[made.root_of(uid)].append(request.index)
    found: dict[str, FirstEffect] = {}
    for each in sorted(made.objects.values(), key=lambda each: each.create_revision):
        primary = f"{each.resource}/{each.name}"
        if primary in trial.history.header.primaries and primary not in found and each.creator is None:
            found[primary] = _effect(trial, each, writes[each.uid])
    return found


def usual_seconds(trial: Trial, primary: str) -> float | None:
    """The longest that a reference took from showing a primary to the first write for it; None if one did nothing for it."""
    longest = 0.0
    for reference in trial.alike:
        effect = first_effects(reference).get(primary)
        if effect is None or effect.shown is None or effect.first is None:
            return None
        longest = max(longest, reference.at(effect.first) - reference.at(effect.shown))
    return longest


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
        hidden = [event for event in pending_events(trial).before(shown + 1) if _is_for_other(trial, event, effect.uid)]
        seen = [event.until for event in hidden if event.until is not None]
        until: list[int] = [max(seen)] if seen and len(seen) == len(hidden) else []
        until += [end for end in trial.positions(Settled, Started) if end > shown][:1]
        if hidden and until:
            found.append(Standstill(primary, shown, effect.first, hidden, min(until)))
    return sorted(found, key=lambda wait: (wait.until, wait.shown))


def _is_for_other(trial: Trial, event: PendingEvent, primary: str) -> bool:
    """Whether it is a create or a delete of the controller's, for another primary than that with this uid."""
    child = object_history(trial).objects.get(event.commit.uid)
    if child is None or object_history(trial).root_of(child.uid) == primary:
        return False
    created = child.creator is not None and child.created == event.index
    return created or (child.deleter is not None and child.deleted == event.index)


def _effect(trial: Trial, each: Incarnation, writes: list[int]) -> FirstEffect:
    delivered = (index for index, entry in trial.every(Delivered) if entry.uid == each.uid)
    listed = (index for index, entry in trial.every(Listed) if any(item.uid == each.uid for item in entry.items))
    shown = min([*list(delivered)[:1], *list(listed)[:1]], default=None)
    first = next((index for index in writes if shown is not None and index > shown), None)
    return FirstEffect(each.uid, shown, first)


def _about(request: Request, trial: Trial) -> Iterator[str]:
    """The uids of what was written, or was to be."""
    uid = uid_of(request)
    if uid:
        yield uid
    elif request.asked.name:
        yield from (each.uid for each in object_history(trial).named(request.asked.resource, request.asked.name))
