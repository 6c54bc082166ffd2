"""converges-after-catch-up: reach the state of the references within the deadline after the release.

A differential check of the state at the end of the settling phase. The deadline itself was the runner's: it waited until then. A
state that is right at the end of the settling or at the end of the trial is right: what is written in between is for `settles`.

A difference proves nothing where nothing was done to the controller: then it differs by itself.

A controller that works in every fault-free run and writes nothing here has stopped working; that is no reason to acquit it.
"""

from collections.abc import Iterator

from staleproof.checks.ends.convergence import converged
from staleproof.checks.requirement import LATE, RESTARTS, STREAMS, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said, Suspicion
from staleproof.core.fault.effects import EFFECTS
from staleproof.core.history.entry import FaultFired


def check(trial: Trial) -> Iterator[Said]:
    released, settled = trial.ending
    fired = trial.first(FaultFired)
    if fired is None and converged(trial):
        yield NotExercised("no fault touched the controller, so there was nothing to catch up with")
        return
    silent = ", it had not written anything, and in every fault-free run it did" if trial.idle else ""
    charge = f"{trial.at(settled) - trial.at(released):.1f} s after it could catch up{silent}"
    if fired is None:
        yield Suspicion((), charge, doubt="no fault had touched the controller")
    else:
        yield Suspicion((fired,), charge, proof=charge)


REQUIREMENT = Requirement(
    slug="converges-after-catch-up",
    must="The controller MUST reach, within the deadline after it has caught up, the state that it reaches without faults.",
    level="core",
    source="API concepts, Efficient detection of changes; KEP-5647, Risks",
    faults=(*LATE, *STREAMS, "Expire", "Coalesce", "Reject", "Compete", "LoseAnswer", *RESTARTS, "Pause"),
    remedy="reconcile from the whole observed state, and make sure that catching up (by events or by a list) wakes the controller",
    kind="end",
    wrong="another end than without faults",
    effects=EFFECTS,
    check=check,
    outlives=EFFECTS,
    needs_end=True,
)
