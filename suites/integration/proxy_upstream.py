"""A real TLS server in the place of the API server, which says what a test wants, byte for byte.

It reads requests and keeps them as they came. It knows nothing of Kubernetes; the only answer of its own is 404.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from staleproof.drive.cluster.control_plane import ControlPlane
from staleproof.drive.cluster.control_plane.credentials import make_credentials
from staleproof.drive.cluster.control_plane.plane import USERS

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
_NOTHING = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def sized(data: bytes, *fields: bytes) -> bytes:
    """A whole answer with its length."""
    head = (b"HTTP/1.1 200 OK", b"Content-Type: application/json", b"Connection: close", b"Content-Length: %d" % len(data), *fields)
    return b"\r\n".join(head) + b"\r\n\r\n" + data


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived; `path` is without the query."""

    method: str
    path: str
    head: bytes
    body: bytes


Script = Callable[[asyncio.StreamWriter], Awaitable[None]]


def says(*pieces: bytes) -> Script:
    """A script that sends these bytes and then closes the connection normally."""

    async def script(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return script


class Upstream:
    """`answers`: path → what happens on the connection once the request has been read. `requests`: all so far."""

    def __init__(self) -> None:
        self.answers: dict[str, Script] = {}
        self.requests: list[Request] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            request = await _read(reader)
            self.requests.append(request)
            await self.answers.get(request.path, says(_NOTHING))(writer)
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = await reader.readuntil(b"\r\n\r\n")
    line, *fields = head.decode("latin-1").split("\r\n")
    length = next((value for name, _, value in (field.partition(":") for field in fields) if name.lower() == "content-length"), "0")
    method, target, _ = line.split(" ")
    return Request(method, target.partition("?")[0], head, await reader.readexactly(int(length)))


@asynccontextmanager
async def upstream(folder: Path) -> AsyncIterator[tuple[Upstream, ControlPlane]]:
    """The server, and what a proxy in front of it must know."""
    folder.mkdir(parents=True, exist_ok=True)
    made = make_credentials(folder, USERS)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(made.certificate_file, made.key_file)
    serving = Upstream()
    server = await asyncio.start_server(serving.serve, "127.0.0.1", 0, ssl=tls, limit=1 << 26)
    plane = ControlPlane(
        server=f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}",
        ca_file=made.ca_file,
        version="none",
        provider="none",
        why="there is no API server behind it",
        tokens=made.tokens,
        client_certificate=None,
        log_folder=folder,
    )
    try:
        yield serving, plane
    finally:
        server.close()
