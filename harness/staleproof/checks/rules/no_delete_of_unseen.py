"""no-delete-of-unseen: not delete an incarnation never shown, nor a child of a live owner incarnation never shown.

Needs no reference: the uid that was committed as deleted was not among those that this life of the controller had been shown or
told. "Never shown" is not enough, because a controller may rightly delete by name what it does not watch. So a finding also needs
evidence that its view was old: news of the incarnation had been withheld, or the controller had been shown an earlier incarnation
of that name and not its end.

Not judged: a deletecollection, which names no object; a delete whose precondition names this very incarnation, since whoever sends
it has learnt of it somehow; an incarnation that the controller made itself by a create whose answer was lost. Of the owner of what
it names in a precondition it may have learnt nothing all the same: such a delete is judged if no reference made it
(`undone`), as when a controller sweeps up what it takes for orphans.
"""

from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.own_work import own_work
from staleproof.checks.facts.undone import undone
from staleproof.checks.story.phrases import full_name, owner_name, short_name
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import Asked, Delivered, Entry, Listed, Started, Withheld

SLUG = "no-delete-of-unseen"


def check(evidence: Evidence) -> Verdict:
    own = {child.deleter.index: child for child in evidence.population.children.values() if child.deleter}
    look = _Look(evidence)
    findings: list[Finding] = []
    for index, entry in enumerate(evidence.history.entries):
        if index in own and len(findings) < MOST_FINDINGS:
            findings += look.judge(own[index], index)
        look.advance(entry)
    if findings:
        return failed(SLUG, findings)
    if not look.tempted:
        return not_exercised(SLUG, "the controller never deleted by a name that another's object had taken unseen")
    return passed(SLUG)


def _is_blind(child: Child) -> bool:
    """Deleted by name, without naming the incarnation."""
    asked = child.deleter.asked if child.deleter else None
    return asked is not None and asked.verb == "delete" and asked.precondition_uid != child.uid and not asked.precondition_revision


class _Look:
    """What the controller had been shown, and what was kept from it. `tempted`: it asked to delete by a name taken unseen."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._frontier = Frontier()
        self._withheld: set[str] = set()
        self._hidden: set[str] = set()
        self._undone = undone(evidence, own_work(evidence)) if evidence.references else {}
        self.tempted = False
        self._by_name: dict[tuple[str, str], list[Child]] = {}
        for child in evidence.population.children.values():
            self._by_name.setdefault((child.named.resource, child.named.name), []).append(child)

    def advance(self, entry: Entry) -> None:
        self._frontier.advance(entry)
        match entry:
            case Started():
                self._withheld.clear()
                self._hidden.clear()
            case Withheld() if entry.uid and entry.uid not in self._frontier.known:
                self._withheld.add(entry.uid)
                self._hidden.add(entry.uid)
            case Delivered():
                self._hidden.discard(entry.uid)
            case Listed():
                self._hidden.difference_update(item.uid for item in entry.items)
            case Asked(verb="delete") if not entry.subresource and entry.namespace == self._evidence.history.header.namespace:
                self.tempted = self.tempted or self._takes_hidden(entry)

    def _takes_hidden(self, asked: Asked) -> bool:
        """Whether the name stands for an incarnation, or for a child of one, that is another's and hidden."""
        named = self._by_name.get((asked.resource, asked.name), ())
        return any(uid in self._hidden and self._is_foreign(uid) for child in named for uid in (child.uid, child.owner_uid))

    def _is_foreign(self, uid: str) -> bool:
        child = self._evidence.population.children.get(uid)
        return child is not None and child.creator is None

    def judge(self, child: Child, asked: int) -> list[Finding]:
        commit, committed = self._evidence.commit_of(child.uid), child.deleted or asked
        if _is_blind(child) and self._is_unseen(child):
            because = (
                f"the controller deleted {full_name(commit)} (uid {child.uid[:8]}), an incarnation that it had never been shown"
            )
            though = f"though it had not been shown that incarnation (resourceVersion {child.create_revision})"
            return [Finding(SLUG, because, context(self._evidence, [child.created], asked, committed), though)]
        owner = self._evidence.population.children.get(child.owner_uid) if _is_blind(child) or asked in self._undone else None
        if owner is not None and self._is_unseen(owner) and (owner.deleted is None or owner.deleted > asked):
            label = owner_name(child.role.owner)
            because = f"the controller deleted {full_name(commit)}, a child of {label}, an incarnation that it had never been shown"
            though = f"though it had not been shown its owner, {short_name(self._evidence.commit_of(owner.uid))} of "
            though += f"resourceVersion {owner.create_revision}"
            return [Finding(SLUG, because, context(self._evidence, [owner.created, child.created], asked, committed), though)]
        return []

    def _is_unseen(self, child: Child) -> bool:
        """Never shown or told, although the controller's view of that resource was old."""
        if child.uid in self._frontier.known or (child.creator is not None and not child.creator.succeeded):
            return False
        namespace = self._evidence.history.header.namespace
        return child.uid in self._withheld or bool(self._frontier.present(child.named.resource, namespace, child.named.name))
