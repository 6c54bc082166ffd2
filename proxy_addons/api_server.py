"""The API server, as the proxy itself reaches it: for watches, for the past, and to compete. All else passes through mitmproxy."""

import asyncio
import re
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp

from staleproof.core.engine.snapshot import is_list, target_at
from staleproof.core.history.request import ApiRequest
from staleproof.core.times import ANSWER_SECONDS

from .upstream import Line, Lines

_PASSED_ON = frozenset({"authorization", "accept", "user-agent"})
_IMPERSONATES = "impersonate-"  # User, Group (once for each), Uid and any Extra-… (API reference, user impersonation)
_LIMIT = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
_OF_ONE_OBJECT = re.compile(r"as=PartialObjectMetadata(?!List)")

Fields = Sequence[tuple[str, str]]
"""Header fields in order. One name may occur more than once, and several are not the same as one with commas."""


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What the API server answered."""

    code: int
    body: bytes


class ApiServer:
    """On behalf of a client: with its own credentials, or with those that the proxy has. `port` is that of https unless named."""

    def __init__(self, url: str, tls: ssl.SSLContext) -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 443
        self._url, self._tls = url.rstrip("/"), tls
        self._session: aiohttp.ClientSession | None = None
        self.lines = Lines(self._line)

    async def connect(self, *, limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection of its own; its reader takes so many bytes at once. Raises OSError when no server answers."""
        return await asyncio.open_connection(self.host, self.port, ssl=self._tls, server_hostname=self.host, limit=limit)

    @property
    def authority(self) -> bytes:
        """What requests call it."""
        return b"%b:%d" % (self.host.encode(), self.port)

    async def _line(self) -> Line:
        loop = asyncio.get_running_loop()
        _, line = await loop.create_connection(Line, self.host, self.port, ssl=self._tls, server_hostname=self.host)
        return line

    async def ask(self, method: str, target: str, headers: Fields, body: bytes = b"") -> ServerAnswer | None:
        """The answer to this request; None when no server answers."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=_LIMIT, auto_decompress=True)
        try:
            url, data = self._url + target, body or None
            async with self._session.request(method, url, headers=headers, data=data, ssl=self._tls) as answer:
                return ServerAnswer(answer.status, await answer.read())
        except (aiohttp.ClientError, TimeoutError):
            return None

    async def list_at(self, request: ApiRequest, target: str, headers: Fields, revision: int) -> bytes | None:
        """The LIST that shows at this revision what a client's read asks for; None when the API server can no longer tell."""
        wanted = ",".join(value for name, value in headers if name.lower() == "accept")
        accept = _OF_ONE_OBJECT.sub("as=PartialObjectMetadataList", wanted or "*/*")
        answer = await self.ask("GET", target_at(request, target, revision), on_behalf(headers, accept=accept))
        return answer.body if answer is not None and answer.code == 200 and is_list(answer.body) else None


def on_behalf(headers: Iterable[tuple[str, str]], **instead: str) -> Fields:
    """The header fields of a client that go with a request of ours. `instead` says what differs, in lower case."""
    ours = {name.replace("_", "-"): value for name, value in instead.items()}
    fields = [(name.lower(), value) for name, value in headers]
    passed_on = (each for each in fields if each[0] in _PASSED_ON or each[0].startswith(_IMPERSONATES))
    return [*(each for each in passed_on if each[0] not in ours), *ours.items()]
