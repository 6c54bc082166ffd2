"""Legal faults about external systems: calls that are rejected, late, executed and never answered, or the last that the controller
made; and notifications that are lost, late, or come twice.

The relay carries them out, and the runner keeps the process; the proxy only keeps time. Of calls they concern those that change
something: what only looks is asked again.
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

from staleproof.core.fault.effects import Twin
from staleproof.core.fault.model import ANY, Fault, Misfit, Positive, Resource, Seconds
from staleproof.core.fault.need import Need, Span, Tries
from staleproof.core.history.entry import CallEffect, NotificationEffect
from staleproof.core.times import LATE_NOTIFICATION_SECONDS, SLOW_CALL_SECONDS


class ExternalFault(Fault, frozen=True, kw_only=True):
    """A fault about single calls, or notifications: from the nth while it is open, so many in a row.

    Attributes:
        system: to or of which system; empty means any.
        mentions: only those that have this in them; empty means all.
        nth: the first that it happens to, from 1; of calls those count that change something.
        times: to how many in a row it happens; empty means to all that follow, until it closes.
    """

    executed_by = "runner"
    needs_runner = True
    shared = True
    acts_on = "calls"
    lasts: ClassVar[Span] = "step"
    resource: Resource = ANY
    system: str = ""
    mentions: str = ""
    nth: Positive = 1
    times: Positive | None = 1

    @property
    def late_by(self) -> float | None:
        """By how many seconds it makes something late; None if that is not what it does."""
        return None

    @property
    def about(self) -> str:
        return self.system or "external systems"

    def concerns(self, resource: str) -> bool:
        return False  # nothing that the proxy sees

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.resource != ANY or self.namespace or self.name or self.stream is not None:
            yield Misfit(f'it concerns {self._what} external systems; leave resource ("*"), namespace, name and stream out')

    _what: ClassVar[str]


class ExternalCallFault(ExternalFault, frozen=True, kw_only=True):
    """A fault about calls that change something."""

    row = "36"
    needs: ClassVar[Need] = "call"
    call_effect: ClassVar[CallEffect]
    _what = "calls to"


class ExternalNoticeFault(ExternalFault, frozen=True, kw_only=True):
    """A fault about notifications, which an external system sends to the controller when something changes."""

    row = "37"
    needs: ClassVar[Need] = "notification"
    often = 0  # only what drifts brings one
    notification_effect: ClassVar[NotificationEffect]
    _what = "notifications of"


class RejectCall(ExternalCallFault, frozen=True, kw_only=True, tag="RejectCall"):
    """Do not execute the call: the system says that it cannot do it now."""

    does = ("rejects-calls",)
    says = "calls to {} were rejected and not executed"
    tries: ClassVar[Tries] = {"times": (1, 3)}
    call_effect: ClassVar[Literal["reject"]] = "reject"


class SlowCall(ExternalCallFault, frozen=True, kw_only=True, tag="SlowCall"):
    """Execute the call at once, and answer it so many seconds late."""

    does = ("slows-calls",)
    says = "answers of {} were late"
    tries: ClassVar[Tries] = {"by_seconds": (SLOW_CALL_SECONDS,)}
    call_effect: ClassVar[Literal["delay"]] = "delay"
    by_seconds: Seconds

    @property
    def late_by(self) -> float:
        return self.by_seconds


class LoseCallAnswer(ExternalCallFault, frozen=True, kw_only=True, tag="LoseCallAnswer"):
    """Execute the call and lose the answer: the connection ends."""

    does = ("loses-calls",)
    says = "answers of {} were lost, the calls executed"
    call_effect: ClassVar[Literal["lose-answer"]] = "lose-answer"


class KillAtCall(ExternalCallFault, frozen=True, kw_only=True, tag="KillAtCall"):
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


class LoseNotification(ExternalNoticeFault, frozen=True, kw_only=True, tag="LoseNotification"):
    """Lose the notification: the controller never hears of that change."""

    does = ("loses-notifications",)
    says = "notifications of {} were lost"
    tries: ClassVar[Tries] = {"times": (1, None)}
    notification_effect: ClassVar[NotificationEffect] = "lose"


class LateNotification(ExternalNoticeFault, frozen=True, kw_only=True, tag="LateNotification"):
    """Deliver the notification so many seconds late; those sent meanwhile overtake it."""

    does = ("slows-notifications",)
    says = "notifications of {} were late"
    tries: ClassVar[Tries] = {"by_seconds": (LATE_NOTIFICATION_SECONDS,)}
    notification_effect: ClassVar[NotificationEffect] = "delay"
    by_seconds: Seconds

    @property
    def late_by(self) -> float:
        return self.by_seconds


class RepeatNotification(ExternalNoticeFault, frozen=True, kw_only=True, tag="RepeatNotification"):
    """Deliver the notification twice."""

    does = ("repeats-notifications",)
    says = "notifications of {} came twice"
    notification_effect: ClassVar[NotificationEffect] = "repeat"
