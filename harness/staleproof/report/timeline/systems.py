"""External systems: each call with its answer, notifications, what others did there, when it was away, and what it held.

What a system held is known from looks alone, so all that is said of a change is between which two looks it was.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from staleproof.checks.trial import Trial
from staleproof.core.external import changes_something
from staleproof.core.history.entry import (
    Called,
    CallId,
    Drifted,
    ExternalChange,
    ExternalEntry,
    ExternalState,
    Held,
    Notified,
    Replied,
    SystemTurned,
)
from staleproof.report.timeline.clock import at, end
from staleproof.report.timeline.document import Call, Drift, Notification, Outage, Seen, System, Thing

_Placed = tuple[int, ExternalEntry]
_Key = tuple[str, str]
"""Kind and name of something in a system."""


def systems(trial: Trial) -> Iterator[System]:
    """Those that the plan declares or the history mentions, by name."""
    found: dict[str, list[_Placed]] = {each.name: [] for each in trial.plan.external}
    for index, entry in enumerate(trial.entries):
        if isinstance(entry, ExternalEntry):
            found.setdefault(entry.system, []).append((index, entry))
    for name, placed in sorted(found.items()):
        yield _system(trial, name, placed)


def _system(trial: Trial, name: str, placed: Sequence[_Placed]) -> System:
    return System(
        name=name,
        calls=tuple(_calls(trial, placed)),
        notifications=tuple(_notifications(trial, placed)),
        drifts=tuple(_drifts(trial, placed)),
        outages=tuple(_outages(trial, placed)),
        things=tuple(_things(trial, placed)),
    )


def _calls(trial: Trial, placed: Sequence[_Placed]) -> Iterator[Call]:
    answers: Mapping[CallId, tuple[int, Replied]] = {
        entry.call: (index, entry) for index, entry in placed if isinstance(entry, Replied)
    }
    for index, entry in placed:
        if isinstance(entry, Called):
            answer, reply = answers.get(entry.call, (None, None))
            yield Call(
                number=entry.call,
                entry=index,
                at=at(trial, index),
                answer=answer,
                answered=end(trial, answer),
                verb=entry.verb,
                text=entry.text,
                changes=changes_something(entry.verb),
                resource=entry.resource,
                namespace=entry.namespace,
                name=entry.name,
                code=reply.code if reply else "",
                rejected=reply is not None and reply.outcome == "fail" and reply.executed is False,
                lost=reply is not None and reply.outcome == "unknown",
                executed=reply.executed if reply else None,
                effect=reply.effect if reply else None,
                fault=reply.fault if reply else None,
            )


def _notifications(trial: Trial, placed: Sequence[_Placed]) -> Iterator[Notification]:
    for index, entry in placed:
        if isinstance(entry, Notified):
            yield Notification(
                entry=index,
                at=at(trial, index),
                channel=entry.channel,
                resource=entry.resource,
                namespace=entry.namespace,
                name=entry.name,
                effect=entry.effect,
                fault=entry.fault,
            )


def _drifts(trial: Trial, placed: Sequence[_Placed]) -> Iterator[Drift]:
    for index, entry in placed:
        if isinstance(entry, Drifted):
            yield Drift(
                entry=index,
                at=at(trial, index),
                change=entry.change,
                kind=entry.kind,
                external=entry.external,
                step=entry.step,
            )


def _outages(trial: Trial, placed: Sequence[_Placed]) -> Iterator[Outage]:
    """From each turn for the worse to the next turn."""
    turns = [(index, entry) for index, entry in placed if isinstance(entry, SystemTurned)]
    for (index, turn), (until, _) in zip(turns, [*turns[1:], (None, None)], strict=False):
        if turn.state != "up":
            yield Outage(
                entry=index,
                since=at(trial, index),
                end=until,
                until=end(trial, until),
                state=turn.state,
                seconds=round(turn.seconds, 3),
            )


@dataclass
class _Known:
    """Of something what was seen so far; `digest` is None while it is not there."""

    last: Held
    digest: str | None = None
    seen: list[Seen] = field(default_factory=list)


def _things(trial: Trial, placed: Sequence[_Placed]) -> Iterator[Thing]:
    """In the order in which they were first seen."""
    known: dict[_Key, _Known] = {}
    after = 0.0
    for index, entry in placed:
        if isinstance(entry, ExternalState):
            now = {(held.kind, held.external): held for held in entry.objects}
            for key in (*(key for key in known if key not in now), *now):
                _look(known, key, now.get(key), index=index, moment=at(trial, index), after=after)
            after = at(trial, index)
    for each in known.values():
        held = each.last
        yield Thing(
            kind=held.kind,
            external=held.external,
            resource=held.resource,
            namespace=held.namespace,
            name=held.name,
            seen=tuple(each.seen),
        )


def _look(known: dict[_Key, _Known], key: _Key, held: Held | None, *, index: int, moment: float, after: float) -> None:
    """Take what a look showed of something; None: it was not there."""
    if held is not None:
        before = known.setdefault(key, _Known(held))
        before.last = held
    before = known[key]
    digest = held.digest if held is not None else None
    if digest == before.digest:
        return
    change: ExternalChange = "created" if before.digest is None else "deleted" if digest is None else "changed"
    before.seen.append(Seen(entry=index, at=moment, after=after, change=change))
    before.digest = digest
