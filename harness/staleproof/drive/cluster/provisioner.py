"""The provisioner: claims get the volumes that they ask for, as the default StorageClass of a real cluster sees to it.

It does what an external provisioner does: kube-controller-manager's binder asks for a volume by an annotation of the claim, binds
it when it is there, and says when it is released; then it goes. Nothing is ever stored in one, because kwok's pods mount nothing.

Divergence from Kubernetes: a volume does not grow.
"""

from collections.abc import Coroutine, Iterator
from typing import Any

from staleproof.core.plan.manifest import Manifest
from staleproof.drive.cluster import manifests
from staleproof.drive.cluster.api import JSON, Api, ApiError, ResourceType
from staleproof.drive.cluster.truth import Truth

STORAGE_CLASS = "standard"
_NAME = "staleproof.dev/provisioner"
_CLAIMED_FROM = "volume.kubernetes.io/storage-provisioner"
_MADE = "pv.kubernetes.io/provisioned-by"
_CLASS: Manifest = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": STORAGE_CLASS, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": _NAME,
    "volumeBindingMode": "Immediate",
}
_CLAIMS, _VOLUMES = _CONCERNED = ("persistentvolumeclaims", "persistentvolumes")
_CONFLICT = 409


async def provide(api: Api, truth: Truth) -> Coroutine[Any, Any, None]:
    """Make the default StorageClass; the work for its claims, which goes on for ever, is left to be run."""
    await manifests.apply([_CLASS], api, truth)
    kind = await manifests.resource_type({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": ""}}, api)
    return _provide(kind, api, truth)


async def _provide(kind: ResourceType, api: Api, truth: Truth) -> None:
    """`done` has what was seen to, by uid: truth learns of it a moment later."""
    done: set[str] = set()
    seen = -1

    def has_news() -> bool:
        return truth.commits_of(_CONCERNED) != seen

    while True:
        await truth.until(has_news)
        seen = truth.commits_of(_CONCERNED)
        for obj in [each for each in _waiting(truth) if each["metadata"]["uid"] not in done]:
            done.add(obj["metadata"]["uid"])
            if obj["kind"] == "PersistentVolume":
                await api.delete(kind, "", obj["metadata"]["name"])
            else:
                await _make(kind, volume(obj), api)


def _waiting(truth: Truth) -> Iterator[JSON]:
    """Claims that want a volume of ours, and volumes of ours that no claim wants any more."""
    for (resource, _, _), obj in truth.objects.items():
        if resource not in _CONCERNED or "deletionTimestamp" in obj["metadata"]:
            continue
        said = obj["metadata"].get("annotations") or {}
        is_unmet = resource == _CLAIMS and said.get(_CLAIMED_FROM) == _NAME and not obj["spec"].get("volumeName")
        is_left = resource == _VOLUMES and said.get(_MADE) == _NAME and (obj.get("status") or {}).get("phase") == "Released"
        if is_unmet or is_left:
            yield obj


def volume(claim: JSON) -> Manifest:
    """What a claim gets."""
    metadata, spec = claim["metadata"], claim["spec"]
    name = f"pvc-{metadata['uid']}"
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {_MADE: _NAME}},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                **{key: metadata[key] for key in ("namespace", "name", "uid", "resourceVersion")},
            },
            "hostPath": {"path": f"/var/lib/{name}"},  # of a Node that has no disk
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec["storageClassName"],
            "volumeMode": spec.get("volumeMode", "Filesystem"),
        },
    }


async def _make(kind: ResourceType, made: Manifest, api: Api) -> None:
    try:
        await api.call("POST", kind.path(), made)
    except ApiError as err:
        if err.code != _CONFLICT:  # it is there already
            raise
