"""Requirements about what the controller writes to objects that are there: content set back, changes of others taken away, updates
that could not but be refused, writes to what is not its own.

`deeds` says what it wrote, `but_for` what of that no fault-free run does.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from staleproof.checks.but_for import in_alike, in_references, most_often, unheard_of
from staleproof.checks.deeds.children import end_of_step, step_at
from staleproof.checks.deeds.conflicts import Conflict, conflicts, hidden_updates, refused_updates
from staleproof.checks.deeds.foreign_writes import foreign_writes
from staleproof.checks.deeds.overwrites import (
    Overwrite,
    blind_puts,
    changes_by_others,
    knows_change,
    left_to_others,
    overwrites,
    rewritten,
)
from staleproof.checks.deeds.reverts import Revert, own_reverts, reverts, turns
from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.primary_view import acted_on_more, primary_view
from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import contrasted, full_name, short_name, span
from staleproof.checks.requirement import HIDDEN, LATE, RESTARTS, SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.checks.view.life import view
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Competed, FaultFired, Released, Settled, StepEnded
from staleproof.core.history.history import Request
from staleproof.core.wording import part_of, plural


def no_time_travel(trial: Trial) -> Iterator[Said]:
    """Not undo, on an older view of a primary, what has been done for a newer one.

    A finding needs all of this, for a delete:

    1. it left fewer live children than any reference kept through that step, and was one more than any of them had made;
    2. at that moment this life knew an older state of the primary (`primary_view`) than the one on which the controller itself, in
       an earlier life, had created or changed live children or the one it deleted; a state that wants the same is not older;
    3. the primary was not being deleted: then its children may go, whatever is known of it.

    For an update: it returned content (not metadata, not status) to an earlier value, which no reference did as often by the end of
    that step, and the value that it overwrote was newer than its view: written by the controller for a state of the primary that
    this life does not know, or, in the primary itself, by another user and not shown yet.

    What belongs to a primary follows from owner references, or from ties that the references had (`belongings`).

    Known limit: a roll-out back that creates before it deletes is not seen here.
    """
    first: dict[int, Revert] = {}
    for back in own_reverts(trial):
        if not any(in_references(trial, partial(_goes_back, trial, back, step_at(trial, back.request_index)))):
            first.setdefault(back.request_index, back)
    for _, back in sorted(first.items()):
        yield from _set_back(trial, back)
    if not _was_tempted(trial):
        yield NotExercised("the controller was never shown less of a primary than what had been done for it")


def _goes_back(trial: Trial, back: Revert, step: int, run: Trial) -> bool:
    """Whether a run set that field back by the end of a step, too: from that value to that one, as often as it was by then; or at
    all, where it never had one of these, as a value may name what there is in one run only."""
    known, until = turns(run).get(back.field, ()), end_of_step(run, step)
    had = {value for turn in known for value in (turn.before, turn.after)}
    if not {back.turn.before, back.turn.after} <= had:
        return any(each.field == back.field and each.request_index < until for each in reverts(run))
    change = back.turn.change
    times = sum(turn.change == change for turn in turns(trial).get(back.field, ()) if turn.at <= back.request_index)
    return times <= sum(turn.change == change and turn.at < until for turn in known)


def _set_back(trial: Trial, back: Revert) -> Iterator[Finding]:
    shown, index, uid, committed = primary_view(trial), back.request_index, back.child.uid, back.content.commit.index
    written = shown.wrote_on(uid, back.overwritten.commit.entry.revision, before=index)
    name = full_name(back.child.first.entry)
    newer, older = contrasted(back.overwritten.value(back.path), back.value)
    returned = f"the controller set {back.path} of {name} back from {newer} to {older}"
    if written is None and back.child.resource in trial.primaries:
        yield from _overwritten(trial, back, returned)
    primary = primary_of(trial, uid)
    if primary is None or not shown.is_behind(uid, before=index) or (written or 0) <= shown.known(primary.uid, before=index):
        return
    because = f"{returned} on an older view of {short_name(primary.first.entry)}"
    witnesses = context(trial, [shown.answer_to(uid, before=index)], index, committed)
    yield Finding(because, witnesses, acted_on_more(trial, primary, [back.child], index))


def _overwritten(trial: Trial, back: Revert, returned: str) -> Iterator[Finding]:
    """The primary's own content: a user had changed it, unseen."""
    index, change = back.request_index, back.overwritten.commit
    known = primary_view(trial).known(back.child.uid, before=index)
    if 0 < known < change.entry.revision and change.index < index:
        though = f"though it had been shown it only up to resourceVersion {known}, and {change.entry.revision} had changed that"
        yield Finding(returned, context(trial, [change.index], index, back.content.commit.index), though)


def _was_tempted(trial: Trial) -> bool:
    """Whether it knew of something that had been done for a newer state of a primary than it knew, or wrote to such a primary."""
    moments = [*(request.index for request in trial.work), *trial.positions(StepEnded, Released, Settled)]
    primaries = primary_view(trial)
    is_lured = any(view(trial, at).of(child.uid).is_known for at in moments for child in primaries.ahead(before=at))
    return is_lured or any(_overwrites(trial, request) for request in trial.work)


def _overwrites(trial: Trial, request: Request) -> bool:
    """Whether it writes to a primary whose newer state it does not know."""
    entry, index = request.asked, request.index
    if entry.resource not in trial.primaries or entry.subresource or entry.verb not in ("update", "patch"):
        return False
    named = object_history(trial).named(entry.resource, entry.name)
    return any(primary_view(trial).has_newer(each.uid, before=index) for each in named if not each.is_gone(before=index))


NO_TIME_TRAVEL = Requirement(
    slug="no-time-travel",
    must="The controller MUST not undo, on an older view of a primary, what has been done for a newer one.",
    level="core",
    source="kubernetes/kubernetes#59848; API concepts, get and list (resourceVersion semantics)",
    faults=("PastSnapshot", "Restart", "Kill", "Hold"),
    remedy="list the primary consistently at start (resourceVersion unset), read it live before a destructive act, "
    "and write with the resourceVersion that the decision was made on",
    kind="deed",
    wrong="a delete too many, or content set back",
    reasons=("past list",),
    verbs=("delete",),
    check=no_time_travel,
)


def no_lost_update(trial: Trial) -> Iterator[Said]:
    """Not write back what another user has changed and was not shown.

    Any of these is a finding:

    1. an update or a patch by which a path of the object has again the value that it had before another user changed it, though
       that change had not been shown to the controller, not even by the answer to an own write. It makes no difference how: by PUT
       without resourceVersion, by a PATCH of the whole object, or by an apply with force;
    2. a PUT of the whole object that was carried out though another user had written to it after the controller sent it
       (`Competed`): so it insisted on no resourceVersion, and whatever the other one had changed is gone. A fault may change
       something without a trace (`core.plan.nudge`), and then no path shows it.

    What the controller had set itself is its own, unless every reference shows that it leaves that to others once they have changed
    it: as `replicas`, which an autoscaler has by then, and which it copies from what it knows.

    What any reference wrote back, too, shown or not, is its policy, and no staleness brought it about; so a PUT of it is none
    either. Of lists that a reference wrote back, no item is looked at.
    """
    new = unheard_of(trial, overwrites, lambda each: each.field)
    lost = [each for each in (*new, *_left(trial)) if not knows_change(trial, each.of, each.theirs, each.request)]
    enforced = frozenset[Role]().union(*in_references(trial, _enforced))
    blind = [(request, entry) for request, entry in blind_puts(trial) if _role(trial, entry) not in enforced]
    found = {request.index: _replaced(trial, request, entry) for request, entry in blind}
    found |= {loss.request.index: _written_back(trial, loss) for loss in reversed(lost)}
    yield from (found[index] for index in sorted(found))
    if not any(_is_tempted(trial, request) for request in trial.work):
        yield NotExercised("the controller never wrote to an object that another user had changed unseen")


def _left(trial: Trial) -> list[Overwrite]:
    """What it had set itself and wrote back, though every fault-free run left the like to the other user."""
    left = [left_to_others(run) for run in in_alike(trial, lambda run: run)] if rewritten(trial) else []
    return [each for each in rewritten(trial) if left and all(each.field in fields for fields in left)]


def _enforced(run: Trial) -> frozenset[Role]:
    """What the controller takes back others' changes to."""
    return frozenset(each.of.role for each in overwrites(run))


def _role(trial: Trial, entry: Competed) -> Role | None:
    of = object_history(trial).objects.get(entry.uid)
    return of.role if of is not None else None


def _replaced(trial: Trial, request: Request, entry: Competed) -> Finding:
    of = object_history(trial).objects.get(entry.uid)
    name = full_name(of.first.entry) if of is not None else f"{entry.resource}/{entry.name}"
    because = f"the controller replaced {name} whole though another user had changed it, and so took that change away"
    though = f"though it had not been shown that change (resourceVersion {entry.revision})"
    return Finding(because, context(trial, [], request.index, request.answer_index or request.index), though)


def _is_tempted(trial: Trial, request: Request) -> bool:
    """Whether it asked to update or patch an object that another user had changed by then, or just before the answer, unseen."""
    entry = request.asked
    if entry.verb not in ("update", "patch") or entry.namespace != trial.namespace:
        return False
    until = request.answer_index or request.index
    named = object_history(trial).named(entry.resource, entry.name)
    changes = ((of, changes_by_others(trial).before(until, of.uid)) for of in named)
    return any(change is not None and not knows_change(trial, of, change, request) for of, change in changes)


def _written_back(trial: Trial, loss: Overwrite) -> Finding:
    name, revision = full_name(loss.of.first.entry), loss.theirs.entry.revision
    because = f"the controller wrote back {loss.path} of {name}, which another user had changed"
    though = f"though it had not been shown that change (resourceVersion {revision})"
    return Finding(because, context(trial, [loss.theirs.index], loss.request.index, loss.ours.index), though)


NO_LOST_UPDATE = Requirement(
    slug="no-lost-update",
    must="The controller MUST not write back what another user has changed and it has not been shown.",
    level="core",
    source="API conventions, Concurrency Control and Consistency; API concepts, Resource versions",
    faults=("Compete", *HIDDEN),
    remedy="send the resourceVersion that the decision was made on with every PUT, patch only what is yours, and apply by force "
    "only fields that you own",
    kind="deed",
    wrong="another's change written back",
    reasons=("hidden",),
    check=no_lost_update,
)


def no_blind_retry(trial: Trial) -> Iterator[Said]:
    """Not repeat an own committed write only because it has not been seen: a conflict with oneself.

    What counts is an update refused with 409 Conflict although only the controller had changed the object since the version
    that it had been shown, and although each of those own writes had been answered before. Only how many there are beyond all
    conflicts of any reference is reported: several controllers in one program conflict without any fault.

    This is a cost and not a failure, so it is provisional: optimistic concurrency makes it harmless, and a controller that keeps no
    record of its writes, tries, and comes back later is a correct one. Left out for honesty: AlreadyExists, by which deterministic
    names live; patches, whose conflict may be about the ownership of fields; own writes of which it never heard the end; objects
    that another user wrote to about then.
    """
    found = grouped((conflict.where, conflict) for conflict in conflicts(trial))
    most = most_often(trial, refused_updates, lambda where: where)
    yield from (_conflicted(trial, each, most[where]) for where, each in found.items() if len(each) > most[where])
    if not hidden_updates(trial):
        yield NotExercised("the controller was never made to look again while an own update was hidden from it")


def _conflicted(trial: Trial, found: Sequence[Conflict], usual: int) -> Finding:
    last = found[-1]
    entry = last.request.asked
    part = part_of(entry.subresource)
    because = (
        f"{plural(len(found), 'update')} of {part}{full_name(last.target.last.entry)} {'was' if len(found) == 1 else 'were'} "
        "refused with 409 Conflict because of the controller's own writes; "
        f"fault-free runs had {f'at most {usual}' if usual else 'none'}"
    )
    though = f"though it had not been shown its own writes {span([commit.entry.revision for commit in last.unseen])}"
    answered = [commit.heard.answer_index for commit in last.unseen if commit.heard]
    return Finding(because, context(trial, answered, last.request.index, last.request.answer_index or 0), though)


NO_BLIND_RETRY = Requirement(
    slug="no-blind-retry",
    must="The controller MUST not repeat its own committed write only because it has not been shown it.",
    level="provisional",
    source=f"KEP-5647; {SEED}, section Expectations pattern",
    faults=HIDDEN,
    remedy="keep the resourceVersion of the last own write and skip the object until the cache has reached it; "
    "a conflict costs a request and is harmless otherwise, so this is a cost and not a failure",
    severity="transient",
    kind="deed",
    wrong="an update refused because of own writes",
    reasons=("hidden",),
    check=no_blind_retry,
)


def no_cross_object_writes(trial: Trial) -> Iterator[Said]:
    """Touch only objects that it owns or is asked to manage.

    A finding needs a write that changed something, after a fault had fired, on an object that is none of these:

    1. of the workload, or owned by it at whatever depth, before or after the write (adopting and releasing is managing); owners
       that are gone by then are owners;
    2. one that a competing write of a fault had made;
    3. mentioned by name in an object of the workload, or in one that it owns: then the controller was asked to manage it;
    4. like one that a reference wrote to: of the same resource, and owned by no object of the workload either;
    5. an object of which only the status was written: a report, as one that serves several kinds makes of each.

    It is provisional: what a controller may touch is known from two runs only, and it may have good reasons that show under a
    fault.
    """
    fired = trial.first(FaultFired)
    if trial.idle:
        yield NotExercised(trial.idle)
        return
    if fired is None:
        yield NotExercised("no fault touched the controller, so it had no reason to do anything unusual")
        return
    reported: set[str] = set()
    for request, each in unheard_of(trial, foreign_writes, lambda write: write[1].resource):
        if request.index > fired and each.uid not in reported:
            reported.add(each.uid)
            yield _foreign(trial, request, each)


def _foreign(trial: Trial, request: Request, each: Incarnation) -> Finding:
    is_made = each.creator is not None and each.creator.index == request.index
    verb = "deleted" if request.asked.verb.startswith("delete") else "created" if is_made else "wrote to"
    name = full_name(each.first.entry)
    because = f"the controller {verb} {name}, which the workload neither owns nor mentions; no fault-free run did"
    later = (commit.index for commit in each.commits if commit.index > request.index and not is_made)
    return Finding(because, context(trial, [], request.index, next(later, request.index)), "which is not its own")


NO_CROSS_OBJECT_WRITES = Requirement(
    slug="no-cross-object-writes",
    must="The controller MUST touch only objects that it owns or is asked to manage.",
    level="provisional",
    source="Kubernetes documentation, Owners and Dependents; Controllers",
    faults=(*LATE, *RESTARTS),
    remedy="check the controller owner reference, by uid, before every write to a child",
    kind="deed",
    wrong="a write to what is neither owned nor mentioned",
    check=no_cross_object_writes,
)
