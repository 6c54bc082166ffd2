"""What comes of a trial's plan without some of its faults: do the others alone keep the controller from the references' end?"""

from collections.abc import Collection

from staleproof.checks.ends.convergence import ends_right
from staleproof.checks.facts.usability import trouble
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import FaultIndex
from staleproof.core.plan import but_for

ABLATIONS = 2
"""So many runs must end alike before they count."""


def ablated_ends(trial: Trial, left_out: Collection[FaultIndex]) -> list[bool]:
    """Of each run of the plan without these faults that counts: whether it ended as the references did.

    A run counts when nothing disturbed it, it came to its end, and all other faults that fired in the trial fired in it, too.
    """
    plan = but_for.ablated(trial.plan, left_out)
    if plan is None:
        return []
    other_faults = [fault for number, fault in trial.fired.items() if number not in left_out]
    sound = (run for run in trial.ablated if run.plan.faults == plan.faults and run.settled is not None and not trouble(run))
    return [ends_right(run, trial) for run in sound if all(fault in run.fired.values() for fault in other_faults)]
