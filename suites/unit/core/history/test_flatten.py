"""Objects as path → value."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from staleproof.core.history.change import changed_paths
from staleproof.core.history.flatten import apart, changed_fields, flatten, placed_at

PLACEHOLDERS = {"w-x7": "<name>"}
TIMES = ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456Z", "2026-01-02T03:04:05.1+00:00"]
OF_ONE_RUN = {"uid": "u", "resourceVersion": "7", "creationTimestamp": "t", "generation": 2, "namespace": "ns", "name": "w-x7"}
READY, PROGRESSING = {"type": "Ready", "status": "True"}, {"type": "Progressing", "status": "False"}
ONLY_READY = {"status.conditions#": 1, "status.conditions[Ready].status": "True", "status.conditions[Ready].type": "Ready"}


def flat(obj: dict[str, Any]) -> dict[str, object]:
    return dict(flatten(obj, PLACEHOLDERS, "ns"))


MARKED = {"staleproof.dev/competed": "12", "staleproof.dev/touched": "5", "a": "b"}
CASES: dict[str, tuple[dict[str, Any], dict[str, object]]] = {
    "every scalar has a path": ({"a": {"b": [1, {"c": "x"}], "d": None}}, {"a.b#": 2, "a.b[0]": 1, "a.b[1].c": "x", "a.d": None}),
    "what names one run is left out or replaced": (
        {"metadata": OF_ONE_RUN, "spec": {"uid": "v", "where": "ns"}},
        {"metadata.name": "<name>", "spec.where": "<namespace>"},
    ),
    "the namespace is replaced wherever it is a word, in keys, too": (
        {"status": {"children": {"/api/v1/namespaces/ns/configmaps/a": {"url": "http://a.ns.svc", "b": "ns-2 dns", "c": "my_ns"}}}},
        {
            "status.children./api/v1/namespaces/<namespace>/configmaps/a.url": "http://a.<namespace>.svc",
            "status.children./api/v1/namespaces/<namespace>/configmaps/a.b": "ns-2 dns",
            "status.children./api/v1/namespaces/<namespace>/configmaps/a.c": "my_ns",
        },
    ),
    "what a touch leaves behind, or a competing write once did, is no state, wherever it was copied to": (
        {"metadata": {"name": "w", "annotations": MARKED}, "spec": {"template": {"metadata": {"annotations": MARKED}}}},
        {"metadata.name": "w", "metadata.annotations.a": "b", "spec.template.metadata.annotations.a": "b"},
    ),
    "nor is where a pod is": (
        {"spec": {"nodeName": "n", "hostNetwork": True}, "status": {"hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.1"}]}},
        {"spec.hostNetwork": True},
    ),
    "nor why a condition last changed, and what it says to people": (
        {"status": {"conditions": [READY | {"reason": "Found", "message": "node-1 has it"}]}},
        ONLY_READY,
    ),
    "times are times": (
        {"a": TIMES[0], "b": TIMES[1], "c": TIMES[2], "d": "2026"},
        {"a": "<time>", "b": "<time>", "c": "<time>", "d": "2026"},
    ),
    "and a deletion is one": ({"metadata": {"deletionTimestamp": TIMES[0]}}, {"metadata.deletionTimestamp": "<terminating>"}),
    "counters of attempts tell of the way": (
        {"status": {"collisionCount": 1, "replicas": 3}, "spec": {"retries": 2}},
        {"status.replicas": 3, "spec.retries": 2},
    ),
}


@pytest.mark.parametrize(("obj", "expected"), CASES.values(), ids=CASES)
def test_flat(obj: dict[str, Any], expected: dict[str, object]) -> None:
    assert flat(obj) == expected


@pytest.mark.parametrize(
    ("section", "key", "first", "second", "counts"),
    [
        ("status", "conditions", READY, PROGRESSING, False),
        ("status", "pods", "a", "b", False),
        ("metadata", "finalizers", "a", "b", False),
        ("spec", "args", "a", "b", True),
    ],
)
def test_order_counts_in_the_spec_only(section: str, key: str, first: object, second: object, *, counts: bool) -> None:
    assert (flat({section: {key: [first, second]}}) != flat({section: {key: [second, first]}})) is counts


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["spec", "status", "metadata"]), VALUES)


@given(OBJECTS, OBJECTS)
def test_what_two_objects_have_in_common_makes_no_difference(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert changed_paths(*map(flat, apart(before, after))) == changed_paths(flat(before), flat(after))


def test_a_field_has_changed_without_the_number_of_its_item() -> None:
    before = {"spec": {"kept": 1, "gone": 2, "ports": [{"port": 1}, {"port": 2}]}}
    after = {"spec": {"kept": 1, "ports": [{"port": 1}, {"port": 3}]}, "status": {"ready": True}}
    assert changed_fields(before, after) == {"spec.gone", "spec.ports#", "spec.ports[].port", "status.ready"}


@pytest.mark.parametrize(
    ("pod", "found"),
    [
        ({"spec": {"nodeName": "n"}, "status": {"hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]}}, 3),
        ({"spec": {"nodeName": "n"}}, 1),
        ({"spec": {}, "status": {"phase": "Pending"}}, 0),
        ({}, 0),
    ],
    ids=["it runs", "it is bound", "it is not", "nothing is known"],
)
def test_where_a_pod_is(pod: dict[str, Any], found: int) -> None:
    assert len(placed_at(pod)) == found
