"""Whether a fault holds up a first list."""

import pytest

from staleproof.checks.facts.initial_lists import is_held_up
from staleproof.checks.trial import Trial

from ..script import RESTART, SLOW_PODS, Script


def restarted() -> Script:
    return Script(RESTART, SLOW_PODS).dies().lives_again(slow=("pods",))


HELD_UP = {
    "a fault keeps it": (restarted().fires(1), True),
    "no fault has fired": (restarted(), False),
    "it fired in the life before": (Script(RESTART, SLOW_PODS).fires(1).dies().lives_again(slow=("pods",)), False),
    "another fault has fired": (restarted().fires(0), False),
    "it has arrived": (restarted().fires(1).first_list_arrives("pods"), False),
}


@pytest.mark.parametrize(("script", "expected"), HELD_UP.values(), ids=HELD_UP)
def test_whether_a_fault_holds_it_up(script: Script, expected: bool) -> None:  # noqa: FBT001
    assert is_held_up(Trial(script.unfinished()), "pods", before=len(script.entries)) is expected
