"""A client that keeps a copy of a collection as the reflectors in the wild do: list and watch, resume, relist on 410, back off.

It believes what it is sent and checks nothing: the tests compare its copy. Divergence from client-go: before it tries again, it
waits a few hundredths of a second, not seconds, and always as long.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Literal

import aiohttp
import msgspec

from staleproof.drive.cluster.api import Api, ApiError
from staleproof.errors import SetupError

Kind = Literal["WatchList", "LIST 0 + WATCH", "LIST + WATCH"]
KINDS: tuple[Kind, ...] = ("WatchList", "LIST 0 + WATCH", "LIST + WATCH")
Version = tuple[str, str]
"""uid and resourceVersion"""

_BACK_OFF_SECONDS = 0.05
_GONE = 410
_INITIAL_END = "k8s.io/initial-events-end"


class _Metadata(msgspec.Struct):
    name: str = ""
    uid: str = ""
    resourceVersion: str = ""
    annotations: dict[str, str] | None = None
    continue_: str = msgspec.field(default="", name="continue")


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    code: int = 0
    reason: str = ""
    message: str = ""


class _Event(msgspec.Struct):
    type: str
    object: _Object


_decode_event = msgspec.json.Decoder(_Event).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """How a client lists and watches.

    Attributes:
        page: the size of a page of a list; None: lists come whole.
        seconds: how long a watch lasts; None: as long as the API server lets it.
    """

    kind: Kind
    page: int | None = None
    seconds: int | None = None


@dataclass(slots=True)
class Reflector:
    """A client of one collection.

    Attributes:
        copy: name → version.
        watches: how many watches were opened.
    """

    api: Api
    path: str
    client: Client
    copy: dict[str, Version] = field(default_factory=dict)
    synced: bool = False
    watches: int = 0
    _draft: dict[str, Version] = field(default_factory=dict)
    _from: str = ""  # watch from here; empty: start with the state
    _last: str = "0"  # a list may be as old as this
    _falls_back: bool = False

    async def run(self) -> None:
        """Follow the collection until cancelled."""
        while True:
            try:
                await self._follow()
            except ApiError as err:
                self._refused(err)
            except (SetupError, aiohttp.ClientError, OSError):
                pass  # cut or not reachable
            await asyncio.sleep(_BACK_OFF_SECONDS)

    async def _follow(self) -> None:
        """Get the state if there is none, then one watch to its end."""
        query: dict[str, str] = {} if self.client.seconds is None else {"timeoutSeconds": str(self.client.seconds)}
        if self.client.kind != "LIST + WATCH":
            query["allowWatchBookmarks"] = "true"
        if not self._from and self._lists:
            await self._list()
        elif not self._from:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
            self._draft = {}
        if self._from:
            query["resourceVersion"] = self._from
        await self._watch(query)

    @property
    def _lists(self) -> bool:
        return self.client.kind != "WatchList" or self._falls_back

    async def _list(self) -> None:
        query = {} if self.client.kind == "LIST + WATCH" or not self._last else {"resourceVersion": self._last}
        query |= {} if self.client.page is None else {"limit": str(self.client.page)}
        found: dict[str, Version] = {}
        token = ""
        while True:
            part = msgspec.convert(await self.api.call("GET", self.path, **(query | _following(token))), _List)
            found |= {item.metadata.name: _version(item) for item in part.items}
            token = part.metadata.continue_
            if not token:
                break
            query.pop("resourceVersion", None)  # a token has its own
        self.copy, self._from, self.synced = found, part.metadata.resourceVersion, True
        self._last = self._from

    async def _watch(self, query: dict[str, str]) -> None:
        rest = b""
        async with self.api.watch(self.path, **query) as body:
            self.watches += 1
            async for data in body.iter_any():
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._see(_decode_event(line))

    def _see(self, event: _Event) -> None:
        shown = event.object.metadata
        copy = self.copy if self._from else self._draft
        match event.type:
            case "ADDED" | "MODIFIED":
                copy[shown.name] = _version(event.object)
            case "DELETED":
                copy.pop(shown.name, None)
            case "ERROR":
                raise ApiError(event.object.code, event.object.reason, event.object.message)
        if _INITIAL_END in (shown.annotations or {}):
            self.copy, self.synced = self._draft, True
        elif not self._from:
            return
        self._from = self._last = shown.resourceVersion

    def _refused(self, err: ApiError) -> None:
        if err.code == _GONE:
            self._last = self._from  # a list that is not older than what was shown; without one, what is current
            self._from = ""
        elif not self._from and not self._lists and err.code not in (429, 503, 504):
            self._falls_back = True


class _List(msgspec.Struct):
    items: list[_Object] = []
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def _version(shown: _Object) -> Version:
    return shown.metadata.uid, shown.metadata.resourceVersion


def _following(token: str) -> dict[str, str]:
    return {"continue": token} if token else {}
