"""Whom the controller's writes are for: which primary each of them belongs to, and when a primary first had an effect.

A write belongs to the primary that it is about, or that owns what it is about, however far up. A write that was refused counts if
it names its object: it shows that the controller looked at it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.trial import Trial, fact, uid_of
from staleproof.core.entry import Delivered, Listed
from staleproof.core.history import Request


@dataclass(frozen=True, slots=True)
class FirstEffect:
    """Of the first incarnation of a primary that somebody else created.

    `shown`: where the controller was first shown it; `first`: where it then first asked for a write for it. None: it never came.
    """

    uid: str
    created: int
    shown: int | None
    first: int | None


@fact
def first_effects(trial: Trial) -> Mapping[str, FirstEffect]:
    """By resource and name, as `widgets.staleproof.dev/sample`."""
    made = object_history(trial)
    writes: dict[str, list[int]] = defaultdict(list)
    for request in trial.work:
        for uid in _about(request, trial):
            writes[made.root_of(uid)].append(request.index)
    found = {}
    for primary in trial.history.header.primaries:
        resource, _, name = primary.rpartition("/")
        given = (each for each in made.named(resource, name) if each.creator is None)
        each = min(given, key=lambda each: each.create_revision, default=None)
        if each is not None:
            found[primary] = _effect(trial, each, writes[each.uid])
    return found


def _effect(trial: Trial, each: Incarnation, writes: list[int]) -> FirstEffect:
    delivered = (index for index, entry in trial.every(Delivered) if entry.uid == each.uid)
    listed = (index for index, entry in trial.every(Listed) if any(item.uid == each.uid for item in entry.items))
    shown = min([*list(delivered)[:1], *list(listed)[:1]], default=None)
    first = next((index for index in writes if shown is not None and index > shown), None)
    return FirstEffect(each.uid, each.created, shown, first)


def _about(request: Request, trial: Trial) -> Iterator[str]:
    """The uids of what was written, or was to be."""
    uid = uid_of(request)
    if uid:
        yield uid
    elif request.asked.name:
        yield from (each.uid for each in object_history(trial).named(request.asked.resource, request.asked.name))
