"""Primaries that took the name of another, and whether the controller was late to learn of it."""

from typing import Any

import pytest

from staleproof.checks.facts.recreations import Recreation, children_of_recreated, confusions, recreations
from staleproof.checks.trial import Trial

from ..script import HOLD_WIDGETS, RESTART, WIDGETS, Script


def applied() -> Script:
    return Script(HOLD_WIDGETS, RESTART).applied("w")


def renewed(script: Script) -> Script:
    return script.removed("w", WIDGETS).applied("w")


def found(script: Script) -> list[Recreation]:
    return list(recreations(Trial(script.unfinished())))


def test_each_incarnation_is_followed_by_the_next() -> None:
    pairs = [(one.before.uid, one.after.uid) for one in found(renewed(renewed(applied())))]

    assert pairs == [("ns-uid-1", "ns-uid-2"), ("ns-uid-2", "ns-uid-3")]


def test_other_objects_of_that_name_are_no_primaries() -> None:
    assert not found(applied().made("p").removed("p").made("p"))


CASES = {
    "a healthy stream": (renewed(applied()).idle(1), {"shown", "rested"}),
    "it is withheld": (renewed(applied().hold(WIDGETS)), {"late"}),
    "a list shows one in place of the other": (renewed(applied().dies()).lists(WIDGETS), {"late", "shown"}),
    "a new life never saw either happen": (renewed(applied().dies()).lives_again(), {"late", "shown"}),
    "the life before knew": (renewed(applied()).dies().lives_again(), {"shown"}),
    "a status may be written by name alone": (renewed(applied()).updates("w", status=1), {"shown"}),
}


@pytest.mark.parametrize(("script", "happened"), CASES.values(), ids=CASES)
def test_what_became_of_a_recreation(script: Script, happened: set[str]) -> None:
    trial, end = Trial(script.unfinished()), len(script.entries)
    (one,) = recreations(trial)
    positions = {"late": one.late, "shown": one.shown_at(trial, before=end), "rested": one.rested_at(trial, before=end)}

    assert {what for what, index in positions.items() if index is not None} == happened
    assert one.was_late(before=end) == ("late" in happened)
    assert one.moments(trial, before=end)[0] == one.after.created


def test_a_list_in_place_of_the_other_is_late_when_it_shows_it() -> None:
    script = renewed(applied().dies()).lists(WIDGETS)
    trial = Trial(script.unfinished())
    (one,) = recreations(trial)

    assert one.late == one.shown_at(trial, before=len(script.entries))


def test_children_are_told_apart_by_the_incarnation_that_owns_them() -> None:
    script = applied().creates("w-a")
    owner = script._objects["pods", "w-a"]["metadata"]["ownerReferences"]
    renewed(script).creates("w-b", "w-c").idle(1).creates("w-d", metadata={"ownerReferences": owner}).terminating("w-c")
    trial = Trial(script.unfinished())

    assert confused(script) == ["w-d"]
    assert children_of_recreated(trial) == ({"pods": 1}, {"pods": 2})


def confused(script: Script) -> list[str]:
    return [child.name for _, child, _ in confusions(Trial(script.unfinished()))]


def test_what_was_under_way_when_it_was_shown_may_be_for_the_old_one() -> None:
    script = applied().creates("w-a")
    of_old: dict[str, Any] = {"metadata": {"ownerReferences": script._objects["pods", "w-a"]["metadata"]["ownerReferences"]}}
    renewed(script).creates("w-b", **of_old).updates("w", status=1).creates("w-c", **of_old)
    assert not confused(script)
    script.creates("w-d", resource="secrets").creates("w-e", **of_old)
    assert not confused(script)
    script.creates("w-f").creates("w-g", **of_old)
    assert confused(script) == ["w-g"]
