"""Whether a trial, and the references beside it, can prove anything: what interrupted them, what broke, what never fired.

An interruption says nothing about the controller, so nothing is exercised. What disturbs a trial leaves it open what was seen.
"""

from collections.abc import Mapping, Sequence

from staleproof.checks.ends.exits import deaths
from staleproof.checks.facts.bypasses import bypassed
from staleproof.checks.facts.fault_outcomes import fault_outcomes
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.successors import unsucceeded
from staleproof.checks.trial import Trial, fact
from staleproof.core.fault import AnyFault
from staleproof.core.history.entry import SELF_CHECK, WORKLOAD, Broke, Exited, Settled
from staleproof.core.history.history import HistoryRole, Position
from staleproof.core.history.watch_properties import unexplained
from staleproof.core.plan import but_for


@fact
def trouble(trial: Trial) -> str:
    """Why this trial proves nothing about anything, in words; empty when it may."""
    return interruption(trial) or unreliable(trial)


@fact
def interruption(trial: Trial) -> str:
    """What kept the trial from being carried out, in words: a step that could not be done, a part of the harness that failed, or
    that its end was not recorded. Empty when it was carried out."""
    broke = next((entry for _, entry in trial.every(Broke) if entry.where != SELF_CHECK), None)
    if broke is not None:
        return in_words(broke)
    return "" if trial.history.complete else "the trial was not recorded to its end"


@fact
def undone(trial: Trial) -> int:
    """The number of the first step that could not be done; 0: all could."""
    broke = next((index for index, entry in trial.every(Broke) if entry.where == WORKLOAD), None)
    return sum(step.began < broke for step in trial.steps) if broke is not None else 0


@fact
def disturbance(trial: Trial) -> str:
    """Why nothing that the trial shows can be relied on, though it was carried out, in words: the controller changed something past
    the proxy, or was shown what no API server shows. Empty when it can."""
    own = next((in_words(entry) for _, entry in trial.every(Broke) if entry.where == SELF_CHECK), "")
    return own or bypassed(trial) or _unlike_a_watch(trial)


@fact
def unreliable(trial: Trial) -> str:
    """Why a trial that was carried out can prove nothing, in words; empty when it can."""
    return disturbance(trial) or _died(trial, deaths(trial))


@fact
def unfired(trial: Trial) -> str:
    """The planned faults that did nothing and would have mattered, in words, with the reason of each; empty when there is none."""
    every = enumerate(fault_outcomes(trial.history))
    silent = [
        str(fault) for number, fault in every if fault.outcome != "fired" and not is_superfluous(trial, trial.plan.faults[number])
    ]
    return f"planned faults never fired: {'; '.join(silent)}" if silent else ""


def is_superfluous(trial: Trial, fault: AnyFault) -> bool:
    """Whether a fault is only there to hold a state, and that state came about, by it or without it."""
    wanted = fault.holds
    if wanted is None:
        return False
    began = next((step.began for step in trial.steps if step.number == wanted.at_step), None)
    ours = (each for each in object_history(trial).objects.values() if f"{each.resource}/{each.name}" in trial.applied)
    return began is not None and any(each.resource == fault.resource and each.is_terminating(before=began) for each in ours)


@fact
def reference_trouble(trial: Trial) -> str:
    """Why the references cannot be compared with, in words; empty when they can."""
    if len(trial.calm) < 2:
        return f"it needs at least 2 fault-free references of the same workload, found {len(trial.calm)}"
    troubles = (_unusable(reference, trial) for reference in trial.references)
    return next((f"reference {n} {trouble}" for n, trouble in enumerate(troubles, 1) if trouble), "")


def in_words(broke: Broke) -> str:
    """What failed, and why."""
    if broke.where == WORKLOAD:
        return f"a step of the workload could not be done: {broke.why}"
    return f"the harness broke ({broke.where}): {broke.why}"


def _died(trial: Trial, exits: Sequence[Position]) -> str:
    """That it exited where it should not have, in words; empty when it did not."""
    first = next((entry for index, entry in trial.every(Exited) if index in exits), None)
    return f"the controller exited with code {first.code} during the trial" if first is not None else ""


def _unlike_a_watch(trial: Trial) -> str:
    """Whether the controller was shown what no API server shows, though the plan did not ask for it."""
    found = unexplained(trial.history)
    if not found:
        return ""
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"the self-check failed, which is a bug of staleproof, not of the controller: {found[0]}{more}"


_WANTED: Mapping[HistoryRole, str] = {
    "reference": "a fault-free run of the same workload",
    "paced": "a fault-free run of the same workload",
    "woken": "a run of the same plan with the faults' harmless twins",
    "final": "a fault-free run of the workload's last state",
    "slept": "a fault-free run of the workload as it looks where a fault kept something back",
    "ablated": "a run of the same plan without some of its faults",
    "trial": "a fault-free run of the same workload",
}


def _is_of(reference: Trial, trial: Trial) -> bool:
    """Whether it was run to be compared with this trial."""
    plan = reference.plan
    if reference.role == "final":
        wanted = but_for.final_only(trial.plan)
        return wanted is not None and not plan.faults and len(plan.steps) == len(wanted.steps)
    if reference.role == "slept":
        asleep = but_for.slept(trial.plan, trial.history.header.primaries)
        return not plan.faults and len(plan.steps) in {len(each.steps) for each in asleep}
    if plan.reference.steps != trial.plan.reference.steps:
        return False
    wanted = but_for.woken(trial.plan) if reference.role == "woken" else None
    return plan.faults == (wanted.faults if wanted is not None else ())


def ended_well(reference: Trial) -> bool:
    """Whether nothing disturbed a fault-free run, and it settled."""
    settled = [entry for _, entry in reference.every(Settled)]
    return not trouble(reference) and not reference.positions(Exited) and bool(settled) and settled[-1].ok


def _unusable(reference: Trial, trial: Trial) -> str:
    """What is wrong with a reference, as the end of a sentence."""
    broke = next((entry for _, entry in reference.every(Broke)), None)
    interrupted = in_words(broke) if broke is not None else _died(reference, reference.positions(Exited))
    if interrupted:
        return f"proves nothing: {interrupted}"
    if not _is_of(reference, trial):
        return f"is not {_WANTED[reference.role]}"
    settled = [entry for _, entry in reference.every(Settled)]
    if not reference.history.complete or not settled:
        return "was not recorded to its end"
    flaw = bypassed(reference) or _unlike_a_watch(reference)
    if flaw:
        return f"proves nothing: {flaw}"
    if not settled[-1].ok:
        return f"did not settle although there was no fault ({settled[-1].why or 'no reason given'})"
    return unsucceeded(reference)
