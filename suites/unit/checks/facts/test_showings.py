"""When the controller was shown something of a resource."""

import pytest

from staleproof.checks.facts.showings import ShowingKind, is_held_up, is_shown, showings
from staleproof.checks.trial import Trial

from ..script import RESTART, SLOW_PODS, WIDGETS, Script

KINDS: dict[str, tuple[Script, list[tuple[int, ShowingKind]]]] = {
    "an event": (Script().applied("w"), [(5, "event")]),
    "a list": (Script().lists(WIDGETS), [(5, "list")]),
    "a list of something else": (Script().lists("pods"), []),
    "the end of the initial events": (Script().watches(WIDGETS, watch_list=True).initial_end(4), [(5, "list")]),
    "a watch from any state": (Script().watches(WIDGETS, start="0"), [(4, "watch")]),
    "a watch from the present state": (Script().watches(WIDGETS, start=""), [(4, "watch")]),
    "a watch that goes on": (Script().watches(WIDGETS, start="7"), []),
    "a bookmark": (Script().bookmark(), []),
}


@pytest.mark.parametrize(("script", "expected"), KINDS.values(), ids=KINDS)
def test_kinds(script: Script, expected: list[tuple[int, ShowingKind]]) -> None:
    found = showings(Trial(script.unfinished())).get(WIDGETS, ())

    assert [(each.index, each.kind) for each in found] == expected


@pytest.mark.parametrize(
    ("kind", "since", "until", "expected"),
    [("event", 4, 6, True), ("list", 4, 6, False), ("event", 5, 99, False), ("event", 4, 5, False), ("list", 5, 99, False)],
    ids=["shown", "of another kind", "before", "later", "to another life"],
)
def test_what_one_life_was_shown_between_two_positions(kind: ShowingKind, since: int, until: int, *, expected: bool) -> None:
    trial = Trial(Script().applied("w").restarted().lists(WIDGETS).unfinished())

    assert is_shown(trial, WIDGETS, (kind,), since=since, until=until) is expected


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
