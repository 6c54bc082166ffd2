"""Raw clients: they do as little work as possible for each byte, so that the server and the proxy are measured and not they.

One client speaks to one address over TLS and HTTP/1.1; nothing here knows which of them is the proxy.
"""

import asyncio
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from staleproof.errors import SetupError

_HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go: kube-apiserver or the proxy."""

    host: str
    port: int
    token: str
    tls: ssl.SSLContext

    @classmethod
    def of(cls, server: str, ca_file: Path, token: str) -> "Address":
        host, _, port = server.removeprefix("https://").partition(":")
        tls = ssl.create_default_context(cafile=str(ca_file))
        tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return cls(host, int(port), token, tls)

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


class FrameCounter:
    """Counts frames in a chunked answer: a frame ends with a newline, and every other newline of HTTP follows a CR."""

    def __init__(self) -> None:
        self.frames = 0
        self._after_cr = False

    def feed(self, data: bytes) -> None:
        split_pair = self._after_cr and data.startswith(b"\n")
        self.frames += data.count(b"\n") - data.count(b"\r\n") - split_pair
        self._after_cr = data.endswith(b"\r")


class Watch(asyncio.Protocol):
    """One watch. `on_frames` is called with the number of frames so far, each time that more have come."""

    def __init__(self, request: bytes, on_frames: Callable[[int], None]) -> None:
        self._request, self._on_frames = request, on_frames
        self._counter = FrameCounter()
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def frames(self) -> int:
        return self._counter.frames

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        before = self._counter.frames
        self._counter.feed(data)
        if self._counter.frames > before:
            self._on_frames(self._counter.frames)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(None)


async def open_watch(address: Address, path: str, on_frames: Callable[[int], None]) -> Watch:
    _, watch = await asyncio.get_running_loop().create_connection(
        lambda: Watch(address.get(path), on_frames), address.host, address.port, ssl=address.tls
    )
    return watch


async def frames(address: Address, path: str, wanted: int, *, limit_seconds: float) -> float:
    """The seconds from the request until so many frames have come."""
    arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    ended = 0.0

    def on_frames(count: int) -> None:
        nonlocal ended
        if count >= wanted and not arrived.done():
            ended = time.perf_counter()
            arrived.set_result(None)

    watch = await open_watch(address, path, on_frames)
    began = time.perf_counter()
    try:
        await asyncio.wait({arrived, watch.lost}, timeout=limit_seconds, return_when=asyncio.FIRST_COMPLETED)
        if not arrived.done():
            raise SetupError(
                f"expected {wanted} frames within {limit_seconds:g} s, found {watch.frames}; run again with fewer --events"
            )
        return ended - began
    finally:
        watch.transport.abort()


async def lines(address: Address, path: str, on_line: Callable[[bytes], None]) -> None:
    """Read a watch line by line until it ends with a last chunk, for a client that looks at what came.

    Raises:
        ConnectionError, EOFError: it ended in another way.
        SetupError: it was refused.
    """
    reader, writer = await asyncio.open_connection(address.host, address.port, ssl=address.tls, server_hostname=address.host)
    try:
        writer.write(address.get(path))
        head = await reader.readuntil(_HEAD_END)
        if b" 200 " not in head[:13]:
            raise SetupError(f"expected a watch, found {head[:60]!r}; is the load of another program too high?")
        rest = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            *whole, rest = (rest + await reader.readexactly(size)).split(b"\n")
            await reader.readexactly(2)
            for line in whole:
                on_line(line)
    finally:
        writer.transport.abort()


class Conversation:
    """One kept-alive connection. `send` and `receive` are separate, so that the answer can wait."""

    def __init__(self, address: Address) -> None:
        self._address = address

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(
            self._address.host, self._address.port, ssl=self._address.tls, server_hostname=self._address.host
        )

    def send(self, request: bytes) -> None:
        self._writer.write(request)

    async def receive(self) -> bytes:
        """The body of the answer."""
        head = (await self._reader.readuntil(_HEAD_END)).lower()
        if b" 200 " not in head[:13]:
            raise SetupError(f"expected the status 200, found {head[:60]!r}; is the load of another program too high?")
        length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        return await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.transport.abort()


async def gets(address: Address, path: str, connections: int, *, seconds: float) -> float:
    """Requests per second over this many connections."""
    conversations = [Conversation(address) for _ in range(connections)]
    request = address.get(path)

    async def get(conversation: Conversation) -> None:
        conversation.send(request)
        await conversation.receive()

    for conversation in conversations:
        await conversation.open()
        await get(conversation)
    began = time.perf_counter()

    async def load(conversation: Conversation) -> int:
        done = 0
        while time.perf_counter() - began < seconds:
            await get(conversation)
            done += 1
        return done

    try:
        done = sum(await asyncio.gather(*(load(conversation) for conversation in conversations)))
        return done / (time.perf_counter() - began)
    finally:
        for conversation in conversations:
            conversation.close()
