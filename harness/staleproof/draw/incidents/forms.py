"""The forms of a fault: which values plans give to its fields, whatever the workload is."""

import itertools
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin

from msgspec import structs

from staleproof.core.fault import AnyFault, CallFault
from staleproof.core.fault.model import Seconds
from staleproof.core.times import LAGS_SECONDS

_OF_THE_PLACE = frozenset(CallFault.__struct_fields__)
"""What and when: the workload says that."""
Form = Mapping[str, Any]


@cache
def values(kind: type[AnyFault], field: str) -> tuple[Any, ...]:
    """Those of one field, the simplest first: what the class says, else what the type allows. Empty: it stays as it is."""
    if field in kind.tries or field in _OF_THE_PLACE:
        return kind.tries.get(field, ())
    allowed = next(each.type for each in structs.fields(kind) if each.name == field)
    if get_origin(allowed) is Literal:
        return get_args(allowed)
    return (False, True) if allowed is bool else LAGS_SECONDS if allowed == Seconds else ()


@cache
def forms(kind: type[AnyFault]) -> tuple[Form, ...]:
    """Every combination of the values of its fields, by their names."""
    named = {field: found for field in kind.__struct_fields__ if (found := values(kind, field))}
    return tuple(dict(zip(named, each, strict=True)) for each in itertools.product(*named.values()))
