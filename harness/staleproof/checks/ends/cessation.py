"""Did the controller stop working altogether? Its process died, or it lives and does nothing any more.

Only what no fault-free run shows counts, and only when a fault had touched it. A controller that does nothing about new primaries
(`Probed`) may still be connecting, or waiting to be elected: then nothing is known. However long it waits before it tries other
objects again, it has no reason to let a new one wait.
"""

from dataclasses import dataclass

from staleproof.checks.ends.convergence import converged
from staleproof.checks.ends.exits import code_of, deaths, last_words
from staleproof.checks.facts.recovery_budget import awaits_election, reconnecting
from staleproof.checks.facts.usability import disturbance, interruption, reference_trouble
from staleproof.checks.trial import Trial, fact
from staleproof.checks.verdict import Basis
from staleproof.core.history.entry import Exited, FaultFired, Probed, Started
from staleproof.core.history.history import Position

_CRASH_LOOP = 3


@dataclass(frozen=True, slots=True)
class Cessation:
    """That the controller stopped, in words; `basis`: what that rests on; `doubt`: why it may not be to blame, in words; empty if
    it is."""

    because: str
    witnesses: tuple[int, ...]
    basis: Basis
    doubt: str = ""


@fact
def cessation(trial: Trial) -> Cessation | None:
    """How the controller stopped working; None when it did not, or nothing can be known."""
    if interruption(trial) or disturbance(trial) or reference_trouble(trial):
        return None
    if deaths(trial):
        return _death(trial, deaths(trial)[0])
    silent = [index for index, entry in trial.every(Probed) if not entry.works]
    return _silence(trial, silent[0]) if silent else None


@fact
def came_back(trial: Trial) -> bool:
    """Whether its process died, but not in a loop, and a new life came to what fault-free runs end with."""
    died = deaths(trial)
    if not 0 < len(died) < _CRASH_LOOP:
        return False
    return any(True for _ in trial.every(Started, since=died[-1])) and converged(trial)


def _death(trial: Trial, exited: Position) -> Cessation:
    entry = trial.entries[exited]
    assert isinstance(entry, Exited)
    times = len(deaths(trial))
    often = f" {times} times" if times > 1 else ""
    loop = ", a crash loop" if times >= _CRASH_LOOP else ""
    said = f": {last_words(entry)}" if last_words(entry) else ""
    because = f"its process exited by itself{often} ({code_of(entry)}){loop}, and without faults it never does{said}"
    fired = [index for index, _ in trial.every(FaultFired, until=exited)]
    doubt = "" if fired else "no fault had touched the controller"
    return Cessation(because, (*fired[-1:], exited), "write", doubt)


def _silence(trial: Trial, probed: Position) -> Cessation:
    entry = trial.entries[probed]
    assert isinstance(entry, Probed)
    new = f"it did nothing about a new object within {entry.waited:.0f} s, as it does without faults"
    if trial.idle:
        because = f"it never wrote anything, and when all was over {new}"
    else:
        because = f"it stopped working: when all was over {new}"
    fired = trial.first(FaultFired)
    doubt = _may_come_back(trial, probed) if fired is not None else "no fault had touched the controller"
    witnesses = sorted(index for index in (fired, trial.released, trial.settled, probed) if index is not None)
    return Cessation(because, tuple(witnesses), "silence", doubt)


def _may_come_back(trial: Trial, probed: Position) -> str:
    """Whether it may be on its way back to work, in words; empty when it had the time."""
    needed, since = reconnecting(trial, probed)
    waited = trial.at(probed) - trial.at(since)
    if waited < needed:
        return f"it had {waited:.1f} s to connect again, and may need {needed:.1f} s after what was done to it"
    return awaits_election(trial, probed)
