"""Lanes: for each resource what was committed, and what the controller had been shown of it, as the engine's `View` says.

No frame is looked at here. What was shown, what was kept, and what was owed to the controller are read from `checks.view` and from
`pending_events`, which verdicts rest on: the picture and the verdict cannot differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from staleproof.checks.facts.pending_events import PendingEvent, pending_events
from staleproof.checks.trial import Trial
from staleproof.checks.view.life import Known, Life, lives
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Answered, Delivered, Listed
from staleproof.core.history.provenance import Commit
from staleproof.report.timeline.clock import at, end
from staleproof.report.timeline.document import Behind, Kept, Lane, Means, Object, Revision, Showing, Stale


def lanes(trial: Trial) -> list[Lane]:
    """One for each resource of which anything was committed in the trial's namespace: the primaries first, then by name."""
    commits = grouped((commit.entry.resource, commit) for commit in trial.commits)
    late = (event for event in pending_events(trial) if event.until != event.index)  # not shown by the time it was committed
    pending = grouped((event.commit.resource, event) for event in late)
    names = sorted(commits, key=lambda name: (name not in trial.primaries, name))
    return [_lane(trial, name, commits[name], pending.get(name, ())) for name in names]


def _lane(trial: Trial, name: str, commits: Sequence[Commit], pending: Sequence[PendingEvent]) -> Lane:
    owed = grouped((event.commit.uid, event) for event in pending)
    objects = [
        _object(trial, each, owed.get(uid, ())) for uid, each in grouped((commit.entry.uid, commit) for commit in commits).items()
    ]
    return Lane(
        name=name,
        primary=name in trial.primaries,
        objects=tuple(objects),
        kept=tuple(_kept(trial, name)),
        behind=tuple(_behind(stale for each in objects for stale in each.stale)),
    )


def _object(trial: Trial, commits: Sequence[Commit], pending: Iterable[PendingEvent]) -> Object:
    first = commits[0].entry
    shown = [showing for number, life in enumerate(lives(trial)) for showing in _shown(trial, number, life, first.uid)]
    owed = [
        Stale(entry=each.index, revision=each.commit.revision, since=at(trial, each.index), until=end(trial, each.until))
        for each in pending
    ]
    return Object(
        uid=first.uid,
        namespace=first.namespace,
        name=first.name,
        revisions=tuple(_revision(trial, commit) for commit in commits),
        shown=tuple(shown),
        stale=(*owed, *_rewound(trial, commits, shown, owed)),
    )


def _rewound(trial: Trial, commits: Sequence[Commit], shown: Sequence[Showing], owed: Sequence[Stale]) -> Iterator[Stale]:
    """What a showing of the past left out and that life was not owed: the newest committed by then, until it was shown."""
    ends = [*trial.starts, None]
    for place, showing in enumerate(shown):
        newest = max((each for each in commits if each.index < showing.entry), key=lambda each: each.entry.revision, default=None)
        if newest is None or showing.gone or newest.entry.revision <= showing.revision:
            continue
        revision = newest.entry.revision
        if any(each.since <= showing.at and (each.until is None or each.until > showing.at) for each in owed):
            continue
        later = (each for each in shown[place + 1 :] if each.life == showing.life)
        caught_up = next((each.at for each in later if each.gone or each.revision >= revision), end(trial, ends[showing.life]))
        if caught_up != showing.at:
            yield Stale(entry=newest.index, revision=revision, since=showing.at, until=caught_up)


def _revision(trial: Trial, commit: Commit) -> Revision:
    entry = commit.entry
    return Revision(
        entry=commit.index,
        at=at(trial, commit.index),
        revision=entry.revision,
        type=entry.type,
        by="user" if commit.by is None else "controller",
        request=0 if commit.by is None else commit.by.asked.request,
        managers=entry.managers,
        deletes=commit.deletes,
    )


def _shown(trial: Trial, number: int, life: Life, uid: str) -> Iterator[Showing]:
    """Whenever a life learnt something of an object: a revision, or that it is gone."""
    before = Known()
    states = dict(life.objects.since(0, uid))  # of several at one position the last
    for index, known in states.items():
        if _shown_state(known) != _shown_state(before):
            yield Showing(
                entry=index,
                at=at(trial, index),
                life=number,
                revision=known.back or known.revision,
                means=_means(trial, index),
                gone=known.is_gone,
            )
        before = known


def _shown_state(known: Known) -> tuple[object, ...]:
    """What a new showing is for: a frame that shows what was known from an answer is one."""
    return known.back, known.revision, known.shown, known.is_gone


def _means(trial: Trial, index: int) -> Means:
    """By which kind of entry it was learnt."""
    match trial.entries[index]:
        case Delivered():
            return "frame"
        case Listed():
            return "list"
        case Answered(request=request) if trial.request_of[request].asked.verb == "get":
            return "get"
    return "answer"


def _kept(trial: Trial, resource: str) -> Iterator[Kept]:
    """From the first frame that is kept to when none is any more; a life takes what is kept from it along."""
    for number, life in enumerate(lives(trial)):
        begun: int | None = None
        for index, (is_kept, _) in life.kept.since(0, resource):
            if is_kept and begun is None:
                begun = index
            elif not is_kept and begun is not None:
                yield _keeping(trial, begun, index)
                begun = None
        if begun is not None:
            yield _keeping(trial, begun, trial.starts[number] if number < len(trial.starts) else None)


def _keeping(trial: Trial, since: int, until: int | None) -> Kept:
    return Kept(entry=since, since=at(trial, since), until=end(trial, until))


def _behind(shaded: Iterable[Stale]) -> Iterator[Behind]:
    """How many revisions were committed and not shown, wherever that changed."""
    deltas: dict[float, int] = {}
    for stale in shaded:
        deltas[stale.since] = deltas.get(stale.since, 0) + 1
        if stale.until is not None:
            deltas[stale.until] = deltas.get(stale.until, 0) - 1
    before = 0
    for when, total in zip(sorted(deltas), accumulate(deltas[when] for when in sorted(deltas)), strict=True):
        if total != before:
            yield Behind(at=when, revisions=total)
        before = total


def makers(trial: Trial) -> Mapping[int, Sequence[int]]:
    """The commits that each request made, by its number, as positions."""
    return grouped((commit.by.asked.request, commit.index) for commit in trial.commits if commit.by is not None)
