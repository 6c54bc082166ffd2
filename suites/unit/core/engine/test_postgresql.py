"""The protocol in bytes that clients and servers send: however they are cut, the same batches and messages come out."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.engine.postgresql import (
    NOTIFICATION,
    READY,
    Backend,
    Batch,
    Frontend,
    ProtocolError,
    Statement,
    error_code,
    notification,
    rejection,
)


def message(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4) + body


def bind(portal: bytes, name: bytes, *values: bytes | None) -> bytes:
    sent = [b"\xff" * 4 if value is None else len(value).to_bytes(4) + value for value in values]
    body = portal + b"\0" + name + b"\0" + b"\0\1\0\1" + len(values).to_bytes(2) + b"".join(sent) + b"\0\0"
    return message(b"B", body)


SSL = (8).to_bytes(4) + (80877103).to_bytes(4)
STARTUP_BODY = (196608).to_bytes(4) + b"user\0controller\0database\0postgres\0\0"
STARTUP = (len(STARTUP_BODY) + 4).to_bytes(4) + STARTUP_BODY
PASSWORD = message(b"p", b"secret\0")
QUERY = message(b"Q", b'DROP ROLE "w-a"\0')
PARSE = message(b"P", b"s1\0SELECT rolname FROM pg_roles WHERE rolname = $1\0\0\0")
FLUSH, SYNC = message(b"H", b""), message(b"S", b"")
EXECUTE = bind(b"", b"s1", b"w-a", None, b"\0\1") + message(b"E", b"\0\0\0\0\0") + SYNC
FAREWELL = message(b"X", b"")
SELECT = Statement("SELECT rolname FROM pg_roles WHERE rolname = $1", ("w-a",))
SENT = [
    Batch(SSL),
    Batch(STARTUP),
    Batch(PASSWORD),
    Batch(QUERY, (Statement('DROP ROLE "w-a"'),), is_answered=True),
    Batch(PARSE + FLUSH),
    Batch(EXECUTE, (SELECT,), is_answered=True),
    Batch(EXECUTE, (SELECT,), is_answered=True),
    Batch(FAREWELL),
]


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({cut % len(data) for cut in cuts} | {0, len(data)})
    return [data[begin:end] for begin, end in pairwise(ends)]


@given(st.lists(st.integers(min_value=0, max_value=1000), max_size=20))
def test_what_a_client_asks_for(cuts: list[int]) -> None:
    frontend, sent = Frontend(), b"".join(batch.data for batch in SENT)
    assert [batch for piece in pieces(sent, cuts) for batch in frontend.feed(piece)] == SENT
    assert frontend.user == "controller"
    assert frontend.asked_for_encryption == 1


@given(st.lists(st.integers(min_value=0, max_value=200), max_size=20))
def test_what_a_server_says(cuts: list[int]) -> None:
    frontend = Frontend()
    list(frontend.feed(SSL))
    frame = message(b"A", b"\0\0\0\7drift\0{}\0")
    sent = [b"N", message(b"R", b"\0\0\0\0"), frame, rejection(b"T")]
    backend = Backend(frontend)
    found = [each for piece in pieces(b"".join(sent), cuts) for each in backend.feed(piece)]
    assert [each.type for each in found] == [b"", b"R", NOTIFICATION, b"E", READY]
    assert b"".join(each.data for each in found) == b"".join(sent)
    assert notification(found[2]) == ("drift", "{}")
    assert error_code(found[3]) == "53300"
    assert found[4].body == b"E"


@pytest.mark.parametrize("data", [b"\0\0\0\0", b"\xff\xff\xff\xff"])
def test_what_speaks_another_protocol_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(Frontend().feed(data))
    with pytest.raises(ProtocolError):
        list(Backend(Frontend()).feed(b"E" + data))


@pytest.mark.parametrize(("text", "verb"), [("select\n1", "SELECT"), ("", ""), ("COMMIT;", "COMMIT")])
def test_what_a_statement_is_counted_as(text: str, verb: str) -> None:
    assert Statement(text).verb == verb
