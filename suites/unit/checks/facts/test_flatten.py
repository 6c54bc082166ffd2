"""Objects as path → value."""

from typing import Any

from staleproof.checks.facts.flatten import flatten
from staleproof.core.plan import COMPETED, TOUCHED


def flat(obj: dict[str, Any], **replaced: str) -> dict[str, object]:
    return dict(flatten(obj, replaced))


def test_every_scalar_has_a_path() -> None:
    assert flat({"a": {"b": [1, {"c": "x"}], "d": None}}) == {"a.b#": 2, "a.b[0]": 1, "a.b[1].c": "x", "a.d": None}


def test_what_names_one_run_is_left_out_or_replaced() -> None:
    metadata = {"uid": "u", "resourceVersion": "7", "creationTimestamp": "t", "generation": 2, "namespace": "ns", "name": "w-x7"}

    assert flat({"metadata": metadata, "spec": {"uid": "v", "where": "ns"}}, **{"ns": "<namespace>", "w-x7": "<name>"}) == {
        "metadata.name": "<name>",
        "spec.where": "<namespace>",
    }


def test_what_a_competing_write_left_behind_is_nobodys_state() -> None:
    assert flat({"metadata": {"name": "w", "annotations": {COMPETED: "12", "a": "b"}}}) == {
        "metadata.name": "w",
        "metadata.annotations.a": "b",
    }


def test_nor_is_what_a_touch_left_behind() -> None:
    assert flat({"metadata": {"name": "w", "annotations": {TOUCHED: "5"}}}) == {"metadata.name": "w"}


def test_where_a_pod_is_and_why_a_condition_last_changed_are_no_state() -> None:
    condition = {"type": "Ready", "status": "True", "reason": "Found", "message": "node-1 has it"}
    status = {"hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.1"}], "conditions": [condition]}
    assert flat({"spec": {"nodeName": "node-1", "hostNetwork": True}, "status": status}) == {
        "spec.hostNetwork": True,
        "status.conditions#": 1,
        "status.conditions[Ready].type": "Ready",
        "status.conditions[Ready].status": "True",
    }


def test_times_are_times() -> None:
    times = ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456Z", "2026-01-02T03:04:05.1+00:00"]

    assert flat({"a": times[0], "b": times[1], "c": times[2], "d": "2026"}) == {
        "a": "<time>",
        "b": "<time>",
        "c": "<time>",
        "d": "2026",
    }
    assert flat({"metadata": {"deletionTimestamp": times[0]}}) == {"metadata.deletionTimestamp": "<terminating>"}


def test_the_order_of_conditions_and_what_they_say_to_people_do_not_count() -> None:
    ready = {"type": "Ready", "status": "True", "message": "3 of 3"}
    progressing = {"type": "Progressing", "status": "False"}

    assert flat({"status": {"conditions": [ready, progressing]}}) == flat({"status": {"conditions": [progressing, ready]}})
    assert flat({"status": {"conditions": [ready]}}) == {
        "status.conditions#": 1,
        "status.conditions[Ready].status": "True",
        "status.conditions[Ready].type": "Ready",
    }


def test_order_counts_in_the_spec_but_not_in_the_status() -> None:
    assert flat({"spec": {"args": ["a", "b"]}}) != flat({"spec": {"args": ["b", "a"]}})
    assert flat({"status": {"pods": ["a", "b"]}}) == flat({"status": {"pods": ["b", "a"]}})
    assert flat({"metadata": {"finalizers": ["a", "b"]}}) == flat({"metadata": {"finalizers": ["b", "a"]}})


def test_counters_of_attempts_tell_of_the_way_not_of_the_state() -> None:
    assert flat({"status": {"collisionCount": 1, "replicas": 3}, "spec": {"retries": 2}}) == {
        "status.replicas": 3,
        "spec.retries": 2,
    }
