"""no-excess-delete: not delete more because own deletes have not been seen yet.

A finding needs both: fewer live children of a role than any reference had once its peak was reached, and a delete that was asked
for while an own earlier delete of that role was unseen.
"""

from staleproof.checks.evidence import Evidence
from staleproof.checks.population import Child
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.checks.witnesses import context
from staleproof.core.frontier import Frontier

SLUG = "no-excess-delete"


def check(evidence: Evidence) -> Verdict:
    findings = [finding for child in _surplus(evidence) if (finding := _judge(child, evidence)) is not None]
    if findings:
        return failed(SLUG, findings)
    own = frozenset(uid for uid, child in evidence.population.children.items() if child.deleter is not None)
    hidden = [
        index for index, entry in evidence.withheld(own) if entry.type != "ADDED" and _is_deletion(index, entry.uid, evidence)
    ]
    if not any(evidence.poked_after(index) for index in hidden):
        return not_exercised(SLUG, "the controller was never made to look again while an own delete was hidden from it")
    return passed(SLUG)


def _is_deletion(index: int, uid: str, evidence: Evidence) -> bool:
    """Whether this withheld frame could have told the controller of its own delete."""
    deleter = evidence.population.children[uid].deleter
    return deleter is not None and index > deleter.index


def _surplus(evidence: Evidence) -> list[Child]:
    """What the controller deleted below the fewest that any reference had after its peak."""
    made, found = evidence.population, []
    for child in sorted(made.children.values(), key=lambda child: child.deleted or 0):
        if (
            child.deleter is None
            or child.deleted is None
            or not any(p.counts.get(child.role) for p in evidence.reference_populations)
        ):
            continue
        if made.live_after(child.role, child.deleted) < evidence.fewest(child.role):
            found.append(child)
    return found


def _judge(child: Child, evidence: Evidence) -> Finding | None:
    deleter, deleted = child.deleter, child.deleted
    if deleter is None or deleted is None:
        return None
    frontier = Frontier()
    for entry in evidence.history.entries[: deleter.index]:
        frontier.advance(entry)
    unseen = [other for other in evidence.population.children.values() if _is_unseen_delete(other, child, deleter.index, frontier)]
    if not unseen:
        return None
    live, fewest = evidence.population.live_after(child.role, deleted), evidence.fewest(child.role)
    commit = evidence.commit_of(child.uid)
    owner = f" of {child.role.owner}" if child.role.owner else ""
    because = (
        f"deleting {child.role.resource}/{commit.namespace}/{commit.name} left {live} live{owner}; "
        f"fault-free runs never went below {fewest}"
    )
    before = [other.deleter.answer_index for other in unseen if other.deleter and other.deleter.answer_index is not None]
    return Finding(SLUG, because, context(evidence, before, deleter.index, deleted))


def _is_unseen_delete(other: Child, child: Child, asked: int, frontier: Frontier) -> bool:
    return (
        other is not child
        and other.role == child.role
        and other.deleter is not None
        and other.delete_revision is not None
        and (other.deleter.answer_index or asked) < asked
        and not frontier.has_seen(other.uid, other.delete_revision)
    )
