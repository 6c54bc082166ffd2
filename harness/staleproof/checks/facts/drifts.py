"""What another user changed in an external system behind the controller's back, and when that was put right again.

Only what belonged to a primary counts, and was there: a thing that was deleted is right when it is there again, or another of its
kind in its place; one that was changed, or replaced by another of its name, when none of the fields that became others has the
value that it was given. What another user made besides need not go, nor come again when it is deleted. Nothing counts while the
primary is paused.

A thing is repaired by a call that may write. Of several between the last reading that was wrong and the first that was right the
earliest is taken: when in doubt it was repaired sooner.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from staleproof.checks.facts.belongings import head_of, incarnation, owner
from staleproof.checks.facts.external_calls import external_calls
from staleproof.checks.facts.external_states import Reading, Readings, Thing, external_states
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.wakings import wakings
from staleproof.checks.trial import Trial, fact
from staleproof.core.external import ExternalObject
from staleproof.core.history.entry import Drifted, Held, Notified, Withheld
from staleproof.core.history.history import Position
from staleproof.core.repair import Unrepaired

_PAUSES = frozenset({"pause", "paused", "suspend", "suspended"})
"""What fields and annotations are called that stop a controller's work on an object."""


@dataclass(frozen=True, slots=True)
class Drift:
    """One drift of a thing that belonged to a primary.

    Attributes:
        index, entry: where it was made, and what.
        of: the primary.
        last_wrong: the last reading that shows it.
        repaired: the first reading that shows it put right; None if none does.
        begun: where the controller asked for what may have repaired it; without a repair, where it did so last in vain, at the
            earliest, or `until`.
        until: up to where it is looked at: the same thing drifted again, the user wanted something else, or the trial ended.
    """

    index: Position
    entry: Drifted
    of: Incarnation
    last_wrong: Position
    repaired: Position | None
    begun: Position
    until: Position

    @property
    def system(self) -> str:
        return self.entry.system

    @property
    def thing(self) -> Thing:
        return self.entry.kind, self.entry.external

    @property
    def words(self) -> str:
        """As a part of a sentence: `roles/w of db was deleted`."""
        done = "replaced" if self.entry.change == "created" else self.entry.change
        return f"{self.entry.kind}/{self.entry.external} of {self.system} was {done}"


@fact
def drifts(trial: Trial) -> Sequence[Drift]:
    """In the order in which they were made."""
    return [drift for index, entry in trial.every(Drifted) if (drift := _drift(trial, index, entry)) is not None]


def api_events(trial: Trial, drift: Drift, *, before: int) -> list[Position]:
    """Where something of the primary, or of what belongs to it, came from the API server behind a drift and before a position: what
    another user had written, a list or a watch that begins anew, a new life. The controller's own writes are none."""
    return wakings(trial, drift.of, since=drift.index, before=before)


def is_withheld(trial: Trial, drift: Drift) -> bool:
    """Whether any of its own writes, or what else there was of the primary, was kept from the controller before it was repaired."""
    mine = {uid for uid in object_history(trial).objects if head_of(trial, uid) == drift.of.uid}
    return any(entry.uid in mine for _, entry in trial.every(Withheld, since=drift.index, until=drift.begun))


def notified(trial: Trial, drift: Drift) -> bool:
    """Whether the system notified the controller of something, of that primary or of none, before it was repaired. What was lost on
    its way does not count."""
    of = ("", ""), (drift.of.resource, drift.of.name)
    before = external_states(trial)[drift.system].before(drift.index)
    since = before.index if before is not None else drift.index  # the system may notify it before the drift is on record
    notifications = trial.every(Notified, since=since, until=drift.begun)
    heard = (entry for _, entry in notifications if entry.system == drift.system and entry.effect != "lose")
    return any(owner(trial, entry.resource, entry.name) in of for entry in heard)


def _drift(trial: Trial, index: Position, entry: Drifted) -> Drift | None:
    of = incarnation(trial, owner(trial, entry.resource, entry.name), at=index)
    readings = external_states(trial).get(entry.system)
    if of is None or readings is None:
        return None
    thing = entry.kind, entry.external
    before, after = readings.before(index), readings.after(index)
    was = before.things.get(thing) if before is not None else None
    if was is None or after is None:
        return None
    left = Unrepaired(thing, is_gone=entry.change == "deleted", fields=_changed(was, after.things.get(thing)))
    if _is_right(after, left) or _is_other_users(trial, index, entry, readings) or _is_paused(of, index):
        return None
    until = _until(trial, index, entry, of)
    last_wrong, repaired = after.index, None
    for reading in readings.since(index):
        if reading.index >= until:
            break
        if _is_right(reading, left) or _is_replaced(readings, reading, after, thing, of):
            repaired = reading.index
            break
        last_wrong = reading.index
    end = until if repaired is None else repaired
    writes = (
        call.index
        for call in external_calls(trial)
        if last_wrong < call.index < end and call.entry.system == entry.system and call.may_have_written and call.may_be_about(of)
    )
    begun = next(writes, end if repaired is None else last_wrong)
    return Drift(index, entry, of, last_wrong, repaired, begun, until)


def _changed(was: Held, now: Held | None) -> Mapping[str, Any]:
    """The fields that are not as they were, with the values that they have now; nothing of what is gone."""
    before, after = (dict(_as_object(each).fields) if each is not None else {} for each in (was, now))
    return {
        name: after.get(name) for name in before.keys() | after.keys() if now is not None and before.get(name) != after.get(name)
    }


def _is_other_users(trial: Trial, index: Position, drift: Drifted, readings: Readings) -> bool:
    """Whether another user had made the thing before it drifted, where nothing was."""
    made = (
        at
        for at, entry in trial.every(Drifted, until=index)
        if entry.change == "created" and (entry.system, entry.kind, entry.external) == (drift.system, drift.kind, drift.external)
    )
    return any((before := readings.before(at)) is None or (drift.kind, drift.external) not in before.things for at in made)


def _is_paused(of: Incarnation, index: Position) -> bool:
    """Whether the user had asked the controller to leave that primary alone: a field of its spec, or an annotation, has one of the
    usual names and is true."""
    known = next((commit.entry.object for commit in reversed(of.commits) if commit.index < index), {})
    spec, annotations = known.get("spec"), known.get("metadata", {}).get("annotations")
    fields = [*(spec.items() if isinstance(spec, dict) else ()), *(annotations or {}).items()]
    return any(name.rpartition("/")[2].lower() in _PAUSES and value in (True, "true") for name, value in fields)


def _is_replaced(readings: Readings, reading: Reading, after: Reading, thing: Thing, of: Incarnation) -> bool:
    """Whether the thing is gone, and its primary has another of its kind, which was not there after the drift: what an external
    system names by an id has another one when it is made anew."""
    fresh = readings.belongings(reading, (of.resource, of.name)).keys() - after.things.keys()
    return thing not in reading.things and any(kind == thing[0] for kind, _ in fresh)


def _is_right(reading: Reading, left: Unrepaired) -> bool:
    """Whether a reading shows the thing again, and nothing of it as the drift left it. One that is as it was never drifted."""
    held = reading.things.get(left.key)
    return held is not None and left.is_repaired([_as_object(held)])


def _as_object(held: Held) -> ExternalObject:
    """Without fields there is the digest of all of them."""
    return ExternalObject(kind=held.kind, name=held.external, fields=held.fields or {"digest": held.digest})


def _until(trial: Trial, index: Position, drift: Drifted, of: Incarnation) -> Position:
    """Up to where it is known what is right."""
    again = (
        at
        for at, entry in trial.every(Drifted, since=index + 1)
        if (entry.system, entry.kind, entry.external) == (drift.system, drift.kind, drift.external)
    )
    other = (commit.index for commit in of.commits if commit.index > index and wants_otherwise(trial, commit.index))
    return min([*list(again)[:1], *list(other)[:1], trial.unwoken])


def wants_otherwise(trial: Trial, index: int) -> bool:
    """Whether the commit at a position, of a primary, asks for something else than before: another spec, or that it goes."""
    commit = trial.commit_at[index]
    before = commit.before or {}
    return commit.deletes or before.get("spec") != commit.entry.object.get("spec")
