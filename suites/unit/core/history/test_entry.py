"""Entries: how they look on a line. That each can be read back is shown with the history that holds them."""

from typing import get_args

import msgspec
import pytest

from staleproof.core.history import entry
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Delivered,
    Ended,
    Entry,
    FaultFired,
    FaultIndex,
    Item,
    Listed,
    RequestId,
    StepBegan,
    StreamId,
)
from staleproof.core.history.resource_version import Revision


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Ended(at=1.5), b'{"entry":"ended","at":1.5}'),
        (StepBegan(at=0.0, step=1, does="touch Widget/x"), b'{"entry":"stepbegan","at":0.0,"step":1,"does":"touch Widget/x"}'),
        (FaultFired(at=1.0, fault=FaultIndex(0), on="x"), b'{"entry":"faultfired","at":1.0,"fault":0,"on":"x"}'),
        (
            Asked(
                at=1.0,
                request=RequestId(3),
                client="c",
                verb="delete",
                resource="pods",
                name="x",
                precondition_uid="u",
                dry_run=True,
            ),
            b'{"entry":"asked","at":1.0,"request":3,"client":"c","verb":"delete","resource":"pods","name":"x",'
            b'"preconditionUid":"u","dryRun":true}',
        ),
        (
            Answered(at=1.0, request=RequestId(3), outcome="unknown"),
            b'{"entry":"answered","at":1.0,"request":3,"outcome":"unknown"}',
        ),
        (
            Listed(
                at=1.0,
                request=RequestId(3),
                client="c",
                resource="pods",
                revision=None,
                items=(Item("a", "x", "u", Revision(5)), Item("", "", "", None)),
            ),
            b'{"entry":"listed","at":1.0,"request":3,"client":"c","resource":"pods","revision":null,'
            b'"items":[["a","x","u",5],["","","",null]]}',
        ),
        (
            Delivered(at=1.0, stream=StreamId(2), type="BOOKMARK", revision=Revision(9), initial_end=True),
            b'{"entry":"delivered","at":1.0,"stream":2,"type":"BOOKMARK","revision":9,"initialEnd":true}',
        ),
    ],
)
def test_on_a_line(item: Entry, expected: bytes) -> None:
    assert msgspec.json.encode(item) == expected
    assert msgspec.json.decode(expected, type=Entry) == item


def test_the_union_is_closed_and_goes_by_lower_case_names() -> None:
    structs = {kind for kind in vars(entry).values() if isinstance(kind, type) and issubclass(kind, entry._Entry)}
    assert set(get_args(Entry)) == structs - {entry._Entry}
    assert all(kind.__struct_config__.frozen for kind in structs)
    assert {kind.__struct_config__.tag for kind in get_args(Entry)} == {kind.__name__.lower() for kind in get_args(Entry)}
