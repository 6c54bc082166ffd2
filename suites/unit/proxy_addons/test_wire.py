"""HTTP heads and chunks are read the same however the bytes are cut."""

from itertools import pairwise

import pytest
from httptools import HttpRequestParser, HttpResponseParser
from hypothesis import given
from hypothesis import strategies as st

# The leaf under test.
from staleproof.proxy_addons.wire import (  # noqa: TID251
    LAST_CHUNK,
    Head,
    Incoming,
    Unusual,
    chunk,
    plain_request,
    status_of,
)

HEAD = b"GET /api?watch=1 HTTP/1.1\r\nHost: a:1 \t\r\nImpersonate-Group: one\r\nimpersonate-group:two\r\nX-Empty:\r\n\r\n"

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

pieces = st.lists(st.binary(min_size=1, max_size=40), max_size=8)


def chunked_answer() -> Incoming:
    incoming = Incoming(HttpResponseParser)
    incoming.read_head(CHUNKED)
    return incoming


@given(pieces, st.lists(st.integers(min_value=0, max_value=400), max_size=12))
def test_chunks_come_out_joined_however_they_were_cut(payloads: list[bytes], cuts: list[int]) -> None:
    answer = CHUNKED + b"".join(map(chunk, payloads)) + LAST_CHUNK
    places = sorted({0, len(answer), *(cut for cut in cuts if cut < len(answer))})
    incoming = Incoming(HttpResponseParser)
    found = b"".join(incoming.feed(answer[begin:end]) for begin, end in pairwise(places))
    assert (found, incoming.is_complete) == (b"".join(payloads), True)


@given(pieces)
def test_a_body_that_breaks_off_is_never_whole(payloads: list[bytes]) -> None:
    incoming = chunked_answer()
    body = b"".join(map(chunk, payloads)) + b"5\r\nhal"
    assert (incoming.feed(body), incoming.is_complete) == (b"".join(payloads) + b"hal", False)


def test_extensions_and_trailers_are_passed_over() -> None:
    incoming = chunked_answer()
    assert incoming.feed(b"3;name=value\r\nabc\r\n0\r\nTrailer: x\r\n\r\n") == b"abc"
    assert incoming.is_complete
    with pytest.raises(ConnectionError):
        incoming.feed(b"4\r\nlate\r\n")


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n",
        b"\r\n",
        b"3\r\nabcdef\r\n",
        b"x" * 300,
        b"-1\r\nabc\r\n",
        b"0x1\r\na\r\n",
        b"1_1\r\n",
        b" 1\r\na\r\n",
        b"1\na\n",
    ],
)
def test_what_is_no_chunked_body_is_refused(data: bytes) -> None:
    with pytest.raises(ConnectionError, match="expected HTTP, found"):
        chunked_answer().feed(data)


def test_a_head_keeps_the_order_and_what_is_repeated() -> None:
    head = Incoming(HttpRequestParser).read_head(HEAD)
    assert head.line == b"GET /api?watch=1 HTTP/1.1"
    assert head.fields == ((b"host", b"a:1"), (b"impersonate-group", b"one"), (b"impersonate-group", b"two"), (b"x-empty", b""))
    assert (head.get(b"impersonate-group"), head.get(b"absent")) == (b"one", b"")
    assert head.without({b"impersonate-group"}).fields == ((b"host", b"a:1"), (b"x-empty", b""))
    assert Incoming(HttpRequestParser).read_head(head.encode()) == head


def test_an_empty_line_is_no_head() -> None:
    with pytest.raises(ConnectionError):
        Incoming(HttpRequestParser).read_head(b"\r\n\r\n")
    with pytest.raises(Unusual):
        plain_request(b"\r\n\r\n" + PLAIN)


@pytest.mark.parametrize(
    ("line", "status"),
    [(b"HTTP/1.1 200 OK", 200), (b"HTTP/1.1 429 ", 429), (b"HTTP/1.1 410", 410), (b"nonsense", 0), (b"HTTP/1.1 abc", 0)],
)
def test_the_status_of_an_answer(line: bytes, status: int) -> None:
    assert status_of(Head(line, ())) == status


PLAIN = b"POST /api/v1/pods?a=b HTTP/1.1\r\nHost: a:1\r\nAuthorization: Bearer t\r\nContent-Length: 3\r\n\r\nabc"


def test_a_plain_request_is_whole_with_its_body() -> None:
    assert [plain_request(PLAIN[:size]) for size in range(len(PLAIN))] == [None] * len(PLAIN)
    found = plain_request(PLAIN + b"GET /next")
    assert found
    assert (found.method, found.target, found.body, found.size) == ("POST", "/api/v1/pods?a=b", b"abc", len(PLAIN))
    assert found.head.get(b"authorization") == b"Bearer t"
    empty = plain_request(b"GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n")
    assert empty
    assert empty.body == b""


@pytest.mark.parametrize(
    ("instead_of", "given"),
    [
        (b"HTTP/1.1", b"HTTP/1.0"),
        (b"HTTP/1.1", b"HTTP/2.0"),
        (b"POST", b"post"),
        (b"POST", b"NONSENSE"),
        (b" /api", b" https://other/api"),
        (b"a=b", "a=\N{SNOWMAN}".encode()),
        (b"a=b", b"a=b c"),
        (b"Content-Length: 3", b"Transfer-Encoding: chunked"),
        (b"Content-Length: 3", b"Content-Length: 3\r\nTransfer-Encoding: chunked"),
        (b"Content-Length: 3", b"Content-Length: 3\r\nContent-Length: 3"),
        (b"Content-Length: 3", b"Content-Length: +3"),
        (b"Content-Length: 3", b"Content-Length: 3000000"),
        (b"Content-Length: 3", b"Content-Length: 3\r\nContent-Encoding: gzip"),
        (b"Content-Length: 3", b"Content-Length : 3"),
        (b"Content-Length: 3", b"Content-Length: 3\r\n folded: 1"),
        (b"Content-Length: 3", b"Content-Length: 3\nX: 1"),
        (b"Content-Length: 3", b"Content-Length: 3\r\nExpect: 100-continue"),
        (b"Content-Length: 3", b"Content-Length: 3\r\nConnection: close"),
        (b"Content-Length: 3", b"Content-Length: 3\r\nConnection: Upgrade\r\nUpgrade: websocket"),
        (b"Content-Length: 3", b"Content-Length: 3\r\nAuthorization: Bearer other"),
        (b"Host: a:1\r\n", b"Host: a:1\r\nX: \0\r\n"),
        (b"Host: a:1\r\n", b"Host: a:1\r\nX: \1\r\n"),
        (b"Host: a:1\r\n", b"Host: a:1\r\nno colon\r\n"),
    ],
)
def test_a_request_with_more_in_it_or_a_flaw_is_unusual(instead_of: bytes, given: bytes) -> None:
    with pytest.raises(Unusual):
        plain_request(PLAIN.replace(instead_of, given))


def test_a_head_that_does_not_end_is_unusual() -> None:
    with pytest.raises(Unusual):
        plain_request(b"GET / HTTP/1.1\r\nX: " + b"x" * (65 << 10))
