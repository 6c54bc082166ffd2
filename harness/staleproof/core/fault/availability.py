"""Legal faults about how a client gets to its data: refused, hanging, expired, coalesced, from the past."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from staleproof.core.fault.decision import (
    HOLD,
    PASS,
    End,
    FrameDecision,
    FromPast,
    Refusal,
    Reply,
    RequestDecision,
    Sever,
    Stall,
)
from staleproof.core.fault.effects import Twin
from staleproof.core.fault.legality import is_start_only, past_is_hostile, row_against_expiry
from staleproof.core.fault.model import ANY, Fault, Misfit, Place, Positive, Resource
from staleproof.core.fault.need import Need, Tries
from staleproof.core.history.frame import Frame
from staleproof.core.history.request import ApiRequest

GONE = Reply(410, "Expired", "too old resource version")
_EXPIRED: dict[str, End] = {"stream": "expired", "resume": "lapsed", "watch": "gone"}
"""How streams end for lack of history, by where the client is to learn it."""


class Refuse(Fault, frozen=True, kw_only=True, tag="Refuse"):
    """Refuse every connection, as a server that is down does; open connections are reset when it opens."""

    row = "7"
    does = ("cuts", "skips", "disconnects")
    says = "no client could connect to the API server"
    refuses_connections = True
    shared = True
    needs = "nothing"
    lasts = "seconds"
    resource: Resource = ANY

    @property
    def twin(self) -> Twin:
        return Twin("reconnects", "closing")

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.resource != ANY or self.namespace or self.name or self.stream is not None:
            yield Misfit('a refused connection has no resource, namespace, name or stream; leave them out (resource "*")')


class Hang(Fault, frozen=True, kw_only=True, tag="Hang"):
    """No bytes and no close, on streams and for requests, which are not executed; all are reset when it closes."""

    row = "8"
    does = ("cuts", "disconnects")
    says = "its {} streams and requests hung"
    says_of_all = "all its streams and requests hung"
    needs = "nothing"
    lasts = "seconds"
    on_close = "reset"

    @property
    def twin(self) -> Twin:
        return Twin("reconnects", "closing")

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return HOLD

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        return Stall("reset")


class Expire(Fault, frozen=True, kw_only=True, tag="Expire"):
    """Answer 410 Expired, until the client lists again.

    `at` says where: `stream`, as an ERROR event in the open streams (at once, or in place of the nth frame of each) and for every
    resumption behind them; `resume`, as an ERROR event for every resumption, the open streams ending cleanly; `watch`, the same as
    an HTTP answer, which only the documents allow (row 11b), so findings are about robustness and never scored; `list`, as an HTTP
    answer to LISTs of exactly one resourceVersion, of a page of it, or of a continue token (never to others: they need no history).
    """

    row = "11, 11c"
    does = ("expires", "skips")
    says = "its {} stream got 410 Expired"
    says_of_all = "all its streams got 410 Expired"
    needs = "watch"
    lasts = "step"
    tries: ClassVar[Tries] = {"at": ("stream", "resume")}  # only documented of a watch; few clients list so
    at: Literal["stream", "resume", "watch", "list"] = "stream"
    nth: Positive | None = None

    @property
    def twin(self) -> Twin:
        return Twin("relists", "opening" if self.nth is None and self.at != "list" else "within")

    @property
    def occasion(self) -> Need:
        return "watch" if self.nth is None else "event"

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        if place.nth != self.nth or self.at == "list":
            return PASS
        return Refusal("12", "the initial events are not complete") if place.burst else Sever(self._end)

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        if self.at != "list" or request.verb != "list" or nth < (self.nth or 1):
            return PASS
        row = row_against_expiry(request)
        return Refusal(row, "the list can be answered without history") if row else GONE

    @property
    def on_open(self) -> End | None:
        return self._end if self.nth is None and self.at != "list" else None

    @property
    def _end(self) -> End:
        return _EXPIRED[self.at]

    def concerns_request(self, request: ApiRequest) -> bool:
        return super().concerns_request(request) and request.verb == "list"

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.name and self.at == "list":
            yield Misfit(f"a LIST is about a collection, so name {self.name} never matches; leave name out")
        if self.at == "watch":
            yield Misfit("at is watch", "11b")


class Coalesce(Fault, frozen=True, kw_only=True, tag="Coalesce"):
    """End the streams, keep the client waiting while things change, then answer 410: it never sees what happened in between."""

    row = "9"
    does = ("skips", "hides", "expires")
    says = "its {} stream ended, and it could neither watch nor list"
    says_of_all = "all its streams ended, and it could neither watch nor list"
    on_open = "lapsed"

    @property
    def twin(self) -> Twin:
        return Twin("relists", "closing")

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        return Stall("forward") if request.verb in ("watch", "list") else PASS


class RefuseWatchList(Fault, frozen=True, kw_only=True, tag="RefuseWatchList"):
    """Refuse every WatchList, as a server without the feature does; clients fall back to LIST and WATCH.

    `http` answers 422 Invalid, `event` an ERROR event in a stream that then ends.
    """

    row = "26"
    does = ("refuses-watch-lists",)
    says = "every WatchList was refused"
    shared = True
    needs = "watch list"
    lasts = "rest"
    resource: Resource = ANY
    how: Literal["http", "event"] = "http"

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        if self.how == "event":
            return Reply(
                500,
                "InternalError",
                "a watch stream was requested by the client but the required storage feature RequestWatchProgress is disabled",
                as_event=True,
            )
        return Reply(
            422,
            "Invalid",
            'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: '
            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
        )

    def concerns(self, resource: str) -> bool:
        return self.resource in (ANY, resource)  # leases, too: one server has the feature or has it not

    def concerns_request(self, request: ApiRequest) -> bool:
        return super().concerns_request(request) and request.is_watch_list

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.resource != ANY:
            yield Misfit(f'resource is {self.resource}, expected "*"', "26b")
        if self.namespace:
            yield Misfit(f"namespace is {self.namespace}, expected none", "26b")
        if self.name or self.stream is not None:
            yield Misfit("a WatchList is about a collection and is refused before it is a stream; leave name and stream out")


class PastSnapshot(Fault, frozen=True, kw_only=True, tag="PastSnapshot"):
    """Answer reads of resourceVersion 0 with the state at the beginning of an earlier step, as another, lagging API server may.

    These are LISTs with resourceVersion 0 and WATCHes that ask for the state without sendInitialEvents (if such a WATCH has no
    resourceVersion, the history says so: the documents promise it the newest state); other reads are answered as usual. The past
    state comes from the API server itself (a LIST of exactly that resourceVersion), selectors and formats included.
    With `hold` the watch that goes on from there is held until the fault closes.
    """

    row = "24, 24b"
    does = ("rewinds",)
    says = "reads of {} at any resourceVersion (0, or none in a watch) were answered from the past"
    needs = "start"
    often = 0  # the state has to differ from the present
    resource: Resource = ANY
    as_of_step: Positive = 1
    hold: bool = True

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        if request.verb not in ("list", "watch") or (request.is_watch and request.start):
            return PASS  # a WATCH that goes on is no read of a state
        if request.is_watch_list:
            return Refusal("25", "a WatchList is not answered from the past")
        if is_start_only(request):
            return Refusal("", "the WATCH asks for no state (sendInitialEvents=false)")
        row = past_is_hostile(request)
        return Refusal(row, "the read does not ask for resourceVersion 0") if row else FromPast(self.as_of_step)

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return HOLD if self.hold and place.seat.past and not place.burst else PASS

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.as_of_step > self.window.from_step:
            yield Misfit(f"asOfStep {self.as_of_step} lies after fromStep {self.window.from_step}: the future, not the past")
        if self.name:
            yield Misfit(f"it answers LISTs and WATCHes of collections, so name {self.name} never matches; leave name out")
