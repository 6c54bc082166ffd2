"""no-duplicate-create: not create another child for work already done but not yet seen done.

A finding needs all of this:

1. more live children of a role than any reference ever had;
2. the create was decided on while own, live creates of that role, from earlier decisions, were unseen (`own_writes`: a burst inside
   one reconciliation is one decision);
3. those unseen creates explain it: without them it would not have been too many. An excess with another reason (a roll-out in
   another order, a count the references never wanted) is not staleness.

Known limits: a duplicate below the references' peak over all steps is not seen here, nor is one whose role no reference had.
"""

from collections.abc import Collection

from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.own_writes import OwnWrites
from staleproof.checks.story.phrases import full_name, kind_of, ordinal, owner_name, span
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed

SLUG = "no-duplicate-create"


def check(evidence: Evidence) -> Verdict:
    surplus = _surplus(evidence)
    own = OwnWrites(evidence, "create")
    findings: list[Finding] = []
    for index, entry in enumerate(evidence.history.entries):
        if index in surplus and len(findings) < MOST_FINDINGS:
            findings += _judge(surplus[index], index, own.behind(surplus[index]), evidence)
        own.advance(index, entry)
    if findings:
        return failed(SLUG, findings)
    if not own.looked:
        return not_exercised(SLUG, "the controller was never made to look again while an own create was hidden from it")
    return passed(SLUG)


def _surplus(evidence: Evidence) -> dict[int, Child]:
    """By the position of the request: the controller's creates that made more live children than any reference had."""
    made = evidence.population
    return {
        child.creator.index: child
        for child in made.children.values()
        if child.creator is not None and made.live_after(child.role, child.created) > evidence.most(child.role)
    }


def _judge(child: Child, asked: int, unseen: Collection[Child], evidence: Evidence) -> list[Finding]:
    live, most = evidence.population.live_after(child.role, child.created), evidence.most(child.role)
    if not unseen or live - len(unseen) > most:
        return []
    commit = evidence.commit_of(child.uid)
    owner = f" of {owner_name(child.role.owner)}" if child.role.owner else ""
    because = (
        f"{full_name(commit)} is the {ordinal(live)} live {kind_of(commit)}{owner}; fault-free runs never had more than {most}"
    )
    though = f"though it had not been shown its own creates {span([other.create_revision for other in unseen])}"
    answered = [other.creator.answer_index for other in unseen if other.creator and other.creator.answer_index is not None]
    return [Finding(SLUG, because, context(evidence, answered, asked, child.created), though)]
