"""Times in which nothing happened to a primary nor outside, and how often the controller called about it all the same.

It is quiet while what belongs to the primary outside is the same in one reading and in the next, or no call that may write was made
since the last one; while nothing there is wrong, or has notified the controller, and nothing keeps the controller from it; while no
user changes anything in the namespace but by a touch, and the controller nothing but a status; while no call about the primary
fails, and no write; and while the primary does not say that it is not ready. Each of these ends a span, and the next begins some
seconds later: what was begun may be looked after.

Calls are counted by their words, and only those that say that they are about the primary, or about something of it: one look may
ask several things, and a ping asks of nothing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from staleproof.checks.facts.belongings import owner
from staleproof.checks.facts.drifts import drifts
from staleproof.checks.facts.external_calls import Call, external_calls
from staleproof.checks.facts.external_states import external_states
from staleproof.checks.facts.hindrances import hindrances
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.readiness import says_ready
from staleproof.checks.facts.wakings import leaves_nothing_to_do
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Closed, Listed, Notified, Started, StepBegan
from staleproof.core.history.history import Position
from staleproof.core.plan.step import Lull, Resync
from staleproof.core.times import CLOSE_SECONDS, ELECTION_SECONDS, REST_SECONDS

_OFTEN = 3
_Span = tuple[float, float]
"""From when to when, in seconds since the trial began."""


@dataclass(frozen=True, slots=True)
class QuietSpan:
    """A time in which nothing happened to a primary that has something in a system.

    Attributes:
        since, until: positions.
        seconds: how long it was.
        things: how many things of the primary the system held, one at least.
        calls: those about the primary that were answered well, and have the words that come most often.
        owed: how many calls are right whatever the period: one for each life that began, or may only have come to its work by then,
            and one if the controller had not called since what happened last.
        stirred: where the controller was made to look again, and had the time to: a touch, a list, a watch that ended, a new life.
    """

    system: str
    of: Incarnation
    since: Position
    until: Position
    seconds: float
    things: int
    calls: Sequence[Call]
    owed: int
    stirred: Sequence[Position]


@fact
def quiet_spans(trial: Trial) -> Sequence[QuietSpan]:
    """By system and primary, in order."""
    return list(_spans(trial))


def longest_gap(trial: Trial, system: str) -> float | None:
    """The longest time between two of three calls or more with the same words about one primary of a system, in quiet; None if
    there were not so many."""
    every = (span.calls for span in quiet_spans(trial) if span.system == system and len(span.calls) >= _OFTEN)
    gaps = (trial.at(after.index) - trial.at(before.index) for calls in every for before, after in pairwise(calls))
    return max(gaps, default=None)


def busiest_period(trial: Trial, system: str) -> float | None:
    """The seconds between such calls where they were most frequent, on average; None if there were not so many."""
    every = (span for span in quiet_spans(trial) if span.system == system and len(span.calls) >= _OFTEN)
    return min((min(span.seconds / len(span.calls), _interval(trial, span.calls)) for span in every), default=None)


def _interval(trial: Trial, calls: Sequence[Call]) -> float:
    """The seconds from one to the next, on average. What is before the first and behind the last may be up to a period each."""
    return (trial.at(calls[-1].index) - trial.at(calls[0].index)) / (len(calls) - 1)


def _spans(trial: Trial) -> Iterator[QuietSpan]:
    by_owner = grouped(((call.entry.system, call.of), call) for call in external_calls(trial))
    for (system, of), calls in by_owner.items():
        for primary in object_history(trial).named(*of):
            if f"{primary.resource}/{primary.name}" in trial.applied and system in external_states(trial):
                yield from _of_primary(trial, system, primary, calls)


def _of_primary(trial: Trial, system: str, of: Incarnation, calls: Sequence[Call]) -> Iterator[QuietSpan]:
    last = next((commit.index for commit in of.commits if commit.deletes), trial.unwoken)
    begins, ends = trial.at(of.created), trial.at(min(last, len(trial.entries) - 1))
    for happened, since, until in _without([*_busy(trial, system, of, calls)], begins, ends):
        first, behind = trial.position_at(since), trial.position_at(until)
        inside = [call for call in calls if first <= call.index < behind and call.succeeded]
        most = Counter(call.words for call in inside).most_common(1)
        same = [call for call in inside if most and call.words == most[0][0]]
        repeats = _at_once(trial, [call for call in calls if same and call.index < first and call.words == same[0].words])
        held = external_states(trial)[system].before(first + 1)
        yield QuietSpan(
            system=system,
            of=of,
            since=first,
            until=behind,
            seconds=until - since,
            things=max(1, len(external_states(trial)[system].belongings(held, (of.resource, of.name))), repeats),
            calls=same,
            owed=sum(since - ELECTION_SECONDS <= trial.at(index) < until for index in trial.starts[1:])
            + (not any(happened <= trial.at(call.index) < since for call in calls)),
            stirred=[index for index in _stirs(trial, of) if first <= index and trial.at(index) + CLOSE_SECONDS <= until],
        )


def _at_once(trial: Trial, calls: Sequence[Call]) -> int:
    """The most of them that came one upon the other: a look may ask the same with other values, which are not kept."""
    times = [trial.at(call.index) for call in calls]
    return max((sum(at <= each < at + CLOSE_SECONDS for each in times) for at in times), default=0)


def _without(busy: Sequence[_Span], since: float, until: float) -> Iterator[tuple[float, float, float]]:
    """What is left of a time without these: since when it had not been quiet before, from when, and until when."""
    happened = since
    for begins, ends in sorted(busy):
        if begins > since:
            yield happened, since, min(begins, until)
            happened = begins
        since = max(since, ends)
        if since >= until:
            return
    yield happened, since, until


def _busy(trial: Trial, system: str, of: Incarnation, calls: Sequence[Call]) -> Iterator[_Span]:
    """When it was not quiet."""
    yield from _changing(trial, system, of)
    for drift in drifts(trial):
        if (drift.system, drift.of.uid) == (system, of.uid):
            yield _after(trial, drift.index, drift.until if drift.repaired is None else drift.repaired)
    yield from ((each.since, each.until + each.given + REST_SECONDS) for each in hindrances(trial) if each.system == system)
    moments = [call.answer_index or call.index for call in calls if not call.succeeded and call.entry.system == system]
    moments += [index for index, entry in trial.every(Notified) if entry.system == system and _concerns(trial, entry, of)]
    moments += [commit.index for commit in trial.commits if not leaves_nothing_to_do(commit)]
    moments += [request.answer_index or request.index for request in trial.work if not request.succeeded]
    yield from (_after(trial, index, index) for index in moments)
    yield from _unready(trial, of)


def _after(trial: Trial, since: int, until: int) -> _Span:
    return trial.at(since), trial.at(min(until, len(trial.entries) - 1)) + REST_SECONDS


def _changing(trial: Trial, system: str, of: Incarnation) -> Iterator[_Span]:
    """Between readings that differ, before the first, and from the first call behind the last that may have written."""
    readings, key = external_states(trial)[system], (of.resource, of.name)
    for before, after in pairwise(readings.every):
        if readings.belongings(before, key) != readings.belongings(after, key):
            yield _after(trial, before.index, after.index)
    first, last = readings.every[0].index, readings.every[-1].index
    yield _after(trial, 0, first)
    later = (call for call in external_calls(trial) if call.index > last and call.entry.system == system)
    write = next((call for call in later if call.may_have_written and call.may_be_about(of)), None)
    if write is not None:
        yield _after(trial, write.index, len(trial.entries) - 1)


def _concerns(trial: Trial, entry: Notified, of: Incarnation) -> bool:
    return owner(trial, entry.resource, entry.name) in (("", ""), (of.resource, of.name))


def _unready(trial: Trial, of: Incarnation) -> Iterator[_Span]:
    """While it said that it is not ready."""
    for before, after in pairwise([*of.commits, None]):
        if before is not None and says_ready(before.entry.object) is False:
            yield _after(trial, before.index, after.index if after is not None else len(trial.entries) - 1)


def _stirs(trial: Trial, of: Incarnation) -> Iterator[Position]:
    """Where the controller was made to look again though nothing had changed."""
    touched = [
        commit.index for commit in of.commits if commit.by is None and commit.before is not None and leaves_nothing_to_do(commit)
    ]
    looked = [index for index, entry in trial.every(Listed) if entry.resource == of.resource]
    ended = [index for index, entry in trial.every(Closed) if trial.resource_of(entry.stream) == of.resource]
    steps = [
        index
        for index, entry in trial.every(StepBegan)
        if any(isinstance(step, Resync | Lull) for step in trial.plan.steps[entry.step - 1 : entry.step])
    ]
    return iter(sorted({*touched, *looked, *ended, *steps, *trial.positions(Started)}))
