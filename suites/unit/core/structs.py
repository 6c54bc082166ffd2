"""Any value of a struct, drawn from the types of its fields."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from staleproof.core.fault.model import Seconds
from staleproof.core.history.entry import Held, Item

TEXT = st.text(max_size=8)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT: st.SearchStrategy[dict[str, Any]] = st.dictionaries(TEXT, JSON, max_size=3)
# What a type alone does not say: JSON has no NaN, and an object is any JSON object.
TYPES: dict[Any, st.SearchStrategy[Any]] = {
    float: st.floats(min_value=0, max_value=1e9),
    float | None: st.none() | st.floats(min_value=0, max_value=1e9),
    Seconds: st.floats(min_value=0.001, max_value=1e6),
    str: TEXT,
    dict[str, Any]: OBJECT,
    tuple[Item, ...]: st.lists(st.builds(Item, TEXT, TEXT, TEXT, st.none() | st.integers(1, 2**128)), max_size=3).map(tuple),
}
TYPES[tuple[Held, ...]] = st.lists(
    st.builds(Held, kind=TEXT, external=TEXT, digest=TEXT, fields=OBJECT, resource=TEXT, name=TEXT), max_size=2
).map(tuple)


def anything(kind: type[msgspec.Struct], **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """`given`: the fields in which not everything makes sense."""
    types = {field.name: field.type for field in msgspec.structs.fields(kind)}
    return st.builds(kind, **{name: TYPES[of] if of in TYPES else st.from_type(of) for name, of in types.items()} | given)
