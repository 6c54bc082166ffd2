"""settles: stop writing once converged, also when everything is reconciled again.

After the trial has settled the controller is made to list its primaries again, without any change. Every write from then on, one
that changes nothing included, is a finding; refused writes, leases and events are not.
"""

from staleproof.checks.evidence import Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, inconclusive, not_exercised, passed
from staleproof.core.entry import Answered, Delivered, Listed, Settled
from staleproof.core.history import is_work, requests

SLUG = "settles"


def check(evidence: Evidence) -> Verdict:
    entries = evidence.history.entries
    settled = next((i for i, entry in enumerate(entries) if isinstance(entry, Settled)), None)
    if settled is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    end = entries[settled]
    if isinstance(end, Settled) and not end.ok:
        return not_exercised(SLUG, f"it never settled ({end.why})")
    late = [r for r in requests(entries) if r.index > settled and is_work(r.asked) and r.succeeded]
    if late:
        first = late[0]
        answer = first.answer
        what = (
            f"{first.asked.verb} {first.asked.resource}/{first.asked.name or (answer.name if isinstance(answer, Answered) else '')}"
        )
        because = f"{len(late)} writes after it had settled and nothing had changed, the first: {what}"
        return failed(SLUG, [Finding(SLUG, because, (settled, *(r.index for r in late[:3])))])
    primaries = {primary.rpartition("/")[0] for primary in evidence.history.header.primaries}
    again = any(
        (isinstance(entry, Listed) and entry.resource in primaries) or (isinstance(entry, Delivered) and entry.initial_end)
        for entry in entries[settled:]
    )
    return passed(SLUG) if again else not_exercised(SLUG, "the controller did not list its primaries again when it was told to")
