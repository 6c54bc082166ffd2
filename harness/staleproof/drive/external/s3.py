"""Buckets of a service that speaks S3's REST API, path-style and without signatures, as an external system."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import quote
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import aiohttp

from staleproof.core.external import Change, Create, Delete, Drift, ExternalObject, target
from staleproof.core.times import ANSWER_SECONDS
from staleproof.drive.external.http_service import HTTPService
from staleproof.errors import SetupError, UsageError

BUCKETS = "buckets"
_FOUND, _ABSENT = range(200, 300), 404


class S3(HTTPService):
    """Its state is its buckets with their tags."""

    kind: ClassVar[str] = "s3"
    bare = MappingProxyType({BUCKETS: MappingProxyType({"tags": {}})})

    async def read_state(self) -> tuple[ExternalObject, ...]:
        names = [name.text or "" for name in (await self._request("GET", "/")).iter() if _tag(name) == "Name"]
        return tuple([ExternalObject(kind=BUCKETS, name=name, fields={"tags": await self._tags(name)}) for name in sorted(names)])

    async def drift(self, drift: Drift) -> None:
        kind, name = target(drift)
        if kind != BUCKETS:
            raise UsageError(f"external system {self.name}: an S3 service has no {kind!r}; what can drift there is {BUCKETS}")
        match drift:
            case Create(object=ExternalObject(fields=fields)):
                await self._request("PUT", _path(name))
                await self._change(name, fields)
            case Change(fields=fields):
                await self._change(name, fields)
            case Delete():
                await self._request("DELETE", _path(name))

    async def _change(self, name: str, fields: Mapping[str, Any]) -> None:
        if unknown := fields.keys() - {"tags"}:
            raise UsageError(f"external system {self.name}: {', '.join(sorted(unknown))} of a bucket cannot be changed; tags can")
        if "tags" in fields:
            pairs = "".join(
                f"<Tag><Key>{escape(key)}</Key><Value>{escape(str(value))}</Value></Tag>" for key, value in fields["tags"].items()
            )
            await self._request("PUT", f"{_path(name)}?tagging", f"<Tagging><TagSet>{pairs}</TagSet></Tagging>")

    async def _tags(self, name: str) -> dict[str, str]:
        found = await self._request("GET", f"{_path(name)}?tagging", absent=True)
        return {tag.findtext("{*}Key", ""): tag.findtext("{*}Value", "") for tag in found.iter() if _tag(tag) == "Tag"}

    async def _request(self, method: str, path: str, body: str = "", *, absent: bool = False) -> ElementTree.Element:
        """The answer's document; an empty one if there is none, or, with `absent`, where nothing is found."""
        limit = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as session,
                session.request(method, f"{self.url}{path}", data=body.encode() or None) as response,
            ):
                status, text = response.status, await response.text()
        except (aiohttp.ClientError, TimeoutError) as err:
            raise SetupError(f"external system {self.name}: {self.upstream} does not answer: {err or 'too late'}") from err
        if status not in _FOUND and not (absent and status == _ABSENT):
            raise UsageError(f"external system {self.name}: {method} {path} was refused with {status}: {text}")
        return ElementTree.fromstring(text) if text and status in _FOUND else ElementTree.Element("Empty")


def _path(name: str) -> str:
    return f"/{quote(name, safe='')}"


def _tag(element: ElementTree.Element) -> str:
    """Its name without the namespace."""
    return element.tag.rpartition("}")[2]
