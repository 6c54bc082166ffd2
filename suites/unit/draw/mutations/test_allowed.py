"""What the user says of moves."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.draw.mutations.allowed import Extension, MutationError, Mutations, allowed_moves, raise_unknown, read
from staleproof.draw.mutations.sample_moves import find_moves
from staleproof.draw.mutations.schema import ANYTHING, Schema

JSON = dict[str, Any]
SAMPLE: JSON = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w"},
    "spec": {"size": 3, "ports": [{"name": "a", "port": 1}], "template": {"labels": {"app": "x"}}},
}
SCHEMA = Schema(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "paused": {"type": "boolean"},
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "hosts": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
                    "nodes": {"type": "object", "additionalProperties": {"type": "string"}},
                },
            }
        },
    },
    {},
)
PATHS = sorted({move.path for move in find_moves(SAMPLE, SCHEMA)})


def paths(mutations: Mutations) -> set[str]:
    allowed = allowed_moves(SAMPLE, SCHEMA, mutations)
    return {move.path for move in (*allowed.own, *allowed.found)}


@given(st.sets(st.sampled_from(PATHS)), st.sets(st.sampled_from(PATHS)))
def test_only_what_is_allowed_is_changed(only: set[str], forbid: set[str]) -> None:
    found = paths(Mutations(only=tuple(only), forbid=tuple(forbid)))
    assert not found & forbid
    assert all(any(each.startswith(path) for path in only) for each in found) or not only


def test_a_path_stands_for_all_within() -> None:
    assert paths(Mutations(only=("spec.ports",))) == {"spec.ports", "spec.ports[0].name", "spec.ports[0].port"}
    assert paths(Mutations(only=("spec.ports[].port",))) == {"spec.ports[0].port"}


def test_what_holds_a_forbidden_field_is_not_changed_as_a_whole() -> None:
    found = paths(Mutations(forbid=("spec.ports[].port",)))
    assert not found & {"spec.ports", "spec.ports[0].port"}
    assert "spec.ports[0].name" in found


def test_the_users_values_come_first() -> None:
    first, second = allowed_moves(SAMPLE, SCHEMA, Mutations(extend=(Extension(path="spec.size", values=(30, 3, 300)),))).own
    assert [str(first), str(second)] == ["spec.size set (3 → 30)", "spec.size set (3 → 300)"]
    (inner,) = allowed_moves(SAMPLE, ANYTHING, Mutations(extend=(Extension(path="spec.ports[].port", values=(7,)),))).own
    assert inner.do == {"spec": {"ports": [{"name": "a", "port": 7}]}}


@pytest.mark.parametrize(
    ("said", "reports"),
    [
        ("only: [spec.size]", []),
        ("forbid: [spec.free]", []),
        ("only: [spec.free.any, spec.size]", ["only: 'spec.free.any' allows no change of Widget/w"]),
        ("only: [spec.size]\nforbid: [spec.size]", ["only: 'spec.size' allows no change of Widget/w"]),
        ("only: [spec.free.any]\nextend: [{path: spec.free.any, values: [1]}]", []),
        ("extend: [{path: spec.size, values: [3, 4]}]", ["extend: 'spec.size' is 3 in Widget/w already; give another value"]),
        ("extend: [{path: spec.ports, values: [[{name: a, port: 1}]]}]", ["extend: 'spec.ports' is [{"]),
        (
            "extend: [{path: 'spec.ports[4].port', values: [3, 4]}]",
            ["extend: 'spec.ports[4].port' cannot be set, because Widget/w"],
        ),
        ("extend: [{path: 'spec.hosts[].name', values: [a]}]", ["extend: 'spec.hosts[].name' cannot be set, because Widget/w"]),
        ("extend: [{path: spec.size, values: []}]", ["extend: 'spec.size' has no values; give some"]),
    ],
)
def test_what_changes_nothing_is_reported(said: str, reports: list[str]) -> None:
    idle = allowed_moves(SAMPLE, SCHEMA, read(said)).idle
    assert [each[: len(begins)] for each, begins in zip(idle, reports, strict=True)] == reports


@pytest.mark.parametrize("path", ["spec.paused", "spec.free.any.thing", "spec.nodes.one", "metadata.labels.tier"])
def test_what_the_schema_allows_is_a_field_too(path: str) -> None:
    allowed = allowed_moves(SAMPLE, SCHEMA, Mutations(forbid=(path,)))
    assert path not in {move.path for move in allowed.found}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("spec.szie", "'spec.szie' is no field of it or of its schema (did you mean 'spec.size'?)"),
        ("spec.ports[].nane", "did you mean 'spec.ports[].name'?"),
        ("zzz", "'zzz' is no field of it or of its schema"),
    ],
)
@pytest.mark.parametrize("where", ["only", "forbid", "extend"])
def test_a_path_that_does_not_exist_is_reported(path: str, message: str, where: str) -> None:
    said: JSON = {where: [path] if where != "extend" else [{"path": path, "values": [1]}]}
    with pytest.raises(MutationError) as err:
        raise_unknown([(SAMPLE, SCHEMA)], read(str(said)))
    assert message in str(err.value)
    assert str(err.value).startswith(f"Widget/w: {where}: '")


def test_all_paths_that_do_not_exist_are_reported_at_once() -> None:
    with pytest.raises(MutationError) as err:
        raise_unknown([(SAMPLE, SCHEMA)], Mutations(only=("spec.size", "zzz"), forbid=("yyy",)))
    assert str(err.value).count("is no field of it") == 2


BACKUP: JSON = {"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": "b"}, "spec": {"keep": 3}}


def test_what_one_of_several_samples_has_is_no_mistake_and_does_nothing_to_the_others() -> None:
    said = read("only: [spec.size]\nforbid: [spec.paused]\nextend: [{path: spec.keep, values: [9]}]")
    raise_unknown([(SAMPLE, SCHEMA), (BACKUP, ANYTHING)], said)

    allowed = allowed_moves(BACKUP, ANYTHING, said)
    assert ([str(move) for move in allowed.own], allowed.found) == (["spec.keep set (3 → 9)"], ())
    assert allowed.idle == tuple(
        f"{word}: '{path}' is no field of Backup/b or of its schema"
        for word, path in (("only", "spec.size"), ("forbid", "spec.paused"))
    )
    assert allowed_moves(SAMPLE, SCHEMA, said).own == ()


def test_what_none_of_several_samples_has_is_reported() -> None:
    with pytest.raises(MutationError) as err:
        raise_unknown([(SAMPLE, SCHEMA), (BACKUP, ANYTHING)], Mutations(only=("spec.kep", "spec.size")))
    assert str(err.value) == (
        "Widget/w, Backup/b: only: 'spec.kep' is no field of them or of their schemas (did you mean 'spec.keep'?)"
    )


def test_a_file_says_what_may_be_changed() -> None:
    text = "only: [spec]\nforbid: [spec.size]\nextend:\n- {path: spec.size, values: [1, 2]}\n"
    assert read(text) == Mutations(only=("spec",), forbid=("spec.size",), extend=(Extension(path="spec.size", values=(1, 2)),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected only, forbid or extend, found nothing"),
        ("- a", "found list"),
        ("a: [", "not YAML"),
        ("onyl: [spec]", "did you mean 'only'?"),
        ("only: spec", "only"),
        ("extend: [{path: spec.size}]", "values is missing"),
    ],
)
def test_a_file_that_says_something_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(MutationError) as err:
        read(text)
    assert message in str(err.value)
