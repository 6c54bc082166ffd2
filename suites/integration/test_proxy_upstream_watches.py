"""An upstream that breaks the rules of a watch: what it says is passed on or refused, and recorded; nothing hangs, the proxy lives.

kube-apiserver does none of this; what stands between it and the proxy may. So there is no kube-apiserver here, but a TLS server
that says each of these byte for byte (`proxy_upstream`). The proxy is the real one.
"""

import asyncio
import contextlib
import json

import pytest

from staleproof.core.history.entry import Answered, Asked, Closed, Delivered, Opened

from .proxy_client import until
from .proxy_upstream import CHUNKED, LAST_CHUNK, chunk, says, sized
from .proxy_wilderness import Play


def event(name: str, revision: int, *, text: str = "") -> bytes:
    meta = {"name": name, "namespace": "a", "uid": f"u-{name}", "resourceVersion": str(revision)}
    return json.dumps({"type": "ADDED", "object": {"kind": "ConfigMap", "metadata": meta, "data": {"text": text}}}).encode() + b"\n"


FIRST, SECOND = event("first", 10), event("second", 11)
LARGE = event("large", 11, text="x" * (5 << 20))
NOT_UTF8 = SECOND.replace(b'"second"', b'"\xff\xfe\xc3("')


FRAMES = {
    "not JSON": b"this is not JSON\n",
    "not an event": b'["ADDED"]\n',
    "an event without an object": b'{"type":"ADDED"}\n',
    "a resourceVersion that is none": SECOND.replace(b'"11"', b'{"a":1}'),
    "not UTF-8": NOT_UTF8,
    "JSON that is too deep": b"[" * 100_000 + b"]" * 100_000 + b"\n",
    "binary": bytes(value for value in range(256) if value != 10) + b"\n",
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
async def test_an_unreadable_frame_is_passed_on_and_recorded(play: Play, frame: bytes) -> None:
    _, watch = await play.watch(says(CHUNKED, chunk(FIRST), chunk(frame), chunk(event("third", 12)), LAST_CHUNK))
    assert await watch.ended() == "clean"
    assert b"".join(line + b"\n" for line in watch.lines) == FIRST + frame + event("third", 12)
    assert await play.recorded(Delivered) == ["ADDED", "UNREADABLE", "ADDED"]
    assert await play.recorded(Closed) == ["clean"]


@pytest.mark.parametrize("size", [5 << 20, 1_000], ids=["in one chunk", "in many"])
async def test_a_line_of_5_mib_passes(play: Play, size: int) -> None:
    pieces = [chunk(LARGE[at : at + size]) for at in range(0, len(LARGE), size)]
    _, watch = await play.watch(says(CHUNKED, b"".join(pieces), LAST_CHUNK))
    assert await watch.ended() == "clean"
    assert watch.lines == [LARGE.rstrip()]
    assert await play.recorded(Delivered) == ["ADDED"]
    assert [entry.revision for entry in play.tape.of(Delivered)] == [11]


BREAKS = {
    "a frame broken off, and the connection": chunk(SECOND[:20]),
    "a frame broken off in its chunk": chunk(SECOND)[:20],
    "5 MiB of a line without an end": chunk(LARGE[:-1]),
    "the connection": b"",
    "no size of a chunk": b"zz\r\n" + SECOND,
    "an empty size of a chunk": b"\r\n" + SECOND,
    "a negative size of a chunk": b"-2\r\n" + SECOND,
    "a size that leads back": b"-6\r\n" + SECOND,
    "a chunk longer than its size": b"5\r\n" + SECOND + b"\r\n",
    "no chunks at all": SECOND * 10,
    "a line of a size that never ends": b"1" * 100_000,
}


@pytest.mark.parametrize("bytes_", BREAKS.values(), ids=BREAKS)
async def test_a_stream_that_breaks_is_cut_and_nothing_after_it_passes(play: Play, bytes_: bytes) -> None:
    """No client can tell it from a lost connection: it watches again from the last frame that it has."""
    _, watch = await play.watch(says(CHUNKED, chunk(FIRST), bytes_))
    assert await watch.ended() == "cut"
    assert watch.lines in ([], [FIRST.rstrip()])
    assert await play.recorded(Delivered) == ["ADDED"] * len(watch.lines)
    assert await play.recorded(Closed) == ["cut"]


async def test_a_clean_end_in_the_middle_of_a_frame_is_passed_on_as_it_is(play: Play) -> None:
    _, watch = await play.watch(says(CHUNKED, chunk(FIRST), chunk(SECOND[:20]), LAST_CHUNK))
    assert await watch.ended() == "clean"
    assert (watch.lines, watch.rest) == ([FIRST.rstrip()], SECOND[:20])
    assert await play.recorded(Delivered) == ["ADDED"]
    assert await play.recorded(Closed) == ["clean"]


async def test_silence_after_the_head_lasts_as_long_as_upstream_wants(play: Play) -> None:
    silent = asyncio.Event()

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        await silent.wait()

    status, watch = await play.watch(script)
    await until(lambda: len(play.tape.of(Opened)) == 1)
    assert (status, watch.ending) == (200, "")
    silent.set()
    assert await watch.ended() == "cut"
    assert (watch.lines, await play.recorded(Closed)) == ([], ["cut"])


@pytest.mark.parametrize("leaves", ["abort", "close"])
@pytest.mark.parametrize("head", [b"", CHUNKED[:20], CHUNKED], ids=["nothing", "half a head", "a head"])
async def test_a_client_may_leave_an_upstream_that_says_no_more(play: Play, head: bytes, leaves: str) -> None:
    """Its request ends upstream then, and not with the next event."""
    ended: list[bytes] = []

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        with contextlib.suppress(OSError):
            await writer.wait_closed()  # by the proxy: nothing else closes it
        ended.append(head)

    for query in ("?watch=1", ""):
        client = await play.connection()
        path = play.expect(script)
        await client.send("GET", path + query)
        await play.arrival_at(path)
        client.writer.close() if leaves == "close" else client.abort()
    await until(lambda: len(ended) == 2 and len(play.tape.of(Answered)) == 1)
    assert play.tape.of(Answered)[0].outcome == "unknown"
    assert (await play.recorded(Closed), len(play.tape.of(Asked))) == (["client"] * len(play.tape.of(Opened)), 1)


NOT_CHUNKED = {
    "with a length": sized(FIRST + SECOND),
    "until the connection ends": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + FIRST + SECOND,
    "by HTTP/1.0": b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + FIRST + SECOND,
    "of another type": CHUNKED.replace(b"application/json", b"text/plain") + chunk(FIRST + SECOND) + LAST_CHUNK,
}


@pytest.mark.parametrize("answer", NOT_CHUNKED.values(), ids=NOT_CHUNKED)
async def test_a_watch_that_is_not_chunked_json_does_not_pass_unrecorded(play: Play, answer: bytes) -> None:
    """A fault could not hold it: it is recorded like any other, or refused."""
    client = await play.connection()
    status = await client.ask("GET", f"{play.expect(says(answer))}?watch=1&resourceVersion=5")
    if status == 200:
        assert await client.body() == FIRST + SECOND
        assert await play.recorded(Delivered) == ["ADDED", "ADDED"]
    assert status in (200, 502)


REFUSALS = {
    "with a length": b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\nRetry-After: 1\r\n\r\nlater",
    "in chunks": b"HTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nlater\r\n0\r\n\r\n",
    "until the connection ends": b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\nlater",
}


@pytest.mark.parametrize("answer", REFUSALS.values(), ids=REFUSALS)
async def test_a_watch_that_is_refused_without_json_is_refused(play: Play, answer: bytes) -> None:
    """As a load balancer does."""
    client = await play.connection()
    status = await client.ask("GET", f"{play.expect(says(answer))}?watch=1&resourceVersion=5")
    assert (status, await client.body()) == (503, b"later")
    assert await play.recorded(Opened) == []


async def test_a_watch_asks_upstream_for_plain_json(play: Play) -> None:
    """Neither protobuf nor compression, whatever the client says; the rest of its head arrives."""
    client = await play.connection()
    target = f"{play.expect(says(CHUNKED, chunk(FIRST), LAST_CHUNK))}?watch=1&resourceVersion=5"
    fields = {"Accept": "application/vnd.kubernetes.protobuf;stream=watch", "Accept_Encoding": "gzip", "X_Own": "kept"}
    assert await client.ask("GET", target, **fields) == 200
    assert await client.body() == FIRST
    lines = play.upstream.requests[-1].head.lower().split(b"\r\n")
    assert {b"accept: application/json;stream=watch", b"x-own: kept"} <= set(lines)
    assert not [line for line in lines if line.startswith((b"accept-encoding", b"x-staleproof"))]
