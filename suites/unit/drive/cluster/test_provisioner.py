"""What a claim gets."""

from typing import Any

from staleproof.drive.cluster.provisioner import STORAGE_CLASS, volume


def claim(**spec: Any) -> dict[str, Any]:  # noqa: ANN401  # fields of a claim
    known = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": STORAGE_CLASS,
    }
    metadata = {"name": "data-w-0", "namespace": "staleproof-1", "uid": "0c9d", "resourceVersion": "141", "labels": {"app": "w"}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": known | spec}


def test_a_volume_is_the_claims_alone_and_as_large_as_it_asks_for() -> None:
    made = volume(claim())
    assert made["metadata"]["name"] == "pvc-0c9d"
    assert made["spec"]["claimRef"] == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": "staleproof-1",
        "name": "data-w-0",
        "uid": "0c9d",
        "resourceVersion": "141",
    }
    assert (made["spec"]["capacity"], made["spec"]["storageClassName"]) == ({"storage": "1Gi"}, STORAGE_CLASS)
    assert (made["spec"]["volumeMode"], made["spec"]["accessModes"]) == ("Filesystem", ["ReadWriteOnce"])


def test_a_volume_has_the_mode_that_its_claim_asks_for() -> None:
    assert volume(claim(volumeMode="Block", accessModes=["ReadWriteMany"]))["spec"]["volumeMode"] == "Block"
