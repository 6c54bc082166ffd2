"""Raw HTTP/1.1 clients: a test sees what came over the wire, and not what a library made of it.

Nothing here knows Kubernetes: the tests say what to ask for and what the answer should be.
"""

import asyncio
import contextlib
import gzip
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec

LIMIT_SECONDS = 120.0
MERGE = "application/merge-patch+json"
WATCH_LIST = "&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
JSON = dict[str, Any]


@asynccontextmanager
async def limited() -> AsyncIterator[None]:
    """Fail when the block takes too long. A TimeoutError would not do: it is an OSError, as a broken connection is."""
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            yield
    except TimeoutError as err:
        raise AssertionError(f"not within {LIMIT_SECONDS:g} s") from err


async def until(condition: Callable[[], bool], *, every_seconds: float = 0.005) -> None:
    """Wait until the condition holds. One that costs something should be asked less often."""
    async with limited():
        while not condition():
            await asyncio.sleep(every_seconds)


async def is_reset(asking: Awaitable[object]) -> bool:
    """Whether the connection was reset before there was an answer."""
    try:
        await asking
    except ConnectionResetError:
        return True
    except (OSError, asyncio.IncompleteReadError):
        return False
    return False


def trusting(ca_file: Path) -> ssl.SSLContext:
    tls = ssl.create_default_context(cafile=str(ca_file))
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return tls


class Connection:
    """One raw HTTP/1.1 connection over TLS that is kept open. `alpn`: the protocols it offers; empty offers none."""

    def __init__(self, server: str, ca_file: Path, token: str, *, alpn: tuple[str, ...] = ()) -> None:
        self._host, _, port = server.removeprefix("https://").partition(":")
        self._port, self._tls, self._token = int(port), trusting(ca_file), token
        if alpn:
            self._tls.set_alpn_protocols(alpn)
        self.fields: dict[str, str] = {}
        self._size: int | None = None

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(
            self._host, self._port, ssl=self._tls, server_hostname=self._host, limit=1 << 26
        )

    @property
    def protocol(self) -> str | None:
        """What was agreed on by ALPN."""
        found: str | None = self.writer.get_extra_info("ssl_object").selected_alpn_protocol()
        return found

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> int:
        """Send a request and read the head of its answer; the status. A body of bytes is sent as it is, any other as JSON."""
        await self.send(method, path, body, **headers)
        return await self.status()

    async def send(self, method: str, path: str, body: object = None, **headers: str) -> None:
        data = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        fields = {"Host": self._host, "Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()} | {"Content-Length": str(len(data))}
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())])
        self.writer.write(head.encode() + b"\r\n\r\n" + data)
        await self.writer.drain()

    async def status(self) -> int:
        async with limited():
            answer = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        lines = answer.split("\r\n")
        self.fields = {name: value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split()[1])

    async def chunk(self) -> bytes:
        """The next chunk; the last one is empty. After a failure in the middle of a chunk, call it again to go on."""
        if self._size is None:
            self._size = int(await self.reader.readuntil(b"\r\n"), 16)
        data = await self.reader.readexactly(self._size + 2)
        self._size = None
        return data[:-2]

    def unread(self) -> None:
        """Make readable what came before a reset: asyncio raises at once, but keeps the bytes."""
        self.reader._exception = None  # type: ignore[attr-defined]
        self.reader.feed_eof()

    async def body(self) -> bytes:
        """The rest of the answer, as it came."""
        async with limited():
            if "content-length" in self.fields:
                return await self.reader.readexactly(int(self.fields["content-length"]))
            if "transfer-encoding" not in self.fields:
                return await self.reader.read()
            data = b""
            while piece := await self.chunk():
                data += piece
            return data

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, JSON]:
        """The status and the document of an answer, whether or not it is compressed."""
        status = await self.ask(method, path, body, **headers)
        data = await self.body()
        if self.fields.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        return status, cast(JSON, json.loads(data))

    def abort(self) -> None:
        self.writer.transport.abort()


class Watching:
    """A watch whose frames are collected as they come.

    Attributes:
        rest: the beginning of a frame that is not complete.
        ending: clean, cut or reset, once the watch has ended; empty before.
    """

    def __init__(self, connection: Connection, group: asyncio.TaskGroup) -> None:
        self.connection = connection
        self.lines: list[bytes] = []
        self.ending = ""
        self.rest = b""
        self._task = group.create_task(self._collect())

    async def _collect(self) -> None:
        try:
            await self._take()
            self.ending = "clean"
        except ConnectionResetError:
            self.connection.unread()
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await self._take()
            self.ending = "reset"
        except (OSError, asyncio.IncompleteReadError):
            self.ending = "cut"

    async def _take(self) -> None:
        while data := await self.connection.chunk():
            *lines, self.rest = (self.rest + data).split(b"\n")
            self.lines += lines

    @property
    def frames(self) -> list[JSON]:
        return [json.loads(line) for line in self.lines]

    @property
    def events(self) -> list[tuple[str, str]]:
        """The type of each frame and the name in it."""
        return [(frame["type"], frame["object"].get("metadata", {}).get("name", "")) for frame in self.frames]

    @property
    def names(self) -> list[str]:
        """The name in each frame."""
        return [name for _, name in self.events]

    @property
    def revisions(self) -> list[str]:
        """The resourceVersion in each frame; empty for an error."""
        return [frame["object"].get("metadata", {}).get("resourceVersion", "") for frame in self.frames]

    @property
    def changes(self) -> list[bytes]:
        """The lines without bookmarks: the API server sends those about once a minute, and not at the same place in each watch."""
        return [line for line in self.lines if not line.startswith(b'{"type":"BOOKMARK"')]

    @property
    def certain(self) -> list[tuple[str, str]]:
        """The events without the bookmarks that the API server sends when it likes, in a WatchList within a second or two. The one
        that ends the initial events is not among those."""
        pairs = zip(self.lines, self.events, strict=True)
        return [event for line, event in pairs if event[0] != "BOOKMARK" or b'"k8s.io/initial-events-end"' in line]

    async def until(self, count: int) -> None:
        await until(lambda: len(self.lines) >= count or self.ending != "")
        assert len(self.lines) >= count, (self.ending, self.events)

    async def ended(self) -> str:
        await until(lambda: self.ending != "")
        return self.ending
