"""What became of requests that a fault rejected, or whose answer it lost: how often the controller tried again, and when; and which
reports the API server refused that were not made again.

Attempts are grouped by what they are about: verb, resource, subresource, and the name where the request has one (a create has
none). Whether an attempt is the same work as another cannot be seen, so only the rate of a group is judged. Nor is each
attempt a retry: what the controller is shown, and a step of the workload, make it look again, however long it would have waited by
itself.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import accumulate, pairwise
from typing import NamedTuple

from staleproof.checks.facts.object_history import creations
from staleproof.checks.facts.stimuli import stimuli
from staleproof.checks.trial import Trial, fact
from staleproof.core.fault import CallFault, Effect
from staleproof.core.history.entry import Answered, Asked, Committed, Delivered, FaultIndex, Listed, Opened, Refused
from staleproof.core.history.provenance import Commit
from staleproof.core.history.request import BOOKKEEPING
from staleproof.core.times import LONGEST_THROTTLE_SECONDS, SHORTEST_WAIT_SECONDS
from staleproof.core.wording import part_of

_LOOKS = 2
_REPORTS = ("update", "patch")
_FAILED: tuple[Effect, ...] = ("rejects", "loses")


class Attempted(NamedTuple):
    """What requests are about. `name` is empty for creates, lists and watches."""

    verb: str
    resource: str
    name: str = ""
    subresource: str = ""

    @property
    def words(self) -> str:
        """`create of pods`, `update of the status of widgets/w`."""
        return f"{self.verb} of {part_of(self.subresource)}{self.resource}{f'/{self.name}' if self.name else ''}"


@dataclass(slots=True)
class Rejections:
    """The attempts of one kind that one fault rejected, by position; `until` is where the fault closed, or had rejected its last.

    `later` is the first attempt of this verb and resource that came after the last rejected one and was not rejected. `is_paced`:
    the controller was seen to try again by itself, so something is known of how long it waits.
    """

    target: Attempted
    fault: FaultIndex
    rejected: list[int] = field(default_factory=list)
    until: int = 0
    later: int | None = None
    is_paced: bool = False


@fact
def rejections(trial: Trial) -> Sequence[Rejections]:
    """All of a trial, up to the end of its settling phase."""
    return _failed_by(trial, "rejects")


@fact
def waits_unknown(trial: Trial) -> Sequence[Rejections]:
    """Of what was rejected, or done and the answer lost: what has not been tried again, and nothing tells when it will be.

    A controller that then let a primary go, which its finalizer had kept, has not failed in its own eyes and waits for nothing.
    """
    finished = max((commit.index for commit in trial.commits if _finishes(commit, trial.primaries)), default=0)
    failed = (group for effect in _FAILED for group in _failed_by(trial, effect))
    return [group for group in failed if group.later is None and not group.is_paced and group.rejected[-1] > finished]


class RefusedReport(NamedTuple):
    """A report that the API server refused as the object had changed: where the controller asked for it, and where it heard so."""

    asked: int
    heard: int


@fact
def refused_reports(trial: Trial) -> Mapping[tuple[str, str], RefusedReport]:
    """By resource and name, the last report on each object of the trial's namespace, if it was refused: it was not made again."""
    found: dict[tuple[str, str], RefusedReport] = {}
    for request in trial.work:
        asked, answer = request.asked, request.answer
        if asked.subresource != "status" or asked.verb not in _REPORTS or asked.namespace not in ("", trial.namespace):
            continue
        found.pop((asked.resource, asked.name), None)
        if isinstance(answer, Answered) and answer.code == HTTPStatus.CONFLICT and request.answer_index is not None:
            found[asked.resource, asked.name] = RefusedReport(request.index, request.answer_index)
    return found


def first_retry(trial: Trial) -> float:
    """The longest silence, in seconds, after which the controller tried again by itself what had been rejected once; 0 if it never
    did, or only when something had woken it. The silence begins behind what it was shown of its own note of the failure. What
    comes after further failures is not asked: clients wait longer each time, and one lost answer is one failure."""
    return max((_silence(trial, group) for group in rejections(trial) if group.target.verb == "create"), default=0.0)


def _silence(trial: Trial, group: Rejections) -> float:
    """Before the second try."""
    first, *more = [*group.rejected, *([group.later] if group.later is not None else [])]
    if not more:
        return 0.0
    woken = _wakes(trial)
    last = bisect_left(woken, more[0])
    return trial.at(more[0]) - trial.at(max(first, woken[last - 1]) if last else first)


def last_lost_create(trial: Trial) -> int | None:
    """Where the controller asked for the last create of this life whose answer was lost, and which it has not tried again; None if
    there is none."""
    life = trial.life_began(len(trial.entries) - 1)
    lost = (each for each in _failed_by(trial, "loses") if each.target.verb == "create" and each.later is None)
    return max((each.rejected[-1] for each in lost if each.rejected[-1] > life), default=None)


def _failed_by(trial: Trial, effect: Effect) -> list[Rejections]:
    settled = len(trial.entries) if trial.settled is None else trial.settled
    found: dict[tuple[Attempted, FaultIndex], Rejections] = {}
    other_attempts: dict[tuple[str, str], list[int]] = defaultdict(list)
    faults = {number: fault for number, fault in trial.fired.items() if effect in fault.effects}
    for index, target, number in _attempts(trial, settled):
        if number is not None and number in faults:
            found.setdefault((target, number), Rejections(target, number)).rejected.append(index)
        else:
            other_attempts[target.verb, target.resource].append(index)
    for (target, number), group in found.items():
        last = group.rejected[-1]
        fault, span = faults[number], trial.spans.get(number)
        limited = span is None or (isinstance(fault, CallFault) and fault.times is not None)
        group.until = last if limited else min(trial.closing(number), settled)
        group.later = next((index for index in other_attempts[target.verb, target.resource] if index > last), None)
        group.is_paced = _is_paced(trial, group)
    return list(found.values())


def _finishes(commit: Commit, primaries: Collection[str]) -> bool:
    """Whether a primary is gone that had been kept while it was being deleted."""
    kept = commit.before is not None and "deletionTimestamp" in commit.before["metadata"]
    return kept and commit.entry.type == "DELETED" and commit.entry.resource in primaries


def _is_paced(trial: Trial, group: Rejections) -> bool:
    """Whether the controller looked again, and once more, though nothing had been shown to it since. One more look proves nothing:
    what is shown during a look leads to another one behind it."""
    woken = _wakes(trial)
    looks = 0
    for before, index in pairwise([*group.rejected, *([group.later] if group.later is not None else [])]):
        if bisect_right(woken, before) != bisect_right(woken, index):
            looks = 0
        elif _is_another_look(trial, before, index):
            looks += 1
        if looks == _LOOKS:
            return True
    return False


def _is_another_look(trial: Trial, before: int, index: int) -> bool:
    """Whether two attempts are not of one look at several objects, which go out one after the other."""
    gap = trial.at(index) - trial.at(before)
    requests = trial.positions(Asked)
    between = bisect_left(requests, index) > bisect_right(requests, before)
    return gap > (SHORTEST_WAIT_SECONDS if between else LONGEST_THROTTLE_SECONDS)


@fact
def _wakes(trial: Trial) -> Sequence[int]:
    """Where something happened that makes a controller look again. What it lists while it watches the resource as well is a read of
    its own, as answers to its requests are."""
    found = []
    for each in stimuli(trial):
        entry = trial.entries[each.index]
        watched = (watch.entry.resource for watch in trial.streams.values() if watch.lasted(each.index, each.index))
        is_own = isinstance(entry, Answered) or (isinstance(entry, Listed) and entry.resource in watched)
        if each.kind in ("cause", "echo") and not is_own:
            found.append(each.index)
    return found


@dataclass(frozen=True, slots=True)
class Pace:
    """How often the controller tried what was rejected for so many seconds, in the first and in the last third of them.

    `rate` is that of the last third: tries per second and object, each thing that was shown meanwhile taken off as a reason to try.
    A client with several informers for one resource lists and watches for each of them: there are as many tries as informers.
    """

    seconds: float
    first: int
    last: int
    rate: float


def pace_of(trial: Trial, group: Rejections) -> Pace:
    """From the first rejected attempt to the end of the rejections."""
    began, ended = trial.at(group.rejected[0]), trial.at(group.until)
    third = (ended - began) / 3
    tries = [trial.at(index) for index in group.rejected]
    first = sum(at <= began + third for at in tries)
    last = sum(ended - third <= at <= ended for at in tries)
    shown = sum(ended - third <= entry.at <= ended for _, entry in trial.every(Delivered) if entry.uid)
    target = group.target
    usual = _made_at_once if target.verb == "create" else _ever_there
    objects = 1 if target.name else max([1, *(usual(each, target.resource) for each in trial.alike)])
    if target.verb in ("list", "watch"):
        streams = [each for each in trial.streams.values() if each.entry.resource == target.resource]
        streams = [each for each in streams if each.opened < group.rejected[0]]
        objects = max([objects, *(sum(each.lasted(other.opened, other.opened + 1) for each in streams) for other in streams)])
    return Pace(ended - began, first, last, (last - shown) / third / objects if third else 0.0)


def _ever_there(run: Trial, resource: str) -> int:
    """How many objects of a resource there were."""
    return len({entry.uid for _, entry in run.every(Committed) if entry.resource == resource})


def _made_at_once(run: Trial, resource: str) -> int:
    """How many the controller may have tried to create at the same time: as many as it had made that were there at once, or as it
    made some for."""
    own = [child for _, child in creations(run) if child.resource == resource]
    turns = sorted([*((each.created, 1) for each in own), *((each.deleted, -1) for each in own if each.deleted is not None)])
    return max([0, len({each.owner_uid for each in own}), *accumulate(change for _, change in turns)])


@fact
def repeated_writes(trial: Trial) -> frozenset[int]:
    """The positions at which the controller first repeated a request after it had not heard that it was done.

    The answer never came, or a fault had rejected the request or kept its answer. Only the first repetition counts.
    """
    unheard, found = set[Attempted](), set[int]()
    for request in trial.requests:
        entry, answer = request.asked, request.answer
        target = Attempted(entry.verb, entry.resource, entry.name, entry.subresource)
        if target in unheard:
            unheard.remove(target)
            found.add(request.index)
        if answer is None or (answer.fault is not None and not request.succeeded):
            unheard.add(target)
    return frozenset(found)


def _attempts(trial: Trial, until: int) -> Iterator[tuple[int, Attempted, FaultIndex | None]]:
    """(position, what it is about, fault that answered it) of each request of the trial, bookkeeping aside."""
    for index in trial.positions(Asked, Refused, Opened):
        if index >= until:
            return
        match trial.entries[index]:
            case Asked(dry_run=False) as entry if entry.resource not in BOOKKEEPING and entry.namespace in ("", trial.namespace):
                request = trial.request_of[entry.request]
                answered = request.answer_index is not None and request.answer_index < until
                fault = request.answer.fault if request.answer is not None and answered else None
                yield index, Attempted(entry.verb, entry.resource, entry.name, entry.subresource), fault
            case Refused() as entry if entry.resource not in BOOKKEEPING:
                yield index, Attempted("watch", entry.resource), entry.fault
            case Opened() as entry if entry.resource not in BOOKKEEPING:
                yield index, Attempted("watch", entry.resource), None
