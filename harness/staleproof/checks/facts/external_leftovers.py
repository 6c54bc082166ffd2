"""What the controller made outside in a trial and left there: things of a primary that is gone, and things of none that is known.

A thing is the controller's if it was not there when the system was first read, no other user is known to have made it, and a call
of the controller that may have written came before it was there. It belongs to whatever object of Kubernetes its name is in, or
that has recorded its name; to none if the record was lost, or never made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from staleproof.checks.facts.belongings import owner
from staleproof.checks.facts.external_calls import Call, external_calls
from staleproof.checks.facts.external_states import Thing, external_states
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Drifted, Exited, Held, Stopped
from staleproof.core.history.history import Position

LeftKind = Literal["orphaned", "lost", "owned"]
"""Of a primary that is gone; of none that is known; of one that is there, and may have more of them than it needs."""


@dataclass(frozen=True, slots=True)
class LeftOutside:
    """A thing that the controller made.

    Attributes:
        of: the primary that it belongs to, or belonged to, as `widgets.example.com/w`; empty for none.
        seen: the first reading that shows it; `last`: the last of all.
        since: since where it is so: where its primary was deleted for good, or where it was first seen.
    """

    kind: LeftKind
    system: str
    thing: Thing
    of: str
    seen: Position
    last: Position
    since: Position

    @property
    def group(self) -> tuple[str, str, LeftKind, str]:
        """What is counted together: the system, the kind of things, and whose they are; of what has lost its owner, all."""
        return self.system, self.thing[0], self.kind, self.of if self.kind == "owned" else ""

    @property
    def words(self) -> str:
        return f"{self.thing[0]}/{self.thing[1]} of {self.system}"


@fact
def left_outside(trial: Trial) -> Sequence[LeftOutside]:
    """What the last reading of each system shows, in the order in which it was first seen."""
    found = []
    for system, readings in external_states(trial).items():
        last = readings.every[-1]
        for thing, held in last.things.items():
            seen = _made(trial, system, thing)
            if seen is not None:
                kind, of, since = _owner(trial, held, seen)
                found.append(LeftOutside(kind, system, thing, of, seen, last.index, since))
    return sorted(found, key=lambda each: each.seen)


@fact
def made_outside(trial: Trial) -> Mapping[tuple[str, Thing], Position]:
    """By system, kind and name, the first reading of each thing that the controller made in this trial."""
    every = {
        (system, thing) for system, readings in external_states(trial).items() for read in readings.every for thing in read.things
    }
    found = {key: _made(trial, *key) for key in sorted(every)}
    return {key: seen for key, seen in found.items() if seen is not None}


def at_risk(trial: Trial) -> Position | None:
    """Where something that the controller had made outside might first have lost its owner: its primary went, or the answer to a
    call that may have made it was lost, or the process ended before it wrote anything after it. None: nowhere."""
    made = grouped((system, seen) for (system, _), seen in made_outside(trial).items())
    gone = [
        at for (system, thing), seen in made_outside(trial).items() if (at := _owner_gone(trial, system, thing, seen)) is not None
    ]
    calls = [call for call in external_calls(trial) if call.may_have_written and call.entry.system in made]
    return min([*gone, *(call.index for call in calls if _is_record_lost(trial, call))], default=None)


def _made(trial: Trial, system: str, thing: Thing) -> Position | None:
    """The first reading that shows a thing which the controller made; None if it did not make it."""
    readings = external_states(trial)[system].every
    place = next((number for number, each in enumerate(readings) if thing in each.things), 0)
    if not place:
        return None
    before, seen = readings[place - 1].index, readings[place].index
    foreign = (entry for _, entry in trial.every(Drifted, since=before, until=seen) if entry.change == "created")
    if any((entry.system, entry.kind, entry.external) == (system, *thing) for entry in foreign):
        return None
    calls = (call for call in external_calls(trial) if before < call.index < seen and call.entry.system == system)
    return seen if any(call.may_have_written for call in calls) else None


def _owner(trial: Trial, held: Held, seen: Position) -> tuple[LeftKind, str, Position]:
    """Whether it has an owner, which one, and since where."""
    if not held.name:
        return "lost", "", seen
    of = owner(trial, held.resource, held.name)
    gone = _gone(trial, of)
    return ("owned" if gone is None else "orphaned"), f"{of[0]}/{of[1]}", seen if gone is None else gone


def _gone(trial: Trial, of: tuple[str, str]) -> Position | None:
    """Where the last primary of that name was gone for good; None if one is there, or none ever was."""
    every = object_history(trial).named(*of)
    ends = [each.last.index for each in every if each.last.entry.type == "DELETED"]
    is_ours = f"{of[0]}/{of[1]}" in trial.applied
    return max(ends) if is_ours and ends and len(ends) == len(every) else None


def _owner_gone(trial: Trial, system: str, thing: Thing, seen: Position) -> Position | None:
    """Where the primary went that a thing had belonged to when it was first seen."""
    reading = next(each for each in external_states(trial)[system].every if each.index == seen)
    held = reading.things[thing]
    every = object_history(trial).named(*owner(trial, held.resource, held.name)) if held.name else ()
    return next((each.last.index for each in every if each.last.entry.type == "DELETED" and each.last.index > seen), None)


def _is_record_lost(trial: Trial, call: Call) -> bool:
    """Whether the controller cannot know, or could not write down, what came of it."""
    if call.is_disturbed and not call.succeeded:
        return True
    ends = [index for index, entry in trial.every(Stopped, since=call.index) if not entry.paused]
    ended = min([*ends, *(index for index, _ in trial.every(Exited, since=call.index))], default=None)
    wrote = next((request.index for request in trial.work if request.index > call.index), len(trial.entries))
    return ended is not None and ended < wrote
