"""What waited although it needed nothing from a system that was down, or from a call about another object that took long.

- *another object*: while a call about one primary was under way, another was made, or changed by a user, and shown to the
  controller, which did nothing for it until that call had ended;
- *another part*: while a system was down that a primary has something in, a user changed the primary, and what belongs to it in
  Kubernetes was written only once the system was up again. It needed nothing outside if nothing of it there was changed afterwards,
  or if a change of the same fields made nothing change there when the system was up (`inner_fields`).

The reaction without such a wait (`reactions`) shows how long it takes otherwise.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from staleproof.checks.facts.external_calls import Call, external_calls
from staleproof.checks.facts.external_states import external_states
from staleproof.checks.facts.hindrances import hindrances, outages
from staleproof.checks.facts.reactions import Reaction, reactions
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.flatten import changed_fields
from staleproof.core.history.history import Position

DelayKind = Literal["object", "part"]


@dataclass(frozen=True, slots=True)
class Delay:
    """A reaction during which something else took long, from `since` to `until`.

    Attributes:
        went_on: where the controller did what it did about it: the first thing (`object`), or the first write to something that
            belongs to the primary (`part`). None: it did nothing.
        other: what took long, in words.
        seconds: from where it was shown to where the controller went on, or to `until`, if that came first.
        changes_outside: whether something of the primary was changed outside afterwards; it may have waited for that.
    """

    kind: DelayKind
    reaction: Reaction
    system: str
    since: Position
    until: Position
    went_on: Position | None
    other: str
    seconds: float
    changes_outside: bool = False

    @property
    def waited(self) -> bool:
        """Whether it went on only when that had ended."""
        return self.went_on is not None and self.went_on > self.until


@fact
def delays(trial: Trial) -> Sequence[Delay]:
    """In the order in which the reactions began."""
    found = [*_objects(trial), *_parts(trial)]
    return sorted(found, key=lambda each: each.reaction.shown)


def usual_reaction(trial: Trial, kind: DelayKind) -> float | None:
    """The longest that a reaction took which nothing kept waiting, in seconds: to the first thing done, or to the first write to
    something that belongs to the primary. None if there is no such reaction."""
    slow = {id(each.reaction) for each in delays(trial)}
    ends = ((each, each.first if kind == "object" else each.child) for each in reactions(trial) if id(each) not in slow)
    times = [
        trial.at(end) - trial.at(each.shown)
        for each, end in ends
        if end is not None and not _is_hindered(trial, trial.at(each.shown), trial.at(end))
    ]
    return max(times, default=None)


def _objects(trial: Trial) -> Iterator[Delay]:
    for each in reactions(trial):
        mine = (each.of.resource, each.of.name)
        calls = [call for call in external_calls(trial) if call.of not in (mine, ("", ""))]
        pending = [call for call in calls if call.index < each.shown < (call.answer_index or 0)]
        if pending:
            call = max(pending, key=lambda call: call.answer_index or 0)
            until = Position(call.answer_index or 0)
            if not _is_hindered(trial, trial.at(each.shown), trial.at(until)):
                seconds = _seconds(trial, each, until, each.first)
                system = call.entry.system
                down = any(begun < until and each.shown < ended for begun, ended in outages(trial, system))
                is_read = system in external_states(trial)
                changes = down and is_read and _changes(trial, each, system, max(until, each.first or until))
                yield Delay("object", each, system, call.index, until, each.first, _in_words(call), seconds, changes)


def _parts(trial: Trial) -> Iterator[Delay]:
    for each in reactions(trial):
        for system, readings in external_states(trial).items():
            mine = (each.of.resource, each.of.name)
            before = readings.before(each.commit.index)
            if not readings.belongings(before, mine):
                continue
            for down, up in outages(trial, system):
                is_within = down < each.commit.index and each.shown < up
                if is_within and not _is_hindered(trial, trial.at(each.shown), trial.at(up)):
                    seconds = _seconds(trial, each, up, each.child)
                    end = max(up, each.child or up)
                    yield Delay(
                        "part",
                        each,
                        system,
                        down,
                        up,
                        each.child,
                        f"{system} was down",
                        seconds,
                        _changes(trial, each, system, end),
                    )


@fact
def inner_fields(trial: Trial) -> frozenset[str]:
    """The fields of a spec whose change was followed by a write to what belongs to the primary, while every system was up, and by
    no change of anything outside."""
    found = set[str]()
    for each in reactions(trial):
        ups = all(not down < each.commit.index < up for system in external_states(trial) for down, up in outages(trial, system))
        if each.child is not None and ups and each.commit.before is not None:
            fields = changed_spec(each)
            if any(_changes(trial, each, system, each.child) for system in external_states(trial)):
                found -= fields
            else:
                found |= fields
    return frozenset(found)


def changed_spec(reaction: Reaction) -> frozenset[str]:
    """The fields of the spec that the user changed; none for a new object."""
    paths = changed_fields(reaction.commit.before, reaction.commit.entry.object) if reaction.commit.before else ()
    return frozenset(path for path in paths if path.partition(".")[0].partition("[")[0] == "spec")


def _changes(trial: Trial, each: Reaction, system: str, end: int) -> bool:
    """Whether something of the primary was otherwise in that system behind a position than when the user changed the primary."""
    readings, mine = external_states(trial)[system], (each.of.resource, each.of.name)
    after = readings.after(end) or readings.every[-1]
    wrote = any(
        call.may_have_written and call.succeeded and call.of == mine and each.commit.index < call.index <= end
        for call in external_calls(trial)
        if call.entry.system == system
    )
    return wrote or readings.belongings(readings.before(each.commit.index), mine) != readings.belongings(after, mine)


def _seconds(trial: Trial, each: Reaction, until: int, end: Position | None) -> float:
    return trial.at(until if end is None else min(end, until)) - trial.at(each.shown)


def _in_words(call: Call) -> str:
    return f"a call to {call.entry.system} about {call.of[0]}/{call.of[1]} was under way"


def _is_hindered(trial: Trial, since: float, until: float) -> bool:
    """Whether its process was stopped meanwhile, or a fault of the plan was open."""
    return any(each.system == "" and each.since < until and each.until > since for each in hindrances(trial))
