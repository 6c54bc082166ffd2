"""The systems behind a relay: what goes wrong with each, and what is reported of it. Carries nothing out."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

from staleproof.core.engine.call_faults import CallFaults
from staleproof.core.external import (
    AnswerSeen,
    CallFault,
    CallSeen,
    NotificationFault,
    NotificationSeen,
    SystemFaults,
)
from staleproof.core.history.entry import CallEffect, RequestOutcome

from ..journal import Journal


@dataclass(slots=True)
class Call:
    """A call that has not been answered. `fault` acts on it; `at` is when it came."""

    number: int
    at: float
    fault: CallFault | None

    @property
    def effect(self) -> CallEffect | None:
        return self.fault.effect if self.fault else None

    @property
    def due(self) -> float:
        """When it may be answered, on the machine's monotonic clock."""
        return self.at + (self.fault.seconds or 0.0) if self.fault else self.at


class System:
    """One system, and the calls to it."""

    def __init__(self, name: str, journal: Journal, numbers: "itertools.count[int]") -> None:
        self.name, self._journal, self._numbers = name, journal, numbers
        self.faults = CallFaults()

    def called(self, client: str, verb: str, text: str, values: Sequence[str] = ()) -> Call:
        """A call has come."""
        call = Call(next(self._numbers), time.monotonic(), self.faults.on_call(verb, (text, *values)))
        self._journal.record(
            CallSeen(at=call.at, call=call.number, system=self.name, client=client, verb=verb, text=text, values=tuple(values))
        )
        return call

    def answered(self, call: Call, outcome: RequestOutcome, code: str = "", *, executed: bool | None = None) -> None:
        """The answer leaves, or none will."""
        self._journal.record(
            AnswerSeen(
                at=time.monotonic(),
                call=call.number,
                system=self.name,
                outcome=outcome,
                code=code,
                executed=executed,
                effect=call.effect,
                of=call.fault.of if call.fault else None,
            )
        )

    def notified(self, channel: str, text: str) -> NotificationFault | None:
        """A notification has come; what acts on it."""
        fault = self.faults.on_notification((channel, text))
        self._journal.record(
            NotificationSeen(
                at=time.monotonic(),
                system=self.name,
                channel=channel,
                text=text,
                effect=fault.effect if fault else None,
                of=fault.of if fault else None,
            )
        )
        return fault


class Systems:
    """All systems of a relay, by name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.journal = Journal()
        numbers = itertools.count(1)
        self._systems = {name: System(name, self.journal, numbers) for name in names}

    def __getitem__(self, name: str) -> System:
        return self._systems[name]

    def __contains__(self, name: str) -> bool:
        return name in self._systems

    def install(self, faults: SystemFaults) -> None:
        """Replace what goes wrong with a system."""
        system = self._systems[faults.system]
        system.faults = CallFaults(faults.faults, system.faults)
