"""What is known of a fault in the end: that it fired, was refused, or why it did neither."""

from dataclasses import replace

import pytest

from staleproof.core.engine.planned_fault import FaultRef
from staleproof.core.engine.schedule import Schedule
from staleproof.core.fault import (
    AnyFault,
    Coalesce,
    Expire,
    HideOwnWrite,
    HoldStream,
    Kill,
    OwnWrite,
    Pause,
    Refuse,
    Reject,
    Seat,
    SeverStream,
    Window,
)
from staleproof.core.history.entry import FaultIndex

from ..fault.asking import ADDED, PODS, request

FIRST = FaultRef(0, FaultIndex(0))
WATCH, LIST = f"GET {PODS}?watch=1&resourceVersion=5", f"GET {PODS}"
CREATE, UPDATE = f"POST {PODS}", f"PUT {PODS}/x"
FRAMES = {"frame": ADDED, "elsewhere": replace(ADDED, namespace="other")}


def hold(step: int) -> HoldStream:
    return HoldStream(resource="pods", window=Window(step))


def hide(nth: int = 1, window: Window | None = None) -> HideOwnWrite:
    return HideOwnWrite(resource="pods", write=OwnWrite("create", nth), window=window or Window())


def stands(schedule: Schedule) -> tuple[str, str, str]:
    """Phase, outcome, and why, of the only fault."""
    (state,) = schedule.states()
    return state.phase, state.outcome, state.why


def run(fault: AnyFault, *happens: str, steps: int = 1) -> Schedule:
    """The plan's only fault, and what happens after the last step has begun: requests by line, `frame`, `elsewhere`."""
    schedule = Schedule([fault], "trial")
    for step in range(1, steps + 1):
        schedule.begin_step(step, 0.0, revision=5 + step)
    decide = schedule.decide_for(Seat(request(WATCH)))
    for what in happens:
        if what in FRAMES:
            decide(FRAMES[what], 1, False)  # noqa: FBT003  # the gate's question
        else:
            schedule.triggered_by(request(what), 0.0)
            schedule.on_request(request(what))
            schedule.on_answer(request(what))
    schedule.release()
    return schedule


NUMBER = (
    "it waited for number {0} of the requests that it concerns: {1} came while it was open, of which {1} were executed and answered"
)
OWN = "own create number 2 of pods"


@pytest.mark.parametrize(
    ("fault", "happens", "steps", "why"),
    [
        (hold(2), (), 1, "step 2 never began"),
        (hold(1), (), 1, "no event of pods and no request that it acts on came while it was open"),
        (hold(1), ("elsewhere",), 1, "no event of pods and no request that it acts on came while it was open"),
        (SeverStream(resource="pods", nth=9), ("frame",), 1, "1 events of pods came while it was open, none that it acts on"),
        (hide(nth=2), (CREATE,), 1, f"{OWN} never came (1 came)"),
        (hide(nth=2), (), 1, f"{OWN} did not come within its window"),
        (hide(nth=2, window=Window(1, 2)), (CREATE, CREATE), 2, f"{OWN} did not come within its window"),
        (hide(), (CREATE,), 1, "no event of pods and no request that it acts on came while it was open"),
        (Reject(resource="pods", verb="update", nth=3), (UPDATE, CREATE, UPDATE), 1, NUMBER.format(3, 2)),
        (Kill(resource="pods", nth=2), (), 1, NUMBER.format(2, 0)),
        (Refuse(), (), 1, "no client was connected when it opened"),
        (Coalesce(resource="pods"), (), 1, "no event of pods and no request that it acts on came while it was open"),
        (Pause(), (), 1, ""),  # the runner knows
    ],
)
def test_why_a_fault_did_not_fire(fault: AnyFault, happens: tuple[str, ...], steps: int, why: str) -> None:
    schedule = run(fault, *happens, steps=steps)
    assert schedule.missed(0) == why
    assert stands(schedule) == ("closed", "not fired", why)


def test_a_fault_that_still_waits_for_a_write_says_so() -> None:
    schedule = Schedule([hide(nth=2)], "trial")
    assert stands(schedule) == ("waiting", "not fired", f"{OWN} did not come within its window")
    schedule.begin_step(1, 0.0)
    assert stands(schedule) == ("armed", "not fired", f"{OWN} never came (0 came)")


def test_what_fired_was_not_missed() -> None:
    schedule = run(hold(1), "frame")
    schedule.fires(FIRST, "", 0.0, frame=ADDED)
    assert (schedule.missed(0), stands(schedule)) == ("", ("closed", "fired", ""))


def test_what_was_refused_was_not_missed() -> None:
    schedule = run(Expire(resource="pods", at="list"), LIST)
    assert schedule.missed(0) == ""
    assert stands(schedule) == ("closed", "refused", "the list can be answered without history")
    schedule.fires(FIRST, "", 0.0)  # another list was answered 410
    assert stands(schedule)[1] == "fired"
