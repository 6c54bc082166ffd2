"""no-excess-delete: not delete more because own deletes have not been seen yet.

A finding needs all of this:

1. fewer live children of a role than any reference had once its peak was reached, and as many as that had been alive before (a
   controller that was kept from creating them has not deleted too many);
2. the delete was decided on while own deletes of that resource and owner, from earlier decisions, were unseen (`own_writes`);
   whatever their names: a controller that counts its children may take its own deletes of some for a reason to delete others;
3. those unseen deletes explain it: had they not happened, as the controller must believe, it would not have been too many.

A deletecollection names no object, so it is not judged; what it deleted counts as own deletes all the same.

Known limit: what the references emptied cannot be too little; where they left nothing this is not exercised.
"""

from collections.abc import Collection

from staleproof.checks.facts.object_history import Child
from staleproof.checks.facts.own_writes import OwnWrites, group_of
from staleproof.checks.story.phrases import full_name, kind_of, listing, owner_name, plural
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed

SLUG = "no-excess-delete"


def check(evidence: Evidence) -> Verdict:
    surplus = _surplus(evidence)
    own = OwnWrites(evidence, "delete")
    findings: list[Finding] = []
    for index, entry in enumerate(evidence.history.entries):
        if index in surplus and len(findings) < MOST_FINDINGS:
            findings += _judge(surplus[index], index, own.behind(surplus[index]), evidence)
        own.advance(index, entry)
    if findings:
        return failed(SLUG, findings)
    left = {group_of(role, "delete") for role in evidence.roles if evidence.fewest(role)}
    if not own.looked & left:
        return not_exercised(SLUG, "the controller was never made to look again while an own delete was hidden from it")
    return passed(SLUG)


def _surplus(evidence: Evidence) -> dict[int, Child]:
    """By the position of the request: what the controller deleted below the fewest that any reference had after its peak."""
    made, found = evidence.population, {}
    for child in made.children.values():
        if child.deleter is None or child.deleted is None or child.deleter.asked.verb != "delete":
            continue
        fewest = evidence.fewest(child.role)
        if made.live_after(child.role, child.deleted) < fewest <= made.peak_until(child.role, child.deleted):
            found[child.deleter.index] = child
    return found


def _judge(child: Child, asked: int, unseen: Collection[Child], evidence: Evidence) -> list[Finding]:
    deleted = child.deleted
    assert deleted is not None
    live, fewest = evidence.population.live_after(child.role, deleted), evidence.fewest(child.role)
    if not unseen or live + len(unseen) < fewest:
        return []
    commit = evidence.commit_of(child.uid)
    owner = f" of {owner_name(child.role.owner)}" if child.role.owner else ""
    if child.role.stem == child.named.name:
        because = f"{full_name(commit)} was deleted; fault-free runs never were without it"
    else:
        left = plural(live, f"live {kind_of(commit)}")
        because = f"deleting {full_name(commit)} left {left}{owner}; fault-free runs never went below {fewest}"
    though = f"though it had not been shown its own deletes of {listing([other.named.name for other in unseen])}"
    answered = [other.deleter.answer_index for other in unseen if other.deleter and other.deleter.answer_index is not None]
    return [Finding(SLUG, because, context(evidence, answered, asked, deleted), though)]
