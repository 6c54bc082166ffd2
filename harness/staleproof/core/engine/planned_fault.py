"""One fault of an installed plan: how far its window has come, what it has been asked about, and whether it acted.

`FaultRef` names it for as long as anything refers to it: a request or a frame may outlast the plan whose fault decided about it.
"""

from dataclasses import dataclass, field
from typing import Literal

from staleproof.core.control import FaultState
from staleproof.core.fault import AnyFault, CallFault, Seat
from staleproof.core.fault.decision import End, Refusal
from staleproof.core.history.entry import FaultIndex
from staleproof.core.times import REFLECTOR_LONGEST_SECONDS

Phase = Literal["waiting", "armed", "open", "closed"]
"""armed: the window is open, the trigger has not come."""


@dataclass(frozen=True, slots=True)
class FaultRef:
    """A fault, by the installation of its plan and its number there. Numbers alone mean another fault once a plan is replaced."""

    plan: int
    number: FaultIndex


@dataclass(frozen=True, slots=True)
class FaultOpens:
    """The fault acts from now on.

    `ends` says how the open streams that it concerns end at this moment, if they do; `all_clients`: all streams and connections do.
    """

    fault: FaultRef
    why: str
    ends: End | None = None
    all_clients: bool = False


@dataclass(frozen=True, slots=True)
class FaultCloses:
    """The fault stops acting; streams that hold frames because of it end as `ends` says, or else let them go.

    `trickles`: they let them go one after the other.
    """

    fault: FaultRef
    ends: End | None = None
    trickles: bool = False


@dataclass(frozen=True, slots=True)
class FaultEnds:
    """The fault will never act again: `Schedule.missed` knows whether it ever did."""

    fault: FaultRef


FaultChange = FaultOpens | FaultCloses | FaultEnds


@dataclass(slots=True)
class PlannedFault:
    """A fault and what has happened to it so far."""

    ref: FaultRef
    fault: AnyFault
    phase: Phase = "waiting"
    fired: bool = False
    acted_at: float | None = None
    refused: Refusal | None = None
    opened_at: float | None = None
    triggers: int = 0  # own writes seen while armed
    requests: int = 0  # requests that it concerned while open
    answered: int = 0
    events: int = 0
    _counts: dict[tuple[str, int], dict[int, int]] = field(default_factory=dict)  # of each stream: frame → ordinal
    _acted_on: set[tuple[str, int]] = field(default_factory=set)

    @property
    def is_open(self) -> bool:
        return self.phase == "open"

    @property
    def due(self) -> float | None:
        """When its window in seconds is over; None while it is not open, and without such a window.

        That of a fault about requests begins with the first one: a client that is slow to come back meets it, too.
        """
        if not self.is_open or self.opened_at is None or self.fault.window.seconds is None:
            return None
        since = self.opened_at
        if isinstance(self.fault, CallFault):
            since = since + REFLECTOR_LONGEST_SECONDS if self.acted_at is None else self.acted_at
        return since + self.fault.window.seconds

    # --- its window

    def arm(self, why: str, now: float) -> list[FaultChange]:
        """Its window begins: it opens, or waits for its trigger."""
        self.phase = "armed"
        return [] if self.fault.trigger else [self.open(why, now)]

    def open(self, why: str, now: float) -> FaultOpens:
        self.phase, self.opened_at = "open", now
        if self.fault.refuses_connections:
            return FaultOpens(self.ref, why, "reset", all_clients=True)
        return FaultOpens(self.ref, why, self.fault.on_open)

    def close(self) -> list[FaultChange]:
        """Close it for good; nothing changes if that has happened already."""
        was, self.phase = self.phase, "closed"
        closes = [FaultCloses(self.ref, self.fault.on_close, self.fault.trickles)] if was == "open" else []
        return [] if was == "closed" else [*closes, FaultEnds(self.ref)]

    # --- what becomes of it

    def ordinal(self, seat: Seat, frame: int) -> int | None:
        """The position of this frame, the stream's nth, among those that concern the fault; the same whenever it is asked again.

        Ordinals behind the one that the fault waits for are not remembered: they are all the same to it. None: it waits for none.
        """
        if not hasattr(self.fault, "nth"):
            return None
        wanted: int = self.fault.nth or 0
        counts = self._counts.setdefault((seat.request.resource, seat.ordinal), {})
        if frame in counts:
            return counts[frame]
        ordinal = len(counts) + 1
        if ordinal <= wanted:
            counts[frame] = ordinal
        return ordinal

    def may_end(self, seat: Seat) -> bool:
        """Whether it may end this stream: the fault may be meant to end so many at most."""
        most: int | None = getattr(self.fault, "times", None)
        if most is not None and len(self._acted_on) < most:
            self._acted_on.add((seat.request.resource, seat.ordinal))
        return most is None or (seat.request.resource, seat.ordinal) in self._acted_on

    def state(self, missed: str) -> FaultState:
        """Where it stands, for people; `missed` says why it did not fire."""
        refused = self.refused.why if self.refused is not None and not self.fired else ""
        outcome = "fired" if self.fired else "refused" if refused else "not fired"
        return FaultState(self.ref.number, self.fault, self.phase, outcome, refused or missed)

    def missed(self) -> str:
        """Why the fault did not fire, in words; empty when it did, was refused, or only the runner knows."""
        fault = self.fault
        if self.fired or self.refused is not None or fault.executed_by == "runner":
            return ""
        if self.opened_at is not None:
            return self._nothing_came()
        if fault.trigger is None:
            return f"step {fault.window.from_step} never began"
        write = f"{fault.trigger.phrase} of {fault.resource}"
        if self.triggers or self.phase == "armed":
            return f"{write} never came ({self.triggers} came)"
        return f"{write} did not come within its window"

    def _nothing_came(self) -> str:
        fault = self.fault
        if isinstance(fault, CallFault):
            met = f"{self.requests} came while it was open, of which {self.answered} were executed and answered"
            return f"it waited for number {fault.nth} of the requests that it concerns: {met}"
        if fault.refuses_connections:
            return "no client was connected when it opened"
        if self.events:
            return f"{self.events} events of {fault.resource} came while it was open, none that it acts on"
        return f"no event of {fault.resource} and no request that it acts on came while it was open"
