"""An object as users write it, in YAML or JSON."""

from collections.abc import Iterable
from typing import Any

from staleproof.core.fault.model import Value
from staleproof.core.plan.masking import SECRET, Placeholders

Manifest = dict[str, Any]
SHA256 = "sha256"
"""The one key of what stands for a manifest that is stored elsewhere."""
NEEDED = "apiVersion, kind and metadata.name"
GIVEN = frozenset(
    {
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "managedFields",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    }
)
"""Metadata that the API server gives an object."""
_CRD = "CustomResourceDefinition"
_OF_KUBECTL = "kubectl.kubernetes.io/last-applied-configuration"


class Target(Value, frozen=True):
    """An object of the workload, as a manifest names it. Its namespace is the trial's."""

    api_version: str
    kind: str
    name: str


def is_object(manifest: Manifest) -> bool:
    """Whether it says what it is (`NEEDED`)."""
    metadata = manifest.get("metadata")
    named = isinstance(metadata, dict) and isinstance(metadata.get("name"), str)
    return named and isinstance(manifest.get("apiVersion"), str) and isinstance(manifest.get("kind"), str)


def as_asked_for(manifest: Manifest) -> Manifest:
    """An object as its user may have asked for it, of one that `kubectl get` may have printed.

    What the API server gave it is left out, and its owners, which are none in another cluster. Of one that was printed, which has a
    uid, so are the status and the finalizers: they are its controller's.
    """
    printed = "uid" in manifest["metadata"]
    left_out = GIVEN | {"ownerReferences"} | ({"finalizers"} if printed else set())
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in left_out}
    if isinstance(said := metadata.get("annotations"), dict) and _OF_KUBECTL in said:
        metadata["annotations"] = {key: value for key, value in said.items() if key != _OF_KUBECTL}
    has_status = not printed and manifest["kind"] != _CRD
    kept = {key: value for key, value in manifest.items() if key != "status" or has_status}
    return kept | {"metadata": metadata}


def content_of(manifest: Manifest) -> Manifest:
    """What an object says beside what it is, what it is called, and how it is: for most kinds the `spec` or the `data`."""
    return {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind", "metadata", "status")}


def target_of(manifest: Manifest) -> Target:
    """The object of a manifest, as steps name it."""
    return Target(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"])


def namespace_of(manifest: Manifest) -> str:
    """The namespace that it says; empty when it says none."""
    return str(manifest["metadata"].get("namespace") or "")


def value_at(manifest: object, path: Iterable[str]) -> object:
    """What stands where this path of keys leads; None where nothing does."""
    for key in path:
        manifest = manifest.get(key) if isinstance(manifest, dict) else None
    return manifest


def digest_in(manifest: Manifest) -> str:
    """The digest that stands for a manifest in a run folder (`core.plan.stored`); empty when it is the manifest itself."""
    return str(manifest[SHA256]) if manifest.keys() == {SHA256} else ""


def masked_manifests(manifests: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Manifests as they are written."""
    placeholders = Placeholders()
    return tuple(masked_manifest(manifest, placeholders) for manifest in manifests)


def masked_manifest(manifest: Manifest, placeholders: Placeholders) -> Manifest:
    """A manifest as it is written; the placeholders count the secrets of all that is written with it."""
    return placeholders.secret(manifest) if manifest.get("kind") == SECRET else manifest
