"""What every fault is: a small value that is asked at certain moments and answers with one decision.

A fault never touches a queue or a socket, and never looks at a clock: `core.engine.schedule` decides from its `window` *when* it is
open, and its selectors say *what* it is asked about. What it answers is carried out elsewhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from staleproof.core.fault.decision import PASS, AnswerDecision, End, FrameDecision, RequestDecision
from staleproof.core.fault.effects import Effect, Twin
from staleproof.core.fault.legality import ROWS, Contract
from staleproof.core.fault.need import Need, Span, Tries
from staleproof.core.history.frame import Frame
from staleproof.core.history.request import BOOKKEEPING, READS, WRITES, ApiRequest

Positive = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Resource = Annotated[str, msgspec.Meta(min_length=1, examples=["pods", "deployments.apps", "*"])]
"""A range is part of a field's type: the JSON Schema of a plan shows it, and `suggest` explains why a value is refused."""

ANY = "*"
"""As a resource: all but leases and events, on which elections depend and no work does."""

Verb = Literal["*", "read", "write", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]


class Value(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """Part of a plan or of a body of the control API: read strictly, and written without the fields that say the usual."""

    @property
    def tag(self) -> str:
        """Its name in plans, when it is one of several kinds."""
        return str(type(self).__struct_config__.tag)


class Window(Value, frozen=True):
    """When a fault is open: from the beginning of one step to the beginning of another.

    Attributes:
        from_step: number of the step (from 1) at whose beginning it opens, before the step is done.
        until_step: number of the step at whose beginning it closes; empty means at the release, after the last step.
        seconds: closes this long after it opened, if that comes first (a fault about requests: after it first met one, for which it
            waits half a minute longer); empty means no such limit.
    """

    from_step: Positive = 1
    until_step: Positive | None = None
    seconds: Seconds | None = None


class OwnWrite(Value, frozen=True):
    """The moment just before the controller's nth request with this verb reaches the API server, counted within the window.

    Attributes:
        verb: which requests.
        nth: which of them, from 1.
        subresource: of this one (`status`); empty: of the object itself.
    """

    verb: Literal["create", "update", "patch", "delete"]
    nth: Positive = 1
    subresource: str = ""

    @property
    def phrase(self) -> str:
        """`own update of the status number 2`, as the end of a sentence about a resource begins."""
        return f"own {self.verb}{f' of the {self.subresource}' * bool(self.subresource)} number {self.nth}"


class HeldState(Value, frozen=True):
    """A state that a fault is there to hold, and for nothing else. Where it came about without the fault, the fault was not needed.

    Attributes:
        state: `terminating`: a primary of the fault's resource has a deletionTimestamp and is still there.
        at_step: number of the step (from 1) at whose beginning it is in this state.
    """

    state: Literal["terminating"]
    at_step: Positive


@dataclass(frozen=True, slots=True)
class Seat:
    """Which stream a frame belongs to.

    Attributes:
        request: the WATCH that opened it.
        ordinal: its number, from 1, among the streams of its resource since the plan was installed.
        past: it starts at a revision that the client was given by a past snapshot.
    """

    request: ApiRequest
    ordinal: int = 1
    past: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where in its stream a frame is: the nth of those that came while the fault was open; `burst`: it is an initial event.

    Frames from outside the trial's namespace are not counted: their number is 0. None: the fault has no `nth`, so no frame is.
    """

    seat: Seat
    number: int | None
    burst: bool = False

    @property
    def nth(self) -> int:
        """The frame's number, up to the one that the fault's field `nth` says."""
        if self.number is None:
            raise AttributeError("frames are counted only for a fault with a field `nth`, which it compares place.nth with")
        return self.number


@dataclass(frozen=True, slots=True)
class Misfit:
    """What makes no sense in a fault. With the `row` of the legality table that it breaks, it is hostile and may be asked for, or
    no server was ever seen to do it (`documented`): then it may stand in any plan, and what is found under it is told apart.

    `text` is empty when the row says it all: the fault is hostile whatever its fields.
    """

    text: str
    row: str = ""

    @property
    def is_hostile(self) -> bool:
        return bool(self.row) and ROWS[self.row].contract == "hostile"

    def __str__(self) -> str:
        if not self.row:
            return self.text
        row = ROWS[self.row]
        return f"{self.text}{': ' if self.text else ''}{row.contract}: {row.why} (legality row {row.number}, {row.source})"


class Fault(Value, frozen=True, kw_only=True, tag_field="fault", tag=True):
    """The fault that does nothing: what the others start from.

    Attributes:
        resource: whose streams and requests it concerns, group-qualified as kubectl spells it; `*` for all but leases and events.
        namespace, name: only frames and requests of this object (a hold of one object's frames holds what comes behind them, too).
        stream: only the nth stream of the resource, from 1, counted from the beginning of the plan.
        program: the further program of the subject that it happens to, by its name; empty: it happens to the controller itself.
        window: when it is open.
        holds: the state that it is there to hold; empty: it is there for what it does to the controller.
    """

    contract: ClassVar[Contract] = "legal"
    row: ClassVar[str] = "-"
    breaks: ClassVar[str] = ""  # the watch property that a hostile fault breaks
    does: ClassVar[tuple[Effect, ...]] = ()  # whatever its fields; plans try it for what the first is about
    says: ClassVar[str] = ""  # what it does to the controller, as the end of a sentence; {} is the resource
    says_of_all: ClassVar[str] = ""  # the same when the resource is `*`; empty: `says` with "everything" for the resource
    executed_by: ClassVar[Literal["proxy", "runner"]] = "proxy"
    needs_runner: ClassVar[bool] = False  # something must be done to the controller's process, which the proxy does not have
    acts_on: ClassVar[Literal["streams", "requests", "process", "calls"]] = "streams"
    needs: ClassVar[Need] = "event"
    lasts: ClassVar[Span] = "any"
    tries: ClassVar[Tries] = {}
    often: ClassVar[int] = 1  # how often it is drawn beside a fault that is drawn once; 0: with others, or in plans of its own
    shared: ClassVar[bool] = False  # the API server or an external system does it to all programs of the subject alike

    resource: Resource
    namespace: str = ""
    name: str = ""
    stream: Positive | None = None
    program: str = ""
    window: Window = Window()
    holds: HeldState | None = None

    # --- what it does to a controller

    @property
    def effects(self) -> frozenset[Effect]:
        """Those of its class, and those that depend on its fields."""
        return frozenset(self.does)

    @property
    def twin(self) -> Twin | None:
        """What the same plan without any harm does in its place (`but_for`); None: nothing, as it does not wake the controller."""
        return None

    @property
    def keeps_back(self) -> bool:
        """Whether the controller may do less while it is open, because it is shown less or cannot work."""
        return self.stops_work or bool(self.effects & {"hides", "lags", "rewinds"})

    @property
    def stops_work(self) -> bool:
        """Whether the controller cannot do its work while it is open."""
        return bool(self.effects & {"disconnects", "pauses"})

    @property
    def occasion(self) -> Need:
        """What gives it its occasion: what its class needs, or what its fields do."""
        return self.needs

    @property
    def verb_of_write(self) -> str:
        """The verb of the requests without which it does nothing; empty: it does not depend on any."""
        return ""

    @property
    def kind(self) -> str:
        """Its name, with the verb of the requests that it depends on, or how the controller is meanwhile."""
        return f"{self.tag} {self.verb_of_write}".rstrip()

    @property
    def foreign_edit(self) -> Mapping[str, Any]:
        """The merge patch that another user makes because of it; empty for none."""
        return {}

    @property
    def phrase(self) -> str:
        """What it does to the controller, as the end of a sentence: in the words of its class, else what its docstring says."""
        if self.resource == ANY and self.says_of_all:
            return self.says_of_all
        return self.says.format(self.about) if self.says else f"{self._first_sentence} ({self.tag} of {self.about})"

    @property
    def whose(self) -> str:
        """The program that it happens to, as the beginning of a line; empty for the controller itself."""
        return f"{self.program}: " if self.program else ""

    @property
    def about(self) -> str:
        """Which resource it concerns, in words."""
        return "everything" if self.resource == ANY else self.resource

    @property
    def _first_sentence(self) -> str:
        said = " ".join((type(self).__doc__ or self.tag).split()).split(". ")[0].rstrip(".")
        return said[:1].lower() + said[1:]

    # --- what it is asked

    def on_frame(self, frame: Frame, place: Place) -> FrameDecision:
        """What happens to a frame that it concerns and that arrives while it is open."""
        return PASS

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        """What happens to a request that it concerns, the nth (from 1) while it is open, before it is forwarded. A WATCH is one."""
        return PASS

    def on_answer(self, request: ApiRequest, nth: int) -> AnswerDecision:
        """What happens to the API server's answer to a request that it concerns and that was executed, the nth (from 1)."""
        return PASS

    @property
    def on_open(self) -> End | None:
        """How the open streams that it concerns end at the moment it opens; None leaves them alone."""
        return None

    @property
    def on_close(self) -> End | None:
        """How streams that hold frames end at the moment it closes; None lets the frames leave, in order."""
        return None

    @property
    def trickles(self) -> bool:
        """Whether frames leave one after the other when it closes, instead of all at once."""
        return False

    @property
    def refuses_connections(self) -> bool:
        """Whether no client can connect while it is open; connections that are open when it opens are reset."""
        return False

    @property
    def trigger(self) -> OwnWrite | None:
        """What must happen within its window before it opens."""
        return None

    # --- what it concerns

    def happens_to(self, program: str) -> bool:
        """Whether this program of the subject meets it; empty: the controller itself."""
        return self.shared or self.program == program

    def concerns(self, resource: str) -> bool:
        return self.resource == resource or (self.resource == ANY and resource not in BOOKKEEPING)

    def concerns_stream(self, seat: Seat) -> bool:
        within = not self.namespace or seat.request.namespace in ("", self.namespace)
        mine = self.happens_to(seat.request.program) and self.concerns(seat.request.resource)
        return mine and within and self.stream in (None, seat.ordinal)

    def concerns_frame(self, frame: Frame) -> bool:
        """Bookmarks concern every object of the stream, so a selected object does not concern them."""
        return (not self.namespace or frame.namespace in ("", self.namespace)) and (not self.name or frame.name == self.name)

    def concerns_request(self, request: ApiRequest) -> bool:
        within = not self.namespace or request.namespace in ("", self.namespace)
        mine = self.happens_to(request.program) and self.concerns(request.resource)
        return mine and within and (not self.name or request.name == self.name)

    # --- whether it makes sense

    def misfits(self) -> Iterator[Misfit]:
        """Which of its fields do not go together, whatever the plan. The type of a field says what may be in that field alone."""
        window = self.window
        if self.contract == "hostile":
            yield Misfit("", self.row)
        if window.until_step is not None and window.until_step <= window.from_step:
            yield Misfit(f"untilStep {window.until_step} is not after fromStep {window.from_step}")
        if self.shared and self.program:
            yield Misfit(f"program is {self.program}, and this happens to all programs alike; leave it out")


class CallFault(Fault, frozen=True, kw_only=True):
    """A fault about single requests: from the nth that it concerns while it is open, so many in a row.

    Attributes:
        verb: which requests; `read`, `write` and `*` stand for several verbs.
        subresource: only this one (`status`), or with "" only the object itself; empty means either.
        nth: the first that it happens to, from 1.
        times: to how many in a row it happens; empty means to all that follow, until it closes.
    """

    acts_on = "requests"
    needs: ClassVar[Need] = "write"
    verb: Verb = "*"
    subresource: str | None = None
    nth: Positive = 1
    times: Positive | None = 1

    @property
    def verb_of_write(self) -> str:
        return self.verb

    @property
    def stops_work(self) -> bool:
        return self.times is None

    def concerns_request(self, request: ApiRequest) -> bool:
        return (
            super().concerns_request(request)
            and _is_verb(self.verb, request.verb)
            and self.subresource in (None, request.subresource)
            and not request.dry_run
        )

    def hits(self, nth: int) -> bool:
        return nth >= self.nth and (self.times is None or nth < self.nth + self.times)

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.stream is not None:
            yield Misfit("stream selects streams, and this fault is about requests; use verb and nth")
        yield from self._nameless()

    def _nameless(self) -> Iterator[Misfit]:
        """A name never matches requests that have none in their path."""
        if self.name and self.verb in ("list", "deletecollection"):
            yield Misfit(f"a {self.verb} is about a collection, so name {self.name} never matches; leave name out")
        if self.name and self.verb == "create" and not self.subresource:
            yield Misfit(
                f"a create has its object's name in the body only, so name {self.name} never matches; leave name out and use nth"
                ' (or say which subresource of the object is created, for example "eviction")'
            )


def _is_verb(wanted: str, verb: str) -> bool:
    return wanted in ("*", verb) or (wanted == "read" and verb in READS) or (wanted == "write" and verb in WRITES)


def unanswered(verb: Verb) -> Iterator[Misfit]:
    """A misfit when a fault about answers selects nothing but WATCHes: the answer to a WATCH is a stream of frames."""
    if verb == "watch":
        yield Misfit("a watch has no answer to act on, it is a stream; use Hold, Delay or Sever")
