"""no-time-travel: not undo, on an older view of a primary, what has been done for a newer one.

A finding needs all of this, for a delete:

1. it left fewer live children than any reference kept through that step, and was one more than any of them had made (`undone`);
2. at that moment this life knew an older state of the primary than the one on which live children, or the one it deleted, had been
   created or changed by the controller itself, in an earlier life (`views`); an older state that wants the same is not older;
3. the primary was not being deleted: then its children may go, whatever is known of it.

For an update: it returned content (not metadata, not status) to an earlier value, which no reference did, and the value that it
overwrote was newer than its view: written by the controller for a state of the primary that this life does not know, or, in the
primary itself, by somebody else and not shown yet.

Known limits: a roll-out back that creates before it deletes is not seen here; nor is what hangs on no primary by controller owners.
"""

from collections.abc import Iterator

from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.own_work import own_work
from staleproof.checks.facts.primary_view import Views
from staleproof.checks.facts.reverts import WrittenBack, written_back
from staleproof.checks.facts.undone import Undone, undone
from staleproof.checks.story.phrases import full_name, short_name
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import Asked, Entry, Released, Settled, StepEnded
from staleproof.core.history import is_work

SLUG = "no-time-travel"
_TOLD = 3


def check(evidence: Evidence) -> Verdict:
    work, look = own_work(evidence), _Look(evidence)
    deletes, updates = undone(evidence, work), written_back(evidence)
    findings: list[Finding] = []
    for index, entry in enumerate(evidence.history.entries):
        if index in deletes:
            findings += look.judge_delete(deletes[index])
        if index in updates:
            findings += look.judge_update(updates[index])
        look.advance(index, entry)
    if findings:
        return failed(SLUG, findings[:MOST_FINDINGS])
    if not look.tempted:
        return not_exercised(SLUG, "the controller was never shown less of a primary than what had been done for it")
    return passed(SLUG)


class _Look:
    """`tempted`: it had the chance to undo something on an older view."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._children = evidence.population.children
        self._views = Views(evidence)
        self.tempted = False

    def advance(self, index: int, entry: Entry) -> None:
        match entry:
            case Asked() if is_work(entry):
                self.tempted = self.tempted or self._is_lure(index) or self._overwrites(entry, index)
            case StepEnded() | Released() | Settled():
                self.tempted = self.tempted or self._is_lure(index)
        self._views.advance(index, entry)

    def _is_lure(self, index: int) -> bool:
        """Whether it knows of something that was done for a newer state of a primary than it knows."""
        known = self._views.frontier.known
        return any(self._is_behind(child, index) for uid in self._views.acted_on if (child := self._children[uid]).uid in known)

    def _is_behind(self, child: Child, index: int) -> bool:
        primary = self._views.primary_of(child.uid)
        if primary is None or _is_gone(child, index) or _is_gone(primary, index):
            return False
        return self._views.is_behind(child.uid, primary)

    def _overwrites(self, asked: Asked, index: int) -> bool:
        """Whether it writes to a primary whose newer state it does not know."""
        if asked.resource not in self._evidence.primaries or asked.subresource or asked.verb not in ("update", "patch"):
            return False
        named = [c for c in self._children.values() if (c.named.resource, c.named.name) == (asked.resource, asked.name)]
        return any(self._views.has_newer(child.uid) for child in named if not _is_gone(child, index))

    def judge_delete(self, delete: Undone) -> Iterator[Finding]:
        evidence, views, asked = self._evidence, self._views, delete.request.index
        primary = views.primary_of(delete.child.uid)
        if primary is None or _is_gone(primary, asked):
            return
        group = [child for uid in views.acted_on if views.primary_of(uid) is primary and (child := self._children[uid])]
        newer = [child for child in group if not _is_gone(child, asked) and views.is_behind(child.uid, primary)]
        if not newer:
            return
        name = short_name(evidence.commit_of(primary.uid))
        because = f"the controller deleted {delete.name(evidence)} on an older view of {name}: {delete.left(evidence)}"
        answered = [views.answers[child.uid] for child in newer[:_TOLD] if child.uid in views.answers]
        yield Finding(SLUG, because, context(evidence, answered, asked, delete.deleted), self._though(primary, newer))

    def _though(self, primary: Child, newer: list[Child]) -> str:
        name = short_name(self._evidence.commit_of(primary.uid))
        acted, known = max(self._views.acted_on[child.uid] for child in newer), self._views.known(primary.uid)
        shown = f"only up to resourceVersion {known}" if known else "not at all"
        return f"though it had been shown {name} {shown} since it started, and had acted on {acted}"

    def judge_update(self, back: WrittenBack) -> Iterator[Finding]:
        if back.child.named.resource in self._evidence.primaries:
            yield from self._overwritten(back)
        primary = self._views.primary_of(back.child.uid)
        if primary is None or _is_gone(primary, back.request.index) or not self._views.is_behind(back.child.uid, primary):
            return
        if not self._was_written_for_newer(back, primary):
            return
        evidence, name = self._evidence, short_name(self._evidence.commit_of(primary.uid))
        because = f"{self._returned(back)} on an older view of {name}"
        witnesses = context(evidence, [self._views.answers[back.child.uid]], back.request.index, back.commit.index)
        yield Finding(SLUG, because, witnesses, self._though(primary, [back.child]))

    def _was_written_for_newer(self, back: WrittenBack, primary: Child) -> bool:
        """Whether the controller itself had written the value that is gone, on a state that it does not know now."""
        acted = self._views.wrote.get((back.child.uid, back.overwritten.revision), 0)
        return acted > self._views.known(primary.uid)

    def _overwritten(self, back: WrittenBack) -> Iterator[Finding]:
        """The primary's own content: somebody had changed it, unseen."""
        views, uid, revision = self._views, back.child.uid, back.overwritten.revision
        is_own = (uid, revision) in views.wrote
        if is_own or not 0 < views.known(uid) < revision or back.overwritten.index > back.request.index:
            return
        though = f"though it had been shown it only up to resourceVersion {views.known(uid)}, and {revision} had changed that"
        witnesses = context(self._evidence, [back.overwritten.index], back.request.index, back.commit.index)
        yield Finding(SLUG, self._returned(back), witnesses, though)

    def _returned(self, back: WrittenBack) -> str:
        was, now = back.overwritten.value(back.path), back.value
        return f"the controller set {back.path} of {full_name(self._evidence.commit_of(back.child.uid))} back from {was} to {now}"


def _is_gone(child: Child, index: int) -> bool:
    return child.deleted is not None and child.deleted < index
