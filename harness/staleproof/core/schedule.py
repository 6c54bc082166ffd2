"""Which of the plan's faults are open now, and what follows from that for each stream and request.

The proxy reports what happens (a step begins, the controller asks for a write, a client opens a watch or has been given a list)
and does what the schedule answers. The schedule never waits: seconds windows are closed by `tick`, and `deadline` says when the
next tick is due.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from staleproof.core.fault import AnyFault, DropBookmarks, End, Pass
from staleproof.core.frame import Frame
from staleproof.core.gate import Decide, Ruling
from staleproof.core.request import ApiRequest


@dataclass(frozen=True, slots=True)
class FaultOpens:
    """The fault acts from now on; `ends` says how the open streams of its resource end at this moment, if they do."""

    fault: int
    why: str
    ends: End | None


@dataclass(frozen=True, slots=True)
class FaultCloses:
    """The fault stops acting; streams that hold frames because of it end as `ends` says, or else let them go."""

    fault: int
    ends: End | None


Change = FaultOpens | FaultCloses


@dataclass(slots=True)
class _State:
    fired: bool = False
    phase: str = "waiting"  # waiting → armed → open → closed; armed: the window is open, the trigger has not come
    asked: int = 0
    opened_at: float = 0.0


@dataclass(slots=True)
class Schedule:
    """The plan's faults over time. `faults` keep their index for ever: entries of the history refer to it.

    `namespace` is the trial's: writes elsewhere do not count as own writes, and frames from elsewhere do not count as firing
    (the streams of a controller that watches all namespaces carry both). Empty counts everything.
    """

    faults: Sequence[AnyFault] = ()
    namespace: str = ""
    _states: list[_State] = field(init=False)
    _expired: set[tuple[str, str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._states = [_State() for _ in self.faults]

    def begin_step(self, step: int, now: float) -> list[Change]:
        """A step begins: windows that end here close first, then windows that start here open."""
        changes: list[Change] = []
        for index, fault in enumerate(self.faults):
            if fault.window.until_step is not None and step >= fault.window.until_step:
                changes += self._close(index)
        for index, fault in enumerate(self.faults):
            if self._states[index].phase == "waiting" and step >= fault.window.from_step:
                changes += self._arm(index, step, now)
        return changes

    def asked(self, request: ApiRequest, now: float) -> list[Change]:
        """The controller asks for a write, which has not been forwarded yet."""
        changes: list[Change] = []
        for index, fault in enumerate(self.faults):
            state, trigger = self._states[index], fault.trigger
            if state.phase != "armed" or trigger is None or not self._commits(request):
                continue
            if (request.resource, request.verb) == (fault.resource, trigger.verb):
                state.asked += 1
                if state.asked == trigger.nth:
                    changes += self._open(index, f"own {trigger.verb} number {trigger.nth} of {fault.resource}", now)
        return changes

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

    def open_for(self, resource: str) -> list[int]:
        """The open faults that act on this resource's streams, in plan order."""
        return [i for i, fault in enumerate(self.faults) if self._states[i].phase == "open" and fault.resource == resource]

    def decide_for(self, resource: str) -> Decide:
        """The question a gate of this resource asks for each frame: the first decision that is not Pass wins."""
        mine = [(i, fault) for i, fault in enumerate(self.faults) if fault.resource == resource]

        def decide(frame: Frame, nth: int) -> Ruling:
            for index, fault in mine:
                if self._states[index].phase == "open":
                    decision = fault.decide(frame, nth)
                    if not isinstance(decision, Pass):
                        return decision, index
            return Pass(), None

        return decide

    def fires(self, fault: int, frame: Frame | None) -> bool:
        """Whether this is the first time that the fault does something that the controller can notice.

        `frame` is what it did it to; None stands for a stream that it ended. Keeping back a bookmark changes nothing by itself,
        unless dropping bookmarks is what the fault is for.
        """
        state = self._states[fault]
        noticed = frame is None or (frame.is_event and self._is_mine(frame.namespace))
        if state.fired or not (noticed or isinstance(self.faults[fault], DropBookmarks)):
            return False
        state.fired = True
        return True

    def expire(self, request: ApiRequest) -> None:
        """A stream of this request ended with 410: so does every resumption, until the client lists again."""
        self._expired.add(_scope(request))

    def listed(self, request: ApiRequest) -> None:
        """The client has been given the current state: it may watch from there."""
        self._expired.discard(_scope(request))

    def is_expired(self, request: ApiRequest) -> bool:
        """Whether this WATCH is answered 410. Only a WATCH that resumes from a revision can be too old (legality row 11)."""
        return request.start is not None and _scope(request) in self._expired

    def _commits(self, request: ApiRequest) -> bool:
        """Whether a write of this kind changes an object of the trial: not a dry run, not a subresource, not elsewhere."""
        return not request.subresource and "dryRun" not in request.query and self._is_mine(request.namespace)

    def _is_mine(self, namespace: str) -> bool:
        return not self.namespace or namespace in ("", self.namespace)

    def _limits(self) -> Iterable[tuple[int, float]]:
        for index, (fault, state) in enumerate(zip(self.faults, self._states, strict=True)):
            if state.phase == "open" and fault.window.seconds is not None:
                yield index, state.opened_at + fault.window.seconds

    def _arm(self, index: int, step: int, now: float) -> list[Change]:
        self._states[index].phase = "armed"
        return [] if self.faults[index].trigger else self._open(index, f"step {step}", now)

    def _open(self, index: int, why: str, now: float) -> list[Change]:
        state, fault = self._states[index], self.faults[index]
        state.phase, state.opened_at = "open", now
        return [FaultOpens(index, why, fault.on_open)]

    def _close(self, index: int) -> list[Change]:
        state = self._states[index]
        was_open, state.phase = state.phase == "open", "closed"
        return [FaultCloses(index, self.faults[index].on_close)] if was_open else []


def _scope(request: ApiRequest) -> tuple[str, str, str]:
    return request.resource, request.namespace, request.selector
