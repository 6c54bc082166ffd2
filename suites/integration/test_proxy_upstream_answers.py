"""Answers that break the rules, and bodies that are not ours to understand: passed on as they are or refused, and recorded.

As in the file about watches, upstream is a TLS server that says each of these byte for byte; the proxy is the real one.
"""

import gzip

import pytest

from staleproof.core.history.entry import Answered, Listed, Opened

from .proxy_upstream import CHUNKED, LAST_CHUNK, chunk, says, sized
from .proxy_wilderness import Play

BODIES = {
    "not JSON": b"this is not JSON",
    "another document": b'"text"',
    "not UTF-8": b'{"kind":"\xff\xfe","metadata":{"resourceVersion":"12"},"items":[]}',
    "JSON that is too deep": b"[" * 100_000 + b"]" * 100_000,
    "5 MiB of one line": b'{"kind":' + b"x" * (5 << 20),
    "nothing": b"",
}


@pytest.mark.parametrize("data", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("name", ["/one", ""], ids=["get", "list"])
async def test_an_unreadable_answer_is_passed_on_and_recorded(play: Play, data: bytes, name: str) -> None:
    path = play.expect(says(sized(data)))
    play.upstream.answers[path + name] = says(sized(data))
    client = await play.connection()
    assert await client.ask("GET", path + name) == 200
    assert await client.body() == data
    await play.proxy.fence()
    recorded = [entry for entry in play.tape.entries if isinstance(entry, Answered | Listed)]
    assert [(entry.revision, entry.items) for entry in recorded] == [(None, ())]


ENCODINGS = {
    "gzip that is none": sized(b"this is not gzip", b"Content-Encoding: gzip"),
    "gzip that breaks off": sized(gzip.compress(b"{}" * 1000)[:-12], b"Content-Encoding: gzip"),
    "an unknown encoding": sized(b"{}", b"Content-Encoding: sdch"),
    "an encoding that only Python knows": sized(b"{}", b"Content-Encoding: rot13"),
}


@pytest.mark.parametrize("answer", ENCODINGS.values(), ids=ENCODINGS)
async def test_an_answer_that_cannot_be_decompressed_is_passed_on_and_recorded(play: Play, answer: bytes) -> None:
    client = await play.connection()
    assert await client.ask("GET", play.expect(says(answer))) == 200
    assert await client.body() == answer.partition(b"\r\n\r\n")[2]
    await play.proxy.fence()
    assert len([entry for entry in play.tape.entries if isinstance(entry, Answered | Listed)]) == 1


BROKEN_OFF = {
    "by its length": sized(b"{}" * 50)[:-10],
    "in a chunk": CHUNKED + chunk(b'{"kind":')[:-4],
    "between chunks": CHUNKED + chunk(b'{"kind":'),
    "a size that is none": CHUNKED + b"zz\r\n{}\r\n" + LAST_CHUNK,
}


@pytest.mark.parametrize("answer", BROKEN_OFF.values(), ids=BROKEN_OFF)
async def test_an_answer_that_breaks_off_leaves_the_outcome_unknown(play: Play, answer: bytes) -> None:
    client = await play.connection()
    assert await client.ask("POST", play.expect(says(answer)), {"metadata": {"name": "a"}}) == 502
    await play.proxy.fence()
    assert [(entry.outcome, entry.code) for entry in play.tape.of(Answered)] == [("unknown", 0)]


SENT = {
    "protobuf": ("application/vnd.kubernetes.protobuf", "identity", b"k8s\0" + bytes(range(256)) * 5000),
    "CBOR": ("application/cbor", "identity", b"\xd9\xd9\xf7" + bytes(range(256))),
    "gzip": ("application/json", "gzip", gzip.compress(b'{"metadata":{"name":"a"}}')),
    "gzip that is none": ("application/json", "gzip", b"this is not gzip"),
}


@pytest.mark.parametrize(("kind", "encoding", "data"), SENT.values(), ids=SENT)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_what_a_client_sends_arrives_byte_for_byte(play: Play, method: str, kind: str, encoding: str, data: bytes) -> None:
    path = play.expect(says()) + "/one"
    play.upstream.answers[path] = says(sized(b"{}"))
    client = await play.connection()
    status, _ = await client.call(method, path, data, Content_Type=kind, Content_Encoding=encoding)
    arrived = play.upstream.requests[-1]
    assert (status, arrived.path, arrived.body == data) == (200, path, True)
    assert f"content-type: {kind}\r\n".encode() in arrived.head.lower()
    assert f"content-encoding: {encoding}\r\n".encode() in arrived.head.lower()


@pytest.mark.parametrize("query", ["?watch=1&resourceVersion=5", ""], ids=["watch", "list"])
async def test_a_head_that_is_too_large_is_the_clients_own_fault(play: Play, query: str) -> None:
    """An API server answers 431; whichever side refuses it here, the proxy goes on."""
    client = await play.connection()
    path = play.expect(says(b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\n\r\n"))
    assert await client.ask("GET", path + query, X_Filler="x" * (2 << 20)) in (400, 431, 502)


HEADS = {
    "nothing": b"",
    "not HTTP": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "a head that never ends": b"HTTP/1.1 200 OK\r\n" + b"X-Filler: %b\r\n" % (b"x" * 1000) * 3000,
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("query", ["?watch=1&resourceVersion=5", ""], ids=["watch", "list"])
async def test_no_answer_at_all_is_a_bad_gateway(play: Play, head: bytes, query: str) -> None:
    client = await play.connection()
    assert await client.ask("GET", play.expect(says(head)) + query) == 502
    await play.proxy.fence()
    assert [entry.outcome for entry in play.tape.of(Answered)] == ["unknown"] * (not query)
    assert [entry for entry in play.tape.entries if isinstance(entry, Opened | Listed)] == []
