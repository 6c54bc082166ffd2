"""What is read in a protobuf body, and that nothing is read in a broken one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.engine.protobuf import is_dry_run_in, is_protobuf, name_in, preconditions_in

from ..protobuf_writer import envelope, field, fixed_field, number_field


def named(name: str, *, before: bytes = b"") -> bytes:
    metadata = before + field(1, name.encode()) + field(2, b"generated-") + field(3, b"trial") + number_field(7, 300)
    return envelope(field(1, metadata) + field(2, b"spec" * 100))


def options(uid: bytes = b"", revision: bytes = b"") -> bytes:
    """DeleteOptions: gracePeriodSeconds = 1, preconditions = 2, propagationPolicy = 4."""
    insists = (field(1, uid) if uid else b"") + (field(2, revision) if revision else b"")
    return envelope(number_field(1, 30) + (field(2, insists) if insists else b"") + field(4, b"Background"), "DeleteOptions")


@pytest.mark.parametrize(("body", "expected"), [(named("x"), True), (b"{}", False), (b"", False), (b"k8s", False)])
def test_the_envelope_is_known_by_its_first_bytes(body: bytes, *, expected: bool) -> None:
    assert is_protobuf(body) is expected


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (named("x"), "x"),
        (named("städte"), "städte"),
        (named("n" * 253), "n" * 253),
        (named("x", before=number_field(9, 2**63) + fixed_field(10, b"8 bytes!") + fixed_field(11, b"four")), "x"),
        (envelope(field(1, field(2, b"generated-"))), ""),
        (envelope(field(2, b"no metadata")), ""),
        (envelope(b""), ""),
        (b"k8s\x00", ""),
        (b"k8s\x00\x12\xff", ""),  # a length that does not end
        (b"k8s\x00" + b"\xff" * 1000, ""),  # a key that does not end
        (b"k8s\x00\x13\x14", ""),  # groups, which no program writes any more
    ],
)
def test_the_name_of_an_object(body: bytes, name: str) -> None:
    assert name_in(body) == name


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (options(b"u", b"5"), ("u", "5")),
        (options(b"u"), ("u", "")),
        (options(revision=b"5"), ("", "5")),
        (options(), ("", "")),
        (b"k8s\x00", ("", "")),
    ],
)
def test_the_preconditions_of_a_delete(body: bytes, expected: tuple[str, str]) -> None:
    assert preconditions_in(body) == expected


@given(st.binary())
def test_any_bytes_have_an_answer(data: bytes) -> None:
    assert isinstance(name_in(b"k8s\x00" + data), str)
    assert all(isinstance(part, str) for part in preconditions_in(b"k8s\x00" + data))
    assert isinstance(is_dry_run_in(b"k8s\x00" + data, evicts=True), bool)


@given(st.integers(4, 600))
def test_a_body_that_is_cut_off_has_no_other_name(size: int) -> None:
    assert "name".startswith(name_in(named("name")[:size]))
