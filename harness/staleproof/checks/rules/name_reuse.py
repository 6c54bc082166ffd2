"""name-reuse: tell a recreated primary from its predecessor.

It is looked at only when the controller learnt of the recreation late (`successors`); on a healthy stream nothing could mislead it.
Any of these is a finding:

1. it deleted children of the new incarnation: fewer live ones than any reference kept, and more deletes than any made (`undone`);
2. it created a child for the old incarnation after it had been shown the new one, and had come to rest or written something about
   the new one since, which it did in no reference: not knowing better is no fault, nor is what was under way when it was shown;
3. in the end, after a time that any client can do with, the new incarnation has fewer children than any reference ended with, and
   more than any reference ended with belong to the old one. That there are such children proves nothing by itself: to collect them
   is the garbage collector's work;
4. in the end the new incarnation, though it was shown, has no children at all, and nothing was done to the controller but to hide
   the recreation from it for a while (`convergence`).

A child that is recreated under its own name is for `no-delete-of-unseen`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from staleproof.checks.facts.baseline import final_objects
from staleproof.checks.facts.liveness import Suspicion, too_soon, verdict_on
from staleproof.checks.facts.object_history import Child, Population
from staleproof.checks.facts.own_work import OwnWork, own_work
from staleproof.checks.facts.recreations import Reuse, Succession, successions
from staleproof.checks.facts.roles import controller_of
from staleproof.checks.facts.undone import Undone, undone
from staleproof.checks.story.phrases import full_name, kind_of, plural, short_name
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Outcome, Verdict, failed, inconclusive, not_exercised, passed
from staleproof.core.entry import Settled
from staleproof.core.fault import Coalesce, HoldStream
from staleproof.core.history import History

SLUG = "name-reuse"
_HIDING = (HoldStream, Coalesce)


def check(evidence: Evidence) -> Verdict:
    work = own_work(evidence)
    deletes, reuse = undone(evidence, work), Reuse(evidence.history, evidence.population)
    creates = {request.index: evidence.population.children[uid] for uid, request in work.creates.items()}
    usual = max((_confusions(reference, made) for reference, made in _references(evidence)), default=0)
    findings: list[Finding] = []
    for index, entry in enumerate(evidence.history.entries):
        if index in deletes:
            findings += _judge_delete(deletes[index], reuse, evidence)
        if index in creates and not usual:
            findings += _judge_create(creates[index], index, reuse, evidence)
        reuse.advance(index, entry)
    late = [one for one in reuse.found if one.late is not None]
    if late and not findings:
        findings += _judge_end(late[-1], work, evidence)
    if findings:
        return failed(SLUG, findings[:MOST_FINDINGS])
    return _without_findings(late, evidence)


def _without_findings(late: list[Succession], evidence: Evidence) -> Verdict:
    if not successions(evidence.history, evidence.population):
        return not_exercised(SLUG, "no primary was deleted and created again under its name")
    if not late:
        return not_exercised(SLUG, "the controller was never late to learn that a primary had been recreated")
    wanted = [_children(reference, made, Counter()) for reference, made in _references(evidence)]
    if not all(wanted):
        return not_exercised(SLUG, "in fault-free runs the recreated primary ended without children of its own")
    found = _children(evidence.history, evidence.population, Counter())
    short = [r for r in set.intersection(*map(set, wanted)) if found[r] < min(counts[r] for counts in wanted)]
    return _short(late[-1], sorted(short), found, evidence) if short else passed(SLUG)


def _short(one: Succession, short: list[str], found: Counter[str], evidence: Evidence) -> Verdict:
    """It has fewer children, and its predecessor does not have them either: did it take what it had done for that one for done?"""
    missing = f"the recreated primary ended with fewer {', '.join(short)} than in fault-free runs"
    unknown = inconclusive(SLUG, f"{missing}, and its predecessor does not have them: that may have another reason")
    if one.shown is None or one.after.deleted is not None or any(found.values()):
        return unknown
    resource, name = one.after.named.resource, short_name(evidence.commit_of(one.after.uid))
    charge = f"the controller was shown that {name} had been recreated, and did nothing for it"
    acts = tuple(_story(one, evidence))
    end = verdict_on(SLUG, evidence, Suspicion(acts, lambda fault: isinstance(fault, _HIDING) and fault.concerns(resource), charge))
    return end if end.outcome is Outcome.FAIL else unknown


def _references(evidence: Evidence) -> Iterable[tuple[History, Population]]:
    return zip(evidence.references, evidence.reference_populations, strict=True)


def _judge_delete(delete: Undone, reuse: Reuse, evidence: Evidence) -> Iterator[Finding]:
    asked = delete.request.index
    one = reuse.of(delete.child.owner_uid)
    if one is None or one.late is None or (one.after.deleted is not None and one.after.deleted < asked):
        return
    name, known = short_name(evidence.commit_of(one.after.uid)), one.after.uid in reuse.frontier.known
    because = f"the controller deleted {delete.name(evidence)}, a child of the recreated {name}: {delete.left(evidence)}"
    though = f"though it had {'' if known else 'not '}been shown that {name} had been recreated"
    yield Finding(SLUG, because, context(evidence, _story(one, evidence), asked, delete.deleted), though)


def _story(one: Succession, evidence: Evidence) -> list[int]:
    """When it was recreated, what kept the controller from seeing that, and when it saw it."""
    faults = evidence.faults_open_at(one.late) if one.late is not None else ()
    return [one.after.created, *faults, *([one.shown] if one.shown is not None else [])]


def _judge_create(child: Child, asked: int, reuse: Reuse, evidence: Evidence) -> Iterator[Finding]:
    one = reuse.after(child.owner_uid)
    if one is None or one.late is None or one.shown is None or one.rested is None:
        return
    name = short_name(evidence.commit_of(one.after.uid))
    because = f"the controller created {full_name(evidence.commit_of(child.uid))} for the {name} that had been recreated since"
    though = f"though it had been shown that {name} is another one now (uid {one.after.uid[:8]})"
    yield Finding(SLUG, because, context(evidence, _story(one, evidence), asked, child.created), though)


def _confusions(history: History, made: Population) -> int:
    """How many children a fault-free run created for the old incarnation though it knew the new one."""
    reuse, found = Reuse(history, made), 0
    creates = {child.creator.index: child for child in made.children.values() if child.creator is not None}
    for index, entry in enumerate(history.entries):
        one = reuse.after(creates[index].owner_uid) if index in creates else None
        found += one is not None and one.rested is not None
        reuse.advance(index, entry)
    return found


def _judge_end(one: Succession, work: OwnWork, evidence: Evidence) -> Iterator[Finding]:
    """At the end of the settling and at the end of the trial: what is done in between is done in time."""
    entries = evidence.history.entries
    settled = next((index for index, entry in enumerate(entries) if isinstance(entry, Settled)), None)
    if settled is None or one.after.deleted is not None or too_soon(evidence, settled):
        return
    others = [_both(reference, made) for reference, made in _references(evidence)]
    then, now = (_both(evidence.history, evidence.population, until=end) for end in (settled, None))
    for resource in sorted(then[1]):
        least, most = min(own[resource] for own, _ in others), max(strays[resource] for _, strays in others)
        if any(not (own[resource] < least and strays[resource] > most) for own, strays in (then, now)):
            continue
        name, kind = short_name(evidence.commit_of(one.after.uid)), _kind(resource, evidence)
        because = f"{plural(then[0][resource], kind)} belong to the recreated {name} and {then[1][resource]} to the one before it"
        because += f"; fault-free runs ended with {least} and {most}"
        stale = [request.index for uid, request in work.creates.items() if _is_of(uid, one.before, evidence)]
        yield Finding(SLUG, because, tuple(sorted({*_story(one, evidence), *stale[-1:], settled})))


def _is_of(uid: str, owner: Child, evidence: Evidence) -> bool:
    child = evidence.population.children[uid]
    return child.owner_uid == owner.uid and child.created > owner.created and (owner.deleted or 0) < child.created


def _kind(resource: str, evidence: Evidence) -> str:
    children = evidence.population.children.values()
    return next((kind_of(evidence.commit_of(child.uid)) for child in children if child.named.resource == resource), resource)


def _both(history: History, made: Population, *, until: int | None = None) -> tuple[Counter[str], Counter[str]]:
    """Per resource, the live children of the newest incarnations, and of those before them."""
    strays: Counter[str] = Counter()
    own = _children(history, made, strays, until=until)
    return own, strays


def _children(history: History, made: Population, strays: Counter[str], *, until: int | None = None) -> Counter[str]:
    pairs = successions(history, made)
    old = {one.before.uid for one in pairs}
    new = {one.after.uid for one in pairs} - old
    own: Counter[str] = Counter()
    for resource, obj in final_objects(history, until=until):
        owner = controller_of(obj)
        if owner is None or "deletionTimestamp" in obj["metadata"]:
            continue
        if owner["uid"] in new:
            own[resource] += 1
        elif owner["uid"] in old:
            strays[resource] += 1
    return own
