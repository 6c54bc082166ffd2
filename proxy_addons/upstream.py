"""Connections to the API server that are kept for the next request, one request at a time on each. Bytes in, whole answers out.

An answer is passed on as it came; only its length and its body are of interest here. What breaks the rules of HTTP ends the
connection, and no answer has come.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from httptools import HttpResponseParser

from staleproof.core.times import KEEP_ALIVE_SECONDS

from .wire import Head, Incoming, status_of

_LONGEST_HEAD = 1 << 20
_NO_BODY = frozenset({204, 304})
_READS = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Answer:
    """`data` is all of it, byte for byte; `body` is without the sizes of chunks; behind `is_last` the connection ends."""

    head: Head
    data: bytes
    body: bytes
    is_last: bool


class Line(asyncio.Protocol):
    """One connection. `is_kept`: an earlier request was answered on it."""

    def __init__(self) -> None:
        self.is_open, self.is_kept = True, False
        self._is_ended = False
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

    @property
    def met_its_end(self) -> bool:
        """Whether it was kept, and the server ended it without a byte of an answer: its end and the request may have crossed."""
        return self.is_kept and self._is_ended and not self._reading.has_begun

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():  # no request is open
            self.close()
            return
        try:
            answer = self._reading.feed(data)
        except ConnectionError as err:
            self._answer.set_exception(err)
            self.close()
            return
        if answer is not None:
            self.is_kept = True
            self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_ended, self.is_open = self.is_open, False
        if self._answer is not None and not self._answer.done():
            answer = None if exc else self._reading.end()
            if answer is None:
                self._answer.set_exception(ConnectionError(f"the API server closed the connection{f': {exc}' if exc else ''}"))
            else:
                self._answer.set_result(answer)


class Lines:
    """Those that are free are kept; `connect` makes another one."""

    def __init__(self, connect: Callable[[], Awaitable[Line]]) -> None:
        self._connect = connect
        self._free: list[tuple[Line, float]] = []

    async def take(self) -> Line:
        """One that is open. OSError when no server answers."""
        while self._free:
            line, since = self._free.pop()
            if line.is_open and asyncio.get_running_loop().time() - since < KEEP_ALIVE_SECONDS:
                return line
            line.close()
        return await self._connect()

    async def ask(self, line: Line, request: bytes, *, method: str, on_line: Callable[[Line], object]) -> Answer:
        """The answer to a whole request on this line. OSError when none comes; `on_line` gets the line on which it is waited for.

        A read whose request crossed with the end of a line that was kept is asked for once more on a new one, as Go's client does
        (net/http transport.go, shouldRetryRequest). Of a write it cannot be known whether it was executed.
        """
        on_line(line)
        try:
            return await line.ask(request, method=method)
        except ConnectionError:
            if method not in _READS or not line.met_its_end:
                raise
        another = await self._connect()
        on_line(another)
        answer = await another.ask(request, method=method)
        if not answer.is_last:
            self.give_back(another)
        return answer

    def give_back(self, line: Line) -> None:
        if line.is_open:
            self._free.append((line, asyncio.get_running_loop().time()))


class Reading:
    """An answer that is coming."""

    def __init__(self, method: str) -> None:
        self._has_body = method != "HEAD"
        self._incoming = Incoming(HttpResponseParser)
        self._parts: list[bytes] = []
        self._bodies: list[bytes] = []

    @property
    def has_begun(self) -> bool:
        return bool(self._parts)

    def feed(self, data: bytes) -> Answer | None:
        """The answer, if it is whole now. ConnectionError when it breaks the rules."""
        incoming = self._incoming
        self._parts.append(data)
        self._bodies.append(incoming.feed(data))
        if incoming.head is None:
            if sum(map(len, self._parts)) > _LONGEST_HEAD:
                raise ConnectionError("a head that never ends")
            return None
        if status_of(incoming.head) < 200:
            raise ConnectionError(f"expected an answer, found {incoming.head.line!r}")
        return self._answer_with(incoming.head, is_last=incoming.is_last) if incoming.is_complete or not self._has_body else None

    def end(self) -> Answer | None:
        """The connection has ended: so has the answer, if nothing else marks its end."""
        head = self._incoming.head
        by_close = head is not None and not head.get(b"content-length") and not head.get(b"transfer-encoding")
        return self._answer_with(head, is_last=True) if head is not None and by_close else None

    def _answer_with(self, head: Head, *, is_last: bool) -> Answer:
        return Answer(head, b"".join(self._parts), b"".join(self._bodies), is_last)
