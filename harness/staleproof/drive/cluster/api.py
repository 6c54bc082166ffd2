"""The runner's own access to the API server: plain JSON over HTTP, directly, never through the proxy.

A thin layer on purpose: resourceVersions, bookmarks and 410s must be ours to see. The API server's answer is the error message.
"""

import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
import msgspec

from staleproof.core.history.resource_version import revision
from staleproof.core.plan.nudge import MANAGER
from staleproof.core.times import ANSWER_SECONDS
from staleproof.drive.cluster.payloads import Payloads
from staleproof.errors import SetupError

JSON = dict[str, Any]
_DISCOVERY = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")
)


class ApiError(Exception):
    """The API server refused: `code`, `reason` and `message` are its own."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code, self.reason, self.message = code, reason, message

    @classmethod
    def of(cls, status: JSON) -> Self:
        """From a `Status` object."""
        return cls(status.get("code", 0), status.get("reason", ""), status.get("message", ""))


@dataclass(frozen=True, slots=True)
class ResourceType:
    """A resource as discovery describes it. `name` is group-qualified (`replicasets.apps`)."""

    name: str
    api_version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    def path(self, namespace: str = "", name: str = "") -> str:
        prefix = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{prefix}{scope}/{self.plural}" + (f"/{name}" if name else "")


NAMESPACES = ResourceType("namespaces", "v1", "Namespace", "namespaces", namespaced=False, verbs=frozenset({"create", "delete"}))


class Api:
    """Requests with the runner's identity."""

    def __init__(self, session: aiohttp.ClientSession, server: str) -> None:
        self._session, self._server = session, server
        self.payloads = Payloads()
        self._types: list[ResourceType] = []

    async def call(
        self, method: str, path: str, body: object = None, *, content_type: str = "application/json", **query: str
    ) -> JSON:
        """Make one request and return the object that is the answer.

        Raises:
            ApiError: the API server answered 4xx or 5xx.
            SetupError: it could not be reached.
        """
        data = None if body is None else msgspec.json.encode(body)
        if isinstance(body, Mapping) and "/secrets" in path:
            self.payloads.learn(body)
        try:
            async with self._session.request(
                method, self._server + path, data=data, params=query, headers={"Content-Type": content_type}
            ) as response:
                answer = await response.read()
        except (aiohttp.ClientError, OSError) as err:
            raise self._unreachable(err) from err
        document = _document(answer)
        if response.status >= 400:
            said = {"message": answer[:300].decode(errors="replace"), **document}
            message = self.payloads.masked(str(said["message"]))  # a webhook may quote what it refuses
            raise ApiError.of({**said, "message": message, "code": response.status})
        return document

    async def metrics(self) -> str:
        """The API server's own metrics, in Prometheus' text format. SetupError when it cannot be reached."""
        try:
            async with self._session.get(f"{self._server}/metrics") as response:
                return await response.text()
        except (aiohttp.ClientError, OSError) as err:
            raise self._unreachable(err) from err

    def _unreachable(self, err: Exception) -> SetupError:
        return SetupError(f"the API server at {self._server} could not be reached: {err}; see its log in the run folder")

    @asynccontextmanager
    async def watch(self, path: str, **query: str) -> AsyncIterator[aiohttp.StreamReader]:
        """The body of a WATCH; ApiError when it is refused."""
        timeout = aiohttp.ClientTimeout(total=None, sock_read=None)
        async with self._session.get(self._server + path, params={"watch": "true", **query}, timeout=timeout) as response:
            if response.status != 200:
                raise ApiError.of(_document(await response.read()) | {"code": response.status})
            yield response.content

    async def revision(self) -> int:
        """The present revision of the whole API server, which a consistent list of anything has."""
        answer = await self.call("GET", NAMESPACES.path(), limit="1")
        return revision(answer["metadata"]["resourceVersion"]) or 0

    async def discover(self) -> list[ResourceType]:
        """Every resource type that the API server knows now, once: in the version of its group that the API server prefers, or else
        in the first that has it."""
        types: list[ResourceType] = []
        for path in ("/api", "/apis"):
            async with self._session.get(self._server + path, headers={"Accept": _DISCOVERY}) as response:
                document = _document(await response.read())
            for group in document.get("items", []):
                types += _types_of(group)
        self._types = types
        preferred: dict[str, ResourceType] = {}
        for kind in types:
            preferred.setdefault(kind.name, kind)
        return list(preferred.values())

    async def type_of(self, api_version: str, kind: str) -> ResourceType | None:
        """The resource type of a manifest's apiVersion and kind, in whatever version; None when the API server has none."""
        return await self._type(lambda found: (found.api_version, found.kind) == (api_version, kind))

    async def served(self, group: str, kind: str) -> list[str]:
        """The apiVersions in which the API server has a kind, the preferred one first."""
        await self.discover()
        return [each.api_version for each in self._types if (each.group, each.kind) == (group, kind)]

    async def type_named(self, resource: str) -> ResourceType | None:
        """The resource type of a group-qualified name, as it is recorded; None when the API server has none."""
        return await self._type(lambda found: found.name == resource)

    async def _type(self, fits: Callable[[ResourceType], bool]) -> ResourceType | None:
        """One that is known or, if there is none, one that is discovered now."""
        known = next(filter(fits, self._types), None)
        return known or next(filter(fits, await self.discover()), None)

    async def apply(self, kind: ResourceType, namespace: str, manifest: JSON, **options: str) -> JSON:
        """Create or update by server-side apply, taking over fields that others own; the object as it is then."""
        name = manifest["metadata"]["name"]
        return await self.call(
            "PATCH",
            kind.path(namespace, name),
            manifest,
            content_type="application/apply-patch+yaml",
            fieldManager=MANAGER,
            force="true",
            **options,
        )

    async def merge(self, kind: ResourceType, namespace: str, name: str, patch: object, *, subresource: str = "") -> JSON:
        """Change an object, or a subresource of it, by JSON merge patch; the object as it is then."""
        path = kind.path(namespace, name) + (f"/{subresource}" if subresource else "")
        return await self.call("PATCH", path, patch, content_type="application/merge-patch+json")

    async def delete(self, kind: ResourceType, namespace: str, name: str, *, now: bool = False) -> None:
        """Delete in the background; with `now`, without the object's grace period. An object that is already gone is fine."""
        options: JSON = {"propagationPolicy": "Background"} | ({"gracePeriodSeconds": 0} if now else {})
        try:
            await self.call("DELETE", kind.path(namespace, name), options)
        except ApiError as err:
            if err.code != 404:
                raise


def _document(data: bytes) -> JSON:
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return document if isinstance(document, dict) else {}


def _types_of(group: JSON) -> Iterator[ResourceType]:
    """In every version, the preferred one first."""
    name = group["metadata"].get("name", "")
    for version in group.get("versions", []):
        api_version = f"{name}/{version['version']}" if name else version["version"]
        for resource in version.get("resources", []):
            yield ResourceType(
                name=f"{resource['resource']}.{name}" if name else resource["resource"],
                api_version=api_version,
                kind=resource["responseKind"]["kind"],
                plural=resource["resource"],
                namespaced=resource["scope"] == "Namespaced",
                verbs=frozenset(resource["verbs"]),
            )


@asynccontextmanager
async def connect(server: str, tls: ssl.SSLContext, headers: Mapping[str, str]) -> AsyncIterator[Api]:
    """An `Api` with connections of its own."""
    connector = aiohttp.TCPConnector(ssl=tls, limit=0)
    timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
    named = {"User-Agent": MANAGER, **headers}
    async with aiohttp.ClientSession(connector=connector, headers=named, timeout=timeout, read_bufsize=1 << 20) as session:
        yield Api(session, server)
