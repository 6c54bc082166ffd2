"""An object as path → value, so that two runs can be compared field by field.

What names one run (uids, namespace, generated names, times, revisions) is left out or replaced by a placeholder; so is what tells
of the way and not of the state: text for people, counters of attempts. Lists whose order means nothing are compared by key:
conditions by type, other lists of objects by name, scalars of the status and finalizers as sets.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

Flat = Mapping[str, object]

_SKIPPED = frozenset(
    f"metadata.{key}"
    for key in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink", "namespace", "ownerReferences")
)
_COUNTERS = ("collisionCount", "restartCount", "retryCount", "retries", "attempts", "failureCount")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)")


def flatten(value: Any, replaced: Mapping[str, str], path: str = "") -> Iterator[tuple[str, object]]:  # noqa: ANN401  # JSON
    """(path, value) of every scalar; `replaced` has placeholders for strings that name one run."""
    if _is_skipped(path):
        return
    if path == "metadata.deletionTimestamp":
        yield path, "<terminating>"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, replaced, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield f"{path}#", len(value)
        for key, inner in _keyed(value, path):
            yield from flatten(inner, replaced, f"{path}[{key}]")
    elif isinstance(value, str):
        yield path, "<time>" if _TIME.fullmatch(value) else replaced.get(value, value)
    else:
        yield path, value


def _is_skipped(path: str) -> bool:
    leaf = path.rpartition(".")[2]
    if path in _SKIPPED or leaf in ("uid", "resourceVersion"):
        return True
    return path.startswith("status.") and (leaf in _COUNTERS or (leaf == "message" and ".conditions[" in f".{path}"))


def _keyed(items: list[Any], path: str) -> Iterator[tuple[str, Any]]:
    """What a list's items are called in a path: as little as possible by their position."""
    for key in ("type", "name"):
        keys = [item.get(key) if isinstance(item, dict) else None for item in items]
        if all(isinstance(found, str) for found in keys) and len(set(keys)) == len(keys):
            yield from ((f"{key}={found}", item) for found, item in zip(keys, items, strict=True))
            return
    a_set = path == "metadata.finalizers" or path.startswith("status.")
    scalars = not any(isinstance(item, dict | list) for item in items)
    ordered = sorted(items, key=repr) if a_set and scalars else items
    yield from ((str(number), item) for number, item in enumerate(ordered))
