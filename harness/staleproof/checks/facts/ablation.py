"""What comes of a trial's plan without some of its faults: do the others alone keep the controller from the references' end?"""

from collections.abc import Collection

from staleproof.checks.facts.baseline import baseline, final_objects
from staleproof.checks.facts.usability import trouble
from staleproof.checks.trial import Trial
from staleproof.core import but_for
from staleproof.core.entry import FaultIndex

ABLATIONS = 2
"""So many runs must end alike before they tell."""


def ablated_ends(trial: Trial, left_out: Collection[FaultIndex]) -> list[bool]:
    """Of each run of the plan without these faults that tells: whether it ended as the references did.

    A run tells when nothing disturbed it, it came to its end, and all other faults that fired in the trial fired in it, too.
    """
    plan = but_for.ablated(trial.plan, left_out)
    if plan is None:
        return []
    others = [fault for number, fault in trial.fired.items() if number not in left_out]
    sound = (run for run in trial.ablated if run.plan.faults == plan.faults and run.settled is not None and not trouble(run))
    return [_ends_well(trial, run) for run in sound if all(fault in run.fired.values() for fault in others)]


def _ends_well(trial: Trial, run: Trial) -> bool:
    """At the end of its settling, or of all."""
    ends = (end for end in (run.settled, len(run.entries)) if end is not None)
    return any(not list(baseline(trial).differences(final_objects(run, until=end), run.namespace)) for end in ends)
