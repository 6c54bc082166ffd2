"""What faults need, and how long they last, in the closed vocabularies that plans are made with."""

from typing import get_args

import pytest

from staleproof.core.fault import Fault, HideOwnWrite, HoldStream, OwnWrite, Pause, Reject, Restart, SeverStream
from staleproof.core.fault.need import Need, Span
from staleproof.core.fault.suggest import FAULTS


def test_every_word_is_used() -> None:
    assert {kind.needs for kind in FAULTS.values()} == set(get_args(Need))
    assert {kind.lasts for kind in FAULTS.values()} == set(get_args(Span))


@pytest.mark.parametrize("kind", FAULTS.values(), ids=FAULTS)
def test_plans_give_values_to_fields_that_there_are(kind: type[Fault]) -> None:
    assert set(kind.tries) <= set(kind.__struct_fields__)
    assert all(kind.tries.values())


@pytest.mark.parametrize(
    ("fault", "kind", "keeps_back", "stops_work"),
    [
        (HoldStream(resource="pods"), "Hold", True, False),
        (HideOwnWrite(resource="pods", write=OwnWrite("delete")), "HideOwnWrite delete", True, False),
        (Reject(resource="pods", verb="create"), "Reject create", False, False),
        (Reject(resource="pods", verb="create", times=None), "Reject create", True, True),
        (Restart(), "Restart", False, False),
        (Restart(stays_down=True), "Restart (down)", True, True),
        (Pause(), "Pause", True, True),
        (SeverStream(resource="pods"), "Sever", False, False),
    ],
)
def test_what_a_controller_can_do_while_a_fault_is_open(fault: Fault, kind: str, *, keeps_back: bool, stops_work: bool) -> None:
    assert (fault.kind, fault.keeps_back, fault.stops_work) == (kind, keeps_back, stops_work)


def test_what_counts_frames_needs_events() -> None:
    assert SeverStream(resource="pods").occasion == "watch"
    assert SeverStream(resource="pods", nth=1).occasion == "event"
