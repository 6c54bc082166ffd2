"""What a run in which all copies appear, are moved and are moved back says of their moves."""

import math
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from staleproof.assess.learn.operator_map import (
    MAP_PART,
    Learnt,
    comes_late,
    edges_in,
    goes_late,
    look_seconds,
    looked_at_again,
    map_seconds,
    worth_patience,
)
from staleproof.checks.trial import Trial
from staleproof.core.operator.edge import Edge
from staleproof.core.operator.observed import ChildKind, Observed
from staleproof.core.plan.move import Move
from staleproof.core.times import MAP_SECONDS
from staleproof.draw.copies import WIDTH, Copy, copies

from ...checks.script import WIDGETS, Script, trial

SAMPLE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"on": True}}
OFF = Move(path="spec.on", kind="toggle", do={"spec": {"on": False}}, undo={"spec": {"on": True}})
MADE = copies(Observed(SAMPLE, WIDGETS, (), ()), [OFF, OFF])
MAPS = "configmaps"


def begun() -> Script:
    return trial().step(1, "apply").applied("w-a").applied("w-b")


def edges(script: Script, made: Sequence[Copy] = MADE) -> list[Edge]:
    return edges_in(Trial(script.ends()), made)


def test_a_child_that_goes_and_comes_back() -> None:
    script = begun().creates("w-a-data", resource=MAPS, owner="w-a", generated="").idle(1)
    script = script.step(2, "move").deletes("w-a-data", resource=MAPS).idle(2)
    script = script.step(3, "back").creates("w-a-data", resource=MAPS, owner="w-a", generated="").idle(3)
    first, second = edges(script)
    assert first == Edge(OFF, goes=(MAPS,))
    assert second.takes_away == (), "that of another primary"


def test_a_child_that_comes_and_stays() -> None:
    script = begun().idle(1).step(2, "move").creates("w-b-data", resource=MAPS, owner="w-b", generated="").idle(2)
    script = script.step(3, "back").idle(3)
    _, second = edges(script)
    assert second == Edge(OFF, comes=(MAPS,), leaves=(MAPS,))
    assert str(second) == "spec.on toggle: makes configmaps; does not restore configmaps"


def test_pods_that_are_only_replaced_neither_go_nor_come() -> None:
    """Their names are never the same twice."""
    script = begun().creates("w-a-1", owner="w-a").idle(1)
    script = script.step(2, "move").creates("w-a-2", owner="w-a").deletes("w-a-1").idle(2)
    script = script.step(3, "back").creates("w-a-3", owner="w-a").deletes("w-a-2").idle(3)
    assert [edge.takes_away for edge in edges(script)] == [(), ()]


def test_one_name_for_another() -> None:
    script = begun().creates("w-a-old", resource=MAPS, owner="w-a", generated="").idle(1)
    script = script.step(2, "move").deletes("w-a-old", resource=MAPS)
    script = script.creates("w-a-new", resource=MAPS, owner="w-a", generated="").idle(2)
    script = script.step(3, "back").deletes("w-a-new", resource=MAPS)
    script = script.creates("w-a-old", resource=MAPS, owner="w-a", generated="").idle(3)
    first, _ = edges(script)
    assert first == Edge(OFF, goes=(MAPS,), comes=(MAPS,))


def test_a_child_is_made_anew_under_its_name() -> None:
    script = begun().creates("w-a-data", resource=MAPS, owner="w-a", generated="").idle(1)
    script = script.step(2, "move").deletes("w-a-data", resource=MAPS)
    script = script.creates("w-a-data", resource=MAPS, owner="w-a", generated="").idle(2).step(3, "back").idle(3)
    first, second = edges(script)
    assert first == Edge(OFF, remakes=(MAPS,))
    assert first.takes_away == (MAPS,)
    assert str(first) == "spec.on toggle: makes anew configmaps"
    assert second == Edge(OFF)


def test_what_comes_back_some_seconds_later_is_made_anew_once_it_was_waited_for() -> None:
    own, quiet = replace(OFF, path="spec.own"), Edge(OFF)
    hasty, patient = Edge(own, goes=(MAPS,), leaves=(MAPS,)), Edge(OFF, remakes=(MAPS,))
    assert looked_at_again([quiet, hasty], [hasty], [patient]) == (quiet, Edge(own, remakes=(MAPS,)))


def test_every_move_that_takes_something_away_is_looked_at_with_patience_as_long_as_there_is_room() -> None:
    removed = Edge(replace(OFF, kind="remove-value"), goes=(MAPS,), leaves=(MAPS,))
    worst, pods = Edge(OFF, remakes=(MAPS,)), Edge(replace(OFF, path="spec.pods"), goes=("pods", MAPS))
    assert worth_patience([worst, Edge(replace(OFF, path="spec.size")), removed, pods]) == [pods, worst, removed]
    assert len(worth_patience([Edge(replace(OFF, kind=f"k{n}"), goes=(MAPS,)) for n in range(WIDTH + 1)])) == WIDTH


def test_the_parts_of_a_map_are_one_map_that_takes_as_long_as_the_slowest_of_them() -> None:
    first, second = Edge(OFF, goes=(MAPS,)), Edge(OFF)
    parts = Learnt((first,), 0.5, rests=True), Learnt((second,), 2.0)
    assert parts[0] + parts[1] + Learnt() == Learnt((first, second), 2.0, rests=True)


PODS = "pods"
ALONE = [ChildKind(MAPS, 1, 0, stable_names=True, stays=1), ChildKind(PODS, 1, 0, stable_names=False, stays=1)]
"""What one primary has by itself."""


def late(*, comes: bool = True) -> Trial:
    """A run in which the pod of w-b is not there yet when it is moved; it `comes` then, or never does."""
    script = begun().creates("w-a-data", resource=MAPS, owner="w-a", generated="").creates("w-a-1", owner="w-a")
    script = script.creates("w-b-data", resource=MAPS, owner="w-b", generated="").idle(1).step(2, "move")
    script = script.creates("w-b-7", owner="w-b") if comes else script
    return Trial(script.idle(2).step(3, "back").idle(3).ends())


def test_what_one_primary_has_alone_came_late() -> None:
    assert comes_late(late(), MADE, ALONE)
    assert comes_late(late(), MADE, ()), "another copy has it"


def test_what_none_has_yet_is_known_by_what_one_has_alone() -> None:
    script = begun().idle(1).step(2, "move").creates("w-a-1", owner="w-a").creates("w-b-1", owner="w-b").idle(2)
    trial = Trial(script.step(3, "back").idle(3).ends())
    assert comes_late(trial, MADE, ALONE)
    assert not comes_late(trial, MADE, ()), "that is what both moves make"


def test_what_never_comes_is_not_late() -> None:
    """It may be no copy's own, or have been there and gone."""
    assert not comes_late(late(comes=False), MADE, ALONE)


def test_what_the_way_back_makes_anew_may_be_what_the_move_had_not_come_to() -> None:
    script = begun().creates("w-a-data", resource=MAPS, owner="w-a", generated="").idle(1).step(2, "move")
    slow = script.idle(2).step(3, "back").deletes("w-a-data", resource=MAPS)
    slow = slow.creates("w-a-data", resource=MAPS, owner="w-a", generated="").idle(3)
    assert goes_late(Trial(slow.ends()), MADE)


def test_what_both_ways_make_anew_is_not_late() -> None:
    script = begun().creates("w-a-data", resource=MAPS, owner="w-a", generated="").idle(1)
    for number, does in ((2, "move"), (3, "back")):
        script = script.step(number, does).deletes("w-a-data", resource=MAPS)
        script = script.creates("w-a-data", resource=MAPS, owner="w-a", generated="").idle(number)
    assert not goes_late(Trial(script.ends()), MADE)


def test_a_child_of_a_child_is_the_primarys() -> None:
    script = begun().creates("x", resource=MAPS, owner="w-a", generated="").idle(1)
    script = script.step(2, "move").deletes("x", resource=MAPS).idle(2).step(3, "back").idle(3)
    first, _ = edges(script)
    assert first.goes == (MAPS,)
    assert first.leaves == (MAPS,)


@pytest.mark.parametrize("by", ["name", "uid"])
def test_a_child_without_an_owner_is_that_of_the_primary_that_a_label_means(by: str) -> None:
    script = begun()
    labels = {"made-for": script.uid("w-a", WIDGETS) if by == "uid" else "w-a"}
    script = script.creates("9f86d081", resource=MAPS, owner="", generated="", metadata={"labels": labels}).idle(1)
    script = script.step(2, "move").deletes("9f86d081", resource=MAPS).idle(2).step(3, "back").idle(3)
    first, second = edges(script)
    assert first.goes == (MAPS,)
    assert not second.goes


def test_a_run_with_little_time_spends_a_part_of_it() -> None:
    assert map_seconds(math.inf, 1000.0) == MAP_SECONDS
    assert map_seconds(MAP_SECONDS, 1.0) == MAP_SECONDS / MAP_PART
    assert map_seconds(MAP_SECONDS, MAP_SECONDS / MAP_PART) == 0.0, "what was learnt before took that long"
    assert map_seconds(-1.0, 0.0) == 0.0


@pytest.mark.parametrize(("patience", "seconds"), [(0.0, 5.0), (180.0, 5.0), (5.0, 2.5), (1.0, 2.0)])
def test_the_users_patience_bounds_how_long_a_move_is_looked_at(patience: float, seconds: float) -> None:
    assert look_seconds(patience) == seconds
