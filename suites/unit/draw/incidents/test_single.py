"""Incidents of one fault: where each is, and that each is a fault that a plan may hold."""

from dataclasses import replace

import pytest
from hypothesis import given

from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    DropBookmarks,
    Expire,
    HideOwnWrite,
    Kill,
    Pause,
    RefuseWatchList,
    Restart,
    SeverStream,
    SlowStart,
    StaleRead,
    Window,
)
from staleproof.core.operator.observed import Calls, Observed
from staleproof.core.plan.step import Apply, Touch
from staleproof.draw.canonical import life
from staleproof.draw.incidents.single import Faults, needs, single
from staleproof.draw.incidents.table import KINDS
from staleproof.draw.occasions import Occasions, occasions

from ..seen import MAPS, PODS, TARGET, WIDGETS, controllers, sample, widgets

EVERYTHING = replace(widgets(), asks_watch_list=True, bookmarked=(PODS,), calls=(Calls(1, "db", 2),))
NOTHING = replace(widgets(watched=()), asks_bookmarks=False)


def at(of: Observed = EVERYTHING) -> Occasions:
    return occasions(of, (Apply(object=sample(3)), of.scale(1), Touch(target=TARGET)))


def every(kind: type[AnyFault], over: Occasions) -> list[Faults]:
    return [faults for need in needs(kind) for faults in single(kind, need, over)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.often], ids=lambda kind: kind.__name__)
def test_every_fault_that_can_come_alone_has_occasions_and_makes_sense(kind: type[AnyFault]) -> None:
    found = every(kind, at())
    assert found
    assert all(not misfit.text for faults in found for fault in faults for misfit in fault.misfits())


@given(controllers())
def test_whatever_a_controller_does_nothing_is_about_what_it_does_not_watch(of: Observed) -> None:
    over = occasions(of, life(of).steps)
    for kind in (HideOwnWrite, SeverStream, Expire, SlowStart):
        assert {faults[0].resource for faults in every(kind, over)} <= {*of.watched, "*"}


def test_a_controller_that_watches_nothing_has_only_its_requests_and_its_process() -> None:
    found = {kind.__name__ for kind in KINDS if kind.often and every(kind, at(NOTHING))}
    assert found == {kind.__name__ for kind in KINDS if kind.often and kind.needs in ("nothing", "write")}


def test_what_has_to_happen_besides_comes_with_it() -> None:
    assert {faults[1] for faults in every(RefuseWatchList, at())} == {Expire(resource="*", window=Window(n, n + 1)) for n in (2, 3)}
    assert {faults[1] for faults in every(SlowStart, at())} == {Restart(window=Window(2)), Restart(window=Window(3))}


def test_frames_and_writes_are_counted() -> None:
    severed = [fault for (fault,) in every(SeverStream, at()) if isinstance(fault, SeverStream) and fault.resource == PODS]
    assert {(fault.nth, fault.times, fault.window.from_step) for fault in severed} == {
        (None, None, 2), (None, None, 3), (1, 1, 2), (2, 1, 2),
    }  # fmt: skip
    killed = [
        fault for (fault,) in every(Kill, at()) if isinstance(fault, Kill) and (fault.resource, fault.verb) == (PODS, "create")
    ]
    assert {fault.nth for fault in killed} == {1, 2, 3}


def test_when_they_are_open() -> None:
    assert {fault.window for (fault,) in every(Pause, at())} == {Window(2, 3), Window(3, 4)}
    assert {fault.window for (fault,) in every(AddBookmarks, at()) if fault.resource == WIDGETS} == {Window(2), Window(3)}
    assert every(DropBookmarks, at()) == [(DropBookmarks(resource=PODS),)]
    hidden = {fault.window for (fault,) in every(HideOwnWrite, at()) if fault.resource == MAPS}
    assert hidden == {Window(1), Window(1, 2), Window(1, 3)}


def test_a_server_that_is_behind_knows_nothing_of_the_step() -> None:
    assert all(isinstance(fault, StaleRead) and fault.as_of_step == fault.window.from_step for (fault,) in every(StaleRead, at()))
