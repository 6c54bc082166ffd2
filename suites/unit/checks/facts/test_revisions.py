"""What is kept of earlier templates is no part of a state."""

from typing import Any

import pytest

from staleproof.checks.facts.revisions import unnumbered, without_past_claims, without_past_revisions
from staleproof.core.plan.manifest import Manifest

REVISION = "deployment.kubernetes.io/revision"
NUMBER = f"metadata.annotations.{REVISION}"
SETS, REVISIONS = "replicasets.apps", "controllerrevisions.apps"


def made(name: str, kind: str, uid: str = "u", *, revision: Any = None, **fields: Any) -> Manifest:  # noqa: ANN401  # whatever JSON holds
    owner = {"kind": kind, "name": "w", "uid": uid, "controller": True}
    annotations = {} if revision is None else {REVISION: revision}
    return {"metadata": {"name": name, "ownerReferences": [owner], "annotations": annotations}, **fields}


def left(resource: str, *objects: Manifest) -> list[str]:
    return [obj["metadata"]["name"] for _, obj in without_past_revisions([(resource, obj) for obj in objects])]


def test_the_latest_replica_set_of_a_deployment_stays_and_those_with_pods() -> None:
    old, leaving, filling = {"replicas": 0}, {"replicas": 0}, {"replicas": 1}
    assert left(
        SETS,
        made("old", "Deployment", revision="1", spec=old),
        made("leaving", "Deployment", revision="2", spec=leaving, status={"replicas": 1}),
        made("filling", "Deployment", revision="9", spec=filling),
        made("latest", "Deployment", revision="10", spec=old),
        made("anothers", "Deployment", "v", revision="1", spec=old),
    ) == ["leaving", "filling", "latest", "anothers"]


@pytest.mark.parametrize(("kind", "stays"), [("StatefulSet", ["new"]), ("DaemonSet", ["new"]), ("Widget", ["old", "new"])])
def test_the_latest_revision_stays_and_all_of_one_that_counts_in_another_way(kind: str, stays: list[str]) -> None:
    assert left(REVISIONS, made("old", kind) | {"revision": 2}, made("new", kind) | {"revision": 11}) == stays


@pytest.mark.parametrize("revision", [None, "", "first"])
def test_a_replica_set_without_a_number_stays_when_none_has_pods(revision: str | None) -> None:
    assert left(SETS, made("a", "Deployment", revision=revision), made("b", "Deployment", revision="2")) == ["a", "b"]
    assert left(SETS, made("a", "Rollout", revision="1"), made("b", "Rollout", revision="2")) == ["a", "b"]


def test_a_replica_set_without_pods_is_past_when_another_of_its_owner_has_some() -> None:
    filling, leaving = made("filling", "Rollout", spec={"replicas": 2}), made("leaving", "Rollout", status={"replicas": 1})
    anothers, nobodys = made("anothers", "Rollout", "v"), {"metadata": {"name": "nobodys"}}
    assert left(SETS, made("old", "Rollout"), filling, leaving, anothers, nobodys) == ["filling", "leaving", "anothers", "nobodys"]
    assert left("widgets.example.com", made("old", "Rollout"), filling) == ["old", "filling"]


def test_a_claim_is_past_that_has_no_owner_and_that_no_pod_uses() -> None:
    def claim(name: str, *owners: object) -> tuple[str, Manifest]:
        return "persistentvolumeclaims", {"metadata": {"name": name, "uid": f"uid-{name}", "ownerReferences": [*owners]}}

    volumes = [{"emptyDir": {}}, {"persistentVolumeClaim": {"claimName": "used"}}]
    pods: list[tuple[str, Manifest]] = [("pods", {"metadata": {"name": "a"}, "spec": {"volumes": volumes}})]
    claims = [claim("used"), claim("left"), claim("owned", {"uid": "u"}), claim("own")]
    map_ = ("configmaps", claim("map")[1])
    assert without_past_claims([*pods, *claims, map_], {"uid-own"}) == [*pods, claims[0], *claims[2:], map_]


@pytest.mark.parametrize(
    ("resource", "lost"),
    [
        ("deployments.apps", {NUMBER, f"{NUMBER}-history"}),
        (SETS, {NUMBER, f"{NUMBER}-history"}),
        (REVISIONS, {"metadata.annotations.hash", "revision", NUMBER, f"{NUMBER}-history"}),
        ("pods", {"metadata.labels.pod-template-generation"}),
        ("widgets.example.com", set()),
    ],
)
def test_numbers_and_copies_are_left_out(resource: str, lost: set[str]) -> None:
    numbers = ("revision", NUMBER, f"{NUMBER}-history", "metadata.labels.pod-template-generation")
    flat = dict.fromkeys(("data.image", "metadata.annotations.hash", *numbers), "1")
    assert flat.keys() - unnumbered(resource, flat).keys() == lost
