"""A change to an object that leaves no trace: it gets a new resourceVersion, and nothing in it changes that could be copied.

Controllers copy annotations and labels to what they make, deep inside templates too, and hash them; a mark of ours would then be
held against them. So all that changes is the owner of a field that does not exist: one entry of `metadata.managedFields`,
which the API server takes from each writer (apimachinery util/managedfields, FieldManager.Update). All watchers are shown the
change, and a write that insists on the older resourceVersion meets a true conflict.

Divergence from Kubernetes: a client that only looks at changes of generation, labels or annotations (predicates of
controller-runtime, handlers of kopf) hears nothing of it.
"""

from typing import Any

MANAGER = "staleproof"
CONTENT_TYPE = "application/json-patch+json"


def nudge(api_version: str, number: int) -> list[dict[str, Any]]:
    """A JSON patch for an object of this version that has managedFields, as all have that were not stripped of them.

    `number` makes each change different from the one before; a later one takes the place of an earlier one.
    """
    owned: dict[str, Any] = {"f:metadata": {"f:annotations": {f"f:staleproof.dev/{number}": {}}}}
    entry = {"manager": MANAGER, "operation": "Update", "apiVersion": api_version, "fieldsType": "FieldsV1", "fieldsV1": owned}
    return [{"op": "add", "path": "/metadata/managedFields/-", "value": entry}]
