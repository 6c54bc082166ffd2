"""A small HTTP/1.1 server on loopback, in mitmproxy's event loop, that every watch is sent through.

mitmproxy's own streaming is synchronous: a frame cannot be held and let go later. So the addon points watches here; the relay
opens the upstream watch itself, feeds the bytes to a `Stream`, and writes what that lets out. Upstream is always drained eagerly:
a slow reader would be closed by the API server, and delay must never come from back-pressure.

mitmproxy keeps its connection to the relay and sends the client's next watch on it, so the next request head is awaited all the
time, also while a watch is running.
"""

import asyncio
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from staleproof.core.request import ApiRequest

from .board import Board
from .stream import Stream

FLOW_HEADER = "x-staleproof-flow"
_HEAD_END = b"\r\n\r\n"
_NOT_FORWARDED = {
    b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"proxy-connection",
    b"host", b"content-length", b"accept-encoding", FLOW_HEADER.encode(),
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

    async def start(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        self.port = server.sockets[0].getsockname()[1]
        self._server = server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        coming = loop.create_task(reader.readuntil(_HEAD_END))
        try:
            while True:
                head = await coming  # raises when mitmproxy has closed
                coming = loop.create_task(reader.readuntil(_HEAD_END))
                work = loop.create_task(self._relay(head, writer))
                await asyncio.wait({coming, work}, return_when=asyncio.FIRST_COMPLETED)
                work.cancel()  # done; or the client left, or was refused and asks again
                await asyncio.wait({work})
                if not work.cancelled() and (error := work.exception()) is not None:
                    self._board.fail("relay", f"{type(error).__name__}: {error}")
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # cancelled at shutdown: before 3.13 asyncio would log it as an error
        finally:
            coming.cancel()
            writer.close()

    async def _relay(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        request, fields = _parse_head(head)
        watch = self._watches.pop(fields.get(FLOW_HEADER.encode(), b"").decode())
        if self._board.schedule.is_expired(watch.request):
            self._refuse(watch, writer)
            return
        try:
            up_reader, up = await asyncio.open_connection(
                self._host, self._upstream_port, ssl=self._tls, server_hostname=self._host, limit=1 << 20
            )
        except OSError:
            writer.transport.abort()  # before a response head: mitmproxy answers 502
            return
        try:
            up.write(self._upstream_head(request, fields))
            answer = re.sub(rb"(?im)^connection:.*\r\n", b"", await up_reader.readuntil(_HEAD_END))
            if _is_watch_answer(answer):
                writer.write(answer)
                await self._gated(watch, up_reader, writer)
            else:  # refused (4xx, 5xx): no gate
                writer.write(answer)
                while data := await up_reader.read(65536):  # ends: upstream was asked to close
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

    def _upstream_head(self, request: bytes, fields: dict[bytes, bytes]) -> bytes:
        host = b"host: %b:%d" % (self._host.encode(), self._upstream_port)
        kept = [b"%b: %b" % field for field in fields.items() if field[0] not in _NOT_FORWARDED]
        return b"\r\n".join([request, host, b"connection: close", *kept]) + _HEAD_END


class _Wire:
    """The client's side of a watch, as chunks of the relay's answer to mitmproxy."""

    def __init__(self, writer: asyncio.StreamWriter, reset: Callable[[], None]) -> None:
        self._writer, self._reset = writer, reset
        self.over = asyncio.Event()

    def emit(self, data: bytes) -> None:
        self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))

    def finish(self) -> None:
        self._writer.write(b"0\r\n\r\n")
        self.over.set()

    def kill(self, *, reset: bool) -> None:
        if reset:
            self._reset()
        self._writer.transport.abort()
        self.over.set()


async def _pump(up_reader: asyncio.StreamReader, stream: Stream) -> None:
    """Drain upstream chunk by chunk, as fast as it comes."""
    try:
        while size := int((await up_reader.readline()).split(b";")[0], 16):
            stream.feed(await up_reader.readexactly(size))
            await up_reader.readexactly(2)
        stream.upstream_ended("clean")
    except (OSError, asyncio.IncompleteReadError, ValueError):
        stream.upstream_ended("cut")


def _parse_head(head: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    request, *lines = head.removesuffix(_HEAD_END).split(b"\r\n")
    return request, {k.strip().lower(): v.strip() for k, _, v in (line.partition(b":") for line in lines)}


def _is_watch_answer(answer: bytes) -> bool:
    lowered = answer.lower()
    return b" 200 " in answer[:13] and b"transfer-encoding: chunked" in lowered and b"application/json" in lowered
