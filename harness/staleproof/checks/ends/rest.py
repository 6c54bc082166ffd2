"""What a controller writes at rest: once the trial has settled, and its primaries have been listed once more without any change.

What does not count: what belongs to a pass that was under way when the trial had settled (a pass may begin with writes that change
nothing, and those keep no trial from settling); refused writes, leases, events and leader election, reviews and tokens (nothing is
stored), writes outside the trial's namespace, and whatever came after another user had changed something; unless others have only
reacted to what the controller had changed at rest, as kube-controller-manager does to a Deployment: then it may still go on to
change what is no report. Nor does the first repetition of a write that a fault had rejected, or whose answer was lost: a controller
waits before it tries again.

Nothing is known when the controller had not been shown everything by the time it had settled: then something had changed for it.
What it does not watch and has only read, it may never read again: that may be why it writes something, but no reason not to put it
to the test.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from staleproof.checks.ends.footprint import is_status
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.facts.retries import repeated_writes
from staleproof.checks.facts.showings import showings
from staleproof.checks.trial import Trial, fact
from staleproof.checks.verdict import Finding, NotExercised
from staleproof.core.history.change import LOOKS, essential, void_writes
from staleproof.core.history.entry import Answered, Committed, Settled
from staleproof.core.history.flatten import changed_fields
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import Commit, is_bookkeeping, is_create
from staleproof.core.times import LONGEST_PASS_SECONDS, PASS_SECONDS
from staleproof.core.wording import plural


@dataclass(frozen=True, slots=True)
class Rest:
    """What the controller wrote at rest.

    Attributes:
        changing: the writes that changed anything.
        void: those that changed nothing, or nothing but times and what moves by itself.
        more: those that changed anything but a status when others had only reacted to what it had changed.
        looks: where its primaries were listed again, each time.
        untested: why there may be none though the controller does such things, in words; empty when it was put to the test.
    """

    changing: Sequence[Request] = ()
    void: Sequence[Request] = ()
    looks: Sequence[int] = ()
    untested: str = ""
    more: Sequence[Request] = ()

    def finding(self, writes: Sequence[Request], trial: Trial, *, what: str, though: str) -> Finding:
        """A finding about some of the writes; `what` is the end of "2 writes"."""
        first = writes[0]
        because = f"{plural(len(writes), 'write')} {what}, the first: {first.asked.verb} {first.asked.resource}/{_name(first)}"
        return Finding(because, (trial.ending[1], *(request.index for request in writes[:3])), though)

    @property
    def doubt(self) -> Iterator[NotExercised]:
        """Why nothing is known, if that is so."""
        if self.untested:
            yield NotExercised(self.untested)


@dataclass(frozen=True, slots=True)
class Cost:
    """What the controller wrote when so many primaries were listed again and nothing had changed; `void`: nothing came of it."""

    primaries: int
    writes: int
    void: int


def cost(trial: Trial) -> Cost | None:
    """What looking at everything once more costs; None when the trial does not tell."""
    if trial.settled is None or trial.released is None or rest(trial).untested:
        return None
    void, changing = len(rest(trial).void), len(rest(trial).changing)
    return Cost(len(trial.history.header.primaries), void + changing, void)


@fact
def rest(trial: Trial) -> Rest:
    """What the controller did at rest. ValueError for a trial that has no settling phase."""
    _, settled = trial.ending
    end = trial.entries[settled]
    if isinstance(end, Settled) and not end.ok:
        return Rest(untested=f"it never settled ({end.why})")
    unseen = pending_events(trial).before(settled)
    watched = {stream.entry.resource for stream in trial.streams.values()}
    if trial.idle or any(event.commit.resource in watched for event in unseen):
        return Rest(untested=trial.idle or "when it settled it had not been shown everything yet")
    disturbed = min((each.index for each in trial.commits if each.index > settled and each.by is None), default=len(trial.entries))
    every = list(_late_writes(trial, settled))
    void = {each.index for each in void_writes(every, trial.commits, trial.plan.settle.moves)}
    late = [write for write in every if write.index < disturbed]
    changing, unchanging = [each for each in late if each.index not in void], [each for each in late if each.index in void]
    if changing and unseen:
        unread = unseen[0].commit.resource
        return Rest(untested=f"when it settled it had not read what had become of {unread}, which it does not watch")
    looks = _looks(trial, settled)
    until = _news(trial, changing)
    more = [each for each in every if disturbed < each.index < until and each.index not in void and not each.asked.subresource]
    return Rest(changing, unchanging, looks, _untested(trial, disturbed, looks), more)


@fact
def is_restless(trial: Trial) -> bool:
    """Whether what it changes at rest is no progress: it goes on each time that it looks, or goes back."""
    found = rest(trial)
    followed = {bisect_left(found.looks, write.index) for write in (*found.changing, *found.more)}
    goes_on = len(found.looks) >= LOOKS and followed.issuperset(range(1, len(found.looks) + 1))
    return bool(found.changing) and (goes_on or _goes_back(trial, found))


def _news(trial: Trial, changing: Sequence[Request]) -> int:
    """Where another user first did something else at rest than to react to what the controller had changed there."""
    own, made = {write.index for write in changing}, object_history(trial).objects
    changed = {commit.entry.uid for commit in trial.commits if commit.by is not None and commit.by.index in own}
    roots = changed - {uid for uid in changed if made[uid].resource in trial.primaries}
    first = min(own, default=0)
    later = sorted((commit for commit in trial.commits if commit.index > first and commit.by is None), key=lambda each: each.index)
    return next((each.index for each in later if not _is_reaction(trial, each, roots)), len(trial.entries)) if own else 0


def _is_reaction(trial: Trial, commit: Commit, roots: Collection[str]) -> bool:
    """Whether it reports on one of these, in its status or an annotation, or writes what belongs to it."""
    objects, uid = object_history(trial).objects, commit.entry.uid
    if uid in roots:
        changed = changed_fields(commit.before, commit.entry.object) if commit.before is not None and not commit.deletes else ("",)
        return all(is_status(path) or path.startswith("metadata.annotations.") for path in changed)
    while (each := objects.get(uid)) is not None and each.owner_uid and each.owner_uid not in roots:
        uid = each.owner_uid
    return each is not None and each.owner_uid in roots


def _goes_back(trial: Trial, found: Rest) -> bool:
    own = {write.index for write in found.changing}
    made = [commit for commit in trial.commits if commit.by is not None and commit.by.index in own]
    begun_or_ended = [commit for commit in made if commit.before is None or commit.deletes]
    ends = {(commit.entry.resource, commit.entry.name, is_create(commit.by)) for commit in begun_or_ended if commit.by is not None}
    turned = any((resource, name, not begins) in ends for resource, name, begins in ends)
    return turned or any(_returns(trial.plan.settle.moves, _states(trial, uid, made)) for uid in {c.entry.uid for c in made})


def _states(trial: Trial, uid: str, made: Sequence[Commit]) -> list[Committed]:
    """An object before each of these commits and after the last."""
    first = min(commit.index for commit in made if commit.entry.uid == uid)
    every = [commit for commit in trial.commits if commit.entry.uid == uid]
    return [each.entry for each in every if each.index < first][-1:] + [each.entry for each in every if each.index >= first]


def _returns(moves: Collection[str], states: Sequence[Committed]) -> bool:
    """Whether some state is another than the one before, and the same as an earlier one."""

    def differs(before: Committed, after: Committed) -> bool:
        return bool(essential(before.resource, before.object, after.object, moves))

    turns = [number for number in range(1, len(states)) if differs(states[number - 1], states[number])]
    return any(not differs(states[earlier], states[number]) for number in turns for earlier in range(number))


def _looks(trial: Trial, settled: int) -> Sequence[int]:
    """Of the primaries of one resource, that which was listed the least often."""
    lists = [[each.index for each in showings(trial).get(of, ()) if each.kind == "list"] for of in sorted(trial.primaries)]
    return min(([index for index in each if index > settled] for each in lists), key=len, default=[])


def _untested(trial: Trial, disturbed: int, looks: Sequence[int]) -> str:
    if disturbed in trial.commit_at:
        changed = trial.commit_at[disturbed].entry
        return f"another user changed {changed.resource}/{changed.name} after the controller had settled"
    if not looks:
        reason = "although it was told to" if trial.plan.settle.resync else "because the plan does not tell it to"
        return f"the controller did not list its primaries again after it had settled, {reason}"
    return ""


def _pass_over(trial: Trial, settled: int) -> int:
    """Where the pass is over in which the controller was when the trial had settled: its requests follow one another closely, and
    do so for a moment only."""
    over, last, latest = settled, None, trial.at(settled) + LONGEST_PASS_SECONDS
    for request in trial.work:
        began, ended = trial.at(request.index), trial.at(request.answer_index or request.index)
        if request.index > settled and (last is None or began - last > PASS_SECONDS or began > latest):
            break
        if request.index > settled or trial.at(settled) - ended <= PASS_SECONDS:
            over, last = max(over, request.index), ended
    return over


def _late_writes(trial: Trial, settled: int) -> Iterator[Request]:
    """The controller's writes from the settling on that count."""
    over = _pass_over(trial, settled)
    locks = {(e.resource, e.name) for _, e in trial.every(Committed) if is_bookkeeping(e.resource, e.object)}
    for request in trial.work:
        entry = request.asked
        mine = entry.namespace == trial.namespace or (not entry.namespace and entry.resource in trial.primaries)
        counts = mine and (entry.resource, _name(request)) not in locks and request.index not in repeated_writes(trial)
        if request.index > over and request.succeeded and counts:
            yield request


def _name(request: Request) -> str:
    return request.asked.name or (request.answer.name if isinstance(request.answer, Answered) else "")
