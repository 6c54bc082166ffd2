"""no-delete-of-unseen: not delete an incarnation never shown, nor a child of a live owner incarnation never shown.

Needs no reference: the uid that was committed as deleted was not among those that this life of the controller had been shown or
told. A deletecollection names no object, so it is not judged.
"""

from staleproof.checks.evidence import Evidence
from staleproof.checks.population import Child
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.checks.witnesses import context
from staleproof.core.entry import Asked, Withheld
from staleproof.core.frontier import Frontier

SLUG = "no-delete-of-unseen"


def check(evidence: Evidence) -> Verdict:
    own = {child.deleter.index: child for child in evidence.population.children.values() if _named_delete(child)}
    findings: list[Finding] = []
    frontier = Frontier()
    for index, entry in enumerate(evidence.history.entries):
        if index in own:
            findings += _judge(own[index], index, frontier, evidence)
        frontier.advance(entry)
    if findings:
        return failed(SLUG, findings)
    if not _exercised(evidence):
        return not_exercised(
            SLUG, "the controller never deleted anything while another's object of that resource was hidden from it"
        )
    return passed(SLUG)


def _named_delete(child: Child) -> bool:
    return child.deleter is not None and child.deleter.asked.verb == "delete"


def _judge(child: Child, asked: int, frontier: Frontier, evidence: Evidence) -> list[Finding]:
    commit = evidence.commit_of(child.uid)
    name = f"{child.role.resource}/{commit.namespace}/{commit.name}"
    if child.uid not in frontier.known:
        because = f"the controller deleted {name}, an incarnation (uid {child.uid[:8]}) that it had never been shown"
        return [Finding(SLUG, because, context(evidence, [child.created], asked, child.deleted or asked))]
    owner = evidence.population.children.get(child.owner_uid)
    if owner is not None and owner.uid not in frontier.known and (owner.deleted is None or owner.deleted > asked):
        because = f"the controller deleted {name}, a child of an incarnation of {child.role.owner} that it had never been shown"
        return [Finding(SLUG, because, context(evidence, [owner.created, child.created], asked, child.deleted or asked))]
    return []


def _exercised(evidence: Evidence) -> bool:
    """A delete was asked for while the creation of an object that is not the controller's own was withheld."""
    hidden: dict[str, str] = {}
    streams = {
        entry.stream: entry.resource
        for entry in evidence.history.entries
        if hasattr(entry, "resource") and hasattr(entry, "stream")
    }
    for entry in evidence.history.entries:
        match entry:
            case Withheld(type="ADDED", uid=uid) if uid not in evidence.own_creates:
                hidden[uid] = streams.get(entry.stream, "")
            case Asked(verb="delete", resource=resource) if resource in hidden.values():
                return True
    return False
