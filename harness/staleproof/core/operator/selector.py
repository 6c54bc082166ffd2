"""Whether an object fits a selector, as a request has it: label and field selector in one string (`ApiRequest.selector`).

Labels are compared as the API server does (apimachinery pkg/labels/selector.go); of fields only those that every resource has,
`metadata.name` and `metadata.namespace`. The string does not say which part was which, so what may be another field is not read:
a key with a dot and no prefix, and the few fields without a dot. Where something is not read, nothing is claimed.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from staleproof.core.operator.webhooks import labels_of
from staleproof.core.plan.manifest import Manifest

_FIELDS = ("metadata.name", "metadata.namespace")
_MAY_BE_FIELDS = frozenset({"type", "reason", "source", "reportingComponent"})
"""Of Secrets and Events; or labels."""
_PREFIX, _NAME, _VALUE = r"[a-z0-9-]+(?:\.[a-z0-9-]+)+/", r"[A-Za-z0-9_.-]+", r"[A-Za-z0-9_.:-]*"
_KEY = rf"{_PREFIX}{_NAME}|[A-Za-z0-9_-]+|{'|'.join(map(re.escape, _FIELDS))}"
_COMPARED = re.compile(rf"(?P<key>{_KEY})\s*(?P<how>==|=|!=)\s*(?P<values>{_VALUE})")
_AMONG = re.compile(rf"(?P<key>{_KEY})\s+(?P<how>in|notin)\s*\((?P<values>(?:{_VALUE}|[\s,])*)\)")
_THERE = re.compile(rf"(?P<how>!?)\s*(?P<key>{_KEY})(?P<values>)")
_BETWEEN = re.compile(r"[,&](?![^(]*\))")


class _Demand(NamedTuple):
    """What is asked of one label or field. Without values: that it is there; `negated`: that it is not so."""

    key: str
    values: frozenset[str] | None
    negated: bool


def fits(selector: str, manifest: Manifest) -> bool | None:
    """None: that is not known. Everything fits an empty selector."""
    demands = _demands(selector)
    if any(demand is not None and not _meets(manifest, demand) for demand in demands):
        return False
    return None if None in demands else True


def namespace_in(selector: str) -> str:
    """The one namespace that it asks for; empty when it asks for none, or for more."""
    demands = [demand for demand in _demands(selector) if demand is not None and demand.key == "metadata.namespace"]
    namespaces = {value for demand in demands if not demand.negated for value in demand.values or ()}
    return namespaces.pop() if len(namespaces) == 1 else ""


def _meets(manifest: Manifest, demand: _Demand) -> bool:
    metadata = manifest["metadata"]
    if demand.key in _FIELDS:  # what is elsewhere has that before its name (`scope`)
        value: str | None = (metadata.get(demand.key.removeprefix("metadata.")) or "").rpartition("/")[2]
    else:
        value = labels_of(manifest).get(demand.key)
    return (value is not None and (demand.values is None or value in demand.values)) is not demand.negated


@lru_cache(maxsize=512)
def _demands(selector: str) -> Sequence[_Demand | None]:
    """None stands for what is not read."""
    if "\\" in selector:  # a value of a field may hold a comma
        return [None]
    return [_demand(part.strip()) for part in _BETWEEN.split(selector) if part.strip()]


def _demand(part: str) -> _Demand | None:
    said = _COMPARED.fullmatch(part) or _AMONG.fullmatch(part) or _THERE.fullmatch(part)
    if said is None or said["key"] in _MAY_BE_FIELDS:
        return None
    if said["how"] in ("", "!"):
        return None if said["key"] in _FIELDS else _Demand(said["key"], None, said["how"] == "!")
    return _Demand(said["key"], frozenset(each.strip() for each in said["values"].split(",")), said["how"] in ("!=", "notin"))
