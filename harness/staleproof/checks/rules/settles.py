"""settles: stop writing once converged, also when everything is reconciled again.

After the trial has settled the controller is made to list its primaries again, without any change. Every write from then on, one
that changes nothing included, is a finding. What does not count: refused writes, leases, events and leader election, reviews and
tokens (nothing is stored), writes outside the trial's namespace, and whatever came after somebody else had changed something. Nor
does the first repetition of a write that a fault had rejected, or whose answer it had lost: whoever tries again waits before that.

Nothing is known when the controller had not been shown everything by the time it had settled: then something had changed for it.
"""

from collections.abc import Sequence

from staleproof.checks.facts.object_history import is_bookkeeping
from staleproof.checks.facts.pending_events import unshown_at
from staleproof.checks.story.phrases import plural
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, inconclusive, not_exercised, passed
from staleproof.core.entry import Answered, Committed, Delivered, Entry, Listed, Opened, Settled
from staleproof.core.history import Request, is_work, requests
from staleproof.core.request import WRITES

SLUG = "settles"


def check(evidence: Evidence) -> Verdict:
    entries = evidence.history.entries
    settled = next((i for i, entry in enumerate(entries) if isinstance(entry, Settled)), None)
    if settled is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    end = entries[settled]
    if isinstance(end, Settled) and not end.ok:
        return not_exercised(SLUG, f"it never settled ({end.why})")
    if evidence.idle:
        return not_exercised(SLUG, evidence.idle)
    if not unshown_at(entries[:settled], evidence.history.header.namespace).is_whole:
        return not_exercised(SLUG, "when it settled it had not been shown everything yet")
    disturbed = _disturbed(evidence, settled)
    late = [write for write in _late_writes(evidence, settled) if write.index < disturbed]
    if late:
        return failed(SLUG, [_finding(late, settled)])
    if disturbed < len(entries):
        entry = entries[disturbed]
        assert isinstance(entry, Committed)
        return not_exercised(SLUG, f"somebody else changed {entry.resource}/{entry.name} after the controller had settled")
    if _listed_again(evidence.primaries, entries, settled):
        return passed(SLUG)
    told = "although it was told to" if evidence.history.header.plan.settle.resync else "because the plan does not tell it to"
    return not_exercised(SLUG, f"the controller did not list its primaries again after it had settled, {told}")


def _late_writes(evidence: Evidence, settled: int) -> list[Request]:
    """The controller's writes from the settling on that count."""
    locks = {
        (e.resource, e.name) for e in evidence.history.entries if isinstance(e, Committed) and is_bookkeeping(e.resource, e.object)
    }
    found, retries = [], _retries(evidence)
    for request in requests(evidence.history.entries):
        asked = request.asked
        lock = (asked.resource, _name(request)) in locks
        mine = asked.namespace == evidence.history.header.namespace or (
            not asked.namespace and asked.resource in evidence.primaries
        )
        if request.index > settled and is_work(asked) and request.succeeded and mine and not lock and request.index not in retries:
            found.append(request)
    return found


def _retries(evidence: Evidence) -> set[int]:
    """Positions of writes that repeat one of which the controller never heard that it was done."""
    open_ends, found = set[tuple[str, str, str, str]](), set[int]()
    for request in requests(evidence.history.entries):
        asked, answer = request.asked, request.answer
        target = (asked.verb, asked.resource, asked.name, asked.subresource)
        if target in open_ends:
            open_ends.remove(target)
            found.add(request.index)
        if answer is None or (answer.fault is not None and not request.succeeded):
            open_ends.add(target)
    return found


def _disturbed(evidence: Evidence, settled: int) -> int:
    """Where somebody else changed something after the settling; the end of the history if nobody did."""
    entries = evidence.history.entries
    writes = [r for r in requests(entries) if r.asked.verb in WRITES and isinstance(r.answer, Answered)]
    # A write that changes nothing is answered with the revision of somebody else's earlier change: that came before it was asked.
    own = {(r.answer.uid, r.answer.revision): r.index for r in reversed(writes) if isinstance(r.answer, Answered)}
    deleted = {r.answer.uid for r in writes if r.asked.verb == "delete" and isinstance(r.answer, Answered)}
    for index in range(settled + 1, len(entries)):
        entry = entries[index]
        if not isinstance(entry, Committed) or entry.namespace != evidence.history.header.namespace:
            continue
        mine = own.get((entry.uid, entry.revision), index) < index or entry.uid in deleted
        if not mine and not is_bookkeeping(entry.resource, entry.object):
            return index
    return len(entries)


def _finding(late: Sequence[Request], settled: int) -> Finding:
    first = late[0]
    because = (
        f"{plural(len(late), 'write')} after it had settled and nothing had changed, "
        f"the first: {first.asked.verb} {first.asked.resource}/{_name(first)}"
    )
    return Finding(SLUG, because, (settled, *(request.index for request in late[:3])), "though nothing had changed")


def _name(request: Request) -> str:
    return request.asked.name or (request.answer.name if isinstance(request.answer, Answered) else "")


def _listed_again(primaries: frozenset[str], entries: Sequence[Entry], settled: int) -> bool:
    streams = {entry.stream: entry.resource for entry in entries if isinstance(entry, Opened)}
    return any(
        (isinstance(entry, Listed) and entry.resource in primaries)
        or (isinstance(entry, Delivered) and entry.initial_end and streams.get(entry.stream) in primaries)
        for entry in entries[settled:]
    )
