"""A small HTTP/1.1 server on loopback, in mitmproxy's event loop, that every watch is sent through.

mitmproxy's own streaming is synchronous: a frame cannot be held and let go later. So the addon points watches here; the relay
opens the upstream watch itself, feeds the bytes to a `Stream`, and writes what that lets out. Upstream is drained eagerly: the API
server would close the connection of a slow reader, and delay must not come from back-pressure. Only once a client has left as much
unread as a gate may hold does the relay stop reading, and the API server deals with that client as it does without a proxy.

mitmproxy keeps its connection to the relay and sends the client's next watch on it, so the next request head is awaited all the
time, also while a watch is running.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass

from httptools import HttpRequestParser, HttpResponseParser

from staleproof.core.engine.exchange import Exchange
from staleproof.core.engine.expiry import Expiry
from staleproof.core.engine.planned_fault import FaultRef
from staleproof.core.engine.snapshot import initial_events, watch_from
from staleproof.core.history.entry import RequestId
from staleproof.core.history.request import ApiRequest

from .api_server import ApiServer
from .proxy_state import ProxyState
from .stream import Stream
from .wire import HEAD_END, Head, Incoming, status_of

FLOW_HEADER = "x-staleproof-flow"
_FLOW_FIELD = FLOW_HEADER.encode()
_READ_SIZE = 1 << 20
_log = logging.getLogger(__name__)
_NOT_FORWARDED = {
    b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"proxy-connection",
    b"host", b"content-length", b"accept-encoding", _FLOW_FIELD,
}  # fmt: skip
_CHUNKED_JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass(slots=True)
class Watch:
    """What the addon knows of a watch: who asks for what, and how to reset the client's connection.

    `reset` makes the end of the stream, when it comes to the client, a TCP reset. `past`: the stream begins with the state at this
    revision, because this fault wants it so. `expiry`: the history that it wants to resume from is gone.
    """

    client: str
    request: ApiRequest
    reset: Callable[[], None]
    past: tuple[int, FaultRef] | None = None
    expiry: Expiry | None = None


class Relay:
    """Plain HTTP towards mitmproxy, TLS towards the API server."""

    def __init__(self, state: ProxyState, api_server: ApiServer) -> None:
        self._state, self._api_server = state, api_server
        self._watches: dict[str, Watch] = {}
        self.port = 0

    def expect(self, flow_id: str, watch: Watch) -> None:
        """The addon announces the watch whose request will arrive with this flow id."""
        self._watches[flow_id] = watch

    def from_past(self, flow_id: str, revision: int, fault: FaultRef) -> None:
        """The announced watch begins with the state at this revision, because of this fault."""
        self._watches[flow_id].past = revision, fault

    def expired(self, flow_id: str, expiry: Expiry) -> None:
        """The announced watch learns by an event that its history is gone."""
        self._watches[flow_id].expiry = expiry

    def forget(self, flow_id: str) -> None:
        """The flow ended, perhaps before its request reached us."""
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
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # cancelled at shutdown: before 3.13 asyncio would log it as an error
        finally:
            coming.cancel()
            writer.close()
            del coming, work  # their tracebacks lead back here: a cycle that would keep the stream's memory for long

    async def _relay(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        try:
            head = Incoming(HttpRequestParser).read_head(data)
            watch = self._watches.pop(head.get(_FLOW_FIELD).decode(), None)
            if watch is None:  # the client has left already, or this is not mitmproxy
                writer.transport.abort()
            elif watch.expiry is not None:
                self._expire(watch, watch.expiry.fault, writer)
            else:
                await self._ask(watch, head, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            writer.transport.abort()  # before a response head: mitmproxy answers 502

    async def _ask(self, watch: Watch, head: Head, writer: asyncio.StreamWriter) -> None:
        up_reader, up = await self._api_server.connect(limit=_READ_SIZE)
        try:
            head, events = await self._begin_in_past(head, watch)
            up.write(self._upstream_head(head).encode())
            await self._answer(watch, up_reader, writer, events)
        finally:
            up.transport.abort()

    async def _answer(self, watch: Watch, up_reader: asyncio.StreamReader, writer: asyncio.StreamWriter, events: bytes) -> None:
        incoming = Incoming(HttpResponseParser)
        answer = incoming.read_head(await up_reader.readuntil(HEAD_END))
        watching, status = _is_watch_answer(answer), status_of(answer)
        if status == 200 and not watching:  # a stream that no gate can read must not pass unseen
            self._refused(watch, 0)
            writer.transport.abort()
            return
        writer.write(answer.without({b"connection"}).encode())
        if watching:
            await self._gated(watch, incoming, up_reader, writer, events)
            return
        self._refused(watch, status)  # 4xx, 5xx: no gate
        while data := await up_reader.read(_READ_SIZE):  # ends: upstream was asked to close
            writer.write(data)
        if not (answer.get(b"content-length") or answer.get(b"transfer-encoding")):
            writer.close()  # its end is the end of the connection

    async def _begin_in_past(self, head: Head, watch: Watch) -> tuple[Head, bytes]:
        """The request head that goes upstream, and the initial events of the past that come first (none if it is not known)."""
        if watch.past is None:
            return head, b""
        (revision, fault), what = watch.past, f"watch {watch.request.resource}"
        if "resourceVersion" not in watch.request.query:
            what += " without resourceVersion (legality row 24b)"
        method, target, version = head.line.decode().split(" ")
        headers = [(key.decode(), value.decode()) for key, value in head.fields]
        answer = await self._api_server.list_at(watch.request, target, headers, revision)
        if answer is None:
            self._state.refused(fault, f"the API server no longer knows revision {revision}", what)
            watch.past = None
            return head, b""
        self._state.fired(fault, f"{what} from revision {revision}")
        begins = Head(f"{method} {watch_from(target, revision)} {version}".encode(), head.fields)
        return begins, initial_events(answer)

    def _refused(self, watch: Watch, code: int) -> None:
        self._state.record(Exchange(RequestId(0), watch.request, watch.client, client_status=(code, "")).refused(self._state.now()))

    async def _gated(
        self, watch: Watch, body: Incoming, up_reader: asyncio.StreamReader, writer: asyncio.StreamWriter, events: bytes
    ) -> None:
        stream = self._state.open_stream(watch.client, watch.request, writer, watch.reset)
        if watch.past is not None:
            revision, _ = watch.past
            stream.change(lambda watch, now: watch.feed_past(events, revision, now))
        pump = asyncio.get_running_loop().create_task(_pump(body, up_reader, stream))
        over = asyncio.get_running_loop().create_task(stream.over.wait())
        try:
            await asyncio.wait({pump, over}, return_when=asyncio.FIRST_COMPLETED)
            if pump.done() and (error := pump.exception()) is not None:
                raise error
            await over
        finally:
            pump.cancel()
            over.cancel()
            stream.change(lambda watch, now: watch.left_by_client(now))

    def _expire(self, watch: Watch, fault: FaultRef | None, writer: asyncio.StreamWriter) -> None:
        """Refuse it in the API server's own way: 200, an ERROR event with code 410, a clean end."""
        writer.write(_CHUNKED_JSON)
        stream = self._state.open_stream(watch.client, watch.request, writer, watch.reset)
        stream.change(lambda watch, _: watch.gate.sever("expired", fault))

    def _upstream_head(self, head: Head) -> Head:
        ours = ((b"host", self._api_server.authority), (b"connection", b"close"))
        return Head(head.line, (*ours, *head.without(_NOT_FORWARDED).fields))


async def _pump(body: Incoming, up_reader: asyncio.StreamReader, stream: Stream) -> None:
    """Drain upstream as fast as it comes, everything that has arrived at once: in a burst every event is a chunk of its own."""
    with contextlib.suppress(OSError):
        while not body.is_complete and (data := await up_reader.read(_READ_SIZE)):
            stream.feed(body.feed(data))
            await stream.has_room()
    stream.change(lambda watch, _: watch.upstream_ended("clean" if body.is_complete else "cut"))


def _is_watch_answer(answer: Head) -> bool:
    chunked, content_type = answer.get(b"transfer-encoding"), answer.get(b"content-type")
    return status_of(answer) == 200 and chunked.lower() == b"chunked" and content_type.startswith(b"application/json")
