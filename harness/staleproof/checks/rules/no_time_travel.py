"""no-time-travel: not undo, on an older view of a primary, what has been done for a newer one.

A finding needs all of this, for a delete:

1. it left fewer live children than any reference kept through that step, and was one more than any of them had made (`but_for`);
2. at that moment this life knew an older state of the primary (`primary_view`) than the one on which the controller itself, in an
   earlier life, had created or changed live children or the one it deleted; a state that wants the same is not older;
3. the primary was not being deleted: then its children may go, whatever is known of it.

For an update: it returned content (not metadata, not status) to an earlier value, which no reference did, and the value that it
overwrote was newer than its view: written by the controller for a state of the primary that this life does not know, or, in the
primary itself, by somebody else and not shown yet.

What belongs to a primary follows from owner references, or from ties that the references had (`belongings`).

Known limit: a roll-out back that creates before it deletes is not seen here.
"""

from collections.abc import Iterator, Mapping

from staleproof.checks.but_for import unheard_of
from staleproof.checks.deeds.reverts import Revert, own_reverts, reverts
from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.primary_view import primary_view
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name, short_name, told_apart
from staleproof.checks.ignorance import acted_on_more
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.checks.view.life import view
from staleproof.core.history.entry import Released, Settled, StepEnded
from staleproof.core.history.history import Request


def check(trial: Trial) -> Iterator[Said]:
    for back in _unheard_reverts(trial).values():
        yield from _judge_update(trial, back)
    if not _was_tempted(trial):
        yield NotExercised("the controller was never shown less of a primary than what had been done for it")


def _unheard_reverts(trial: Trial) -> Mapping[int, Revert]:
    """By the position of the request, in order: the first path that it returned, and that nobody returns in any reference."""
    found: dict[int, Revert] = {}
    for back in unheard_of(trial, own_reverts, lambda back: back.field, usual=reverts):
        found.setdefault(back.asked, back)
    return dict(sorted(found.items()))


def _judge_update(trial: Trial, back: Revert) -> Iterator[Finding]:
    shown, asked, uid, committed = primary_view(trial), back.asked, back.child.uid, back.content.commit.index
    written = shown.wrote_on(uid, back.overwritten.commit.entry.revision, before=asked)
    name = full_name(back.child.first.entry)
    newer, older = told_apart(back.overwritten.value(back.path), back.value)
    returned = f"the controller set {back.path} of {name} back from {newer} to {older}"
    if written is None and back.child.resource in trial.primaries:
        yield from _overwritten(trial, back, returned)
    primary = primary_of(trial, uid)
    if primary is None or not shown.is_behind(uid, before=asked) or (written or 0) <= shown.known(primary.uid, before=asked):
        return
    because = f"{returned} on an older view of {short_name(primary.first.entry)}"
    witnesses = context(trial, [shown.answer_to(uid, before=asked)], asked, committed)
    yield Finding(because, witnesses, acted_on_more(trial, primary, [back.child], asked))


def _overwritten(trial: Trial, back: Revert, returned: str) -> Iterator[Finding]:
    """The primary's own content: somebody had changed it, unseen."""
    asked, change = back.asked, back.overwritten.commit
    known = primary_view(trial).known(back.child.uid, before=asked)
    if 0 < known < change.entry.revision and change.index < asked:
        though = f"though it had been shown it only up to resourceVersion {known}, and {change.entry.revision} had changed that"
        yield Finding(returned, context(trial, [change.index], asked, back.content.commit.index), though)


def _was_tempted(trial: Trial) -> bool:
    """Whether it knew of something that had been done for a newer state of a primary than it knew, or wrote to such a primary."""
    moments = [*(request.index for request in trial.work), *trial.positions(StepEnded, Released, Settled)]
    primaries = primary_view(trial)
    is_lured = any(view(trial, at).of(child.uid).is_known for at in moments for child in primaries.ahead(before=at))
    return is_lured or any(_overwrites(trial, request) for request in trial.work)


def _overwrites(trial: Trial, request: Request) -> bool:
    """Whether it writes to a primary whose newer state it does not know."""
    asked, index = request.asked, request.index
    if asked.resource not in trial.primaries or asked.subresource or asked.verb not in ("update", "patch"):
        return False
    named = object_history(trial).named(asked.resource, asked.name)
    return any(primary_view(trial).has_newer(each.uid, before=index) for each in named if not each.is_gone(before=index))


REQUIREMENT = Requirement(
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
    check=check,
)
