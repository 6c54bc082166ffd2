"""How long a controller may need after what was done to it in a trial: the one answer that all rules, and the runner, go by.

A client that was turned away waits longer each time before it tries again, and a controller that was kept from seeing something may
look again after ever longer times. Both are right. So an end that came too soon proves nothing: after n ends of its streams a
client is given the n-th wait of client-go's reflector (0.8 s, doubled up to 30 s), twice over for its jitter; after an outage a
controller is given twice its length, because a wait that grows from try to try by a factor of two is never longer. That is so only
when each try follows the wait of the one before; a controller that is woken in between by something else counts more failures than
it waits for, so one whose requests failed, rejected or for a reason of its own, is given what client-go's rate limiter makes of
their number.

Not every controller waits longer each time: retrying once a minute is common, and only a retry that nothing has woken shows it. As
long as there is none, the pace is unknown: so long is waited that a retry once a minute is seen. If none comes, nothing is proved,
unless a later step of the workload woke the controller and it still did not try again.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.retries import Rejections, refused_reports, waits_unknown
from staleproof.checks.trial import Trial, fact
from staleproof.core.fault import Effect
from staleproof.core.history.entry import Answered, Asked, Closed, Delivered, Opened, Refused, Released
from staleproof.core.history.history import is_work
from staleproof.core.history.request import BOOKKEEPING
from staleproof.core.plan.manifest import Manifest, value_at
from staleproof.core.plan.pace import longest_pause
from staleproof.core.plan.step import Rest
from staleproof.core.times import (
    ELECTION_SECONDS,
    LIMITER_FIRST_SECONDS,
    LIMITER_LONGEST_SECONDS,
    OUTAGE_FACTOR,
    PACE_UNKNOWN_SECONDS,
    PAUSES_FACTOR,
    REFLECTOR_FACTOR,
    REFLECTOR_FIRST_SECONDS,
    REFLECTOR_LONGEST_SECONDS,
    SILENT_FACTOR,
    SILENT_SECONDS,
)

LOST = ("clean", "truncated", "reset", "cut")
EXPIRED = ("expired", "lapsed", "gone")
_OUTAGES: frozenset[Effect] = frozenset({"hides", "disconnects", "rewinds", "pauses", "rejects"})
_SHOWS_ITS_PACE = 2
_GONE, _NOT_FOUND, _ASKS_OR_REMOVES = 410, 404, ("get", "delete")


@dataclass(frozen=True, slots=True)
class Budget:
    """So many seconds, from a position on. `unknown`: why even more would prove nothing, in words; empty when they suffice for any
    correct controller."""

    seconds: float
    since: int
    unknown: str = ""


def budget(trial: Trial, until: int) -> Budget:
    """What a correct controller may need after all that was done to it before a position."""
    needed, since = patience(trial, until)
    seconds = max([needed, *(PAUSES_FACTOR * pause for pause in usual_pauses(trial))])
    life = trial.life_began(until - 1)
    due = [trial.at(index) + PACE_UNKNOWN_SECONDS for index in _unreported(trial) if index > life]
    seconds = max([seconds, *(at - trial.at(since) for at in due)])
    groups = [group for group in waits_unknown(trial) if group.rejected[-1] > life]
    if not groups:
        return Budget(seconds, since)
    last = max(groups, key=lambda group: group.rejected[-1])
    rests = {number for number, step in enumerate(trial.plan.steps, 1) if isinstance(step, Rest)}  # they wake no controller
    was_woken = any(run.began > last.rejected[-1] and run.number not in rests for run in trial.steps)
    unknown = f"it has not tried the {last.target.words} again, and nothing tells how long it waits by itself"
    return Budget(
        max(seconds, trial.at(last.rejected[-1]) + PACE_UNKNOWN_SECONDS - trial.at(since)), since, "" if was_woken else unknown
    )


def _unreported(trial: Trial) -> Iterator[int]:
    """Where it heard that a report was refused, as the object had changed, of each primary that has a newer generation than its
    status says: it may look at that again only after a while, and has not so far."""
    for (resource, name), refused in refused_reports(trial).items():
        if resource not in trial.primaries:
            continue
        last = [each.last.entry.object for each in object_history(trial).named(resource, name)[-1:] if not each.last.deletes]
        if any(_says(each) < each["metadata"].get("generation", 0) for each in last):
            yield refused.heard


def _says(obj: Manifest) -> float:
    """The generation that its status says was observed; infinity where it says none."""
    said = value_at(obj, ("status", "observedGeneration"))
    return said if isinstance(said, int) else math.inf


def silence(trial: Trial, group: Rejections) -> float:
    """The seconds after its last rejected attempt that a controller which tries again by itself is silent at most."""
    first, last, tries = trial.at(group.rejected[0]), trial.at(group.rejected[-1]), len(group.rejected)
    return max(SILENT_SECONDS, SILENT_FACTOR * (last - first), retry_wait(tries))


@fact
def usual_pauses(trial: Trial) -> list[float]:
    """The longest pause of each reference, in seconds."""
    return [longest_pause(reference.history) for reference in trial.calm]


def ended_streams(trial: Trial, hows: Iterable[str], until: int) -> Iterator[tuple[int, str]]:
    """(position, resource) of each stream of the trial that ended in one of these ways, before a position."""
    for index, closed in trial.every(Closed, until=until):
        opened = trial.streams[closed.stream].entry if closed.stream in trial.streams else None
        is_mine = opened is not None and opened.resource not in BOOKKEEPING and opened.namespace in ("", trial.namespace)
        if opened is not None and is_mine and closed.how in hows:
            yield index, opened.resource


def expirations(trial: Trial, until: int) -> list[tuple[int, str]]:
    """(position, resource) of each stream, list and watch of the controller that was answered 410 Expired before a position."""
    found = list(ended_streams(trial, EXPIRED, until))
    gone = (
        (index, trial.request_of.get(answer.request))
        for index, answer in trial.every(Answered, until=until)
        if answer.code == _GONE
    )
    lists = ((index, request) for index, request in gone if request is not None and request.asked.verb == "list")
    found += [(index, request.asked.resource) for index, request in lists if request.index < index]
    found += [(index, entry.resource) for index, entry in trial.every(Refused, until=until) if entry.code == _GONE]
    return sorted((index, resource) for index, resource in found if resource not in BOOKKEEPING)


def patience(trial: Trial, settled: int) -> tuple[float, int]:
    """The seconds that a client may need to catch up, and the position from where they count."""
    seconds, since = reconnecting(trial, settled)
    life = trial.life_began(settled - 1)
    return max(seconds, _limited(trial, life, since, settled)), since


def reconnecting(trial: Trial, settled: int) -> tuple[float, int]:
    """The seconds that a client may need to see anything again, and the position from where they count. Then it has no reason to
    keep an object waiting that it had never seen: rate limiters count the failures of each object."""
    life = trial.life_began(settled - 1)
    since = max((index for index in trial.positions(Released) if index < settled), default=life)
    # a WatchList that is refused is not repeated later but replaced at once, by a LIST
    refused = ((index, entry.resource) for index, entry in trial.every(Refused, until=settled) if not entry.watch_list)
    ended = ended_streams(trial, (*LOST, *EXPIRED), settled)
    turned_away = [(index, resource) for index, resource in (*ended, *refused) if index > life]
    since = max([since, *(index for index, _ in turned_away)])
    most = max(Counter(resource for _, resource in turned_away).values(), default=0)
    wait = REFLECTOR_FACTOR * min(REFLECTOR_FIRST_SECONDS * 2.0 ** (min(most, 10) - 1), REFLECTOR_LONGEST_SECONDS) if most else 0.0
    return max(wait, OUTAGE_FACTOR * _longest_outage(trial)), since


def retry_wait(failures: int) -> float:
    """Seconds that client-go's default rate limiter waits after so many failures of an item: 5 ms, doubled, up to 1000 s."""
    return min(LIMITER_FIRST_SECONDS * 2.0 ** min(failures - 1, 30), LIMITER_LONGEST_SECONDS) if failures else 0.0


def _limited(trial: Trial, life: int, since: int, settled: int) -> float:
    """Seconds from `since` until client-go's rate limiter has tried once more whatever failed in this life.

    Whether requests were about one object or many cannot be seen, so all are counted. What it is shown may make it try sooner, and
    again fail; after that each try follows the wait of the one before. A controller that then fails twice waits for nothing.
    """
    shown = [index for index, entry in trial.every(Delivered, until=settled) if entry.uid]
    caught_up = max([since, *shown[-1:]])
    failed = [index for index in _failures(trial, settled) if index > life]
    before = [index for index in failed if index <= caught_up]
    counted = failed if len(failed) - len(before) < _SHOWS_ITS_PACE else before
    begins = max([caught_up, *counted[-1:]])
    return trial.at(begins) - trial.at(since) + retry_wait(len(counted)) if counted else 0.0


def _failures(trial: Trial, until: int) -> Iterator[int]:
    """Positions of the answers that report a failure.

    A controller that asks whether something exists, or removes it, and hears that it does not exist, has not failed.
    """
    for index, entry in trial.every(Answered, until=until):
        request = trial.request_of.get(entry.request)
        if request is None or request.index > index or request.asked.resource in BOOKKEEPING or entry.outcome == "ok":
            continue
        if entry.code != _NOT_FOUND or request.asked.verb not in _ASKS_OR_REMOVES:
            yield index


def awaits_election(trial: Trial, settled: int) -> str:
    """Whether a life that was started again may only be waiting for the lease of the one before, in words; empty if not.

    Or it has not come so far: a process that has not asked for anything at all is still starting. Leases are often kept in other
    namespaces, so that an election cannot be seen. A controller that has asked for a write was elected.
    """
    lives = [index for index in trial.starts if index < settled]
    if len(lives) < 2:
        return ""
    had = trial.at(settled) - trial.at(lives[-1])
    if not any(lives[-1] < index < settled for index in trial.positions(Asked, Opened, Refused)):
        return f"{had:.1f} s after its last start it had not asked for anything yet"
    wrote = any(is_work(entry) for _, entry in trial.every(Asked, since=lives[-1], until=settled))
    return "" if wrote or had > ELECTION_SECONDS else f"{had:.1f} s after its last start it may still wait to be elected"


def _longest_outage(trial: Trial) -> float:
    """In seconds."""
    outages = [number for number, fault in trial.fired.items() if number in trial.spans and not _OUTAGES.isdisjoint(fault.effects)]
    return max((trial.at(trial.closing(number)) - trial.at(trial.spans[number].opened) for number in outages), default=0.0)
