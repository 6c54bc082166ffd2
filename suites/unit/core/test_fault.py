"""What each fault decides: one table, one row for everything it can be asked."""

import pytest

from staleproof.core.fault import (
    DROP,
    FAULTS,
    HOLD,
    PASS,
    AnyFault,
    Decision,
    Delay,
    DelayStream,
    DropBookmarks,
    End,
    Expire,
    HideOwnWrite,
    HoldStream,
    OwnWrite,
    Sever,
    SeverStream,
    Window,
    _Fault,
)
from staleproof.core.frame import Frame

EVENT = Frame("ADDED", "a", "x", "u", 5, initial_end=False, raw=b"")
BOOKMARK = Frame("BOOKMARK", "", "", "", 6, initial_end=False, raw=b"")
INITIAL_END = Frame("BOOKMARK", "", "", "", 6, initial_end=True, raw=b"")


@pytest.mark.parametrize(
    ("fault", "decisions", "on_open", "on_close"),
    [
        # fault, (first frame: an event; second: a bookmark; third: the end of the initial events), on_open, on_close
        (HoldStream(resource="pods"), (HOLD, HOLD, HOLD), None, None),
        (HoldStream(resource="pods", release="relist"), (HOLD, HOLD, HOLD), None, "expired"),
        (HoldStream(resource="pods", release="resume"), (HOLD, HOLD, HOLD), None, "clean"),
        (HideOwnWrite(resource="pods"), (HOLD, HOLD, HOLD), None, None),
        (HideOwnWrite(resource="pods", release="relist"), (HOLD, HOLD, HOLD), None, "expired"),
        (HideOwnWrite(resource="pods", release="resume"), (HOLD, HOLD, HOLD), None, "clean"),
        (DelayStream(resource="pods", by_seconds=0.5), (Delay(0.5), Delay(0.5), Delay(0.5)), None, None),
        (SeverStream(resource="pods"), (PASS, PASS, PASS), "clean", None),
        (SeverStream(resource="pods", how="reset"), (PASS, PASS, PASS), "reset", None),
        (SeverStream(resource="pods", how="reset", nth=2), (PASS, Sever("reset"), PASS), None, None),
        (Expire(resource="pods"), (PASS, PASS, PASS), "expired", None),
        (Expire(resource="pods", nth=3), (PASS, PASS, Sever("expired")), None, None),
        (DropBookmarks(resource="pods"), (PASS, DROP, PASS), None, None),
    ],
    ids=repr,
)
def test_decisions(
    fault: AnyFault, decisions: tuple[Decision, Decision, Decision], on_open: End | None, on_close: End | None
) -> None:
    assert tuple(fault.decide(frame, nth) for nth, frame in enumerate([EVENT, BOOKMARK, INITIAL_END], 1)) == decisions
    assert (fault.on_open, fault.on_close) == (on_open, on_close)


def test_only_hiding_an_own_write_waits_for_a_trigger() -> None:
    write = OwnWrite("update", 2)
    assert HideOwnWrite(resource="pods", write=write).trigger == write
    assert [fault.trigger for fault in (HoldStream(resource="pods"), Expire(resource="pods"))] == [None, None]


def test_the_fault_that_does_nothing() -> None:
    nothing = _Fault(resource="pods")
    assert nothing.decide(EVENT, 1) == PASS
    assert (nothing.trigger, nothing.on_open, nothing.on_close) == (None, None, None)
    assert nothing.window == Window(from_step=1, until_step=None, seconds=None)


@pytest.mark.parametrize(("name", "kind"), FAULTS.items())
def test_a_fault_goes_by_its_tag_and_names_its_contract(name: str, kind: type[AnyFault]) -> None:
    assert kind.__struct_config__.tag == name
    assert kind.contract in ("legal", "hostile")
    assert kind.row != "-"


def test_every_fault_of_a_plan_is_in_the_table() -> None:
    assert set(FAULTS.values()) == set(AnyFault.__args__)
