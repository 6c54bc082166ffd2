"""survives-stream-loss: resume after EOF, reset, refused connection, hang.

Put to the test: a fault ended a watch (other than by 410), and something of that resource was to be seen afterwards. A finding
needs an end that is not the references', after a time that any client can do with, and one of these:

1. direct evidence: the controller did not see what was committed before the release, because it does not watch that resource any
   more, or watches from behind it (a deletion that happened in the gap, and that its new stream did not tell);
2. nothing else was done to it in the whole trial, and no other requirement explains the end.

A stream that is not opened again harms nobody as long as nothing happens there: that is neither passed nor failed.
"""

from staleproof.checks.facts.liveness import Suspicion, converged, ending_of, verdict_on
from staleproof.checks.facts.pending_events import Change, Unshown, unshown_at
from staleproof.checks.facts.recovery_budget import EXPIRED, LOST, ended_streams
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Verdict, inconclusive, not_exercised
from staleproof.core.entry import Closed, Delivered, Listed, Opened, Started
from staleproof.core.fault import AnyFault, Hang, HoldStream, Refuse, SeverStream, SlowStart

SLUG = "survives-stream-loss"


def check(evidence: Evidence) -> Verdict:
    ending = ending_of(evidence)
    if ending is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    lost = [(index, resource) for index, resource in ended_streams(evidence, LOST, ending[1]) if _by_fault(evidence, index)]
    if not lost:
        return not_exercised(SLUG, "no watch of the controller was cut by a fault")
    missed = _missed(evidence, ending)
    seen = any(_shown_after(evidence, resource, index, ending[1]) for index, resource in lost)
    if converged(evidence) and (missed or not seen):
        names = ", ".join(dict.fromkeys(resource for _, resource in lost))
        return not_exercised(SLUG, f"after the loss of its watch of {names} there was nothing that it needed to see there")
    acts = [lost[0][0], lost[-1][0], *(index for index, resource in lost if resource in {c.commit.resource for c in missed[:1]})]
    acts += [change.index for change in missed[:1]]
    charge = f"after its watch of {lost[-1][1]} was lost"
    proof = _proof(evidence, missed[0], ending[1]) if missed else ""
    return verdict_on(SLUG, evidence, Suspicion(tuple(acts), _is_ours, charge, proof))


def _is_ours(fault: AnyFault) -> bool:
    match fault:
        case HoldStream(release=release):
            return release == "resume"
        case SlowStart(then=then):
            return then == "closes"
    return isinstance(fault, SeverStream | Refuse | Hang)


def _by_fault(evidence: Evidence, index: int) -> bool:
    entry = evidence.history.entries[index]
    return isinstance(entry, Closed) and entry.fault is not None


def _shown_after(evidence: Evidence, resource: str, index: int, until: int) -> bool:
    """Whether anything of the resource was shown to this life of the controller, events or a list."""
    streams = {entry.stream: entry.resource for entry in evidence.history.entries if isinstance(entry, Opened)}
    for entry in evidence.history.entries[index + 1 : until]:
        match entry:
            case Started():
                return False
            case Delivered() if (entry.uid or entry.initial_end) and streams.get(entry.stream) == resource:
                return True
            case Listed() if entry.resource == resource:
                return True
    return False


def _missed(evidence: Evidence, ending: tuple[int, int]) -> list[Change]:
    """What the controller will never see, and why: the last that ended its watch there was a loss."""
    released, settled = ending
    unshown: Unshown = unshown_at(evidence.history.entries[:settled], evidence.history.header.namespace)
    last = {resource: index for index, resource in ended_streams(evidence, (*LOST, *EXPIRED), settled)}
    cut = {index for index, _ in ended_streams(evidence, LOST, settled) if _by_fault(evidence, index)}
    return [change for change in unshown.missed() if change.index < released and last.get(change.commit.resource) in cut]


def _proof(evidence: Evidence, missed: Change, settled: int) -> str:
    resource = missed.commit.resource
    last = max(index for index, ended in ended_streams(evidence, LOST, settled) if ended == resource)
    again = any(isinstance(entry, Opened) and entry.resource == resource for entry in evidence.history.entries[last:settled])
    if not again:
        return f"it never watched {resource} again after that watch was lost, and {missed.words}"
    return f"it watched {resource} again after the loss, and never saw that {missed.words}"
