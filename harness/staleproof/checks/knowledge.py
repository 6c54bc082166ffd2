"""What a life of the controller knew of an object at a position, by what means, and if it was not the newest: why not.

Every life begins with nothing. It learns by frames, lists, answers to GET, and answers to its own writes. Why it does not know
better is one of the reasons that requirements are about (`Reason`); of several the first that applies, in this order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.own_writes import is_inherited, lost_writes
from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.requirement import Reason
from staleproof.checks.trial import Trial
from staleproof.checks.view.life import Means, View, view
from staleproof.core.history.entry import Listed

WhyNot = Reason | Literal["on its way", ""]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What was known of an object.

    Attributes:
        revision: the newest that this life knew; 0 for none. `means`: how it knew that; None: it did not.
        newest: the newest that had been committed.
        why_not: why it did not know that one; empty when it did, and `on its way` when nothing kept it.
    """

    revision: int
    means: Means | None
    newest: int
    why_not: WhyNot


def knowledge(trial: Trial, uid: str, *, before: int) -> Knowledge:
    """Of an object of the trial's namespace, by the life that the position belongs to.

    Raises:
        KeyError: there was no such object.
    """
    of, seen = object_history(trial).objects[uid], view(trial, before)
    known = seen.of(uid)
    newest = max((commit.entry.revision for commit in of.commits if commit.index < before), default=0)
    if known.revision >= newest or known.has_seen(newest):
        return Knowledge(known.revision, known.means, newest, "")
    why_not: WhyNot = next((why for why, applies in _REASONS.items() if applies(trial, of, seen)), "on its way")
    return Knowledge(known.revision, known.means, newest, why_not)


def _is_unheard(trial: Trial, of: Incarnation, seen: View) -> bool:
    """Whether this life made it, or took it, and never heard so."""
    writes = (request for request in (of.creator, of.deleter) if request is not None)
    return any(request in lost_writes(trial) and trial.life(request.index) == trial.life(seen.before) for request in writes)


def _is_of_the_past(trial: Trial, of: Incarnation, seen: View) -> bool:
    """Whether a fault gave this life an old list of the resource, and nothing newer was shown of it since."""
    every = trial.every(Listed, since=trial.life_began(seen.before), until=seen.before)
    last = max((each for _, each in every if each.resource == of.resource), key=lambda each: each.revision or 0, default=None)
    return last is not None and last.fault is not None


def _has_no_stream(trial: Trial, of: Incarnation, seen: View) -> bool:
    """Whether this life watched the resource, and does so no more."""
    return bool(seen.streamed(of.resource)) and of.resource not in pending_events(trial).watched(before=seen.before)


_REASONS: Mapping[Reason, Callable[[Trial, Incarnation, View], bool]] = {
    "first list": lambda _, of, seen: seen.awaits_first_list(of.resource) and not seen.of(of.uid).is_known,
    "lost answer": _is_unheard,
    "past list": _is_of_the_past,
    "earlier life": lambda trial, of, seen: is_inherited(trial, of, at=seen.before) and not seen.of(of.uid).is_known,
    "renamed": lambda _, of, seen: seen.present(of.resource, of.name) not in ("", of.uid),
    "hidden": lambda _, of, seen: of.resource in seen.withheld(),
    "coalesced": lambda trial, of, seen: of.uid in {e.commit.uid for e in pending_events(trial).skipped(before=seen.before)},
    "lost stream": _has_no_stream,
}
