"""converges-after-catch-up: reach the state of the references within the deadline after the release.

A differential check of the state at the end of the settling phase. The deadline itself was the runner's: it waited until then. A
state that is right at the end of the settling or at the end of the trial is right: what is written in between is for `settles`.

A difference proves nothing, and is inconclusive, where the references do not agree with each other, where the user's steps came to
something else than in them, and where the runner's deadline was shorter than what any client may need after what was done to it.
"""

from staleproof.checks.facts.baseline import final_objects
from staleproof.checks.facts.liveness import other_workload, too_soon
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, inconclusive, not_exercised, passed
from staleproof.core.entry import FaultFired, Released, Settled

SLUG = "converges-after-catch-up"


def check(evidence: Evidence) -> Verdict:
    entries, namespace = evidence.history.entries, evidence.history.header.namespace
    released = next((i for i, entry in enumerate(entries) if isinstance(entry, Released)), None)
    settled = next((i for i, entry in enumerate(entries) if isinstance(entry, Settled)), None)
    fired = [i for i, entry in enumerate(entries) if isinstance(entry, FaultFired)]
    if released is None or settled is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    if not fired:
        return not_exercised(SLUG, "no fault touched the controller, so there was nothing to catch up with")
    if evidence.idle:
        return not_exercised(SLUG, evidence.idle)
    baseline = evidence.baseline
    differences = list(baseline.differences(final_objects(evidence.history, until=settled), namespace))
    if not differences or not baseline.difference(final_objects(evidence.history), namespace):
        return passed(SLUG)
    certain = [difference for difference in differences if not difference.unstable]
    if not certain:
        return inconclusive(SLUG, f"the references do not agree: {differences[0].text}")
    doubt = other_workload(evidence) or too_soon(evidence, settled)
    if doubt:
        return inconclusive(SLUG, f"it did not converge ({certain[0].text}), but {doubt}")
    waited = entries[settled].at - entries[released].at
    because = f"{waited:.1f} s after it could catch up: {certain[0].text}"
    return failed(SLUG, [Finding(SLUG, because, tuple(sorted((fired[0], released, settled))))])
