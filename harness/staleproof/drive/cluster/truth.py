"""Truth: what kube-apiserver committed, from the harness's own direct watches on every listable resource.

It decides nothing and reports every change in the order of its resource. New CustomResourceDefinitions are picked up as they are
established, and so are those that are deleted and made again. What an aggregated API serves without resourceVersions is left out:
such objects have no order. Before anything is written down, Secret data is replaced by digests and managedFields are left out.
"""

import asyncio
import hashlib
import itertools
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import aiohttp
import msgspec

from staleproof.core.history.entry import Broke, Committed, Entry
from staleproof.core.history.resource_version import Revision, revision
from staleproof.core.times import CATCH_UP_SECONDS, DIRECT_WATCH_SECONDS, RETRY_SECONDS
from staleproof.drive.cluster.api import JSON, Api, ApiError, ResourceType
from staleproof.errors import SetupError

Key = tuple[str, str, str]
"""resource, namespace, name"""

_CRDS = "customresourcedefinitions.apiextensions.k8s.io"
_SAME_STORAGE = frozenset({"events.events.k8s.io"})  # the core group's events, a second time
_SECRETS = "secrets"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # holds the payload once more
_ESTABLISHED = "Established"
_NOT_YET = frozenset({404, 429, 503, 504})  # 404: a new CustomResourceDefinition is in discovery a moment before it is served
_LIST_ATTEMPTS = 100


class _NotServed(Exception):
    """There is nothing to watch of this resource any more, or it has no revisions."""


class Truth:
    """Live state and the stream of commits. Made by `watching`."""

    def __init__(self, api: Api, on_entry: Callable[[Entry], None], group: asyncio.TaskGroup) -> None:
        self._api, self._on_entry, self._group = api, on_entry, group
        self.objects: dict[Key, JSON] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self._watched: dict[str, ResourceType] = {}
        self._left_out = set(_SAME_STORAGE)
        self._known: set[str] = set()  # resources of which all that was there is known: what else there is was committed since
        self._deleted: dict[Key, int] = {}
        self._shown: dict[str, str] = {}  # by resource, the revision up to which all was shown
        self._managed: dict[Key, frozenset[tuple[str, ...]]] = {}
        self._commits: Counter[str] = Counter()
        self._news = asyncio.Condition()

    async def discover(self) -> None:
        """Start watching every listable resource that is not watched yet; return once each has been listed."""
        new = [
            kind
            for kind in await self._api.discover()
            if {"list", "watch"} <= kind.verbs and kind.name not in self._watched and kind.name not in self._left_out
        ]
        self._watched |= {kind.name: kind for kind in new}
        await self._tell_waiters()
        listed = await asyncio.gather(*(self._list_new(kind) for kind in new))
        for kind in (kind for kind, is_served in zip(new, listed, strict=True) if is_served):
            self._spawn(self._follow(kind))

    async def _discover_new(self, resource: str) -> None:
        """A CustomResourceDefinition is established a moment before discovery knows of it."""
        for _ in range(_LIST_ATTEMPTS):
            if not self._is_defined(resource):
                return
            await self.discover()
            if resource in self._watched:
                return
            await asyncio.sleep(RETRY_SECONDS)

    def _readable(self, kind: ResourceType, item: JSON) -> JSON:
        """The object as it is written down. What must not be is known from now on."""
        if kind.name == _SECRETS:
            self._api.payloads.learn(item)
        return _readable(kind, item)

    @property
    def resources(self) -> list[str]:
        return sorted(self._watched)

    def live(self, namespace: str) -> dict[Key, JSON]:
        """The objects of a namespace as of the last commit seen."""
        return {key: obj for key, obj in self.objects.items() if key[1] == namespace}

    def commits_of(self, resources: Collection[str]) -> int:
        """How many commits to these resources were seen since it began."""
        return sum(self._commits[each] for each in resources)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait, for ever if need be, until what is known fulfils a condition."""
        async with self._news:
            await self._news.wait_for(condition)

    async def watches(self, resource: str, *, limit_seconds: float) -> bool:
        """Wait until this resource is watched; whether it is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_seconds), self._news:
                await self._news.wait_for(lambda: resource in self._watched)
        return resource in self._watched

    async def caught_up(self, places: Collection[tuple[str, str]], *, limit_seconds: float = CATCH_UP_SECONDS) -> None:
        """Wait until the watches have shown what consistent lists of these resources in these namespaces show now; in none: in all.
        SetupError when one did not within the limit."""
        for resource, namespace in sorted(place for place in places if place[0] in self._watched):
            expected, at = await self._listed(resource, namespace)
            try:
                async with asyncio.timeout(limit_seconds), self._news:
                    await self._news.wait_for(partial(self._shows, expected, resource, namespace, at))
            except TimeoutError:
                raise SetupError(
                    f"the direct watch on {resource} did not catch up with a list within {limit_seconds:g} s"
                ) from None

    async def _listed(self, resource: str, namespace: str) -> tuple[dict[Key, str], float]:
        """The resourceVersions of the objects that a consistent list has, and its revision; of what is not served, none at all."""
        kind = self._watched.get(resource)
        if kind is None:
            return {}, math.inf
        for attempt in itertools.count(1):
            try:
                answer = await self._api.call("GET", kind.path(namespace))
                break
            except ApiError as err:
                if err.code == 404:
                    return {}, math.inf
                if err.code not in _NOT_YET or attempt == _LIST_ATTEMPTS:
                    raise
            await asyncio.sleep(RETRY_SECONDS)
        expected = {_key(kind, item): item["metadata"]["resourceVersion"] for item in _items(answer)}
        return expected, revision(answer["metadata"].get("resourceVersion", "")) or 0

    def _shows(self, expected: dict[Key, str], resource: str, namespace: str, at: float) -> bool:
        """Whether the watch shows the same as the list, leaving aside what changed after the list was made at revision `at`."""
        shown = {
            key: obj["metadata"]["resourceVersion"]
            for key, obj in self.objects.items()
            if key[0] == resource and (not namespace or key[1] == namespace)
        }
        newer = {key for key, text in shown.items() if (revision(text) or 0) > at}
        gone = {key for key in expected.keys() - shown.keys() if self._deleted.get(key, 0) <= at}
        same = all(shown[key] == text for key, text in expected.items() if key in shown and key not in newer)
        return same and not (shown.keys() - expected.keys() - newer) and not gone

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._group.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _list_new(self, kind: ResourceType) -> bool:
        """Whether there is something to watch."""
        try:
            await self._list(kind)
        except _NotServed:
            await self._lose(kind)
            return False
        return True

    async def _list(self, kind: ResourceType) -> None:
        """Take over the present state.

        Differences are commits, but for what was there before truth began.
        """
        answer = await self._asked_until_served(kind)
        start, found = answer["metadata"].get("resourceVersion"), {_key(kind, item): item for item in _items(answer)}
        if not start or not all(map(_has_revision, found.values())):
            raise self._leaves_out(kind)
        for key in [key for key in self.objects if key[0] == kind.name and key not in found]:
            self._take(kind, "DELETED", self.objects[key])
        for key, item in found.items():
            known = self.objects.get(key)
            if kind.name not in self._known:
                self.objects[key], self._managed[key] = self._readable(kind, item), _managed(item)
            elif known is None or known["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
                self._take(kind, "MODIFIED" if known else "ADDED", item)
        self._known.add(kind.name)
        self._shown[kind.name] = str(start)

    async def _asked_until_served(self, kind: ResourceType) -> JSON:
        attempts = 0
        while True:
            try:
                return await self._api.call("GET", kind.path())
            except ApiError as err:
                attempts += 1
                if err.code == 404 and kind.name in self._known and not self._is_defined(kind.name):
                    raise _NotServed from err
                if err.code not in _NOT_YET or attempts == _LIST_ATTEMPTS:
                    raise SetupError(f"cannot list {kind.name}: {err}") from err
            await asyncio.sleep(RETRY_SECONDS)

    async def _follow(self, kind: ResourceType) -> None:
        """Watch for as long as it is served."""
        try:
            while True:
                await self._watch_or_list(kind)
        except _NotServed:
            await self._lose(kind)

    async def _watch_or_list(self, kind: ResourceType) -> None:
        """A gap in the direct watch would make the history lie, so it is reported as an entry. There is none where it goes on from
        what was shown last; nor, where that is too old, if all is as it was. It is where a new storage has been made, as after a
        change of the definition's spec."""
        try:
            return await self._watch(kind)
        except (aiohttp.ClientError, OSError, ApiError) as err:
            broke = err
        if isinstance(broke, ApiError) and broke.code == 404:
            raise _NotServed from broke
        await asyncio.sleep(RETRY_SECONDS)
        if _can_go_on(broke):
            return
        before = self._commits[kind.name]
        await self._list(kind)
        if self._commits[kind.name] != before:
            self._on_entry(Broke(at=time.monotonic(), where="truth", why=f"the direct watch on {kind.name} broke: {broke}"))

    async def _lose(self, kind: ResourceType) -> None:
        """It is not served any more: its objects are gone, unless its definition serves another version, or was made again."""
        self._watched.pop(kind.name, None)
        await self._discover_new(kind.name)
        if kind.name not in self._watched:
            for key in [key for key in self.objects if key[0] == kind.name]:
                self._take(kind, "DELETED", self.objects[key])
        await self._tell_waiters()

    def _leaves_out(self, kind: ResourceType) -> _NotServed:
        """Nothing is known of it from now on."""
        self._left_out.add(kind.name)
        for key in [key for key in self.objects if key[0] == kind.name]:
            del self.objects[key], self._managed[key]
        return _NotServed(kind.name)

    async def _watch(self, kind: ResourceType) -> None:
        """One watch, to its end, from what was shown last."""
        start = self._shown[kind.name]
        lasts = str(DIRECT_WATCH_SECONDS)
        async with self._api.watch(kind.path(), resourceVersion=start, allowWatchBookmarks="true", timeoutSeconds=lasts) as body:
            rest = b""
            async for chunk in body.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    event = msgspec.json.decode(line)
                    if event["type"] == "ERROR":
                        raise ApiError.of(event["object"])
                    if not _has_revision(event["object"]):
                        raise self._leaves_out(kind)
                    self._shown[kind.name] = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._take(kind, event["type"], event["object"])
                await self._tell_waiters()

    async def _tell_waiters(self) -> None:
        async with self._news:
            self._news.notify_all()

    def _take(self, kind: ResourceType, what: str, item: JSON) -> None:
        obj, key = self._readable(kind, item), _key(kind, item)
        old, before, since = self.objects.get(key), self._managed.get(key, frozenset()), _managed(item)
        if what == "DELETED":
            self._managed.pop(key, None)
            self.objects.pop(key, None)
            self._deleted[key] = revision(item["metadata"]["resourceVersion"]) or 0
        else:
            self._managed[key] = since
            self.objects[key] = obj
        self._commits[kind.name] += 1
        meta = obj["metadata"]
        self._on_entry(
            Committed(
                at=time.monotonic(),
                resource=kind.name,
                type=what,  # type: ignore[arg-type]  # ADDED, MODIFIED or DELETED
                namespace=key[1],
                name=key[2],
                uid=meta.get("uid", ""),
                revision=revision(meta["resourceVersion"]) or Revision(0),
                object=obj,
                managers=tuple(sorted({manager for manager, *_ in since - before})),
            )
        )
        if kind.name == _CRDS and what != "DELETED":
            self._see_definition(old, obj)

    def _see_definition(self, old: JSON | None, new: JSON) -> None:
        """A CustomResourceDefinition, which is named after its resource, was made or has changed."""
        resource = new["metadata"]["name"]
        if old is None or not has_condition(old, _ESTABLISHED):
            self._known.add(resource)  # there were no objects of it yet
        if has_condition(new, _ESTABLISHED):
            self._spawn(self._discover_new(resource))

    def _is_defined(self, resource: str) -> bool:
        """Whether a CustomResourceDefinition of it is established."""
        return has_condition(self.objects.get((_CRDS, "", resource), {}), _ESTABLISHED)


@asynccontextmanager
async def watching(api: Api, on_entry: Callable[[Entry], None]) -> AsyncIterator[Truth]:
    """Truth that is complete from the first moment until the block is left."""
    async with asyncio.TaskGroup() as group:
        truth = Truth(api, on_entry, group)
        try:
            await truth.discover()
            yield truth
        finally:
            for task in list(truth.tasks):
                task.cancel()


def _can_go_on(broke: Exception) -> bool:
    """Whether a watch that broke so may be asked for again from what was shown last: the API server is there, and does not refuse
    that revision."""
    return broke.code in _NOT_YET if isinstance(broke, ApiError) else not isinstance(broke, aiohttp.ClientConnectorError)


def _key(kind: ResourceType, item: JSON) -> Key:
    meta = item["metadata"]
    return kind.name, meta.get("namespace", ""), meta["name"]


def _items(answer: JSON) -> list[JSON]:
    return answer.get("items") or []


def _has_revision(item: JSON) -> bool:
    return bool(item["metadata"].get("resourceVersion"))


def _managed(item: JSON) -> frozenset[tuple[str, ...]]:
    """The managers of an object's fields, and when each last wrote, to the second: not what they own, which others may take."""
    entries = item["metadata"].get("managedFields") or ()
    return frozenset(tuple(str(each.get(key, "")) for key in ("manager", "operation", "subresource", "time")) for each in entries)


def _readable(kind: ResourceType, item: JSON) -> JSON:
    """The object as it is written down."""
    meta = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    obj = {"apiVersion": kind.api_version, "kind": kind.kind, **item, "metadata": meta}
    if kind.name == _SECRETS:
        digests = {key: hashlib.sha256(value.encode()).hexdigest() for key, value in (item.get("data") or {}).items()}
        obj["data"] = {key: f"sha256:{digest[:16]}" for key, digest in digests.items()}
        meta["annotations"] = {k: v for k, v in (meta.get("annotations") or {}).items() if k != _LAST_APPLIED}
    return obj


def has_condition(obj: JSON, name: str) -> bool:
    """Whether this condition of the object is `True`."""
    conditions = (obj.get("status") or {}).get("conditions") or []
    return any(condition["type"] == name and condition["status"] == "True" for condition in conditions)
