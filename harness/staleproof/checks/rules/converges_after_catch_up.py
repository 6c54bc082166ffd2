"""converges-after-catch-up: reach the state of the references within the deadline after the release.

A differential check of the state at the end of the settling phase. The deadline itself was the runner's: it waited until then. A
state that is right at the end of the settling or at the end of the trial is right: what is written in between is for `settles`.

A difference proves nothing, and is inconclusive, where the references do not agree with each other, where the user's steps came to
something else than in them, and where the runner's deadline was shorter than what any client may need after what was done to it.
Nor where nothing was done to the controller: then it differs by itself.

A controller that works in every fault-free run and writes nothing here has stopped working; that is no reason to acquit it.
"""

from collections.abc import Iterator

from staleproof.checks.facts.liveness import converged, differences, other_circumstances, too_soon, unneeded
from staleproof.checks.requirement import LATE, RESTARTS, STREAMS, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Said
from staleproof.core.entry import FaultFired
from staleproof.core.fault.effects import EFFECTS


def check(trial: Trial) -> Iterator[Said]:
    released, settled = trial.ending
    fired = trial.first(FaultFired)
    if fired is None and converged(trial):
        yield NotExercised("no fault touched the controller, so there was nothing to catch up with")
        return
    if unneeded(trial) or (trial.idle and converged(trial)):
        yield NotExercised(trial.idle)
        return
    if converged(trial):
        return
    found = differences(trial, settled)
    certain = next((difference.text for difference in found if not difference.unstable), "")
    doubt = other_circumstances(trial) or too_soon(trial)
    if not certain:
        yield Inconclusive(f"the references do not agree: {found[0].text}")
    elif doubt:
        yield Inconclusive(f"it did not converge ({certain}), but {doubt}")
    elif fired is None:
        yield Inconclusive(f"it did not converge ({certain}), but no fault had touched the controller")
    else:
        waited = trial.at(settled) - trial.at(released)
        silent = ", it had not written anything, and in every fault-free run it did" if trial.idle else ""
        because = f"{waited:.1f} s after it could catch up{silent}: {certain}"
        yield Finding(because, tuple(sorted((fired, released, settled))))


REQUIREMENT = Requirement(
    slug="converges-after-catch-up",
    must="The controller MUST reach, within the deadline after it has caught up, the state that it reaches without faults.",
    level="core",
    source="API concepts, Efficient detection of changes; KEP-5647, Risks",
    faults=(*LATE, *STREAMS, "Expire", "Coalesce", "Reject", "Compete", "LoseAnswer", *RESTARTS, "Pause"),
    remedy="reconcile from the whole observed state, and make sure that catching up (by events or by a list) wakes the controller",
    check=check,
    outlives=EFFECTS,
    needs_end=True,
)
