"""Faults that no contract-respecting API server shows: for notes on robustness and for tests of staleproof itself. Never scored.

Each breaks exactly one property of a watch, and names it, or the meaning of a consistent read.
"""

from typing import ClassVar

from staleproof.core.fault.decision import DROP, PASS, Delay, FrameDecision, FromPast, Repeat, RequestDecision
from staleproof.core.fault.effects import Effect
from staleproof.core.fault.legality import past_is_hostile
from staleproof.core.fault.model import Fault, Place, Positive, Seconds
from staleproof.core.fault.need import Span
from staleproof.core.history.frame import Frame
from staleproof.core.history.request import ApiRequest


class _Hostile(Fault, frozen=True, kw_only=True):
    contract = "hostile"
    does: ClassVar[tuple[Effect, ...]] = ("forges",)
    lasts: ClassVar[Span] = "step"


class _OneFrame(_Hostile, frozen=True, kw_only=True):
    """About the nth frame of each stream (every live event of the selected object when empty)."""

    nth: Positive | None = None

    def hits(self, frame: Frame, place: Place) -> bool:
        return frame.is_event and not place.burst and self.nth in (None, place.nth)


class DropFrame(_OneFrame, frozen=True, kw_only=True, tag="DropFrame"):
    """Never deliver the event, and go on."""

    row = "13"
    breaks = "Reliable"
    says = "events of {} were left out"

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return DROP if self.hits(frame, place) else PASS


class RepeatFrame(_OneFrame, frozen=True, kw_only=True, tag="RepeatFrame"):
    """Deliver the event twice."""

    row = "19"
    breaks = "Unique"
    says = "events of {} came twice"

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return Repeat() if self.hits(frame, place) else PASS


class Reorder(_OneFrame, frozen=True, kw_only=True, tag="Reorder"):
    """Deliver the event so many seconds late, and let those behind it overtake it."""

    row = "20"
    breaks = "Ordered"
    says = "events of {} were overtaken by later ones"
    by_seconds: Seconds = 0.5

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return Delay(self.by_seconds, overtaken=True) if self.hits(frame, place) else PASS


class NoEndBookmark(_Hostile, frozen=True, kw_only=True, tag="NoEndBookmark"):
    """Leave out the bookmark that ends the initial events, and send live events all the same."""

    row = "15"
    breaks = "Atomic"
    says = "the end of the initial {} events was left out"
    needs = "start"

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return DROP if frame.initial_end else PASS


class StaleRead(_Hostile, frozen=True, kw_only=True, tag="StaleRead"):
    """Answer consistent reads (LIST or GET without resourceVersion) with the state at the beginning of an earlier step."""

    row = "25"
    says = "consistent reads of {} were answered from the past"
    lasts = "rest"
    as_of_step: Positive = 1

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        consistent = request.verb in ("list", "get") and not request.subresource and past_is_hostile(request) == "25"
        return FromPast(self.as_of_step) if consistent else PASS
