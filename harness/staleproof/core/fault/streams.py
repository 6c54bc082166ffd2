"""Legal faults about the frames of watch streams: late, cut, without bookmarks, with more of them."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import msgspec

from staleproof.core.fault.decision import (
    DROP,
    HOLD,
    PASS,
    AnswerDecision,
    Cut,
    Delay,
    End,
    Follow,
    FrameDecision,
    Refusal,
    Sever,
    Wait,
)
from staleproof.core.fault.effects import Effect, Twin
from staleproof.core.fault.model import ANY, Fault, Misfit, OwnWrite, Place, Positive, Resource, Seconds
from staleproof.core.fault.need import Need, Tries
from staleproof.core.history.frame import Frame
from staleproof.core.history.request import BOOKKEEPING, ApiRequest

Release = Literal["events", "trickle", "relist", "resume"]
_RELEASES: dict[Release, tuple[End | None, set[Effect], Twin | None]] = {
    "events": (None, {"lags"}, None),
    "trickle": (None, {"lags"}, None),
    "relist": ("expired", {"expires", "skips"}, Twin("relists", "closing")),
    "resume": ("clean", {"cuts", "skips"}, Twin("reconnects", "closing")),
}
"""How streams that hold frames end, what that does to the controller, and what it would do if nothing were held."""


class HoldStream(Fault, frozen=True, kw_only=True, tag="Hold"):
    """Hold every event and bookmark of the resource's streams. The initial events of a WatchList are let through: a client that
    starts meanwhile gets the state as it is, as it would by a LIST.

    `release` says how the client catches up: `events` delivers what was held at once, in order; `trickle` one after the other;
    `relist` ends the stream with 410, so the client lists; `resume` ends it cleanly, so the API server sends the events again.
    """

    row = "1"
    does: ClassVar[tuple[Effect, ...]] = ("hides",)
    says = "its {} stream was held"
    says_of_all = "all its streams were held"
    often = 2
    release: Release = "events"

    @property
    def effects(self) -> frozenset[Effect]:
        return super().effects | _RELEASES[self.release][1]

    @property
    def twin(self) -> Twin | None:
        return _RELEASES[self.release][2]

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return PASS if place.burst and place.seat.request.is_watch_list else HOLD

    @property
    def on_close(self) -> End | None:
        return _RELEASES[self.release][0]

    @property
    def trickles(self) -> bool:
        return self.release == "trickle"


class HideOwnWrite(HoldStream, frozen=True, kw_only=True, tag="HideOwnWrite"):
    """Hold the resource's streams from just before the controller's own nth write: it cannot see what it has done."""

    needs = "own write"
    often = 6
    write: OwnWrite = OwnWrite("create")

    @property
    def verb_of_write(self) -> str:
        return self.write.verb

    @property
    def trigger(self) -> OwnWrite | None:
        return self.write

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.resource == ANY:
            yield Misfit('resource is "*", and a write is one of some resource: name the resource, for example "pods"')


class DelayStream(Fault, frozen=True, kw_only=True, tag="Delay"):
    """Deliver every frame of the resource's streams so many seconds late, in order."""

    row = "1"
    does = ("lags",)
    says = "its {} stream was late"
    says_of_all = "all its streams were late"
    lasts = "rest"
    by_seconds: Seconds

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return Delay(self.by_seconds)


class Skew(Fault, frozen=True, kw_only=True, tag="Skew"):
    """Let each resource lag by its own number of seconds, in order: children older than parents, or parents older than children.

    `by_seconds` maps resources to seconds; `*` is for the resources that it does not name.
    """

    row = "3"
    does = ("lags",)
    says = "its streams were late, each by its own time"
    often = 0  # one resource behind another, so it takes two
    resource: Resource = ANY
    by_seconds: Annotated[dict[str, Seconds], msgspec.Meta(min_length=1, examples=[{"pods": 2.0}])]

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return Delay(self._lag(place.seat.request.resource))

    def concerns(self, resource: str) -> bool:
        return super().concerns(resource) and self._lag(resource) > 0

    def _lag(self, resource: str) -> float:
        default = 0.0 if resource in BOOKKEEPING else self.by_seconds.get(ANY, 0.0)
        return self.by_seconds.get(resource, default)


class SeverStream(Fault, frozen=True, kw_only=True, tag="Sever"):
    """End the resource's streams: at once when it opens, or in place of the nth frame of each.

    With `nth`, it ends so many streams (`times`) at most: one that a client opens anew has an nth frame, too. `clean` is the end of
    the body, `truncated` breaks off in the middle of a frame, `reset` is a TCP reset.
    """

    row = "6, 7"
    does = ("cuts", "skips")
    says = "its {} stream was cut"
    says_of_all = "all its streams were cut"
    needs = "watch"
    lasts = "step"
    tries: ClassVar[Tries] = {"times": (1,)}
    how: Literal["clean", "truncated", "reset"] = "clean"
    nth: Positive | None = None
    times: Positive | None = None

    @property
    def twin(self) -> Twin:
        return Twin("reconnects", "opening" if self.nth is None else "within")

    @property
    def occasion(self) -> Need:
        return "watch" if self.nth is None else "event"

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return Sever(self.how) if place.nth == self.nth else PASS

    @property
    def on_open(self) -> End | None:
        return self.how if self.nth is None else None

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.times is not None and self.nth is None:
            yield Misfit(
                "times goes with nth: without it every stream ends once, when the fault opens; leave times out, or name nth"
            )


class DropBookmarks(Fault, frozen=True, kw_only=True, tag="DropBookmarks"):
    """Never send a bookmark, except the one that ends the initial events, which is not at the server's discretion."""

    row = "14"
    does = ("drops-bookmarks",)
    says = "it got no {} bookmarks"
    says_of_all = "it got no bookmarks"
    needs = "bookmark"

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        return DROP if frame.type == "BOOKMARK" and not frame.initial_end else PASS


class AddBookmarks(Fault, frozen=True, kw_only=True, tag="AddBookmarks"):
    """Send a bookmark of the same revision behind every live event, to clients that ask for bookmarks."""

    row = "18"
    does = ("adds-bookmarks",)
    says = "it got a {} bookmark behind every event"
    says_of_all = "it got a bookmark behind every event"
    needs = "more bookmarks"
    lasts = "rest"

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        if not frame.is_event or place.burst:
            return PASS
        if not place.seat.request.flag("allowWatchBookmarks"):
            return Refusal("18", "the client did not ask for bookmarks (allowWatchBookmarks)")
        return Follow()


class SlowStart(Fault, frozen=True, kw_only=True, tag="SlowStart"):
    """Deliver initial events so many seconds late (a WatchList or a WATCH from 0), or the answer to a LIST.

    `closes` ends the first such stream before the bookmark that ends the initial events, or cuts the first LIST's answer: the
    client starts again.
    """

    row = "15b"
    does = ("slows-start",)
    says = "the initial state of {} came late"
    needs = "start"
    lasts = "rest"
    tries: ClassVar[Tries] = {"by_seconds": (2.0,)}  # longer than a controller that waits for a time, not for its lists
    by_seconds: Seconds = 1.0
    then: Literal["ends", "closes"] = "ends"

    @property
    def effects(self) -> frozenset[Effect]:
        return super().effects | {"cuts"} if self.then == "closes" else super().effects

    @property
    def twin(self) -> Twin:
        """What works before its lists are there looks again when they are, which is later than it would be without."""
        return Twin("relists", "closing")

    @property
    def times(self) -> int | None:
        """How many streams it ends at most; None: no limit."""
        return 1 if self.then == "closes" else None

    def on_answer(self, request: ApiRequest, nth: int) -> AnswerDecision:
        if self.then == "closes" and nth == 1:
            return Cut()
        return Wait(self.by_seconds)

    def concerns_request(self, request: ApiRequest) -> bool:
        initial = request.query.get("resourceVersion", "") in ("", "0") and "continue" not in request.query
        return super().concerns_request(request) and request.verb == "list" and initial

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        if self.then == "closes" and frame.initial_end:
            return Sever("clean", discard=False)
        return Delay(self.by_seconds) if place.burst else PASS

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.name and self.then == "closes":
            yield Misfit(
                f"name {self.name} never matches a LIST or the end of the initial events, which is where it closes; leave name out"
            )
