"""What a manifest names, what stands for one, and what is written of a Secret."""

import pytest

from staleproof.core.plan.manifest import (
    Manifest,
    Target,
    as_asked_for,
    digest_in,
    is_object,
    masked_manifests,
    target_of,
    value_at,
)

SECRET: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2xyz"}}


@pytest.mark.parametrize(
    "wrong",
    [{"metadata": {}}, {"metadata": None}, {"apiVersion": 1}, {"kind": None}],
    ids=["no name", "nothing", "number", "no kind"],
)
def test_it_has_to_say_what_it_is(wrong: Manifest) -> None:
    assert is_object(SECRET)
    assert not is_object(SECRET | wrong)


def test_steps_name_it_by_what_it_is() -> None:
    assert target_of(SECRET) == Target("v1", "Secret", "s")


def test_a_digest_stands_for_it_alone() -> None:
    assert digest_in({"sha256": "abc"}) == "abc"
    assert digest_in(SECRET | {"sha256": "abc"}) == ""


def test_what_is_secret_is_not_written_and_the_rest_is() -> None:
    (secret, widget) = masked_manifests([SECRET, {"kind": "Widget", "spec": {"password": "of nobody"}}])
    assert "hunter2xyz" not in str(secret)
    assert secret["metadata"] == SECRET["metadata"]
    assert widget["spec"] == {"password": "of nobody"}


def printed(kind: str, **metadata: object) -> Manifest:
    """As `kubectl get -o yaml` prints it."""
    given = {
        "uid": "1",
        "resourceVersion": "7",
        "generation": 2,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [{}],
    }
    owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "2", "controller": True}]
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": "w", "ownerReferences": owners, "finalizers": ["example.com/f"]} | given | metadata,
        "spec": {"a": 1},
        "status": {"b": 2},
    }


def test_what_was_printed_is_asked_for_again() -> None:
    kubectl = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "mine": "x"}
    wanted = as_asked_for(printed("Widget", annotations=kubectl, labels={"app": "w"}))
    assert wanted == {
        "apiVersion": "v1",
        "kind": "Widget",
        "metadata": {"name": "w", "annotations": {"mine": "x"}, "labels": {"app": "w"}},
        "spec": {"a": 1},
    }


def test_what_a_user_wrote_is_left_as_it_is() -> None:
    written = {**SECRET, "metadata": {"name": "s", "finalizers": ["example.com/f"], "annotations": None}, "status": {"b": 2}}
    assert as_asked_for(written) == written
    stamped = {**written, "metadata": {**written["metadata"], "creationTimestamp": None}}
    assert as_asked_for(stamped) == written, "as controller-gen writes it"


def test_a_definition_says_nothing_of_its_state() -> None:
    """As older controller-gens wrote it."""
    assert "status" not in as_asked_for(
        {"kind": "CustomResourceDefinition", "metadata": {"name": "d"}, "status": {"conditions": []}}
    )


def test_a_path_leads_to_a_value_or_nowhere() -> None:
    assert value_at(SECRET, ["metadata", "name"]) == "s"
    assert value_at(SECRET, ["metadata", "uid"]) is value_at(SECRET, ["kind", "name"]) is None
    assert value_at(SECRET, []) == SECRET
