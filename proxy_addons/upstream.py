"""Connections to the API server that are kept for the next request, one request at a time on each. Bytes in, whole answers out.

An answer is passed on as it came; only its length and its body are of interest here. What breaks the rules of HTTP ends the
connection, and no answer has come.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .wire import HEAD_END, Dechunker, Head, parse_head, status_of

_LONGEST_HEAD = 1 << 20
_NO_BODY = frozenset({204, 304})
_IDLE_SECONDS = 30.0  # kube-apiserver closes a connection after 90, perhaps at the moment of our next request


@dataclass(frozen=True, slots=True)
class Answer:
    """`data` is all of it, byte for byte; `body` is without the sizes of chunks; behind `is_last` the connection ends."""

    head: Head
    data: bytes
    body: bytes
    is_last: bool


class Line(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self.is_open = True
        self._transport: asyncio.WriteTransport
        self._answer: asyncio.Future[Answer] | None = None
        self._reading: Reading

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def ask(self, request: bytes, *, method: str) -> Awaitable[Answer]:
        """Send a whole request. ConnectionError when no whole answer comes."""
        self._reading, self._answer = Reading(method), asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._answer

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():  # nobody asked
            self.close()
            return
        try:
            answer = self._reading.feed(data)
        except ValueError as err:
            self._answer.set_exception(ConnectionError(f"the API server does not speak HTTP: {err}"))
            self.close()
            return
        if answer is not None:
            self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if self._answer is not None and not self._answer.done():
            answer = None if exc else self._reading.end()
            if answer is None:
                self._answer.set_exception(ConnectionError(f"the API server closed the connection{f': {exc}' if exc else ''}"))
            else:
                self._answer.set_result(answer)


class Lines:
    """Those that nobody uses now are kept; `connect` makes another one."""

    def __init__(self, connect: Callable[[], Awaitable[Line]]) -> None:
        self._connect = connect
        self._free: list[tuple[Line, float]] = []

    async def take(self) -> Line:
        """One that is open. OSError when nobody answers."""
        while self._free:
            line, since = self._free.pop()
            if line.is_open and asyncio.get_running_loop().time() - since < _IDLE_SECONDS:
                return line
            line.close()
        return await self._connect()

    def give_back(self, line: Line) -> None:
        if line.is_open:
            self._free.append((line, asyncio.get_running_loop().time()))


class Reading:
    """An answer that is coming."""

    def __init__(self, method: str) -> None:
        self._method = method
        self._parts: list[bytes] = []
        self._bodies: list[bytes] = []
        self._head: Head | None = None
        self._left: int | None = None  # of a body with a length
        self._chunks: Dechunker | None = None

    def feed(self, data: bytes) -> Answer | None:
        """The answer, if it is whole now. ValueError when it breaks the rules."""
        self._parts.append(data)
        if self._head is None:
            so_far = b"".join(self._parts)
            end = so_far.find(HEAD_END) + len(HEAD_END)
            if end < len(HEAD_END):
                if len(so_far) > _LONGEST_HEAD:
                    raise ValueError("a head that never ends")
                return None
            self._parts, data = [so_far], so_far[end:]
            self._begin(parse_head(so_far[:end]))
        if self._chunks is not None:
            self._bodies.append(self._chunks.feed(data))
            is_whole = self._chunks.is_whole
        else:
            self._bodies.append(data)
            if self._left is None:
                return None
            self._left -= len(data)
            is_whole = self._left == 0
            if self._left < 0:
                raise ValueError("more than it announced")
        return self._whole(is_last=False) if is_whole else None

    def end(self) -> Answer | None:
        """The connection has ended: so has the answer, if nothing else tells its end."""
        by_close = self._head is not None and self._chunks is None and self._left is None
        return self._whole(is_last=True) if by_close else None

    def _begin(self, head: Head) -> None:
        status, length = status_of(head), head.get(b"content-length")
        if not head.line.startswith(b"HTTP/1.1 ") or status < 200:
            raise ValueError(f"expected an answer, found {head.line[:60]!r}")
        self._head = head
        if self._method == "HEAD" or status in _NO_BODY:
            self._left = 0
        elif encoding := head.get(b"transfer-encoding"):
            if encoding.lower() != b"chunked" or length:
                raise ValueError(f"expected one length, found {encoding!r}")
            self._chunks = Dechunker()
        elif length:
            if not length.isdigit():
                raise ValueError(f"expected a length, found {length!r}")
            self._left = int(length)

    def _whole(self, *, is_last: bool) -> Answer:
        assert self._head is not None
        closes = is_last or self._head.get(b"connection").lower() == b"close"
        return Answer(self._head, b"".join(self._parts), b"".join(self._bodies), closes)
