"""Requirements about how a trial ends: after lags, after states that went by, after lost streams, and deletions under any of these.

A suspicion says what was done to the controller; the judge makes a finding of it where it did not end as fault-free runs do, and
nothing else explains that.
"""

from collections.abc import Collection, Iterator

from staleproof.checks.but_for import unheard_of
from staleproof.checks.ends.convergence import certain_difference, converged, unneeded
from staleproof.checks.ends.leftovers import found_left, leftovers
from staleproof.checks.facts.lags import lags
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.pending_events import PendingEvent, pending_events
from staleproof.checks.facts.recovery_budget import EXPIRED, LOST, ended_streams, expirations, usual_pauses
from staleproof.checks.facts.showings import is_shown
from staleproof.checks.facts.stimuli import bookmark_writes, went_on_with_bookmark
from staleproof.checks.facts.wording import happened, listing, short_name
from staleproof.checks.requirement import LATE, RESTARTS, STREAMS, Requirement
from staleproof.checks.trial import Span, Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Said, Suspicion
from staleproof.core.fault.effects import EFFECTS
from staleproof.core.history.entry import Closed, Delivered, Dropped, FaultFired, StepBegan
from staleproof.core.history.history import Position
from staleproof.core.times import IDLE_FACTOR, REST_SECONDS

_OFTEN = 2


def tolerates_skew(trial: Trial) -> Iterator[Said]:
    """Survive any relative lag between resources.

    Put to the test: an event of one resource was late while something of another was shown (children older than their parents, or
    the other way round). A finding is an end that is not the references', after a time that any controller can do with, when
    nothing was done to it but lags. A write that breaks another rule meanwhile is for that rule alone to report: then this one has
    nothing to say, neither good nor bad.
    """
    if not lags(trial):
        yield NotExercised("nothing of one resource was shown to the controller while another resource was late")
        return
    lag = lags(trial)[0]
    # Not by a fault that ends the stream: that is for survives-stream-loss and survives-expiry.
    charge = f"after its view of {lag.behind} was behind that of {listing(lag.ahead)}"
    yield Suspicion((lag.withheld, lag.shown), charge, unless_broken=True)


TOLERATES_SKEW = Requirement(
    slug="tolerates-skew",
    must="The controller MUST survive any lag of one resource behind another.",
    level="core",
    source="kubernetes/kubernetes#112684; KEP-2340",
    faults=("Skew", "Hold", "Delay"),
    remedy="never conclude from a parent in one cache that a child in another cache must be there (or gone) by now: "
    "look again when the other cache moves, and read live before a destructive act",
    kind="end",
    wrong="another end than without faults",
    effects=frozenset({"lags"}),
    check=tolerates_skew,
    outlives=frozenset({"hides", "lags"}),
)


def tolerates_coalescing(trial: Trial) -> Iterator[Said]:
    """Be level-triggered: the same end although states in between were never seen.

    Put to the test: the controller's streams ended or were behind, and when it caught up states of an object had been skipped: an
    object had come and gone, been replaced, or changed more than once (`pending_events`). A finding needs an end that is not the
    references' (what is left over counts as well), after a time that any client can do with, when nothing was done to the
    controller but what makes states go by unseen, and no other requirement explains the end.

    Not judged here: what a new life did not see of the time before it. That is for `survives-restart`.
    """
    _, settled = trial.ending
    ended = {resource: index for index, resource in ended_streams(trial, (*LOST, *EXPIRED), settled)}
    skipped = [event for event in pending_events(trial).skipped(before=settled) if event.commit.resource in ended]
    if not skipped:
        yield NotExercised("the controller was shown every state of every object that it follows")
        return
    acts = (ended[skipped[0].commit.resource], *(event.index for event in skipped[:3]))
    sentences = list(dict.fromkeys(happened(event.commit) for event in skipped))
    yield Suspicion(acts, f"it was never shown that {' and '.join(sentences[:2])}, only what came of it")


TOLERATES_COALESCING = Requirement(
    slug="tolerates-coalescing",
    must="The controller MUST reach the same end when it never sees the states in between.",
    level="core",
    source="API concepts, Efficient detection of changes; kubernetes/kubernetes#46173",
    faults=("Coalesce", "Hold", "Expire", "Sever", "Refuse"),
    remedy="work from what is there now and not from what has happened (level-triggered): compare the wanted state with the "
    "observed one, and treat a new uid under an old name as a delete and a create",
    kind="end",
    reasons=("coalesced",),
    wrong="another end than without faults",
    effects=frozenset({"skips"}),
    check=tolerates_coalescing,
    outlives=frozenset({"skips"}),
    needs_end=True,
)


def survives_stream_loss(trial: Trial) -> Iterator[Said]:
    """Resume after EOF, reset, refused connection, hang.

    Put to the test: a fault ended a watch (other than by 410), and something of that resource was to be seen afterwards. A finding
    needs an end that is not the references', after a time that suffices for any client, and one of these:

    1. direct evidence: the controller did not see what was committed before the release, because it does not watch that resource
       any more, or watches from a later revision on (so its new stream does not show a deletion that happened in the gap);
    2. nothing else was done to it in the whole trial, and no other requirement explains the end.

    A stream that is not opened again does no harm as long as nothing happens there: that is neither passed nor failed.
    """
    _, settled = trial.ending
    closed = ((trial.entries[index], index, resource) for index, resource in ended_streams(trial, LOST, settled))
    lost = [(index, resource) for entry, index, resource in closed if isinstance(entry, Closed) and entry.fault is not None]
    if not lost:
        yield NotExercised("no watch of the controller was cut by a fault")
        return
    last = {resource: index for index, resource in ended_streams(trial, (*LOST, *EXPIRED), settled)}
    missed = _missed(trial, [resource for index, resource in lost if last[resource] == index])
    acts, proof = [lost[0][0], lost[-1][0]], ""
    if missed is not None:
        of = missed.commit.resource
        acts += [missed.index, *(index for index, resource in lost if resource == of)]
        again = any(stream.entry.resource == of and last[of] < stream.opened < settled for stream in trial.streams.values())
        proof = f"it never watched {of} again after that watch was lost, and {happened(missed.commit)}"
        proof = f"it watched {of} again after the loss, and never saw that {happened(missed.commit)}" if again else proof
    seen = any(is_shown(trial, resource, ("event", "list"), since=index, until=settled) for index, resource in lost)
    names = ", ".join(dict.fromkeys(resource for _, resource in lost))
    needless = f"after the loss of its watch of {names} there was nothing that it needed to see there"
    untested = needless if missed or not seen else ""
    yield Suspicion(tuple(acts), f"after its watch of {lost[-1][1]} was lost", proof=proof, untested=untested)


def _missed(trial: Trial, resources: Collection[str]) -> PendingEvent | None:
    """The first thing of these resources, from before the release, that the controller will never see."""
    released, settled = trial.ending
    unseen = (event for event in pending_events(trial).missed(before=settled) if event.index < released)
    return next((event for event in unseen if event.commit.resource in resources), None)


SURVIVES_STREAM_LOSS = Requirement(
    slug="survives-stream-loss",
    must="The controller MUST resume its watches after they end, break off, are reset, refused or hang, and miss nothing.",
    level="core",
    source="API concepts, Efficient detection of changes",
    faults=(*STREAMS, "Hold"),
    remedy="watch again from the last resourceVersion that was taken in, with growing delay; list again if that is refused; "
    "set a timeout on watches, so that a dead connection is noticed",
    kind="end",
    reasons=("lost stream",),
    wrong="another end than without faults",
    effects=frozenset({"cuts"}),
    check=survives_stream_loss,
    outlives=frozenset({"cuts", "disconnects"}),
    needs_end=True,
)


def survives_expiry(trial: Trial) -> Iterator[Said]:
    """List again after 410 and continue.

    Put to the test: a watch or a list of the controller was answered 410, and it listed that resource again (or, with WatchList,
    was given its whole state). A finding needs an end that is not the references', after a time that suffices for any client, and
    one of these:

    1. direct evidence: it never listed that resource again, and did not see what was committed there before the release;
    2. nothing else was done to it in the whole trial, no other requirement explains the end, and no state in between was skipped
       (or `tolerates-coalescing` may be the better name for what went wrong).
    """
    _, settled = trial.ending
    expired = expirations(trial, settled)
    if not expired:
        yield NotExercised("no watch or list of the controller was answered 410")
        return
    last = {resource: index for index, resource in expired}
    unlisted = [each for each, index in last.items() if not is_shown(trial, each, ("list", "watch"), since=index, until=settled)]
    acts, missed, proof = [expired[0][0], expired[-1][0]], _missed(trial, unlisted), ""
    if missed is not None:
        acts += [last[missed.commit.resource], missed.index]
        proof = f"it never listed {missed.commit.resource} again after 410 Expired, and {happened(missed.commit)}"
    skipped = [event.commit for event in pending_events(trial).skipped(before=settled) if event.commit.resource in last]
    doubt = f"it was never shown a state of {short_name(skipped[0])} in between (tolerates-coalescing)" if skipped else ""
    needless = f"it did not list {', '.join(unlisted)} again after 410, and there was nothing there that it needed"
    untested = needless if len(unlisted) == len(last) else ""
    yield Suspicion(tuple(acts), f"after 410 Expired, and a list of {expired[-1][1]}", proof=proof, doubt=doubt, untested=untested)


SURVIVES_EXPIRY = Requirement(
    slug="survives-expiry",
    must="The controller MUST list again after 410 Expired, take what is not in the list for gone, and continue.",
    level="core",
    source="API concepts, 410 Gone responses",
    faults=("Expire", "Coalesce", "Hold"),
    remedy="treat 410 (as an answer and as an ERROR event) as an order to list again, replace the cache by that list, "
    "and wake the owners of what is not in it",
    kind="end",
    wrong="another end than without faults",
    effects=frozenset({"expires"}),
    check=survives_expiry,
    outlives=frozenset({"expires"}),
    needs_end=True,
)


def needs_no_bookmarks(trial: Trial) -> Iterator[Said]:
    """Work without any bookmark, and never take one for an object.

    Put to the test: bookmarks of the controller's watches were dropped, or more were added. Three things are findings:

    1. it waited for a bookmark: with nothing but bookmarks kept from it, it was at rest for longer than it ever pauses without
       faults, and the state was not the references'; then bookmarks came, nothing else that was new to it, and with one of them it
       went on;
    2. it took bookmarks for objects: while it was at rest, each bookmark that came was soon followed by a write before anything
       else happened, at least twice; nothing was written at rest without one; and no reference shows the like;
    3. an end that is not the references', when nothing was done to it but to its bookmarks.

    The bookmark that ends the initial events is another matter: no fault may drop it.
    """
    _, settled = trial.ending
    dropped = [i for i, entry in trial.every(Dropped, until=settled) if entry.type == "BOOKMARK" and entry.fault is not None]
    added = [i for i, entry in trial.every(Delivered, until=settled) if entry.type == "BOOKMARK" and entry.fault is not None]
    if not dropped and not added:
        yield NotExercised("no bookmark was dropped, and none was added")
        return
    # When it does nothing for so long, it does nothing more of its own accord.
    rest = max([REST_SECONDS, *(IDLE_FACTOR * pause for pause in usual_pauses(trial))])
    findings = [*_waited(trial, rest), *_taken(trial, rest)]
    yield from findings
    if not findings:
        first = min([*dropped, *added])
        yield Suspicion((first,), "with bookmarks dropped" if first in dropped else "with a bookmark behind every event")


def _waited(trial: Trial, rest: float) -> Iterator[Finding]:
    drops_only = all("drops-bookmarks" in fault.effects for fault in trial.fired.values())
    if not trial.spans or not drops_only:
        return
    opened, closed = min(span.opened for span in trial.spans.values()), max(map(trial.closing, trial.spans))
    if any(trial.every(StepBegan, since=closed)):
        return  # it had more to do by then
    went_on = went_on_with_bookmark(trial, closed)
    if went_on is None or trial.at(closed) - went_on[0].at < rest:
        return
    last, bookmark, write = went_on
    missing = certain_difference(trial, closed)
    if missing:
        because = (
            f"with everything shown to it but bookmarks it came to rest, and went on only when one came: until then, {missing}"
        )
        yield Finding(because, (opened, last.index, closed, bookmark.index, write.index), basis="pace")


def _taken(trial: Trial, rest: float) -> Iterator[Finding]:
    pairs = list(unheard_of(trial, lambda run: bookmark_writes(run, rest), lambda _: "written"))
    if len(pairs) >= _OFTEN:
        witnesses = tuple(index for pair in pairs[:3] for index in pair)
        because = f"it wrote after each of the {len(pairs)} bookmarks that came while it was at rest, and at no other time of rest"
        yield Finding(because, witnesses)


NEEDS_NO_BOOKMARKS = Requirement(
    slug="needs-no-bookmarks",
    must="The controller MUST work without any bookmark, and never take one for an object.",
    level="core",
    source="API concepts, Watch bookmarks",
    faults=("DropBookmarks", "AddBookmarks"),
    remedy="use a bookmark only to remember a newer resourceVersion; never wait for one, and never reconcile because of one",
    kind="end",
    wrong="another end than without faults, or a write for each bookmark",
    effects=frozenset({"drops-bookmarks", "adds-bookmarks"}),
    check=needs_no_bookmarks,
    outlives=frozenset({"drops-bookmarks", "adds-bookmarks"}),
    needs_end=True,
)


def converges_after_catch_up(trial: Trial) -> Iterator[Said]:
    """Reach the state of the references within the deadline after the release.

    A differential check of the state at the end of the settling phase. The deadline itself was the runner's: it waited until then.
    A state that is right at the end of the settling or at the end of the trial is right: what is written in between is for
    `settles`.

    A difference proves nothing where nothing was done to the controller: then it differs by itself.

    A controller that works in every fault-free run and writes nothing here has stopped working; that is no reason to acquit it.
    """
    released, settled = trial.ending
    fired = trial.first(FaultFired)
    if fired is None and converged(trial):
        yield NotExercised("no fault touched the controller, so there was nothing to catch up with")
        return
    silent = ", it had not written anything, and in every fault-free run it did" if trial.idle else ""
    charge = f"{trial.at(settled) - trial.at(released):.1f} s after it could catch up{silent}"
    if fired is None:
        yield Suspicion((), charge, doubt="no fault had touched the controller")
    else:
        yield Suspicion((fired,), charge, proof=charge)


CONVERGES_AFTER_CATCH_UP = Requirement(
    slug="converges-after-catch-up",
    must="The controller MUST reach, within the deadline after it has caught up, the state that it reaches without faults.",
    level="core",
    source="API concepts, Efficient detection of changes; KEP-5647, Risks",
    faults=(*LATE, *STREAMS, "Expire", "Coalesce", "Reject", "Compete", "LoseAnswer", *RESTARTS, "Pause"),
    remedy="reconcile from the whole observed state, and make sure that catching up (by events or by a list) wakes the controller",
    kind="end",
    wrong="another end than without faults",
    effects=EFFECTS,
    check=converges_after_catch_up,
    outlives=EFFECTS,
    needs_end=True,
)


def cleans_up(trial: Trial) -> Iterator[Said]:
    """Finish a deletion under staleness: finalizers removed, owned things gone, nothing leaked.

    A differential check of what is left when something of the workload has been deleted, at the end of the settling phase and still
    at the end of the trial:

    1. *unfinished*: a deleted object of the workload is still there, held by its finalizers;
    2. *orphaned*: children of an incarnation that is gone, or going, are left over, and no garbage collector would take them (they
       have another owner that lives, or a finalizer);
    3. *leaked*: objects without an owner in the trial are left over that the controller had made and that it deleted in every
       reference.

    Each counts only beyond what any reference left (`leftovers`). Where the references do not agree how much is left, a leftover
    proves nothing. What is unfinished counts whatever else the user's steps came to: that may be why.
    """
    _, settled = trial.ending
    every = (each for each in object_history(trial).objects.values() if f"{each.resource}/{each.name}" in trial.applied)
    deletions = [each.deleted for each in every if each.deleted is not None and not each.owner_uid]
    fired, found = next((index for index, _ in trial.every(FaultFired, until=settled)), None), leftovers(trial)
    if not deletions:
        yield NotExercised("nothing of the workload was deleted")
    elif fired is None:
        yield NotExercised("no fault touched the controller, so there was nothing that could disturb the deletion")
    elif unneeded(trial) or (trial.idle and not found):
        yield NotExercised(unneeded(trial) or trial.idle)
    elif found and all(left.unstable for left in found):
        yield Inconclusive(f"{found[0].names} {found[0].are} left over, but the references do not agree how much is left")
    elif found:
        yield from (found_left(trial, left, fired) for left in found if not left.unstable)
    elif not any(_is_disturbed(trial, index) for index in deletions):
        yield NotExercised("nothing was done to the controller during or after the deletion")


def _is_disturbed(trial: Trial, deleted: int) -> bool:
    """Whether a fault that fired was open at or after the deletion, or the controller was started again after it."""
    _, settled = trial.ending
    spans = [trial.spans.get(fault, Span(Position(0))) for fault in trial.fired]
    started = any(deleted < start < settled for start in trial.starts)
    return started or any(each.lasted(deleted, settled) for each in spans)


CLEANS_UP = Requirement(
    slug="cleans-up",
    must="The controller MUST finish deletions also when its view is old: finalizers removed, owned objects gone, nothing leaked.",
    level="core",
    source="Kubernetes documentation, Finalizers; kubernetes/kubernetes#59848",
    faults=(*LATE, "Coalesce", *STREAMS, *RESTARTS),
    remedy="before a finalizer is removed, list what is owned live (a cache may not show the youngest children yet); "
    "set owner references where you can, so that the garbage collector finds what is left",
    kind="end",
    wrong="something left over that no fault-free run left",
    check=cleans_up,
    needs_end=True,
)
