"""Legal faults about calls to external systems: rejected, late, executed and never answered, or the last that the controller made.

The relay carries them out, and the runner keeps the process; the proxy only keeps time. They concern calls that change something:
what only looks is asked again.
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

from staleproof.core.fault.effects import Twin
from staleproof.core.fault.model import ANY, Fault, Misfit, Positive, Resource, Seconds
from staleproof.core.fault.need import Need, Span, Tries
from staleproof.core.history.entry import CallEffect
from staleproof.core.times import SLOW_CALL_SECONDS


class ExternalFault(Fault, frozen=True, kw_only=True):
    """A fault about single calls: from the nth that changes something while it is open, so many in a row.

    Attributes:
        system: to which system; empty means to any.
        mentions: only calls that have this in them; empty means all.
        nth: the first that it happens to, from 1.
        times: to how many in a row it happens; empty means to all that follow, until it closes.
    """

    row = "36"
    executed_by = "runner"
    needs_runner = True
    shared = True
    acts_on = "calls"
    needs: ClassVar[Need] = "call"
    lasts: ClassVar[Span] = "step"
    call_effect: ClassVar[CallEffect]
    resource: Resource = ANY
    system: str = ""
    mentions: str = ""
    nth: Positive = 1
    times: Positive | None = 1

    @property
    def late_by(self) -> float | None:
        """How many seconds late the answer is; None if that is not what it does."""
        return None

    @property
    def about(self) -> str:
        return self.system or "external systems"

    def concerns(self, resource: str) -> bool:
        return False  # nothing that the proxy sees

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.resource != ANY or self.namespace or self.name or self.stream is not None:
            yield Misfit('it concerns calls to external systems; leave resource ("*"), namespace, name and stream out')


class RejectCall(ExternalFault, frozen=True, kw_only=True, tag="RejectCall"):
    """Do not execute the call: the system says that it cannot do it now."""

    does = ("rejects-calls",)
    says = "calls to {} were rejected and not executed"
    tries: ClassVar[Tries] = {"times": (1, 3)}
    call_effect: ClassVar[Literal["reject"]] = "reject"


class SlowCall(ExternalFault, frozen=True, kw_only=True, tag="SlowCall"):
    """Execute the call at once, and answer it so many seconds late."""

    does = ("slows-calls",)
    says = "answers of {} were late"
    tries: ClassVar[Tries] = {"by_seconds": (SLOW_CALL_SECONDS,)}
    call_effect: ClassVar[Literal["delay"]] = "delay"
    by_seconds: Seconds

    @property
    def late_by(self) -> float:
        return self.by_seconds


class LoseCallAnswer(ExternalFault, frozen=True, kw_only=True, tag="LoseCallAnswer"):
    """Execute the call and lose the answer: the connection ends."""

    does = ("loses-calls",)
    says = "answers of {} were lost, the calls executed"
    call_effect: ClassVar[Literal["lose-answer"]] = "lose-answer"


class KillAtCall(ExternalFault, frozen=True, kw_only=True, tag="KillAtCall"):
    """Kill the controller (SIGKILL) once its nth call was executed, before it is answered and before any write can record it.

    The controller is started again at once.
    """

    does = ("restarts", "loses-calls")
    says = "it was to be killed between a call to {} and the write that records it"
    often = 2
    shared = False
    call_effect: ClassVar[Literal["stall"]] = "stall"

    @property
    def twin(self) -> Twin:
        return Twin("restarts", "within")

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.times != 1:
            yield Misfit("times: one fault kills once; use several")
