"""`staleproof map`: how a map is shown."""

import io
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from staleproof.cli.operator_map import show, sorted_out
from staleproof.core.operator.edge import Edge
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.move import Move

SAMPLE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}


def move(path: str) -> Move:
    return Move(path=path, kind="toggle", do={}, undo={}, was="True", becomes="False")


QUIET, CHANGES, GOES = Edge(move("spec.a")), Edge(move("spec.b"), changes=("pods",)), Edge(move("spec.c"), goes=("services",))


def shown(*edges: Edge, alone: Sequence[str] = ()) -> str:
    text = io.StringIO()
    observed = replace(Observed(SAMPLE, "widgets", (), ()), edges=edges, alone=tuple(alone))
    show(Console(file=text, width=200), observed)
    return text.getvalue()


def test_what_makes_or_deletes_comes_first_and_what_does_nothing_has_a_line() -> None:
    assert sorted_out([QUIET, CHANGES, GOES]) == ([GOES, CHANGES], [QUIET])
    lines = shown(QUIET, CHANGES, GOES).splitlines()
    assert lines[0].strip() == "Widget/w: what its moves do, without any fault"
    rows = [line for line in lines if "spec." in line]
    assert rows[0].split("│")[1].strip() == "spec.c toggle (True → False)"
    assert rows[0].split("│")[2].strip() == "services"
    assert rows[-1] == "a change of one of these has no effect on any object: spec.a"


def test_where_no_move_does_anything_there_is_no_table() -> None:
    assert shown(QUIET).strip() == "a change of one of these has no effect on any object: spec.a"


def test_the_replica_count_is_said_not_to_be_in_the_map() -> None:
    text = io.StringIO()
    show(Console(file=text, width=200), replace(Observed(SAMPLE, "widgets", ("spec", "replicas"), ()), edges=(GOES,)))
    assert text.getvalue().splitlines()[-1] == "not in the map, because each trial scales it anyway: spec.replicas"


def test_where_there_is_no_room_for_two_primaries_there_is_no_map() -> None:
    line = "Widget/w: there is no map, because a second primary collides with the first (192.0.2.7)"
    assert " ".join(shown(alone=["192.0.2.7"]).split()) == line


def test_values_of_a_sample_are_text_and_no_style() -> None:
    moves = [Move(path="spec.x", kind="string", do={}, undo={}, was="x", becomes=each) for each in ("[a-z]+", "[/healthz]")]
    sample = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    seen = replace(Observed(sample, "widgets", (), ()), edges=tuple(Edge(each, goes=("services",)) for each in moves), alone=())
    out = io.StringIO()
    show(Console(file=out, width=200), seen)
    assert "[a-z]+" in out.getvalue()
    assert "[/healthz]" in out.getvalue()
