"""What a run in which all copies appear, are moved and are moved back says of their moves."""

import math
from collections.abc import Sequence

from msgspec.structs import replace

from staleproof.assess.learn.operator_map import MAP_PART, Learnt, begins_whole, edges_in, looked_at_again, map_seconds
from staleproof.checks.trial import Trial
from staleproof.core.operator.edge import Edge
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.move import Move
from staleproof.core.times import MAP_SECONDS
from staleproof.draw.copies import Copy, copies

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


def test_the_parts_of_a_map_are_one_map_that_takes_as_long_as_the_slowest_of_them() -> None:
    first, second = Edge(OFF, goes=(MAPS,)), Edge(OFF)
    parts = Learnt((first,), 0.5, 3.0), Learnt((second,), 2.0, rests=True, width=4)
    assert parts[0] + parts[1] + Learnt() == Learnt((first, second), 2.0, 3.0, rests=True, width=4)


def test_copies_are_whole_once_each_has_as_many_children_under_whatever_names() -> None:
    script = begun().creates("w-a-data", resource=MAPS, owner="w-a", generated="").creates("w-a-1", owner="w-a")
    moved = script.idle(1).step(2, "move").idle(2).step(3, "back").idle(3)
    assert not begins_whole(Trial(moved.ends()), MADE, has_children=True), "those of w-b are still to come"
    script = begun().creates("w-a-data", resource=MAPS, owner="w-a", generated="").creates("w-a-1", owner="w-a")
    script = script.creates("w-b-data", resource=MAPS, owner="w-b", generated="").creates("w-b-7", owner="w-b")
    moved = script.idle(1).step(2, "move").deletes("w-b-7").idle(2).step(3, "back").idle(3)
    assert begins_whole(Trial(moved.ends()), MADE, has_children=True), "what a move deletes was there before"


def test_copies_without_any_children_are_whole_only_where_a_primary_has_none() -> None:
    moved = begun().idle(1).step(2, "move").creates("w-a-data", resource=MAPS, owner="w-a", generated="").idle(2)
    trial = Trial(moved.step(3, "back").idle(3).ends())
    assert not begins_whole(trial, MADE, has_children=True)
    assert begins_whole(trial, MADE, has_children=False)


def test_a_child_of_a_child_is_the_primarys() -> None:
    script = begun().creates("x", resource=MAPS, owner="w-a", generated="").idle(1)
    script = script.step(2, "move").deletes("x", resource=MAPS).idle(2).step(3, "back").idle(3)
    first, _ = edges(script)
    assert first.goes == (MAPS,)
    assert first.leaves == (MAPS,)


def test_a_run_with_little_time_spends_a_part_of_it() -> None:
    assert map_seconds(math.inf, 1000.0) == MAP_SECONDS
    assert map_seconds(MAP_SECONDS, 1.0) == MAP_SECONDS / MAP_PART
    assert map_seconds(MAP_SECONDS, MAP_SECONDS / MAP_PART) == 0.0, "what was learnt before took that long"
    assert map_seconds(-1.0, 0.0) == 0.0
