"""What fault-free runs show of a controller: what it makes, when it writes, what it watches, how long it takes, how it begins."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

from staleproof.assess.learn.accepted_moves import step_at
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.programs import seen_by
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Asked, Closed, Committed, Delivered, Opened
from staleproof.core.history.history import History
from staleproof.core.history.provenance import is_bookkeeping
from staleproof.core.history.request import BOOKKEEPING
from staleproof.core.operator.observed import Beside, Changed, ChildKind, Observed, WriteVerb, Written
from staleproof.core.plan.plan import Settle
from staleproof.core.plan.step import Rest
from staleproof.core.times import AT_ONCE_SECONDS

_Kind = tuple[int, str, WriteVerb, str]


def children(life: Sequence[Trial]) -> tuple[ChildKind, ...]:
    made = [list(object_history(trial).objects.values()) for trial in life]
    stable = set.intersection(*({child.named for child in each} for each in made))

    def least(resource: str, role: str) -> int:
        """How many children of the resource have such a maker in every reference, at least."""
        return min(sum(child.resource == resource and getattr(child, role) is not None for child in each) for each in made)

    kinds = []
    for resource in sorted({child.resource for each in made for child in each if child.creator}):
        kept = all(child.named in stable for child in made[0] if child.resource == resource and child.creator)
        watched = any(stream.entry.resource == resource for stream in life[0].streams.values())
        stays = min(_there(trial, resource) for trial in life)
        kinds.append(ChildKind(resource, least(resource, "creator"), least(resource, "deleter"), kept, watched, stays))
    return tuple(sorted(kinds, key=lambda kind: -kind.creates))


def _there(trial: Trial, resource: str) -> int:
    """How many children of the resource were there after the first step and in the end."""
    owned = [each for each in object_history(trial).objects.values() if each.resource == resource and each.owner_uid]
    ends = [len(trial.entries), *(run.ended for run in trial.steps[:1] if run.ended is not None)]
    return min(sum(each.is_live(before=end) for each in owned) for end in ends)


def written(references: Sequence[Trial]) -> tuple[Written, ...]:
    """The controller's successful writes by step; of each kind the fewest in any reference."""
    counts = [Counter(kind for kind, _ in _writes(trial)) for trial in references]
    kinds = sorted(set.intersection(*(set(each) for each in counts)))
    changing = {kind for trial in references for kind, is_change in _writes(trial) if is_change}
    return tuple(Written(*kind, times=min(each[kind] for each in counts), changes=kind in changing) for kind in kinds)


def _writes(trial: Trial) -> Iterator[tuple[_Kind, bool]]:
    """The kind of each successful write, and whether it changed anything; one without a namespace counts as if it had."""
    makers = {commit.by.index for commit in trial.commits if commit.by is not None}
    for request in trial.work:
        entry = request.asked
        if entry.verb in get_args(WriteVerb) and request.succeeded and not entry.dry_run:
            kind = step_at(trial, entry.at), entry.resource, entry.verb, entry.subresource
            yield kind, request.index in makers or not entry.namespace  # type: ignore[misc]  # one of those verbs


def changed(references: Sequence[Trial]) -> tuple[Changed, ...]:
    """What had objects, and when they changed. Whatever has no namespace counts as the trial's."""
    found: dict[str, set[int]] = defaultdict(set)
    for trial in references:
        for _, entry in trial.every(Committed):
            if not is_bookkeeping(entry.resource, entry.object):
                found[entry.resource].add(step_at(trial, entry.at))
    return tuple(Changed(resource, tuple(sorted(steps))) for resource, steps in sorted(found.items()))


def took(references: Sequence[Trial]) -> dict[str, float]:
    """The most seconds that a step of each kind took until its last change, beyond what it rests, and the settling: a trial knows
    when a step is over, and does not wait as a reference does."""
    usual = Settle()
    took: dict[str, float] = defaultdict(float)
    for trial in references:
        commit_times = sorted(trial.at(commit.index) for commit in trial.commits)
        for run in trial.steps:
            step, began = trial.plan.steps[run.number - 1], trial.at(run.began)
            ended = trial.at(run.ended) if run.ended is not None else began
            worked = max((at for at in commit_times if began <= at <= ended), default=began) - began
            rested = step.seconds if isinstance(step, Rest) else 0.0
            took[step.tag] = max(took[step.tag], max(0.0, worked - rested) + usual.idle_seconds)
    return took | {"settle": usual.quiet_seconds}


def watched(references: Sequence[Trial], order: Sequence[str]) -> tuple[str, ...]:
    """The resources that are watched in every reference, in this order; those that are not in it come last."""
    each = [{stream.entry.resource for stream in trial.streams.values()} - BOOKKEEPING for trial in references]
    watched = set.intersection(*each)
    return (*(resource for resource in order if resource in watched), *sorted(watched.difference(order)))


def beside(life: Sequence[History]) -> tuple[Beside, ...]:
    """The further programs, and what each of them watches in every run."""
    return tuple(
        Beside(program, watched([seen_by(replace(each, references=()), program) for each in life], ()))
        for program in life[0].header.programs
    )


def bookmarked(references: Sequence[Trial]) -> tuple[str, ...]:
    """The resources whose watches got bookmarks in every reference, not counting the one that ends the initial events."""
    each = (
        {trial.resource_of(sent.stream) for _, sent in trial.every(Delivered) if sent.type == "BOOKMARK" and not sent.initial_end}
        for trial in references
    )
    return tuple(sorted(set.intersection(*each) - BOOKKEEPING - {""}))


def with_beginning(seen: Observed, bare: Observed, trial: Trial) -> Observed:
    """With what the controller asked for, and how soon, when it began like this."""
    return replace(
        seen,
        reads_past=tuple(each for index, each in enumerate(bare.watched) if index in trial.fired),
        seconds=seen.seconds | {"start": _start_seconds(trial, seen.watched), "work": works_after(trial)},
        asks_watch_list=any(stream.entry.watch_list for stream in trial.streams.values()),
        relists_at_once=_relist_seconds(trial, seen.resource) < AT_ONCE_SECONDS,
        relists_past=_relists_past(trial, seen.resource),
    )


def _start_seconds(trial: Trial, watched: Sequence[str]) -> float:
    """From the beginning of the controller's last life until it watched everything for the first time."""
    began = trial.starts[-1]
    opened: dict[str, float] = {}
    for _, entry in trial.every(Opened, since=began):
        opened.setdefault(entry.resource, entry.at)
    return max((opened[each] for each in watched if each in opened), default=trial.at(began)) - trial.at(began)


def works_after(trial: Trial) -> float:
    """Seconds from the beginning of the controller's last life until it first wrote; 0 if it never did."""
    began = trial.starts[-1]
    return next((trial.at(request.index) - trial.at(began) for request in trial.work if request.index > began), 0.0)


def _relist_seconds(trial: Trial, resource: str) -> float:
    """Seconds from a 410 on the controller's watch of this resource to its next watch; infinite if it never came."""
    closed = [entry.at for _, entry in trial.every(Closed) if entry.how == "expired"]
    again = [entry.at for _, entry in trial.every(Opened) if entry.resource == resource and closed and entry.at > closed[-1]]
    return again[-1] - closed[-1] if again else float("inf")


def _relists_past(trial: Trial, resource: str) -> bool:
    """Whether what it reads of this resource after a 410 may be of any version: a list at 0, or a watch that asks for the state. It
    may be, as far as is known, if there was no 410."""
    ended = ((index, entry) for index, entry in trial.every(Closed, since=trial.starts[-1]) if entry.how == "expired")
    expired = [index for index, entry in ended if trial.resource_of(entry.stream) == resource]
    if not expired:
        return True
    asked = (entry for _, entry in trial.every(Asked, since=expired[-1]))
    opened = (entry for _, entry in trial.every(Opened, since=expired[-1]))
    return any(entry.verb == "list" and entry.resource == resource and entry.version == "0" for entry in asked) or any(
        entry.resource == resource and entry.start in ("", "0") and not entry.watch_list for entry in opened
    )
