"""A small HTTP/1.1 server on loopback, in mitmproxy's event loop, that every watch is sent through.

mitmproxy's own streaming is synchronous: a frame cannot be held and let go later. So the addon points watches here; the relay
opens the upstream watch itself, feeds the bytes to a `Stream`, and writes what that lets out. Upstream is always drained eagerly:
a slow reader would be closed by the API server, and delay must never come from back-pressure.

mitmproxy keeps its connection to the relay and sends the client's next watch on it, so the next request head is awaited all the
time, also while a watch is running.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from staleproof.core.request import ApiRequest

from .board import Board
from .stream import Stream
from .wire import HEAD_END, LAST_CHUNK, Dechunker, Head, chunk, parse_head, status_of

FLOW_HEADER = "x-staleproof-flow"
_FLOW_FIELD = FLOW_HEADER.encode()
_READ_SIZE = 1 << 20
_log = logging.getLogger(__name__)
_NOT_FORWARDED = {
    b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"proxy-connection",
    b"host", b"content-length", b"accept-encoding", _FLOW_FIELD,
}  # fmt: skip
_CHUNKED_JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Watch:
    """What the addon knows of a watch: who asks, what for, and how to reset the client's connection."""

    client: str
    request: ApiRequest
    reset: Callable[[], None]


class Relay:
    """Plain HTTP towards mitmproxy, TLS towards the API server."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext, board: Board) -> None:
        self._host, self._upstream_port, self._tls, self._board = host, port, tls, board
        self._watches: dict[str, Watch] = {}
        self.port = 0

    def expect(self, flow_id: str, watch: Watch) -> None:
        """The addon announces the watch whose request will arrive with this flow id."""
        self._watches[flow_id] = watch

    def forget(self, flow_id: str) -> None:
        """The flow ended before its request reached us, if it has not."""
        self._watches.pop(flow_id, None)

    async def start(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        self.port = server.sockets[0].getsockname()[1]
        self._server = server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        coming = loop.create_task(reader.readuntil(HEAD_END))
        work: asyncio.Task[None] | None = None
        try:
            while True:
                head = await coming  # raises when mitmproxy has closed
                coming = loop.create_task(reader.readuntil(HEAD_END))
                work = loop.create_task(self._relay(head, writer))
                await asyncio.wait({coming, work}, return_when=asyncio.FIRST_COMPLETED)
                work.cancel()  # done; or the client left, or was refused and asks again
                await asyncio.wait({work})
                if not work.cancelled() and (error := work.exception()) is not None:
                    _log.error("a watch failed: %s: %s", type(error).__name__, error, exc_info=error)  # stops the process
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # cancelled at shutdown: before 3.13 asyncio would log it as an error
        finally:
            coming.cancel()
            writer.close()
            del coming, work  # their tracebacks lead back here: a circle that would keep the stream's memory for long

    async def _relay(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        head = parse_head(data)
        watch = self._watches.pop(head.get(_FLOW_FIELD).decode(), None)
        if watch is None:  # the client has left already, or this is not mitmproxy
            writer.transport.abort()
            return
        if self._board.schedule.is_expired(watch.request):
            self._refuse(watch, writer)
            return
        try:
            up_reader, up = await asyncio.open_connection(
                self._host, self._upstream_port, ssl=self._tls, server_hostname=self._host, limit=_READ_SIZE
            )
        except OSError:
            writer.transport.abort()  # before a response head: mitmproxy answers 502
            return
        try:
            up.write(self._upstream_head(head).encode())
            answer = parse_head(await up_reader.readuntil(HEAD_END))
            writer.write(answer.without({b"connection"}).encode())
            if _is_watch_answer(answer):
                await self._gated(watch, up_reader, writer)
            else:  # refused (4xx, 5xx): no gate
                while data := await up_reader.read(_READ_SIZE):  # ends: upstream was asked to close
                    writer.write(data)
        except (OSError, asyncio.IncompleteReadError):
            writer.transport.abort()
        finally:
            up.transport.abort()

    async def _gated(self, watch: Watch, up_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = _Wire(writer, watch.reset)
        stream = Stream(next(self._board.numbers), watch.client, watch.request, wire, self._board)
        self._board.streams[stream.number] = stream
        pump = asyncio.get_running_loop().create_task(_pump(up_reader, stream))
        over = asyncio.get_running_loop().create_task(wire.over.wait())
        try:
            await asyncio.wait({pump, over}, return_when=asyncio.FIRST_COMPLETED)
            if pump.done() and (error := pump.exception()) is not None:
                raise error
            await over
        finally:
            pump.cancel()
            over.cancel()
            stream.left_by_client()

    def _refuse(self, watch: Watch, writer: asyncio.StreamWriter) -> None:
        """The API server's own way: 200, an ERROR event with code 410, a clean end."""
        wire = _Wire(writer, watch.reset)
        writer.write(_CHUNKED_JSON)
        stream = Stream(next(self._board.numbers), watch.client, watch.request, wire, self._board)
        stream.sever("expired", None)

    def _upstream_head(self, head: Head) -> Head:
        ours = ((b"host", b"%b:%d" % (self._host.encode(), self._upstream_port)), (b"connection", b"close"))
        return Head(head.line, (*ours, *head.without(_NOT_FORWARDED).fields))


class _Wire:
    """The client's side of a watch, as chunks of the relay's answer to mitmproxy."""

    def __init__(self, writer: asyncio.StreamWriter, reset: Callable[[], None]) -> None:
        self._writer, self._reset = writer, reset
        self.over = asyncio.Event()

    def emit(self, data: bytes) -> None:
        self._writer.write(chunk(data))

    def finish(self) -> None:
        self._writer.write(LAST_CHUNK)
        self.over.set()

    def kill(self, *, reset: bool) -> None:
        if reset:
            self._reset()
        self._writer.transport.abort()
        self.over.set()


async def _pump(up_reader: asyncio.StreamReader, stream: Stream) -> None:
    """Drain upstream as fast as it comes, all that has come in one go: in a burst every event is a chunk of its own."""
    body = Dechunker()
    try:
        while not body.over and (data := await up_reader.read(_READ_SIZE)):
            stream.feed(body.feed(data))
    except (OSError, ValueError):
        body.over = False
    stream.upstream_ended("clean" if body.over else "cut")


def _is_watch_answer(answer: Head) -> bool:
    chunked, content_type = answer.get(b"transfer-encoding"), answer.get(b"content-type")
    return status_of(answer) == 200 and chunked.lower() == b"chunked" and content_type.startswith(b"application/json")
