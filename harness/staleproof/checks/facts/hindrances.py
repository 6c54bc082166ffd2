"""What kept a controller from working on an external system, and for how long: its clock stands still meanwhile, and runs anew
after.

A system that is down, or slow, cannot be repaired in time; nor can it while calls go wrong, nor by a controller whose process is
stopped, or that a fault keeps from the API server or from what it shows. After that a controller is given as long again, twice
over, because a wait that grows from try to try by a factor of two is never longer; and what client-go's rate limiter makes of so
many failures. A life that begins anew may have to be elected first.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from staleproof.checks.facts.external_calls import Call, external_calls
from staleproof.checks.facts.recovery_budget import retry_wait
from staleproof.checks.trial import Trial, fact
from staleproof.core.fault import Effect
from staleproof.core.history.entry import Called, Continued, Exited, Started, Stopped, SystemTurned
from staleproof.core.history.history import Position
from staleproof.core.times import ELECTION_SECONDS, OUTAGE_FACTOR, PACE_UNKNOWN_SECONDS

HINDERS: frozenset[Effect] = frozenset({"hides", "lags", "rewinds", "slows-start", "disconnects", "rejects", "loses"})
"""Effects of faults that may keep a controller from its work as long as they are open. Of what ends its process, or stops it, the
history has entries; the others are over once they have happened, or keep no controller from anything outside."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """From when to when, in seconds since the trial began; `given`: the seconds that a controller may need after it.

    `system`: of which system alone; empty for all that the controller does. `until` is infinite for what did not end.
    """

    since: float
    until: float
    given: float
    system: str
    why: str


@fact
def hindrances(trial: Trial) -> Sequence[Hindrance]:
    """In the order in which they began."""
    found = [*_outages(trial), *_lost_calls(trial), *_absences(trial), *_faults(trial)]
    return sorted(found, key=lambda each: each.since)


def clear_times(trial: Trial, system: str, since: float, until: float) -> list[tuple[float, float]]:
    """(from, to) of the times between two moments in which nothing kept the controller from working on this system, without what
    it is given afterwards."""
    clear, begins = list[tuple[float, float]](), since
    for each in hindrances(trial):
        if each.system in ("", system) and each.until + each.given > begins and each.since < until:
            clear.append((begins, each.since))
            begins = each.until + each.given
    clear.append((begins, until))
    return [(a, b) for a, b in clear if a < b]


def longest_clear(trial: Trial, system: str, since: float, until: float) -> float:
    """The longest of these times, in seconds."""
    return max((b - a for a, b in clear_times(trial, system, since, until)), default=0.0)


def outages(trial: Trial, system: str) -> Iterator[tuple[Position, Position]]:
    """Where a system went down and where it was up again, or the trial ended."""
    turned = [(index, entry.state) for index, entry in trial.every(SystemTurned) if entry.system == system]
    for place, (index, state) in enumerate(turned):
        if state == "down" and (place == 0 or turned[place - 1][1] != "down"):
            later = (at for at, then in turned[place + 1 :] if then != "down")
            yield index, next(later, Position(len(trial.entries) - 1))


def _outages(trial: Trial) -> Iterator[Hindrance]:
    """While it was down or slow."""
    open_: dict[str, tuple[float, str]] = {}
    for index, entry in trial.every(SystemTurned):
        begun = open_.pop(entry.system, None)
        if begun is not None:
            yield _after_outage(*begun, trial.at(index), entry.system)
        if entry.state != "up":
            open_[entry.system] = (trial.at(index), f"{entry.system} was {entry.state}")
    for system, (since, why) in open_.items():
        yield Hindrance(since, math.inf, 0.0, system, why)


def _lost_calls(trial: Trial) -> Iterator[Hindrance]:
    """Calls that went wrong one after the other, of one system."""
    calls = sorted((each for each in external_calls(trial) if not _is_stream(each)), key=lambda call: call.entry.system)
    for (system, disturbed), group in groupby(
        calls, key=lambda call: (call.entry.system, call.is_disturbed or call.was_turned_away)
    ):
        if disturbed:
            every = list(group)
            ended = [_ended(trial, call) for call in every]
            since, until = trial.at(every[0].index), max(ended)
            yield _after_outage(since, f"calls to {system} went wrong", until, system, failures=len(every))


def _is_stream(call: Call) -> bool:
    """Whether it only waits for news: it reads, is about no primary, and has no answer."""
    return call.answer is None and call.reads and call.of == ("", "")


def _ended(trial: Trial, call: Call) -> float:
    """When it was answered. Without an answer the controller waits for it until it calls again about the same. When it was turned
    away it does so, too, but not for ever."""
    if call.answer_index is not None and not call.was_turned_away:
        return trial.at(call.answer_index)
    again = (
        each
        for each in external_calls(trial)
        if each.index > call.index and (each.entry.system, each.of) == (call.entry.system, call.of)
    )
    longest = trial.at(call.answer_index) + PACE_UNKNOWN_SECONDS if call.answer_index is not None else math.inf
    return min(next((trial.at(each.index) for each in again), math.inf), longest)


def _absences(trial: Trial) -> Iterator[Hindrance]:
    """While its process was stopped, and until a new life has shown that it works."""
    gone: float | None = None
    for index in trial.positions(Stopped, Exited, Started, Continued):
        match trial.entries[index]:
            case Stopped() | Exited():
                gone = trial.at(index) if gone is None else gone
            case Continued() if gone is not None:
                yield Hindrance(gone, trial.at(index), OUTAGE_FACTOR * (trial.at(index) - gone), "", "its process stood still")
                gone = None
            case Started() if index > 0:
                began = trial.at(index)
                works = min(_first_work(trial, index), began + ELECTION_SECONDS)
                yield Hindrance(began if gone is None else gone, works, 0.0, "", "its process was not there")
                gone = None
    if gone is not None:
        yield Hindrance(gone, math.inf, 0.0, "", "its process was not there")


def _first_work(trial: Trial, start: int) -> float:
    """When a life first asked for a write or called; never is infinite."""
    own = [request.index for request in trial.work if request.index > start][:1]
    own += [index for index, _ in trial.every(Called, since=start)][:1]
    return min((trial.at(index) for index in own), default=math.inf)


def _faults(trial: Trial) -> Iterator[Hindrance]:
    """Faults of the plan that did something, while they were open."""
    for number, fault in trial.fired.items():
        if number in trial.spans and not HINDERS.isdisjoint(fault.effects):
            since, until = trial.at(trial.spans[number].opened), trial.at(trial.closing(number))
            yield _after_outage(since, f"{fault.tag} was open", until, "")


def _after_outage(since: float, why: str, until: float, system: str, *, failures: int = 0) -> Hindrance:
    given = max(OUTAGE_FACTOR * (until - since), retry_wait(failures)) if until < math.inf else 0.0
    return Hindrance(since, until, given, system, why)
