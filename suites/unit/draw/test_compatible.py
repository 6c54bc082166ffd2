"""Incidents that go together: none takes the occasion of another, or what a step is about."""

import pytest
from msgspec import structs

from staleproof.core.fault import (
    Compete,
    Expire,
    HideOwnWrite,
    HoldStream,
    Kill,
    LoseAnswer,
    OwnWrite,
    Reject,
    Restart,
    SeverStream,
    Window,
)
from staleproof.core.plan.step import Apply, Delete, Edit, Remove, Step, Touch
from staleproof.draw.compatible import compatible
from staleproof.draw.incidents.single import Faults

from .seen import MAPS, MOVE, PODS, TARGET, WIDGETS, sample, widgets

HELD_STREAM, DOWN = HoldStream(resource=WIDGETS, window=Window(1)), Restart(stays_down=True, window=Window(2, 3))
UPDATED, SEVERED = OwnWrite("update"), SeverStream(resource=PODS, nth=1, window=Window(3, 4))
STEPS_WITH_A_CHILD = (Apply(object=sample(3)), Touch(target=TARGET), Remove(resource=PODS), Touch(target=TARGET))
STEPS_WITH_AN_END = (Apply(object=sample(3)), Delete(target=TARGET), Apply(object=sample(3)), Touch(target=TARGET))


@pytest.mark.parametrize(
    ("incidents", "steps", "kept"),
    [
        ([(HideOwnWrite(resource=PODS),), (HideOwnWrite(resource=PODS, write=UPDATED),)], STEPS_WITH_A_CHILD, 1),
        ([(HideOwnWrite(resource=PODS), HideOwnWrite(resource=MAPS))], STEPS_WITH_AN_END[2:], 2),  # they come together
        ([(HideOwnWrite(resource=PODS),), (Restart(window=Window(2)),)], STEPS_WITH_A_CHILD, 2),
        ([(Restart(window=Window(2)),), (Kill(resource=PODS),)], STEPS_WITH_A_CHILD, 1),
        ([(HELD_STREAM,), (LoseAnswer(resource=PODS, verb="create"),)], STEPS_WITH_A_CHILD, 1),
        ([(Expire(resource="*", window=Window(2)),), (HELD_STREAM,)], STEPS_WITH_A_CHILD, 1),
        ([(DOWN,), (HELD_STREAM,)], STEPS_WITH_A_CHILD, 0),  # what is to be deleted may not be there
        ([(HideOwnWrite(resource=WIDGETS, write=UPDATED),)], STEPS_WITH_A_CHILD, 0),  # it may wait for that, and make no child
        ([(Compete(resource=WIDGETS, edit=MOVE.do),), (HoldStream(resource=PODS, window=Window(2)),)], STEPS_WITH_AN_END, 1),
        ([(Compete(resource=WIDGETS),), (HoldStream(resource=PODS, window=Window(2)),)], STEPS_WITH_AN_END[2:], 2),
        ([(Reject(resource=PODS, verb="delete", window=Window(3)),), (SEVERED,)], STEPS_WITH_A_CHILD, 1),
        ([(Reject(resource=MAPS, verb="delete", window=Window(3)),), (SEVERED,)], STEPS_WITH_A_CHILD, 2),
        (
            [(DOWN,)],
            (*STEPS_WITH_A_CHILD[:2], Edit(resource=MAPS, patch={"data": {"content": "first-edited"}}), STEPS_WITH_A_CHILD[1]),
            0,
        ),  # nor what is to be edited
        ([(DOWN,)], STEPS_WITH_AN_END, 0),  # what would remove the finalizer?
        ([(structs.replace(DOWN, window=Window(3, 4)),)], STEPS_WITH_AN_END, 1),
        ([(Restart(window=Window(2)),)], STEPS_WITH_AN_END, 1),
        ([(HideOwnWrite(resource=WIDGETS, write=UPDATED, window=Window(2)),)], STEPS_WITH_AN_END, 1),  # only that it is gone
        ([(HoldStream(resource=WIDGETS, window=Window(2)),)], STEPS_WITH_AN_END, 0),
    ],
)
def test_no_fault_takes_the_occasion_of_another_or_of_a_step(incidents: list[Faults], steps: tuple[Step, ...], kept: int) -> None:
    assert len(compatible(incidents, widgets(), steps, most=3)) == kept
