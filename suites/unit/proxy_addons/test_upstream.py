"""Whole answers of the API server, however their bytes come."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

# The leaf under test.
from staleproof.proxy_addons.upstream import Answer, Line, Lines, Reading  # noqa: TID251

OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS = {
    "with a length": ("GET", OK + b"Content-Length: 4\r\n\r\nbody", b"body"),
    "in chunks": ("GET", OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nbod\r\n1\r\ny\r\n0\r\n\r\n", b"body"),
    "of nothing": ("POST", OK + b"Content-Length: 0\r\n\r\n", b""),
    "to a HEAD": ("HEAD", OK + b"Content-Length: 4\r\n\r\n", b""),
    "without content": ("DELETE", b"HTTP/1.1 204 No Content\r\n\r\n", b""),
}
cuts = st.lists(st.integers(min_value=1, max_value=40), max_size=30)


def read(method: str, data: bytes, sizes: list[int]) -> Answer | None:
    """The answer, once all of these bytes have come in pieces of these sizes; nothing must come of it before."""
    reading, at = Reading(method), 0
    for size in [*sizes, len(data)]:
        piece, at = data[at : at + size], at + size
        if piece and (answer := reading.feed(piece)) is not None:
            assert at >= len(data)
            return answer
    return None


@pytest.mark.parametrize(("method", "data", "body"), ANSWERS.values(), ids=ANSWERS)
@given(sizes=cuts)
def test_an_answer_is_whole_at_its_last_byte(method: str, data: bytes, body: bytes, sizes: list[int]) -> None:
    answer = read(method, data, sizes)
    assert answer is not None
    assert (answer.data, answer.body, answer.is_last) == (data, body, False)


def test_the_end_of_the_connection_is_that_of_an_answer_without_a_length_and_of_no_other() -> None:
    reading = Reading("GET")
    assert reading.feed(OK + b"\r\nbody") is None
    answer = reading.end()
    assert answer is not None
    assert (answer.body, answer.is_last) == (b"body", True)
    for data in (
        b"",
        OK,
        OK + b"Content-Length: 5\r\n\r\nbody",
        OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n",
        OK + b"Transfer-Encoding: gzip\r\n\r\nbody",
    ):
        reading = Reading("GET")
        assert reading.feed(data) is None
        assert reading.end() is None


@pytest.mark.parametrize(
    "data", [OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"]
)
def test_an_api_server_that_wants_to_close_is_taken_at_its_word(data: bytes) -> None:
    answer = Reading("GET").feed(data)
    assert answer is not None
    assert answer.is_last


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: four\r\n\r\nbody",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbody",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nmore",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody",
        b"HTTP/1.1 200 OK\r\nX: a\r\n folded: b\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * (2 << 20),
    ],
)
def test_what_breaks_the_rules_is_no_answer(data: bytes) -> None:
    with pytest.raises(ConnectionError, match=r"expected|never ends"):
        Reading("GET").feed(data)


# --- lines that are kept

WHOLE, HALF = OK + b"Content-Length: 2\r\n\r\n{}", OK + b"Content-Length: 2\r\n\r\n{"


class Server(asyncio.WriteTransport):
    """The other end of a line: says these, one for each request, and closes when it has nothing to say or has said half."""

    def __init__(self, says: Sequence[bytes]) -> None:
        super().__init__()
        self.heard: list[bytes] = []
        self.line = Line()
        self._says = list(says)
        self.line.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.heard.append(bytes(data))
        said = self._says.pop(0) if self._says else b""
        asyncio.get_running_loop().call_soon(self._answer, said)

    def _answer(self, said: bytes) -> None:
        if self.line.is_open and said:
            self.line.data_received(said)
        if self.line.is_open and said != WHOLE:
            self.line.connection_lost(None)

    def abort(self) -> None:
        asyncio.get_running_loop().call_soon(self.line.connection_lost, None)


async def asked(
    method: str, *said: Sequence[bytes], kept: bool = True, on_line: Callable[[Line], object] = lambda _: None
) -> tuple[str, list[int]]:
    """What comes of a request if the first connection says the first of these, and so on; and how often each was asked.

    `kept`: the first connection has been asked once before.
    """
    servers = [Server(says) for says in said]
    ready = iter(servers)

    async def connect() -> Line:
        try:
            return next(ready).line
        except StopIteration:
            raise ConnectionRefusedError from None

    lines = Lines(connect)
    line = await lines.take()
    if kept:
        await line.ask(b"request", method=method)
    try:
        found = str((await lines.ask(line, b"request", method=method, on_line=on_line)).body, "ascii")
    except OSError as err:
        found = type(err).__name__
    return found, [len(server.heard) for server in servers]


@pytest.mark.parametrize(
    ("method", "said", "expected"),
    [
        ("GET", ([WHOLE, WHOLE], [WHOLE]), ("{}", [2, 0])),
        ("GET", ([WHOLE], [WHOLE]), ("{}", [2, 1])),
        ("GET", ([WHOLE], [], [WHOLE]), ("ConnectionError", [2, 1, 0])),  # once more, and not again
        ("GET", ([WHOLE],), ("ConnectionRefusedError", [2])),
        ("GET", ([WHOLE, HALF], [WHOLE]), ("ConnectionError", [2, 0])),
        ("POST", ([WHOLE], [WHOLE]), ("ConnectionError", [2, 0])),
    ],
    ids=["open", "closed", "closed twice", "no server left", "broken off", "a write"],
)
async def test_a_read_that_crossed_with_the_end_of_its_line_is_asked_for_once_more(
    method: str, said: Sequence[Sequence[bytes]], expected: tuple[str, list[int]]
) -> None:
    assert await asked(method, *said) == expected


async def test_a_new_line_that_ends_without_an_answer_is_no_such_line() -> None:
    assert await asked("GET", [], [WHOLE], kept=False) == ("ConnectionError", [1, 0])


async def test_what_the_client_no_longer_waits_for_is_not_asked_for_once_more() -> None:
    def leaves(line: Line) -> None:
        asyncio.get_running_loop().call_soon(line.close)

    assert await asked("GET", [WHOLE, WHOLE], [WHOLE], on_line=leaves) == ("ConnectionError", [2, 0])
