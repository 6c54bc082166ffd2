"""What a garbage collector would take: every real cluster has one, a trial may not.

It takes what has owner references and no owner that is there. A controller that leaves that to it has cleaned up. An owner that is
about to go, with nothing but the collector's own mark `foregroundDeletion` on it, counts as gone. Not so one that is to leave its
dependents behind (`orphan`): the collector takes the references off them first, and without one they stay as they are. What has a
finalizer of its own would only be marked for deletion, and wait for the controller that set that: it is no garbage.

Divergence from Kubernetes: an owner that was never there counts as one that is gone, if there were objects of its kind in the
namespace; of other kinds (of the cluster, perhaps) nothing is known, and what they own stays.
"""

from collections.abc import Collection, Sequence
from typing import Any

from staleproof.core.plan.manifest import Manifest

_FOREGROUND = "foregroundDeletion"


def without_garbage(objects: Sequence[tuple[str, Manifest]], kinds: Collection[str]) -> list[tuple[str, Manifest]]:
    """What would be left of these objects (resource, object), of owners of these kinds."""
    left = [(resource, obj) for resource, obj in objects if not _is_leaving(obj)]
    there = {obj["metadata"].get("uid") for _, obj in left}
    while garbage := {obj["metadata"]["uid"] for _, obj in left if _is_garbage(obj, there, kinds)}:
        there -= garbage
        left = [(resource, obj) for resource, obj in left if obj["metadata"].get("uid") not in garbage]
    return left


def _is_garbage(obj: Manifest, there: Collection[Any], kinds: Collection[str]) -> bool:
    owners = obj["metadata"].get("ownerReferences") or ()
    gone = all(owner["uid"] not in there and owner["kind"] in kinds for owner in owners)
    return bool(owners) and gone and not obj["metadata"].get("finalizers") and "uid" in obj["metadata"]


def _is_leaving(obj: Manifest) -> bool:
    """What is being deleted and will be gone without any help but the collector's."""
    metadata = obj["metadata"]
    return "deletionTimestamp" in metadata and set(metadata.get("finalizers") or ()) <= {_FOREGROUND}
