"""Moves of a sample: each there and back, the right ones for each kind of field, the likely ones first."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.plan.move import Move, merged
from staleproof.draw.mutations.sample_moves import find_moves
from staleproof.draw.mutations.schema import ANYTHING, Schema

JSON = dict[str, Any]
MANIFEST: JSON = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
TEXT: JSON = {"type": "string"}
SCALARS = st.booleans() | st.integers(-2, 9) | st.sampled_from(["", "first", "10Gi", "30s", "25%", "a.b/c"])
SPECS: st.SearchStrategy[JSON] = st.dictionaries(
    st.sampled_from(["size", "mode", "labels", "items", "a.b"]),
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "port", "data"]), inner, max_size=3),
        max_leaves=12,
    ),
    max_size=4,
)


def manifest(spec: JSON) -> JSON:
    return MANIFEST | {"spec": spec}


def schema(**fields: JSON) -> Schema:
    return Schema({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}, {})


def names(spec: JSON, **fields: JSON) -> list[str]:
    """The moves of the spec, without those of labels, as people read them."""
    found = find_moves(manifest(spec), schema(**fields) if fields else ANYTHING)
    return [str(move) for move in found if not move.path.startswith("metadata.")]


@given(SPECS)
def test_every_move_can_be_done_and_taken_back(spec: JSON) -> None:
    before = manifest(spec)
    moves = find_moves(before)
    for move in moves:
        after = merged(before, move.do)
        assert after != before, move
        assert merged(after, move.undo) == before, move
        assert {key: after[key] for key in MANIFEST if key != "metadata"} == {k: MANIFEST[k] for k in MANIFEST if k != "metadata"}
        assert after["metadata"]["name"] == "w"
    assert len({move.name for move in moves}) == len(moves)


@pytest.mark.parametrize(
    ("value", "said", "expected"),
    [
        (3, {"type": "integer"}, ["up (3 → 4)", "down (3 → 2)", "zero (3 → 0)", "remove-value (3)"]),
        (1, {"type": "integer"}, ["up (1 → 2)", "down (1 → 0)", "remove-value (1)"]),
        (3, {"type": "integer", "minimum": 3, "maximum": 3}, ["remove-value (3)"]),
        (4, {"type": "integer", "minimum": 2, "multipleOf": 2}, ["up (4 → 6)", "down (4 → 2)", "remove-value (4)"]),
        (5, {"type": "integer", "maximum": 6, "exclusiveMaximum": True}, ["down (5 → 4)", "zero (5 → 0)", "remove-value (5)"]),
        ("10Gi", TEXT, ["quantity (10Gi → 15Gi)", "quantity (10Gi → 5Gi)", "remove-value (10Gi)"]),
        ("1.5Gi", TEXT, ["quantity (1.5Gi → 2.5Gi)", "quantity (1.5Gi → 0.5Gi)", "remove-value (1.5Gi)"]),
        ("0.5", {"pattern": "[KMGTPE]?", "type": "string"}, ["quantity (0.5 → 1.5)", "remove-value (0.5)"]),
        ("2", {"pattern": "[KMGTPE]?", "type": "string"}, ["quantity (2 → 3)", "quantity (2 → 1)", "remove-value (2)"]),
        ("1h30m", TEXT, ["duration (1h30m → 2h30m)", "remove-value (1h30m)"]),
        ("25%", {"x-kubernetes-int-or-string": True}, ["up (25% → 26%)", "remove-value (25%)"]),
        (True, {"type": "boolean"}, ["toggle (true → false)", "remove-value (true)"]),
        ("A", {"enum": ["A", "B", ""], **TEXT}, ["enum (A → B)", "remove-value (A)"]),
        ("first", TEXT, ["string (first → first-changed)", "remove-value (first)"]),
        ("first", {"pattern": "^[a-z]+$", **TEXT}, ["string (first → firstchanged)", "remove-value (first)"]),
        ("first", {"maxLength": 6, **TEXT}, ["string (first → firstx)", "remove-value (first)"]),
        ("first", {"pattern": "^first$", **TEXT}, ["remove-value (first)"]),
        ("2030-01-01T00:00:00Z", {"format": "date-time", **TEXT}, ["string (2030-01-01T00:00:00Z → 2031-01-01T00:00:00Z)",
                                                                   "remove-value (2030-01-01T00:00:00Z)"]),
        ("x", {"pattern": "(?P<Go", **TEXT}, ["string (x → x-changed)", "remove-value (x)"]),
    ],
)  # fmt: skip
def test_what_can_be_done_to_a_value(value: object, said: JSON, expected: list[str]) -> None:
    assert names({"field": value}, field=said) == [f"spec.field {each}" for each in expected]


def test_a_required_field_is_not_removed() -> None:
    spec = Schema({"properties": {"spec": {"type": "object", "required": ["on"], "properties": {"on": {"type": "boolean"}}}}}, {})
    assert [str(move) for move in find_moves(manifest({"on": True}), spec)][:-1] == ["spec.on toggle (true → false)"]


def test_lists_lose_gain_and_reorder_entries() -> None:
    ports = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}, "x-kubernetes-list-type": "map",
             "x-kubernetes-list-map-keys": ["name"]}  # fmt: skip
    moves = {move.kind: move for move in find_moves(manifest({"ports": [{"name": "a"}, {"name": "b"}]}), schema(ports=ports))}

    assert moves["remove-entry"].do == {"spec": {"ports": [{"name": "a"}]}}
    assert moves["append-entry"].do == {"spec": {"ports": [{"name": "a"}, {"name": "b"}, {"name": "b-changed"}]}}
    assert moves["reorder"].do == {"spec": {"ports": [{"name": "b"}, {"name": "a"}]}}
    assert moves["remove-block"].do == {"spec": {"ports": None}}


@pytest.mark.parametrize(
    ("limits", "kinds"),
    [({"minItems": 1, "maxItems": 1}, set()), ({"minItems": 1}, {"append-entry"}), ({"maxItems": 1}, {"remove-entry"})],
)
def test_a_list_stays_as_long_as_it_has_to_be(limits: JSON, kinds: set[str]) -> None:
    entries = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set", **limits}
    found = {move.kind for move in find_moves(manifest({"items": ["a"]}), schema(items=entries)) if move.path == "spec.items"}
    assert found - {"remove-block"} == kinds


def test_maps_gain_and_lose_keys_and_blocks_do_not() -> None:
    labels = {"type": "object", "additionalProperties": TEXT}
    assert names({"labels": {"app": "x"}}, labels=labels)[1:4] == [
        "spec.labels.moved map-add (moved)",
        "spec.labels.app map-remove (x)",
        "spec.labels.app string (x → x-changed)",
    ]
    assert not [each for each in names({"block": {"app": "x"}}) if "map-" in each]


def test_what_the_schema_names_a_value_for_comes_after_what_the_sample_says() -> None:
    fields: dict[str, JSON] = {
        "size": {"type": "integer"},
        "limit": {"type": "integer", "default": 5, "maximum": 6},
        "paused": {"type": "boolean"},
        "mode": {"type": "string", "enum": ["A", "B", "C"], "default": "A"},
        "class": {"type": "string", "example": "fast"},
        "unknown": {"type": "string"},
        "image": {"type": "string"},
    }
    assert names({"size": 0, "image": "x"}, **fields) == [
        "spec.size up (0 → 1)",
        "spec.limit up (6)",
        "spec.limit down (4)",
        "spec.limit zero (0)",
        "spec.paused toggle (true)",
        "spec.mode set (B)",
        "spec.mode set (C)",
        "spec.class set (fast)",
        "spec.image string (x → x-changed)",
        "spec.size remove-value (0)",
        "spec.image remove-value (x)",
    ]


def test_removals_of_which_no_schema_speaks_come_last() -> None:
    found = names({"containers": [{"image": "x"}]})
    assert [each.split(" ")[1] for each in found] == ["append-entry", "string", "remove-block", "remove-entry", "remove-value"]


@pytest.mark.parametrize("said", [{}, {"pods": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}])
def test_where_nothing_is_known_values_still_tell(said: JSON) -> None:
    """Without a schema, and where it lets everything pass."""
    assert "spec.pods.a[0].size up (2 → 3)" in names({"pods": {"a": [{"size": 2}]}}, **said)


def test_what_is_nested_without_end_is_left_alone_below_some_depth() -> None:
    """A schema that refers to itself, and a sample that goes far down."""
    node: JSON = {"type": "object", "properties": {"size": {"type": "integer"}, "next": {"$ref": "#/components/schemas/node"}}}
    spec: JSON = {"size": 1}
    for _ in range(200):
        spec = {"size": 1, "next": spec}
    found = find_moves(manifest(spec), Schema({"properties": {"spec": {"$ref": "#/components/schemas/node"}}}, {"node": node}))
    assert "spec.next.size up" in {f"{move.path} {move.kind}" for move in found}
    assert max(move.path.count("next") for move in found) < 20


@pytest.mark.parametrize("rule", ["self.size == oldSelf.size", "self.size < 2"])
def test_what_rules_say_is_left_to_the_api_server(rule: str) -> None:
    fields = {"size": {"type": "integer"}}
    block = {"type": "object", "properties": fields, "minProperties": 1, "x-kubernetes-validations": [{"rule": rule}]}
    assert "spec.block.size up (1 → 2)" in names({"block": {"size": 1}}, block=block)


def test_an_object_within_keeps_its_kind() -> None:
    block = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    paths = [each.split()[:2] for each in names({"block": {"apiVersion": "v1", "kind": "Secret", "size": 1}}, block=block)]
    assert ["spec.block.size", "remove-value"] in paths
    assert not [path for path, kind in paths if kind == "remove-value" and path.endswith(("kind", "apiVersion"))]


@pytest.mark.parametrize(
    ("values", "expected"),
    [({"type": "string"}, "moved"), ({"type": "string", "pattern": "^[0-9]+$"}, "1"), ({"type": "string", "pattern": "^q$"}, "")],
)
def test_an_empty_map_gains_what_fits(values: JSON, expected: str) -> None:
    found = find_moves(manifest({"map": {}}), schema(map={"type": "object", "additionalProperties": values}))
    assert [move.do["spec"]["map"] for move in found if move.kind == "map-add" and "map" in move.path] == (
        [{"moved": expected}] if expected else []
    )


BACKUP: JSON = {
    "type": "object",
    "properties": {
        "enabled": {"type": "boolean", "default": False},
        "keep": {"type": "integer", "default": 7},
        "quick": {"type": "boolean"},
        "labels": {"type": "object", "additionalProperties": TEXT},
        "where": TEXT,
        "store": {
            "type": "object",
            "properties": {
                "class": {"enum": ["a", "b"], **TEXT},
                "deep": {"type": "object", "properties": {"size": {"type": "integer", "default": 1}}},
            },
        },
    },
}


def test_an_object_that_is_not_there_is_entered_twice_where_the_schema_says_what_may_be_in_it() -> None:
    assert names({}, backup=BACKUP, on={"type": "boolean"}) == [
        "spec.on toggle (true)",
        "spec.backup.keep up (8)",
        "spec.backup.keep down (6)",
        "spec.backup.keep zero (0)",
        "spec.backup.enabled toggle (true)",
        "spec.backup.store.class set (a)",
        "spec.backup.store.class set (b)",
    ]
    (keep, *_) = [move for move in find_moves(manifest({}), schema(backup=BACKUP)) if move.path == "spec.backup.keep"]
    assert (keep.do, keep.undo) == ({"spec": {"backup": {"keep": 8}}}, {"spec": {"backup": None}})


@pytest.mark.parametrize(
    ("required", "paths"),
    [
        (["enabled"], {"spec.backup.keep", "spec.backup.enabled", "spec.backup.store.class"}),  # it has a default
        (["store"], {"spec.backup.store.class"}),
        (["where"], set()),
    ],
)
def test_what_an_object_that_is_not_there_would_lack_keeps_it_away(required: list[str], paths: set[str]) -> None:
    found = find_moves(manifest({}), schema(backup={**BACKUP, "required": required}))
    assert {move.path for move in found if move.path.startswith("spec.")} == paths


def test_what_the_api_server_adds_is_changed_as_if_the_sample_said_it() -> None:
    modes = {"type": "array", "items": TEXT, "default": ["a", "b"]}
    limits = {"type": "object", "properties": {"cpu": TEXT, "sizes": modes}, "default": {"cpu": "2m", "sizes": ["x"]}}
    found = {str(move): move for move in find_moves(manifest({}), schema(modes=modes, limits=limits))}

    assert found["spec.modes append-entry (3 entries)"].do == {"spec": {"modes": ["a", "b", "b-changed"]}}
    assert found["spec.modes reorder (2 entries)"].do == {"spec": {"modes": ["b", "a"]}}
    assert found["spec.modes remove-entry (1 entries)"].undo == {"spec": {"modes": None}}
    cpu = found["spec.limits.cpu quantity (3m)"]
    assert (cpu.do, cpu.undo) == ({"spec": {"limits": {"cpu": "3m", "sizes": ["x"]}}}, {"spec": {"limits": None}})
    assert found["spec.limits.sizes[0] string (x-changed)"].do["spec"]["limits"]["sizes"] == ["x-changed"]
    assert not [name for name in found if "remove-value" in name or "remove-block" in name]


def test_later_entries_of_a_list_come_after_the_first() -> None:
    steps = [{"name": f"s{number}", "retries": number} for number in range(1, 9)]
    retries = [move for move in find_moves(manifest({"steps": steps})) if move.path.endswith("retries") and move.kind == "up"]
    assert [move.path for move in retries] == [f"spec.steps[{number}].retries" for number in range(4)]
    (second,) = [
        move for move in find_moves(manifest({"steps": steps[:2]})) if (move.path, move.kind) == ("spec.steps[1].retries", "up")
    ]
    assert second.do["spec"]["steps"] == [steps[0], {"name": "s2", "retries": 3}]


def test_a_wide_schema_gives_no_more_moves_than_are_bounded_for_each_object() -> None:
    fields = {f"f{number}": {"type": "integer", "default": 5} for number in range(200)}
    wide = {"type": "object", "properties": fields}
    found = names({}, **{f"o{number}": wide for number in range(10)})
    assert len(found) == 80
    entries = [{f"f{number}": number for number in range(2, 40)} for _ in range(100)]
    later = [each for each in names({"list": entries}) if each.startswith("spec.list[") and not each.startswith("spec.list[0]")]
    assert len(later) == 18


def test_a_move_is_a_value() -> None:
    moves = find_moves(manifest({"size": 3, "items": ["a"]}))
    assert msgspec.json.decode(msgspec.json.encode(moves), type=list[Move]) == moves


STORAGE = {"type": "object", "properties": {"enabled": {"type": "boolean"}}}
FIELDS: JSON = {"paused": {"type": "boolean"}, "mode": {"type": "string", "enum": ["a", "b"]}, "storage": STORAGE}


def changes(sample: JSON, **fields: JSON) -> dict[str, tuple[JSON, JSON]]:
    """What its moves do and undo, but for those of labels."""
    return {move.name: (move.do, move.undo) for move in find_moves(sample, schema(**fields)) if not move.is_label}


@pytest.mark.parametrize("sample", [MANIFEST, MANIFEST | {"spec": None}])
def test_without_a_spec_there_are_the_moves_of_an_empty_one(sample: JSON) -> None:
    found = changes(sample, **FIELDS)
    assert found.keys() == changes(manifest({}), **FIELDS).keys()
    assert found["toggle spec.paused"] == ({"spec": {"paused": True}}, {"spec": None})


def test_no_spec_is_begun_that_the_api_server_would_refuse_or_puts_itself() -> None:
    def of(**more: object) -> Schema:
        spec = {"type": "object", "properties": {"on": {"type": "boolean"}, "size": {"type": "integer"}}, **more}
        return Schema({"type": "object", "properties": {"spec": spec}}, {})

    assert not [move for move in find_moves(MANIFEST, of(required=["size"])) if not move.is_label]
    (on, *_) = find_moves(MANIFEST, of(default={"on": True}))
    assert (on.path, on.do) == ("spec.on", {"spec": {"on": False}})


def test_a_key_with_nothing_behind_it_has_the_moves_of_what_belongs_there() -> None:
    found = changes(manifest({"storage": None, "mode": None}), **FIELDS)
    assert found.keys() == changes(manifest({"storage": {}}), **FIELDS).keys() - {"remove-block spec.storage"}
    assert found["toggle spec.storage.enabled"] == ({"spec": {"storage": {"enabled": True}}}, {"spec": {"storage": None}})
    assert found["set spec.mode = a"] == ({"spec": {"mode": "a"}}, {"spec": {"mode": None}})


def test_what_may_be_null_stays_so() -> None:
    may_be_null = FIELDS | {"storage": {**STORAGE, "nullable": True}}
    assert "toggle spec.storage.enabled" not in changes(manifest({"storage": None}), **may_be_null)


def test_labels_with_nothing_behind_them_get_one() -> None:
    (label,) = find_moves(MANIFEST | {"metadata": {"name": "w", "labels": None}})
    assert label.do == {"metadata": {"labels": {"moved": "moved"}}}
