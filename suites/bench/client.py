"""Raw clients: they do as little work as possible for each byte, so that the server and the proxy are measured and not they.

One client speaks to one address over TLS and HTTP/1.1; nothing here knows which of them is the proxy.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from staleproof.drive.cluster.access import Access
from staleproof.errors import SetupError

LIMIT_SECONDS = 60.0
_BOOKMARK = b'{"type":"BOOKMARK"'


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go: kube-apiserver or the proxy."""

    host: str
    port: int
    token: str
    tls: ssl.SSLContext

    @classmethod
    def of(cls, access: Access) -> "Address":
        host, _, port = access.server.removeprefix("https://").partition(":")
        return cls(host, int(port), access.token, access.tls())

    def get(self, path: str) -> bytes:
        return self._head("GET", path) + b"\r\n"

    def patch(self, path: str, body: bytes) -> bytes:
        """A JSON merge patch."""
        more = f"Content-Type: application/merge-patch+json\r\nContent-Length: {len(body)}\r\n\r\n"
        return self._head("PATCH", path) + more.encode() + body

    def _head(self, method: str, path: str) -> bytes:
        return (
            f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
            f"Authorization: Bearer {self.token}\r\nAccept: application/json\r\n"
        ).encode()


class Watch(asyncio.Protocol):
    """One watch; `times` says when each of its events came. Only one task at a time may call `reached`.

    A frame ends with a newline, and every other newline of a chunked answer follows a CR. Bookmarks are not counted: the API server
    sends them when it likes.
    """

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._rest = b""
        self._wanted, self._arrived = 0, asyncio.Event()
        self.times: list[float] = []
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self.transport = transport
        self.asked_at = time.perf_counter()
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        text = self._rest + data
        self._rest = text[text.rfind(b"\n") + 1 :]
        events = text.count(b"\n") - text.count(b"\r\n")
        if _BOOKMARK in text:
            events -= sum(line.startswith(_BOOKMARK) for line in text.split(b"\n")[:-1])
        self.times += [time.perf_counter()] * events
        if len(self.times) >= self._wanted:
            self._arrived.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(None)
        self._arrived.set()

    async def reached(self, count: int) -> float:
        """Wait for so many events; the time at which the last of them came. EOFError when the watch ends before."""
        self._wanted = count
        if len(self.times) < count and not self.lost.done():
            self._arrived.clear()
            await self._arrived.wait()
        if len(self.times) < count:
            raise EOFError
        return self.times[count - 1]


@asynccontextmanager
async def watching(address: Address, path: str, count: int = 1) -> AsyncIterator[list[Watch]]:
    """So many watches; their connections are gone when the block is left."""
    connect = asyncio.get_running_loop().create_connection
    made = (connect(lambda: Watch(address.get(path)), address.host, address.port, ssl=address.tls) for _ in range(count))
    watches = [watch for _, watch in await asyncio.gather(*made)]
    try:
        yield watches
    finally:
        for watch in watches:
            watch.transport.abort()
        await asyncio.gather(*(watch.lost for watch in watches))


async def shown(watches: Sequence[Watch], events: int) -> float:
    """Wait until each watch has so many events; the time at which the last of these came."""
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            return max([await watch.reached(events) for watch in watches])
    except (TimeoutError, EOFError) as err:
        behind = [len(watch.times) for watch in watches if len(watch.times) < events]
        lost = sum(watch.lost.done() for watch in watches)
        raise SetupError(
            f"expected {events} events on each of {len(watches)} watches within {LIMIT_SECONDS:g} s, found fewer on {len(behind)} "
            f"({lost} have ended); is the load of another program too high? Or run again with fewer --events"
        ) from err


class Conversation:
    """One kept-alive connection. `send` and `receive` are separate, so that the answer can wait."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, request: bytes) -> None:
        self._writer.write(request)

    async def receive(self) -> bytes:
        """The body of the answer."""
        length = int((await self._head()).partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        return await self._reader.readexactly(length)

    async def ask(self, request: bytes) -> bytes:
        self.send(request)
        return await self.receive()

    async def lines(self, on_line: Callable[[bytes], None]) -> None:
        """Read a watch line by line until it ends with a last chunk; ConnectionError or EOFError when it ends in another way."""
        await self._head()
        rest = b""
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            *complete, rest = (rest + await self._reader.readexactly(size)).split(b"\n")
            await self._reader.readexactly(2)
            for line in complete:
                on_line(line)

    async def _head(self) -> bytes:
        """The head of an answer, in lower case; SetupError when it is a refusal."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if b" 200 " not in head[:13]:
            raise SetupError(f"expected the status 200, found {head[:60]!r}; is the load of another program too high?")
        return head


@asynccontextmanager
async def conversation(address: Address) -> AsyncIterator[Conversation]:
    reader, writer = await asyncio.open_connection(address.host, address.port, ssl=address.tls, server_hostname=address.host)
    try:
        yield Conversation(reader, writer)
    finally:
        writer.transport.abort()


async def gets(address: Address, path: str, connections: int, *, seconds: float) -> float:
    """Requests per second over this many connections."""
    request = address.get(path)

    async def load(talk: Conversation) -> int:
        done = 0
        while time.perf_counter() - began < seconds:
            await talk.ask(request)
            done += 1
        return done

    async with AsyncExitStack() as stack:
        talks = [await stack.enter_async_context(conversation(address)) for _ in range(connections)]
        for talk in talks:
            await talk.ask(request)
        began = time.perf_counter()
        done = sum(await asyncio.gather(*(load(talk) for talk in talks)))
        return done / (time.perf_counter() - began)
