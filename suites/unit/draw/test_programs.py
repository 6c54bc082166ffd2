"""Of several programs one is held back or dies, and the others go on; of one there is nothing to plan."""

from dataclasses import replace

import pytest

from staleproof.core.fault import HoldStream, Restart, Window
from staleproof.core.operator.observed import Beside
from staleproof.draw.profile import PROFILES
from staleproof.draw.programs import held_alone, held_apart, killed_apart

from .seen import MAPS, WIDGETS, check, widgets

POLLER, CLEANER = Beside("poller", (WIDGETS,)), Beside("cleaner", (MAPS,))
SEEN, STANDARD = replace(widgets(), beside=(POLLER, CLEANER)), PROFILES["standard"]


@pytest.mark.parametrize("family", [held_apart, held_alone, killed_apart], ids=str)
def test_a_subject_of_one_program_has_no_such_plans(family: object) -> None:
    assert callable(family)
    assert list(family(widgets(), STANDARD)) == []


def test_the_view_of_each_program_that_watches_the_primary_is_held_while_it_is_changed() -> None:
    plans = [*held_apart(SEEN, STANDARD), *held_alone(SEEN, STANDARD)]
    held = HoldStream(resource=WIDGETS, window=Window(2))
    assert [plan.faults for plan in plans] == [(HoldStream(resource=WIDGETS, program="poller", window=Window(2)),), (held,)]
    assert all("no-lost-update" in plan.aims for plan in plans)
    assert [plan.steps[1] for plan in plans] == [SEEN.change] * 2
    for plan in plans:
        check(plan, SEEN)


def test_the_controller_is_not_held_where_no_other_program_watches_the_primary() -> None:
    assert list(held_alone(replace(SEEN, beside=(CLEANER,)), STANDARD)) == []


def test_each_further_program_is_killed_and_the_controller_never() -> None:
    plans = list(killed_apart(SEEN, STANDARD))
    faults = [fault for plan in plans for fault in plan.faults]
    assert all(isinstance(fault, Restart) and fault.program for fault in faults)
    assert {fault.program for fault in faults} == {"poller", "cleaner"}
    assert [fault.stays_down for fault in plans[1].faults if isinstance(fault, Restart)] == [True]
    assert len(list(killed_apart(SEEN, PROFILES["smoke"]))) == 2, "one a program"
