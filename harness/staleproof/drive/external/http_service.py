"""Any service that is called by HTTP, as an external system: one that runs already, or a program that is started for it.

Without an adapter that knows its resources nothing of its state is known; its calls are counted and go wrong all the same.
"""

import asyncio
from contextlib import suppress
from typing import ClassVar
from urllib.parse import urlsplit

from staleproof.core.times import GRACE_SECONDS, PROBE_ANSWER_SECONDS, READY_SECONDS
from staleproof.drive.external.system import ExternalSystem
from staleproof.drive.process.process import Command, Process
from staleproof.errors import UsageError


class HTTPService(ExternalSystem):
    """A service at a URL, as http://127.0.0.1:9000. With a `program` it is started and stopped; without one it is another user's,
    and is up or down as it likes."""

    kind: ClassVar[str] = "http"
    protocol = "http"

    def __init__(self, name: str, url: str, program: Command | None = None) -> None:
        """UsageError when the URL cannot be before a relay."""
        parts = urlsplit(url)
        if parts.scheme == "https":
            raise UsageError(
                f"external system {name}: the relay reads what is said, so it cannot stand before TLS (https://"
                f"{parts.hostname or ''}…). Have the service listen without TLS for the tests, or put a proxy before it that "
                f"ends TLS, and name that: http://HOST:PORT/PATH; the controller gets a URL with http as well"
            )
        if parts.scheme != "http" or not parts.hostname or parts.username or parts.query:
            raise UsageError(
                f"external system {name}: expected http://HOST:PORT/PATH, found {parts.scheme}://{parts.hostname or ''}…"
            )
        self.name, self.url, self._path = name, url.rstrip("/"), parts.path.rstrip("/")
        self._address = (parts.hostname, parts.port or 80)
        self.upstream = f"{self._address[0]}:{self._address[1]}"
        self._program = program
        self.is_shared = program is None
        self._process: Process | None = None

    def capabilities(self) -> frozenset[str]:
        found = super().capabilities()
        return found if self._program else found - {"stop", "start"}

    def url_at(self, host: str, port: int) -> str:
        return f"http://{host}:{port}{self._path}"

    async def stop(self) -> None:
        if self._program is None:
            self._lacks("stop")
        if self._process is not None:
            await self._process.stop(grace_seconds=GRACE_SECONDS)

    async def start(self) -> None:
        if self._program is None:
            self._lacks("start")
        if self._process is None or not self._process.running:
            self._process = await Process.start(self._program)
            await self._process.ready(self.is_open, limit_seconds=READY_SECONDS)

    async def is_open(self) -> bool:
        """Whether something listens there."""
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(PROBE_ANSWER_SECONDS):
                _, writer = await asyncio.open_connection(*self._address)
            writer.close()
            return True
        return False
