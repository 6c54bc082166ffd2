"""no-duplicate-create: not create another child for work already done but not yet seen done.

A burst of creates inside one reconciliation is fine although none has been seen yet. So a finding needs both: more live children of
a role than any reference ever had, and a create that was asked for while an own, live, earlier create of that role was unseen.
"""

from staleproof.checks.evidence import Evidence
from staleproof.checks.population import Child
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.checks.witnesses import context
from staleproof.core.frontier import Frontier

SLUG = "no-duplicate-create"


def check(evidence: Evidence) -> Verdict:
    findings = [finding for child in _surplus(evidence) if (finding := _judge(child, evidence)) is not None]
    if findings:
        return failed(SLUG, findings)
    hidden = evidence.withheld(evidence.own_creates)
    if not any(evidence.poked_after(index) for index, _ in hidden):
        return not_exercised(SLUG, "the controller was never made to look again while an own create was hidden from it")
    return passed(SLUG)


def _surplus(evidence: Evidence) -> list[Child]:
    """The controller's creates that made more live children than any reference had."""
    made = evidence.population
    return [
        child
        for child in sorted(made.children.values(), key=lambda child: child.created)
        if child.creator is not None and made.live_after(child.role, child.created) > evidence.most(child.role)
    ]


def _judge(child: Child, evidence: Evidence) -> Finding | None:
    creator = child.creator
    if creator is None:
        return None
    unseen = _unseen_creates(child, creator.index, evidence)
    if not unseen:
        return None
    live, most = evidence.population.live_after(child.role, child.created), evidence.most(child.role)
    commit = evidence.commit_of(child.uid)
    name = f"{child.role.resource}/{commit.namespace}/{commit.name}"
    owner = f" of {child.role.owner}" if child.role.owner else ""
    because = f"{name} is live child number {live}{owner}; fault-free runs never had more than {most}"
    asked_before = [other.creator.answer_index for other in unseen if other.creator and other.creator.answer_index is not None]
    return Finding(SLUG, because, context(evidence, asked_before, creator.index, child.created))


def _unseen_creates(child: Child, asked: int, evidence: Evidence) -> list[Child]:
    """Own live children of the same role that had been answered for, and not been shown, when this one was asked for."""
    frontier = Frontier()
    for entry in evidence.history.entries[:asked]:
        frontier.advance(entry)
    return [
        other
        for other in evidence.population.children.values()
        if other is not child
        and other.role == child.role
        and other.creator is not None
        and (other.creator.answer_index or asked) < asked
        and not (other.deleted is not None and other.deleted < asked)
        and not frontier.has_seen(other.uid, 0)
    ]
