"""An object as path → value, so that two runs can be compared field by field.

What names one run (uids, namespace, generated names, times, revisions) is left out or replaced by a placeholder, the namespace also
within keys and longer strings, as in a path or the address of a Service. So is what is about the way and not the state: messages
of conditions, and their reasons (those of the last transition, API conventions say), counters of attempts. Where order is about the
way only, it does not count: conditions are found by their type, other lists in the status and finalizers are sorted.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Flat = Mapping[str, object]
MISSING, TIME = "<not set>", "<time>"
"""A field that an object does not have, and any time."""

_SKIPPED = frozenset(
    f"metadata.{key}"
    for key in (
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "generateName",  # how a name was come by; roles know what it is called after
        "managedFields",
        "selfLink",
        "namespace",
    )
)
_MARKS = ("annotations.staleproof.dev/competed", "annotations.staleproof.dev/touched")
"""What touches leave behind, and competing writes did in older histories; controllers copy it to what they make."""
_PLACED = frozenset({"spec.nodeName", "status.hostIP", "status.hostIPs"})
"""Where a pod is: the scheduler's choice, one of several that are equally good."""
_COUNTERS = ("collisionCount", "restartCount", "retryCount", "retries", "attempts", "failureCount")
_ITEM = re.compile(r"\[[^\]]*\]")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)")


def flatten(value: Any, replaced: Mapping[str, str], namespace: str = "") -> Iterator[tuple[str, object]]:  # noqa: ANN401  # JSON
    """(path, value) of every scalar. `replaced` has placeholders for strings that name one run; `namespace` is replaced wherever it
    is a word of a key or of a string."""
    yield from _flat(value, replaced, _without(namespace), "")


def placed_at(pod: Mapping[str, Any]) -> set[str]:
    """The name of the Node that a Pod is on, and its addresses; empty if it is on none."""
    spec, status = (each if isinstance(each, dict) else {} for each in (pod.get("spec"), pod.get("status")))
    found = {spec.get("nodeName"), status.get("hostIP"), *(each.get("ip") for each in status.get("hostIPs", ()))}
    return {place for place in found if place}


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any], namespace: str = "") -> frozenset[str]:
    """The paths whose values differ, without the numbers of items (`without_items`). A list in which anything differs has changed
    as a whole."""
    return frozenset(without_items(path) for each in apart(before, after) for path, _ in flatten(each, {}, namespace))


def apart(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both objects without the keys, at any depth outside lists, whose values are the same: what is left flattens to all that
    differs."""
    one, other = dict[str, Any](), dict[str, Any]()
    for key in before.keys() | after.keys():
        if key in before and key in after:
            if before[key] == after[key]:
                continue
            if isinstance(before[key], dict) and isinstance(after[key], dict):
                one[key], other[key] = apart(before[key], after[key])
                continue
        one |= {key: before[key]} if key in before else {}
        other |= {key: after[key]} if key in after else {}
    return one, other


def without_items(path: str) -> str:
    """The path without the numbers of items, as in `spec.ports[].port`."""
    return _ITEM.sub("[]", path)


def _without(namespace: str) -> Callable[[str], str]:
    """Replaces the namespace wherever it is a word of a text."""
    word = re.compile(rf"(?<![\w-]){re.escape(namespace)}(?![\w-])") if namespace else None
    return lambda text: word.sub("<namespace>", text) if word else text


def _flat(value: Any, replaced: Mapping[str, str], known: Callable[[str], str], path: str) -> Iterator[tuple[str, object]]:  # noqa: ANN401  # JSON
    if _is_skipped(path):
        return
    if path == "metadata.deletionTimestamp":
        yield path, "<terminating>"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, replaced, known, f"{path}.{known(key)}" if path else known(key))
    elif isinstance(value, list):
        yield f"{path}#", len(value)
        for key, inner in _keyed(value, path):
            yield from _flat(inner, replaced, known, f"{path}[{key}]")
    elif isinstance(value, str):
        yield path, TIME if _TIME.fullmatch(value) else replaced.get(value) or known(value)
    else:
        yield path, value


def _is_skipped(path: str) -> bool:
    leaf = path.rpartition(".")[2]
    if path in _SKIPPED or path in _PLACED or path.endswith(_MARKS) or leaf in ("uid", "resourceVersion"):
        return True
    in_condition = path.startswith("status.conditions[")
    return path.startswith("status.") and (leaf in _COUNTERS or (leaf in ("message", "reason") and in_condition))


def _keyed(items: list[Any], path: str) -> Iterator[tuple[str, Any]]:
    """What a list's items are called in a path. Not by name: names are often generated, as those of token volumes are."""
    types = [item.get("type") if isinstance(item, dict) else None for item in items]
    if path == "status.conditions" and all(isinstance(found, str) for found in types) and len(set(types)) == len(types):
        yield from ((str(found), item) for found, item in zip(types, items, strict=True))
        return
    ordered = sorted(items, key=repr) if path == "metadata.finalizers" or path.startswith("status.") else items
    yield from ((str(number), item) for number, item in enumerate(ordered))
