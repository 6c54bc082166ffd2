"""Which of the plan's faults are open now, and what follows from that for each stream and request.

The proxy reports what happens (a step begins, the controller asks for something, a client opens a watch or has been given a list)
and does what the schedule answers. Faults are asked in plan order; the first decision that is not Pass wins. The schedule never
waits: windows in seconds are closed by `tick`, and `deadline` says when the next tick is due.

Of each fault the schedule knows in the end whether it fired, and if not, why: it was refused because it would have been hostile to
the request at hand, or nothing came that it could act on.
"""

from collections.abc import Iterator, Sequence

from staleproof.core.control import FaultState
from staleproof.core.engine.expiry import Expiries
from staleproof.core.engine.gate import Decide, Ruling
from staleproof.core.engine.planned_fault import FaultChange, FaultCloses, FaultEnds, FaultOpens, FaultRef, PlannedFault
from staleproof.core.fault import AnyFault, DropBookmarks, Place, Seat
from staleproof.core.fault.decision import AnswerDecision, FrameDecision, FromPast, Pass, Refusal, RequestDecision, Sever
from staleproof.core.history.entry import FaultClosed, FaultFired, FaultIndex, FaultMissed, FaultOpened, FaultRefused
from staleproof.core.history.frame import Frame
from staleproof.core.history.request import BOOKKEEPING, ApiRequest
from staleproof.core.history.scope import is_trials

RequestRuling = tuple[RequestDecision | AnswerDecision, FaultRef | None]
"""A decision about a request or its answer, and the fault that made it."""


class Schedule:
    """The plan's faults over time. They keep their number for ever: entries of the history refer to it.

    `namespace` is the trial's: requests elsewhere do not count, and frames from elsewhere do not count as firing (the streams of a
    controller that watches all namespaces carry both). But where the controller makes something, that is the trial's, too, unless
    it is another trial's; and what an API server does to all of its clients, it does everywhere. Empty counts everything.

    `plan` is the number of this installation: each has another.
    """

    def __init__(self, faults: Sequence[AnyFault] = (), namespace: str = "", *, plan: int = 0) -> None:
        self.plan = plan
        self.expiries = Expiries()
        self._namespace, self._namespaces = namespace, {"", namespace}
        self._faults = [PlannedFault(FaultRef(plan, FaultIndex(number)), fault) for number, fault in enumerate(faults)]
        self._revisions: dict[int, int] = {}
        self._past: set[tuple[str, str, str, int]] = set()
        self._streams: dict[tuple[str, str], int] = {}
        self._refused: list[tuple[FaultRef, Refusal, str]] = []

    def __len__(self) -> int:
        """How many faults there are."""
        return len(self._faults)

    # --- time

    def begin_step(self, step: int, now: float, *, revision: int | None = None) -> list[FaultChange]:
        """A step begins: windows that end here close first, then windows that start here open.

        `revision` is the API server's at this moment; without it no past snapshot of this step can be shown.
        """
        if revision is not None:
            self._revisions[step] = revision
        changes: list[FaultChange] = []
        for planned in self._faults:
            until = planned.fault.window.until_step
            if until is not None and step >= until:
                changes += planned.close()
        for planned in self._faults:
            if planned.phase == "waiting" and step >= planned.fault.window.from_step:
                changes += planned.arm(f"step {step}", now)
        return changes

    def add(self, fault: AnyFault, now: float) -> tuple[FaultRef, list[FaultChange]]:
        """One more fault, open from now on, whatever its window's steps are."""
        planned = PlannedFault(FaultRef(self.plan, FaultIndex(len(self._faults))), fault)
        self._faults.append(planned)
        return planned.ref, planned.arm("asked for", now)

    def remove(self, number: int) -> list[FaultChange]:
        """Close the fault for good."""
        return self._faults[number].close()

    def tick(self, now: float) -> list[FaultChange]:
        """Close what has been open for as long as its window says."""
        late = [planned for planned in self._faults if planned.due is not None and planned.due <= now]
        return [change for planned in late for change in planned.close()]

    def deadline(self) -> float | None:
        """When `tick` is due next; None when no open fault is limited in seconds."""
        return min((planned.due for planned in self._faults if planned.due is not None), default=None)

    def release(self) -> list[FaultChange]:
        """The plan is over: everything closes."""
        return [change for planned in self._faults for change in planned.close()]

    @property
    def is_over(self) -> bool:
        """Whether every fault has closed for good."""
        return all(planned.phase == "closed" for planned in self._faults)

    def is_open(self, fault: FaultRef) -> bool:
        """Whether it acts now; one of a plan that was replaced never does."""
        planned = self._planned(fault)
        return planned is not None and planned.is_open

    @property
    def refuses_connections(self) -> bool:
        return any(planned.is_open and planned.fault.refuses_connections for planned in self._faults)

    # --- streams

    def seat(self, request: ApiRequest) -> Seat:
        """The place of a stream that is open, or being opened, among those of its program and its resource."""
        whose = request.program, request.resource
        ordinal = self._streams[whose] = self._streams.get(whose, 0) + 1
        past = request.start is not None and (*_collection(request), request.start) in self._past
        return Seat(request, ordinal, past)

    def decide_for(self, seat: Seat) -> Decide:
        """The question that this stream's gate asks for each frame, of the faults that there are now."""
        mine = [planned for planned in self._faults if planned.fault.concerns_stream(seat)]

        def decide(frame: Frame, nth: int, burst: bool) -> Ruling:  # noqa: FBT001  # the gate's question
            for planned in mine:
                if not planned.is_open or not planned.fault.concerns_frame(frame):
                    continue
                ours = self._is_mine(frame.namespace)
                planned.events += frame.is_event and ours
                ordinal = planned.ordinal(seat, nth) if ours else 0
                decision: FrameDecision = planned.fault.on_frame(frame, Place(seat, ordinal, burst))
                if isinstance(decision, Refusal):
                    self.refuse(planned.ref, decision, f"{frame.type} of {seat.request.resource}")
                elif not isinstance(decision, Pass) and (not isinstance(decision, Sever) or planned.may_end(seat)):
                    return decision, planned.ref
            return Pass(), None

        return decide

    def concerns(self, fault: FaultRef, seat: Seat) -> bool:
        """Whether opening or closing the fault is any of this stream's business."""
        return self._faults[fault.number].fault.concerns_stream(seat)

    # --- requests

    def triggered_by(self, request: ApiRequest, now: float) -> list[FaultChange]:
        """The controller asks for something, which has not been forwarded yet: does that open a fault?"""
        if self._makes(request):
            self._namespaces.add(request.namespace)
        changes: list[FaultChange] = []
        changes_trial = request.is_write and not request.dry_run and self._concerns_trial(request)
        for planned in self._faults if changes_trial else ():
            fault, trigger = planned.fault, planned.fault.trigger
            if planned.phase != "armed" or trigger is None or not fault.happens_to(request.program):
                continue
            kind = (request.resource, request.verb, request.subresource)
            if kind == (fault.resource, trigger.verb, trigger.subresource):
                planned.triggers += 1
                if planned.triggers == trigger.nth:
                    changes.append(planned.open(f"{trigger.phrase} of {fault.resource}", now))
        return changes

    def on_request(self, request: ApiRequest, counted: dict[FaultRef, int] | None = None) -> RequestRuling:
        """What happens to it before it is forwarded.

        `counted` is the caller's, the same one for every time that it asks about one request, which counts only once.
        """
        counted = {} if counted is None else counted
        for planned in self._open_for(request):
            if planned.ref not in counted:
                planned.requests += 1
                counted[planned.ref] = planned.requests
            decision = planned.fault.on_request(request, counted[planned.ref])
            if isinstance(decision, FromPast) and decision.step not in self._revisions:
                decision = Refusal("", f"the revision at the beginning of step {decision.step} is not known")
            if isinstance(decision, Refusal):
                self.refuse(planned.ref, decision, f"{request.verb} {request.resource}")
            elif not isinstance(decision, Pass):
                return decision, planned.ref
        return Pass(), None

    def on_answer(self, request: ApiRequest) -> RequestRuling:
        """What happens to the answer of the API server, which has executed it."""
        for planned in self._open_for(request):
            planned.answered += 1
            decision = planned.fault.on_answer(request, planned.answered)
            if not isinstance(decision, Pass):
                return decision, planned.ref
        return Pass(), None

    def leaves_alone(self, request: ApiRequest) -> bool:
        """Whether no fault of the plan, open or yet to open, has anything to do with this request or its answer."""
        return not any(each.phase != "closed" and self._meets(request, each.fault) for each in self._faults)

    def revision_at(self, step: int) -> int:
        """The API server's revision at the beginning of a step; `on_request` has made sure that it is known."""
        return self._revisions[step]

    def gave_past(self, request: ApiRequest, revision: int) -> None:
        """The client has been given the collection as of this revision, and will go on from there."""
        self._past.add((*_collection(request), revision))

    # --- what the history says of the faults

    def number(self, fault: FaultRef | None) -> FaultIndex | None:
        """How entries call this fault; None when it is of a plan that has been replaced."""
        return fault.number if fault is not None and fault.plan == self.plan else None

    def entries_about(self, change: FaultChange, now: float) -> list[FaultOpened | FaultClosed | FaultMissed]:
        """The entry about a change, as soon as it has been carried out; none about a fault that ends and was not missed."""
        match change:
            case FaultOpens(fault, why):
                return [FaultOpened(at=now, fault=fault.number, why=why)]
            case FaultCloses(fault):
                return [FaultClosed(at=now, fault=fault.number)]
            case FaultEnds(fault):
                why = self.missed(fault.number)
                return [FaultMissed(at=now, fault=fault.number, why=why)] if why else []

    def fires(self, fault: FaultRef | None, on: str, now: float, *, frame: Frame | None = None) -> list[FaultFired]:
        """The entry about it, when this is the first time that the fault does something that the controller can notice.

        `frame` is what it did it to; None stands for a stream, a connection or a request. Keeping back a bookmark changes nothing
        by itself, unless dropping bookmarks is what the fault is for. A fault of a plan that has been replaced does not fire.
        """
        planned = self._planned(fault)
        if planned is None or planned.fired:
            return []
        noticed = frame is None or frame.initial_end or (frame.is_event and self._is_mine(frame.namespace))
        if not (noticed or isinstance(planned.fault, DropBookmarks)):
            return []
        planned.fired, planned.acted_at = True, now
        return [FaultFired(at=now, fault=planned.ref.number, on=on)]

    def refuse(self, fault: FaultRef | None, refusal: Refusal, on: str) -> None:
        """The fault was asked for something that would be hostile, or cannot be done, and did nothing. Recorded once a fault."""
        planned = self._planned(fault)
        if planned is not None and planned.refused is None:
            planned.refused = refusal
            self._refused.append((planned.ref, refusal, on))

    def news(self, now: float) -> list[FaultRefused]:
        """The entries about faults that were refused while frames and requests were decided, since the last time."""
        found, self._refused = self._refused, []
        return [FaultRefused(at=now, fault=ref.number, on=on, row=refusal.row, why=refusal.why) for ref, refusal, on in found]

    def missed(self, number: int) -> str:
        """Why the fault did not fire, in words; empty when it did, was refused, may yet (at a resumption), or the runner knows."""
        planned = self._faults[number]
        return "" if self.expiries.names(planned.ref) else planned.missed()

    def states(self) -> list[FaultState]:
        """Where each fault stands, for people."""
        return [planned.state(self.missed(planned.ref.number)) for planned in self._faults]

    def has_spoiled(self, seat: Seat) -> bool:
        """Whether a hostile fault has acted on streams like this one, whose client may believe anything now."""
        return any(planned.fired and planned.fault.breaks and planned.fault.concerns_stream(seat) for planned in self._faults)

    def may_break(self, property_: str) -> bool:
        """Whether a (hostile) fault of the plan is there to break this property of a watch."""
        return any(planned.fault.breaks == property_ for planned in self._faults)

    # --- inside

    def _planned(self, fault: FaultRef | None) -> PlannedFault | None:
        number = self.number(fault)
        return None if number is None else self._faults[number]

    def _open_for(self, request: ApiRequest) -> Iterator[PlannedFault]:
        for planned in self._faults:
            if planned.is_open and self._meets(request, planned.fault):
                yield planned

    def _meets(self, request: ApiRequest, fault: AnyFault) -> bool:
        return fault.concerns_request(request) and (fault.shared or self._concerns_trial(request))

    def _concerns_trial(self, request: ApiRequest) -> bool:
        return self._is_mine(request.namespace) or self._makes(request)

    def _makes(self, request: ApiRequest) -> bool:
        """Whether the controller makes something for the trial there, or may do so."""
        may_make = (request.verb == "create" or request.applies) and not request.subresource
        is_work = not request.dry_run and request.resource not in BOOKKEEPING
        return may_make and is_work and not is_trials(request.namespace)

    def _is_mine(self, namespace: str) -> bool:
        return not self._namespace or namespace in self._namespaces


def _collection(request: ApiRequest) -> tuple[str, str, str]:
    return request.program, request.resource, request.namespace
