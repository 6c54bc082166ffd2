"""tolerates-coalescing: be level-triggered: the same end although states in between were never seen.

Put to the test: the controller's streams ended or were behind, and when it caught up states of an object had been skipped: an
object had come and gone, been replaced, or changed more than once (`unshown`). A finding needs an end that is not the references'
(what is left over counts as well), after a time that any client can do with, when nothing was done to the controller but what
makes states go by unseen, and no other requirement explains the end.

Not judged here: what a new life did not see of the time before it. That is for `survives-restart`.
"""

from staleproof.checks.facts.liveness import Suspicion, ending_of, verdict_on
from staleproof.checks.facts.pending_events import Change, unshown_at
from staleproof.checks.facts.recovery_budget import EXPIRED, LOST, ended_streams
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Verdict, inconclusive, not_exercised
from staleproof.core.fault import AnyFault, Coalesce, Expire, HoldStream, Refuse, SeverStream

SLUG = "tolerates-coalescing"


def check(evidence: Evidence) -> Verdict:
    ending = ending_of(evidence)
    if ending is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    unshown = unshown_at(evidence.history.entries[: ending[1]], evidence.history.header.namespace)
    ended = {resource: index for index, resource in ended_streams(evidence, (*LOST, *EXPIRED), ending[1])}
    skipped = [change for change in unshown.skipped if change.commit.resource in ended]
    if not skipped:
        return not_exercised(SLUG, "the controller was shown every state of every object that it follows")
    acts = (ended[skipped[0].commit.resource], *(change.index for change in skipped[:3]))
    charge = f"it was never shown that {_words(skipped)}, only what came of it"
    return verdict_on(SLUG, evidence, Suspicion(acts, _is_ours, charge))


def _is_ours(fault: AnyFault) -> bool:
    match fault:
        case HoldStream(release=release):
            return release in ("relist", "resume")
    return isinstance(fault, Coalesce | Expire | SeverStream | Refuse)


def _words(skipped: list[Change]) -> str:
    told = list(dict.fromkeys(change.words for change in skipped))
    return " and ".join(told[:2])
