"""What is stored once: named by what it is, masked, and whole again when it is put back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan, contradictions, decode, encode, masked
from staleproof.core.plan.step import Apply, Rest
from staleproof.core.plan.stored import attached, compressed, detached, digest, is_compressed, is_detached, plain

CRD: Manifest = {
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {"b": 1, "a": [2.5, None]},
}
NEEDED: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "b"}}
SECRET: Manifest = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "database"},
    "stringData": {"password": "hunter2xyz"},
}


def plan(*manifests: Manifest, **fields: Any) -> Plan:  # noqa: ANN401  # fields of Plan
    return Plan(**{"scenario": "mine", "steps": (Rest(seconds=1.0),), "manifests": manifests} | fields)


@given(st.binary())
def test_what_is_compressed_comes_back_and_is_always_the_same(data: bytes) -> None:
    made = compressed(data)
    assert is_compressed(made)
    assert plain(made) == data
    assert compressed(data) == made


def test_what_is_plain_is_left_alone() -> None:
    assert plain(b'{"entry":') == b'{"entry":'


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: data[:20], lambda data: data[:15] + b"xx" + data[17:]])
def test_a_damaged_file_is_reported(spoil: Any) -> None:  # noqa: ANN401  # a function
    with pytest.raises(ValueError, match="the file is damaged or was cut short"):
        plain(spoil(compressed(bytes(range(256)))))


@pytest.mark.parametrize("manifests", [(), (CRD,), (CRD, {"kind": "Namespace"}), (CRD, CRD)])
def test_a_plan_gets_its_manifests_back(manifests: tuple[Manifest, ...]) -> None:
    original = plan(*manifests)
    kept, stored = detached(original)
    assert [manifest.keys() for manifest in kept.manifests] == [{"sha256"}] * len(manifests)
    assert {digest(data) for data in stored.values()} == set(stored)
    assert contradictions(kept) == []
    assert attached(decode(encode(kept)), stored.__getitem__) == original
    assert attached(original, stored.__getitem__) == original


def test_a_plan_is_detached_once() -> None:
    kept, stored = detached(plan(CRD))
    assert detached(kept) == (kept, {})
    assert len(stored) == 1


def test_what_is_stored_holds_no_secret_and_the_plan_can_still_be_run() -> None:
    original = plan(SECRET, steps=(Apply(object=SECRET),))
    kept, stored = detached(original)
    assert kept.steps == original.steps
    assert all(b"hunter2xyz" not in data for data in stored.values())
    written = masked(original)
    assert [json.loads(data) for data in stored.values()] == [*written.manifests]
    assert masked(kept).steps == written.steps, "the same placeholders as beside the manifests"


def test_what_a_workload_needs_is_stored_like_manifests() -> None:
    original = plan(CRD, before=(NEEDED,))
    kept, stored = detached(original)
    assert [each.keys() for each in (*kept.manifests, *kept.before)] == [{"sha256"}] * 2
    assert (is_detached(original), is_detached(kept)) == (False, True)
    assert contradictions(kept) == []
    assert attached(decode(encode(kept)), stored.__getitem__) == original


def test_a_secret_that_is_needed_is_stored_without_its_payload() -> None:
    kept, stored = detached(plan(before=(SECRET,)))
    assert all(b"hunter2xyz" not in data for data in stored.values())
    assert attached(kept, stored.__getitem__).before == masked(plan(before=(SECRET,))).before
