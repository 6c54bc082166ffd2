"""Did the controller reach the references' state, and may it have had too little time for that?

Several requirements are decided by the same end state and differ in what was done: the stream was lost, history expired, states
were skipped. A state that is right at the end of the settling or at the end of the trial is right. One that is not proves nothing
when the controller had too little time, or when its circumstances differed from the references'.
"""

from staleproof.checks.facts.baseline import Difference, baseline, final_objects
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.recovery_budget import awaits_election, budget
from staleproof.checks.trial import Trial, fact
from staleproof.core.step import sets_aside


def differences(trial: Trial, until: int, *, of: Trial | None = None) -> list[Difference]:
    """How the state before a position, of the trial or of another run of its workload, differs from the references' end."""
    run = of or trial
    return list(baseline(trial).differences(final_objects(run, until=until), run.namespace))


def certain_difference(trial: Trial, until: int) -> str:
    """The first difference that proves something, in words; empty for none."""
    return next((found.text for found in differences(trial, until) if not found.unstable), "")


@fact
def converged(trial: Trial) -> bool:
    """Whether it was right at the end of the settling phase, or at the end of all."""
    return ends_right(trial, trial)


def ends_right(run: Trial, trial: Trial) -> bool:
    """Whether a run of the trial's workload was right at the end of its settling phase, or at the end of all."""
    settled = run.settled
    if settled is None or run.released is None:
        return False
    return not (differences(trial, settled, of=run) and differences(trial, len(run.entries), of=run))


@fact
def unneeded(trial: Trial) -> str:
    """Why the controller's silence shows nothing, in words: it never wrote, and did not in every fault-free run either. Empty when
    it wrote, or falls silent only here."""
    works = bool(trial.references) and not any(reference.idle for reference in trial.references)
    return "" if works else trial.idle


@fact
def other_circumstances(trial: Trial) -> str:
    """Why it may rightly end otherwise than the references, in words; empty when it may not.

    The user's steps came to something else, or a child was `set_aside`. A primary that is applied again while it is still
    terminating is never created again, because the apply changes the dying one.
    """
    for primary in trial.history.header.primaries:
        times, usual = _creations(trial, primary), [_creations(reference, primary) for reference in trial.alike]
        if times not in usual:
            return f"the workload created {primary} {times} times and {max(usual, default=0)} times in fault-free runs"
    return set_aside(trial)


@fact
def set_aside(trial: Trial) -> str:
    """Whether a life of the controller need not know of a child that an earlier one made, in words.

    Somebody took its labels or its owner. The life that made it may wait for it, as the EndpointSlice controller does
    (`util/endpointslice_tracker.go` of `k8s.io/endpointslice`); a later one, which lists by label or owner, rightly makes another.
    """
    is_so = bool(trial.starts[1:]) and sets_aside(trial.plan.steps)
    return "somebody set one of its children aside, which a life that began later need not know of" if is_so else ""


def _creations(trial: Trial, primary: str) -> int:
    """How often somebody else created it."""
    resource, _, name = primary.rpartition("/")
    return sum(not each.creator for each in object_history(trial).named(resource, name))


@fact
def too_soon(trial: Trial) -> str:
    """Whether it may not have had the time to get there by the end of the settling phase, in words; empty when it had."""
    settled = trial.settled
    if settled is None:
        return "the trial has no settling phase"
    given = budget(trial, settled)
    waited = trial.at(settled) - trial.at(given.since)
    if waited < given.seconds:
        return f"it had {waited:.1f} s to catch up, and may need {given.seconds:.1f} s after what was done to it"
    return given.unknown or awaits_election(trial, settled)
