"""What became of each fault that the plan asked for: it fired, never fired, or was refused because it would have been hostile.

A fault that did nothing proves nothing, so the reason is kept: for the verdicts, for the reports, for people. Also whether any of
them is hostile, or only documented: then what is found proves nothing about conformance.
"""

from dataclasses import dataclass, replace
from typing import Literal

from staleproof.core.fault.legality import ROWS
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import FaultFired, FaultIndex, FaultMissed, FaultRefused
from staleproof.core.history.history import History
from staleproof.core.plan.plan import Plan

FaultState = Literal["fired", "refused", "not fired"]


@dataclass(frozen=True, slots=True)
class FaultOutcome:
    """One fault of the plan, and what came of it.

    Attributes:
        name: its name in plans, and `resource` what it was about.
        at: when it first did something, or was first refused, in seconds since the trial began; None if it never came to that.
        on: what it did something to, or would have.
        program: the further program of the subject that it happened to; empty: it happened to the controller itself.
        row: the row of the legality table that forbade it; empty when none did.
        why: the reason, unless it fired. Empty in histories from before reasons were kept.
    """

    name: str
    resource: str
    outcome: FaultState
    at: float | None = None
    on: str = ""
    row: str = ""
    why: str = ""
    program: str = ""

    def __str__(self) -> str:
        """As the end of a sentence about it: `Hold of pods: no event of pods came while it was open`."""
        what = f"{self.name} of {self.resource}{f' ({self.program})' if self.program else ''}"
        if self.outcome == "fired":
            return f"{what}: fired on {self.on}"
        if self.outcome == "not fired":
            return f"{what}: {self.why}" if self.why else what
        row = f"legality row {self.row} ({ROWS[self.row].disturbance}): " if self.row in ROWS else ""
        return f"{what}: refused on {self.on}, {row}{self.why}"


def fault_outcomes(history: History) -> tuple[FaultOutcome, ...]:
    """One for each fault of the plan, in its order. What fired has fired, whatever was refused besides."""
    every = [entry for entry in history.entries if isinstance(entry, FaultFired | FaultRefused | FaultMissed)]
    by_fault = grouped((entry.fault, entry) for entry in every)
    decisive = {fault: max(entries, key=lambda entry: _WEIGHT[type(entry)]) for fault, entries in by_fault.items()}
    faults = history.header.plan.faults
    return tuple(
        replace(_outcome(fault.tag, fault.resource, decisive.get(FaultIndex(index))), program=fault.program)
        for index, fault in enumerate(faults)
    )


def hostility(plan: Plan) -> str:
    """What no API server does in this plan, in words; empty when it keeps to what they do."""
    misfits = [(fault.tag, misfit) for fault in plan.faults for misfit in fault.misfits() if misfit.row]
    if names := dict.fromkeys(tag for tag, misfit in misfits if misfit.is_hostile):
        return f"hostile faults ({', '.join(names)})"
    if plan.contract == "hostile":
        return "a hostile plan"
    rows = dict.fromkeys(ROWS[misfit.row].disturbance for _, misfit in misfits)
    return f"what is only documented ({', '.join(rows)})" if rows else ""


_WEIGHT: dict[type, int] = {FaultMissed: 0, FaultRefused: 1, FaultFired: 2}


def _outcome(name: str, resource: str, entry: FaultFired | FaultRefused | FaultMissed | None) -> FaultOutcome:
    match entry:
        case FaultFired(at=at, on=on):
            return FaultOutcome(name, resource, "fired", at, on)
        case FaultRefused(at=at, on=on, row=row, why=why):
            return FaultOutcome(name, resource, "refused", at, on, row, why)
        case FaultMissed(why=why):
            return FaultOutcome(name, resource, "not fired", why=why)
    return FaultOutcome(name, resource, "not fired")
