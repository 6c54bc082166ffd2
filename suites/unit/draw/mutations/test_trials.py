"""Which moves are tried on a controller, and in which order."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from staleproof.core.operator.observed import Observed
from staleproof.core.plan.move import Move, MoveKind, collide
from staleproof.draw.mutations.sample_moves import find_moves
from staleproof.draw.mutations.schema import Schema
from staleproof.draw.mutations.trials import (
    beside_live,
    for_good,
    refers,
    returning_first,
    returning_only,
    spread,
    structural_first,
    trials,
    with_live,
)

SPEC = {
    "replicas": 3,
    "paused": False,
    "mode": "A",
    "content": "first",
    "limits": {"cpu": "1", "memory": "10Gi"},
    "hosts": ["a", "b"],
    "labels": {"app": "x"},
}
SAMPLE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": SPEC}
SEEN = Observed(SAMPLE, "widgets", ("spec", "replicas"), (), changes=tuple(find_moves(SAMPLE, Schema({}, {}))))
NAMES = [move.name for move in SEEN.changes]


@given(st.sets(st.sampled_from(NAMES)), st.integers(1, 12))
def test_no_move_of_a_run_gets_into_the_way_of_another(names: set[str], most: int) -> None:
    seen = replace(SEEN, changes=tuple(move for move in SEEN.changes if move.name in names))
    tried = trials(seen, (), most)
    moves = [each.move for each in tried]

    assert sum(len(each.steps) for each in tried) <= most
    assert not [(a.name, b.name) for a in moves for b in moves if a is not b and collide(a.do, b.do)]
    assert all(each.steps[0] == seen.do(each.move) for each in tried)


def test_a_run_is_as_long_as_it_may_be() -> None:
    """What is done in one step fits where one is left."""
    assert [sum(len(each.steps) for each in trials(SEEN, (), most)) for most in (1, 2, 3)] == [1, 2, 3]


def test_scaling_is_known_to_be_passed_on() -> None:
    assert "spec.replicas" not in {each.move.path for each in trials(SEEN, (), 50)}


@pytest.mark.parametrize(
    "path", ["spec.issuerRef.name", "spec.rules[0].backendRefs[1].name", "spec.ref.kind", "spec.targetReference"]
)
def test_a_field_of_a_reference_is_reported(path: str) -> None:
    assert refers(path)


@pytest.mark.parametrize("path", ["spec.href", "spec.reflect", "spec.preference.weight", "spec.name"])
def test_others_are_no_references(path: str) -> None:
    assert not refers(path)


@pytest.mark.parametrize(
    ("path", "is_tried"),
    [
        ("spec.tls.secretName", False),
        ("spec.storage.storageClassName", False),
        ("spec.serviceAccountName", False),
        ("spec.imagePullSecrets[0].name", False),
        ("spec.secrets[1]", False),
        ("spec.existingSecret", False),
        ("spec.volumes[0].persistentVolumeClaim.claimName", False),
        ("spec.issuerRef.name", False),
        ("spec.name", True),
        ("spec.service.type", True),
        ("spec.selector.matchLabels.role", True),
        ('spec.labels["secret"]', True),
        ("spec.content", True),
    ],
)
def test_the_name_of_an_object_that_is_needed_is_not_changed_to_that_of_none(path: str, *, is_tried: bool) -> None:
    def tried(kind: MoveKind) -> bool:
        move = Move(path=path, kind=kind, do={"spec": {"x": "b"}}, undo={"spec": {"x": "a"}})
        return bool(trials(replace(SEEN, changes=(move,)), (), 8))

    assert tried("string") is is_tried
    assert tried("enum") is not refers(path), "a choice is no name"


def test_no_plan_rests_on_a_reference_that_leads_nowhere() -> None:
    spec = {"issuerRef": {"name": "it"}, "content": "first"}
    sample = {**SAMPLE, "spec": spec}
    seen = Observed(sample, "widgets", (), (), changes=tuple(find_moves(sample, Schema({}, {}))))
    assert {each.path for each in seen.changes} >= {"spec.issuerRef.name", "spec.content"}, "the map tries it all the same"
    assert {each.move.path for each in trials(seen, (), 50)} >= {"spec.content"}
    assert not [each.move.path for each in trials(seen, (), 50) if refers(each.move.path)]


def test_what_was_tried_is_not_tried_again() -> None:
    first = {each.move.path for each in trials(SEEN, (), 4)}
    second = {each.move.path for each in trials(SEEN, first, 50)}
    assert first
    assert second
    assert not first & second


def test_what_may_turn_a_controller_off_comes_last_and_is_taken_back_at_once() -> None:
    tried = trials(SEEN, (), 50)
    back = [len(each.steps) == 2 for each in tried]
    toggle = next(each for each in tried if each.move.kind == "toggle")

    assert back == sorted(back)
    assert toggle.steps == (SEEN.do(toggle.move), SEEN.undo(toggle.move))


def test_every_kind_has_its_turn() -> None:
    kinds = {each.move.kind for each in trials(SEEN, (), 7)}
    assert {"quantity", "remove-entry", "map-add", "string", "toggle"} <= kinds


def test_an_image_is_tried_before_anything_else_in_its_list() -> None:
    containers = [{"name": "main", "image": "a:1"}]
    sample = {**SAMPLE, "spec": {**SPEC, "template": {"spec": {"containers": containers}}}}
    seen = replace(SEEN, sample=sample, changes=tuple(find_moves(sample, Schema({}, {}))))
    within = [each.move.path for each in trials(seen, (), 50) if "containers" in each.move.path]
    assert within == ["spec.template.spec.containers[0].image"]


@given(st.integers(0, 30))
def test_what_is_asked_is_spread_over_kinds_and_keeps_its_order(most: int) -> None:
    chosen = spread(SEEN.changes, most)
    assert len(chosen) == min(most, len(NAMES))
    assert chosen == [move for move in SEEN.changes if move in chosen]


def test_many_fields_of_one_kind_leave_room_for_the_others() -> None:
    many = {f"n{number}": number for number in range(3, 90)}
    sample = {**SAMPLE, "spec": {**SPEC, **many, "z": {"image": "a:1", "on": True}}}
    moves = find_moves(sample, Schema({}, {}))
    assert moves[40].kind == "up", "cut at the end, there would be nothing else"
    chosen = {(move.path, move.kind) for move in spread(moves, 40)}
    assert {("spec.z.image", "string"), ("spec.z.on", "toggle"), ("spec.hosts", "reorder")} <= chosen
    assert "remove-value" in {kind for _, kind in chosen}


def test_switches_and_blocks_come_before_many_fields_of_other_kinds() -> None:
    many: dict[str, object] = {}
    for number in range(20):
        many |= {f"n{number}": 5, f"t{number}": "x", f"l{number}": ["a", "b"], f"b{number}": {"size": 3}, f"on{number}": False}
    moves = find_moves({**SAMPLE, "spec": many}, Schema({}, {}))
    kinds = Counter(move.kind for move in structural_first(moves, 40))
    assert (kinds.total(), kinds["toggle"] >= 15, kinds["remove-block"] + kinds["zero"] >= 14) == (40, True, True)
    assert kinds.keys() >= {"string", "remove-entry", "up"}
    assert Counter(move.kind for move in spread(moves, 40))["toggle"] < 10

    switches = [move for move in moves if move.kind == "toggle"]
    assert structural_first(switches, 40) == switches


@given(st.integers(0, 30))
def test_what_is_mapped_keeps_its_order_and_leaves_no_room(most: int) -> None:
    chosen = structural_first(SEEN.changes, most)
    assert len(chosen) == min(most, len(NAMES))
    assert chosen == [move for move in SEEN.changes if move in chosen]


def test_each_field_has_its_turn_before_any_has_a_second_one() -> None:
    sizes = {f"s{number}": {"limits": {"cpu": 4}} for number in range(9)} | {"storage": "10Gi"}
    moves = find_moves({**SAMPLE, "spec": sizes}, Schema({}, {}))
    chosen = spread([move for move in moves if move.kind in ("up", "down", "zero", "quantity")], 10)
    assert len({move.path for move in chosen}) == 10
    assert "spec.storage" in {move.path for move in chosen}


def test_all_moves_of_a_field_are_as_live_as_the_one_that_was_tried() -> None:
    tried: Move = next(move for move in SEEN.changes if move.path == "spec.content" and move.kind == "string")
    live = structs.replace(tried, live="later")
    found = with_live(SEEN.changes, [live])

    assert found[0] == live
    assert (found[1].path, found[1].kind, found[1].live) == ("spec.content", "remove-value", "later")
    assert not [move for move in found[2:] if move.live]
    assert sorted(move.name for move in found) == sorted(NAMES)


def test_what_cannot_be_taken_back_comes_last_and_stays() -> None:
    toggle = next(move for move in SEEN.changes if move.kind == "toggle")
    of = for_good(SEEN, {toggle.name: "set once"})
    tried = trials(of, (), 50)

    assert of.for_good == (f"{toggle}: set once",)
    assert [move.name for move in of.changes if not move.returns] == [toggle.name]
    assert (tried[-1].move.name, tried[-1].steps, tried[-1].is_taken_back) == (toggle.name, (of.do(toggle),), False)


def test_of_what_is_passed_on_what_can_be_taken_back_comes_first() -> None:
    tried = [structs.replace(move, live=live) for move, live in zip(SEEN.changes, ("later", "at once", "at once"), strict=False)]
    later, grows, other = tried[0], structs.replace(tried[1], returns=False), tried[2]
    alike = structs.replace(SEEN.changes[3], live="at once")
    found = returning_first((later, grows, other, alike, *SEEN.changes[4:]), {later.name, grows.name, other.name})

    assert found == (other, grows, later, alike, *SEEN.changes[4:])


def test_besides_what_is_passed_on_what_was_tried_is_changed() -> None:
    live, *rest = SEEN.changes
    some = [move.name for move in rest if move.path.startswith("spec.limits")]
    of = replace(SEEN, changes=(structs.replace(live, live="at once"), *rest))
    found = [move.name for move in beside_live(of, {live.name, *some}, 3)]
    assert len(found) == 3
    assert set(found) < set(some)
    assert beside_live(of, (), 3) == []


def test_where_nothing_that_is_passed_on_can_be_taken_back_what_was_not_tried_is_changed() -> None:
    live, *rest = SEEN.changes
    known = next(move for move in rest if move.kind == "reorder")
    grows = structs.replace(live, live="at once", returns=False)
    of = replace(SEEN, changes=(grows, *rest))
    found = beside_live(of, {known.name}, 6)
    assert len(found) == 6
    assert found[0] == known
    assert not [move for move in found if move.is_label or move.path == "spec.replicas" or move == grows]


def test_what_was_not_asked_about_is_not_taken_back_but_for_labels() -> None:
    found = returning_only(SEEN.changes, NAMES[:3])
    back = [move for move in found if move.returns]
    assert {move.name for move in back} == {*NAMES[:3], *(move.name for move in SEEN.changes if move.is_label)}
    assert [move.name for move in found] == NAMES
