"""Which of the plan's faults are open now, and what follows from that for each stream and request.

The proxy reports what happens (a step begins, the controller asks for something, a client opens a watch or has been given a list)
and does what the schedule answers. Faults are asked in plan order; the first decision that is not Pass wins. The schedule never
waits: seconds windows are closed by `tick`, and `deadline` says when the next tick is due.

Of each fault it knows in the end whether it fired, and if not, why: it was refused because it would have been hostile to the
request at hand, or nothing came that it could act on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from staleproof.core.engine.gate import Decide, Ruling
from staleproof.core.fault import AnyFault, CallFault, DropBookmarks, Place, Seat
from staleproof.core.fault.decision import AnswerDecision, End, FrameDecision, FromPast, Pass, Refusal, RequestDecision
from staleproof.core.frame import Frame
from staleproof.core.request import ApiRequest


@dataclass(frozen=True, slots=True)
class FaultOpens:
    """The fault acts from now on; `ends` says how the open streams that it concerns end at this moment, if they do."""

    fault: int
    why: str
    ends: End | None


@dataclass(frozen=True, slots=True)
class FaultCloses:
    """The fault stops acting; streams that hold frames because of it end as `ends` says, or else let them go."""

    fault: int
    ends: End | None


@dataclass(frozen=True, slots=True)
class FaultEnds:
    """The fault will never act again: `Schedule.missed` knows whether it ever did."""

    fault: int


@dataclass(frozen=True, slots=True)
class FaultIsRefused:
    """The fault was asked for something that would be hostile, or cannot be done, and did nothing. Told once a fault."""

    fault: int
    on: str
    refusal: Refusal


Change = FaultOpens | FaultCloses | FaultEnds | FaultIsRefused
Called = tuple[RequestDecision | AnswerDecision, int | None]
"""A decision about a request or its answer, and the index of the fault that made it."""

Phase = Literal["waiting", "armed", "open", "closed"]
"""armed: the window is open, the trigger has not come."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """History up to `upto` is gone for one collection: a resumption from there is answered 410, as an event or by HTTP.

    `fault` is the one that says so; None for a command.
    """

    how: Literal["event", "http"]
    upto: int
    fault: int | None = None


@dataclass(slots=True)
class _State:
    phase: Phase = "waiting"
    fired: bool = False
    opened_at: float | None = None
    triggers: int = 0  # own writes seen while armed
    asked: int = 0  # requests that it concerned while open
    answered: int = 0
    frames: int = 0
    counts: dict[tuple[str, int], dict[int, int]] = field(default_factory=dict)  # of each stream: frame → the how manieth for it
    refused: Refusal | None = None


@dataclass(slots=True)
class Schedule:
    """The plan's faults over time. `faults` keep their index for ever: entries of the history refer to it.

    `namespace` is the trial's: requests elsewhere do not count, and frames from elsewhere do not count as firing (the streams of a
    controller that watches all namespaces carry both). Empty counts everything.
    """

    faults: Sequence[AnyFault] = ()
    namespace: str = ""
    _states: list[_State] = field(init=False)
    _expired: dict[tuple[str, str, str], Expiry] = field(default_factory=dict)
    _revisions: dict[int, int] = field(default_factory=dict)
    _past: set[tuple[str, str, int]] = field(default_factory=set)
    _streams: dict[str, int] = field(default_factory=dict)
    _news: list[Change] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.faults = list(self.faults)
        self._states = [_State() for _ in self.faults]

    # --- time

    def begin_step(self, step: int, now: float, *, revision: int | None = None) -> list[Change]:
        """A step begins: windows that end here close first, then windows that start here open.

        `revision` is the API server's at this moment; without it no past snapshot of this step can be shown.
        """
        if revision is not None:
            self._revisions[step] = revision
        changes: list[Change] = []
        for index, fault in enumerate(self.faults):
            if fault.window.until_step is not None and step >= fault.window.until_step:
                changes += self._close(index)
        for index, fault in enumerate(self.faults):
            if self._states[index].phase == "waiting" and step >= fault.window.from_step:
                changes += self._arm(index, f"step {step}", now)
        return changes

    def add(self, fault: AnyFault, now: float) -> tuple[int, list[Change]]:
        """One more fault, open from now on, whatever its window's steps are."""
        self.faults = [*self.faults, fault]
        self._states.append(_State())
        index = len(self.faults) - 1
        return index, self._arm(index, "asked for", now)

    def remove(self, index: int) -> list[Change]:
        """Close the fault for good."""
        return self._close(index)

    def tick(self, now: float) -> list[Change]:
        """Close what has been open for as long as its window says."""
        late = [i for i, due in self._limits() if due <= now]
        return [change for index in late for change in self._close(index)]

    def deadline(self) -> float | None:
        """When `tick` is due next; None when no open fault is limited in seconds."""
        return min((due for _, due in self._limits()), default=None)

    def release(self) -> list[Change]:
        """The plan is over: everything closes."""
        return [change for index in range(len(self.faults)) for change in self._close(index)]

    def take_news(self) -> list[Change]:
        """What changed while frames and requests were decided, since the last time."""
        news, self._news = self._news, []
        return news

    # --- streams

    def seat(self, request: ApiRequest) -> Seat:
        """The place of a stream that is open, or being opened, among those of its resource."""
        ordinal = self._streams[request.resource] = self._streams.get(request.resource, 0) + 1
        past = request.start is not None and (*_collection(request), request.start) in self._past
        return Seat(request, ordinal, past)

    def decide_for(self, seat: Seat) -> Decide:
        """The question that this stream's gate asks for each frame."""
        mine = [(index, fault) for index, fault in enumerate(self.faults) if fault.concerns_stream(seat)]

        def decide(frame: Frame, nth: int, burst: bool) -> Ruling:  # noqa: FBT001  # the gate's question
            for index, fault in mine:
                state = self._states[index]
                if state.phase != "open" or not fault.concerns_frame(frame):
                    continue
                ours = self._is_mine(frame.namespace)
                state.frames += frame.is_event and ours
                number = _count(fault, state, seat, nth) if ours else 0
                decision: FrameDecision = fault.on_frame(frame, Place(seat, number, burst))
                if isinstance(decision, Refusal):
                    self.refuse(index, decision, f"{frame.type} of {seat.request.resource}")
                elif not isinstance(decision, Pass):
                    return decision, index
            return Pass(), None

        return decide

    def acts_on(self, fault: int, seat: Seat) -> bool:
        """Whether opening or closing the fault is any of this stream's business."""
        return self.faults[fault].concerns_stream(seat)

    # --- requests

    def asked(self, request: ApiRequest, now: float) -> list[Change]:
        """The controller asks for something, which has not been forwarded yet: does that open a fault?"""
        changes: list[Change] = []
        for index, fault in enumerate(self.faults):
            state, trigger = self._states[index], fault.trigger
            if state.phase != "armed" or trigger is None or not self._commits(request):
                continue
            if (request.resource, request.verb) == (fault.resource, trigger.verb):
                state.triggers += 1
                if state.triggers == trigger.nth:
                    changes += self._open(index, f"own {trigger.verb} number {trigger.nth} of {fault.resource}", now)
        return changes

    def on_request(self, request: ApiRequest, counted: dict[int, int] | None = None) -> Called:
        """What happens to it before it is forwarded.

        `counted` is the caller's, the same one for every time that it asks about one request, which counts only once.
        """
        counted = {} if counted is None else counted
        for index, fault in self._open_for(request):
            state = self._states[index]
            if index not in counted:
                state.asked += 1
                counted[index] = state.asked
            decision = fault.on_request(request, counted[index])
            if isinstance(decision, FromPast) and decision.step not in self._revisions:
                decision = Refusal("", f"the revision at the beginning of step {decision.step} is not known")
            if isinstance(decision, Refusal):
                self.refuse(index, decision, f"{request.verb} {request.resource}")
            elif not isinstance(decision, Pass):
                return decision, index
        return Pass(), None

    def on_answer(self, request: ApiRequest) -> Called:
        """What happens to the answer of the API server, which has executed it."""
        for index, fault in self._open_for(request):
            state = self._states[index]
            state.answered += 1
            decision = fault.on_answer(request, state.answered)
            if not isinstance(decision, Pass):
                return decision, index
        return Pass(), None

    def is_open(self, fault: int) -> bool:
        return self._states[fault].phase == "open"

    @property
    def refuses_connections(self) -> bool:
        return any(fault.refuses_connections and self.is_open(index) for index, fault in enumerate(self.faults))

    def revision_at(self, step: int) -> int:
        """The API server's revision at the beginning of a step; `on_request` has made sure that it is known."""
        return self._revisions[step]

    def gave_past(self, request: ApiRequest, revision: int) -> None:
        """The client has been given the collection as of this revision, and will go on from there."""
        self._past.add((*_collection(request), revision))

    # --- history that is gone

    def expire(self, request: ApiRequest, expiry: Expiry) -> None:
        """A stream of this request ended for lack of history: so does every resumption from there, until the client lists again."""
        self._expired[_scope(request)] = expiry

    def listed(self, request: ApiRequest) -> None:
        """The client has been given the current state: it may watch from there."""
        self._expired.pop(_scope(request), None)

    def expiry(self, request: ApiRequest) -> Expiry | None:
        """Whether this WATCH is answered 410, and how.

        Only one that resumes from a revision can be too old (legality row 11), and one from a newer revision than any that the
        client had then is not.
        """
        expiry = self._expired.get(_scope(request)) if request.is_watch else None
        return expiry if expiry is not None and request.start is not None and request.start <= expiry.upto else None

    # --- did it happen

    def fires(self, fault: int, frame: Frame | None) -> bool:
        """Whether this is the first time that the fault does something that the controller can notice.

        `frame` is what it did it to; None stands for a stream, a connection or a request. Keeping back a bookmark changes nothing
        by itself, unless dropping bookmarks is what the fault is for.
        """
        state = self._states[fault]
        noticed = frame is None or (frame.is_event and self._is_mine(frame.namespace))
        noticed = noticed or (frame is not None and frame.initial_end)
        if state.fired or not (noticed or isinstance(self.faults[fault], DropBookmarks)):
            return False
        state.fired = True
        return True

    def missed(self, index: int) -> str:
        """Why the fault did not fire, in words; empty when it did, was refused, may yet (at a resumption), or the runner knows."""
        fault, state = self.faults[index], self._states[index]
        if any(expiry.fault == index for expiry in self._expired.values()):
            return ""
        if state.fired or state.refused is not None or fault.executed_by == "runner":
            return ""
        if state.opened_at is not None:
            return _nothing_came(fault, state)
        if fault.trigger is not None and (state.triggers or state.phase == "armed"):
            return f"own {fault.trigger.verb} number {fault.trigger.nth} of {fault.resource} never came ({state.triggers} came)"
        if fault.trigger is not None:
            return f"own {fault.trigger.verb} number {fault.trigger.nth} of {fault.resource} did not come within its window"
        return f"step {fault.window.from_step} never began"

    def describe(self, index: int) -> dict[str, str]:
        """Where it stands, for people: `phase`, and `outcome` (fired, refused, not fired) with the reason."""
        state = self._states[index]
        refused = f"{state.refused.why}" if state.refused is not None and not state.fired else ""
        outcome = "fired" if state.fired else "refused" if refused else "not fired"
        return {"phase": state.phase, "outcome": outcome, "why": refused or self.missed(index)}

    def has_spoiled(self, seat: Seat) -> bool:
        """Whether a hostile fault has acted on streams like this one, whose client may believe anything now."""
        spoilers = (fault for fault, state in zip(self.faults, self._states, strict=True) if fault.breaks and state.fired)
        return any(fault.concerns_stream(seat) for fault in spoilers)

    def may_break(self, property_: str) -> bool:
        """Whether a (hostile) fault of the plan is there to break this property of a watch."""
        return any(fault.breaks == property_ for fault in self.faults)

    # --- inside

    def _open_for(self, request: ApiRequest) -> Iterable[tuple[int, AnyFault]]:
        if not self._is_mine(request.namespace):
            return
        for index, fault in enumerate(self.faults):
            if self._states[index].phase == "open" and fault.concerns_request(request):
                yield index, fault

    def refuse(self, index: int, refusal: Refusal, on: str) -> None:
        """The fault could not do what it decided to do, and did nothing."""
        state = self._states[index]
        if state.refused is None:
            state.refused = refusal
            self._news.append(FaultIsRefused(index, on, refusal))

    def _commits(self, request: ApiRequest) -> bool:
        """Whether a write of this kind changes an object of the trial: not a dry run, not a subresource, not elsewhere."""
        return request.is_write and not request.subresource and "dryRun" not in request.query and self._is_mine(request.namespace)

    def _is_mine(self, namespace: str) -> bool:
        return not self.namespace or namespace in ("", self.namespace)

    def _limits(self) -> Iterable[tuple[int, float]]:
        for index, (fault, state) in enumerate(zip(self.faults, self._states, strict=True)):
            if state.phase == "open" and state.opened_at is not None and fault.window.seconds is not None:
                yield index, state.opened_at + fault.window.seconds

    def _arm(self, index: int, why: str, now: float) -> list[Change]:
        self._states[index].phase = "armed"
        return [] if self.faults[index].trigger else self._open(index, why, now)

    def _open(self, index: int, why: str, now: float) -> list[Change]:
        state, fault = self._states[index], self.faults[index]
        state.phase, state.opened_at = "open", now
        return [FaultOpens(index, why, fault.on_open)]

    def _close(self, index: int) -> list[Change]:
        state = self._states[index]
        was, state.phase = state.phase, "closed"
        closes: list[Change] = [FaultCloses(index, self.faults[index].on_close)] if was == "open" else []
        return closes if was == "closed" else [*closes, FaultEnds(index)]


def _count(fault: AnyFault, state: _State, seat: Seat, frame: int) -> int:
    """The how manieth of the frames that concern the fault this one is, on its stream; the same whenever it is asked again.

    Numbers behind the one that the fault waits for are not remembered: they are all the same to it.
    """
    wanted: int = getattr(fault, "nth", None) or 0
    counts = state.counts.setdefault((seat.request.resource, seat.ordinal), {})
    if frame in counts:
        return counts[frame]
    number = len(counts) + 1
    if number <= wanted:
        counts[frame] = number
    return number


def _nothing_came(fault: AnyFault, state: _State) -> str:
    if isinstance(fault, CallFault):
        met = f"{state.asked} came while it was open, of which {state.answered} were executed and answered"
        return f"it waited for number {fault.nth} of the requests that it concerns: {met}"
    if fault.refuses_connections:
        return "nobody was connected when it opened"
    if state.frames:
        return f"{state.frames} events of {fault.resource} came while it was open, none that it acts on"
    return f"no event of {fault.resource} and no request that it acts on came while it was open"


def _scope(request: ApiRequest) -> tuple[str, str, str]:
    return request.resource, request.namespace, request.selector


def _collection(request: ApiRequest) -> tuple[str, str]:
    return request.resource, request.namespace
