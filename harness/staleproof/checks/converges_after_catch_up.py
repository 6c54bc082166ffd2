"""converges-after-catch-up: reach the state of the references within the deadline after the release.

A differential check of the end state. The deadline itself was the runner's: it waited until then.
"""

from staleproof.checks.end_state import final_objects
from staleproof.checks.evidence import Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import FaultFired, Released, Settled

SLUG = "converges-after-catch-up"


def check(evidence: Evidence) -> Verdict:
    entries = evidence.history.entries
    released = next((i for i, entry in enumerate(entries) if isinstance(entry, Released)), None)
    settled = next((i for i, entry in enumerate(entries) if isinstance(entry, Settled)), None)
    fired = [i for i, entry in enumerate(entries) if isinstance(entry, FaultFired)]
    if released is None or settled is None or not fired:
        return not_exercised(SLUG, "no fault touched the controller, so there was nothing to catch up with")
    difference = evidence.baseline.difference(final_objects(evidence.history), evidence.history.header.namespace)
    if not difference:
        return passed(SLUG)
    entry = entries[settled]
    waited = entry.at - entries[released].at
    return failed(SLUG, [Finding(SLUG, f"{waited:.1f} s after it could catch up: {difference}", (fired[0], released, settled))])
