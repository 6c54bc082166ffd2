"""Truth: what kube-apiserver committed, from the harness's own direct watches on every listable resource.

It decides nothing and reports every change in the order of its resource. New CustomResourceDefinitions are picked up as they are
established. Before anything is written down, Secret data is replaced by digests and managedFields are left out.
"""

import asyncio
import hashlib
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
_NOT_YET = frozenset({404, 429, 503, 504})  # 404: a new CustomResourceDefinition is in discovery a moment before it is served
_LIST_ATTEMPTS = 100


class Truth:
    """Live state and the stream of commits. Made by `watching`."""

    def __init__(self, api: Api, on_entry: Callable[[Entry], None], group: asyncio.TaskGroup) -> None:
        self._api, self._on_entry, self._group = api, on_entry, group
        self.objects: dict[Key, JSON] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self._watched: dict[str, ResourceType] = {}
        self._deleted: dict[Key, int] = {}
        self._managed: dict[Key, frozenset[tuple[str, ...]]] = {}
        self._commits: Counter[str] = Counter()
        self._news = asyncio.Condition()

    async def discover(self) -> None:
        """Start watching every listable resource that is not watched yet; return once each has been listed."""
        new = [
            kind
            for kind in await self._api.discover()
            if {"list", "watch"} <= kind.verbs and kind.name not in self._watched and kind.name not in _SAME_STORAGE
        ]
        self._watched |= {kind.name: kind for kind in new}
        await self._tell_waiters()
        revisions = await asyncio.gather(*(self._list(kind, first=True) for kind in new))
        for kind, start in zip(new, revisions, strict=True):
            self._spawn(self._follow(kind, start))

    async def _discover_new(self, resource: str) -> None:
        """A CustomResourceDefinition is established a moment before discovery knows of it."""
        for _ in range(_LIST_ATTEMPTS):
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
            kind = self._watched[resource]
            answer = await self._api.call("GET", kind.path(namespace))
            expected = {_key(kind, item): item["metadata"]["resourceVersion"] for item in answer.get("items", [])}
            at = revision(answer["metadata"].get("resourceVersion", "")) or 0
            try:
                async with asyncio.timeout(limit_seconds), self._news:
                    await self._news.wait_for(partial(self._shows, expected, resource, namespace, at))
            except TimeoutError:
                raise SetupError(
                    f"the direct watch on {resource} did not catch up with a list within {limit_seconds:g} s"
                ) from None

    def _shows(self, expected: dict[Key, str], resource: str, namespace: str, at: int) -> bool:
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

    async def _list(self, kind: ResourceType, *, first: bool = False) -> str:
        """Take over the present state, whose revision is returned. Differences are commits, except the first time."""
        for attempt in range(_LIST_ATTEMPTS):
            try:
                answer = await self._api.call("GET", kind.path())
                break
            except ApiError as err:
                if err.code not in _NOT_YET or attempt + 1 == _LIST_ATTEMPTS:
                    raise SetupError(f"cannot list {kind.name}: {err}") from err
                await asyncio.sleep(RETRY_SECONDS)
        found = {_key(kind, item): item for item in answer.get("items", [])}
        for key in [key for key in self.objects if key[0] == kind.name and key not in found]:
            self._take(kind, "DELETED", self.objects[key])
        for key, item in found.items():
            known = self.objects.get(key)
            if first:
                self.objects[key], self._managed[key] = self._readable(kind, item), _managed(item)
            elif known is None or known["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
                self._take(kind, "MODIFIED" if known else "ADDED", item)
        return str(answer["metadata"]["resourceVersion"])

    async def _follow(self, kind: ResourceType, start: str) -> None:
        """Watch for ever. A gap in the direct watch would make the history lie, so it is reported as an entry."""
        while True:
            try:
                start = await self._watch(kind, start)
            except (aiohttp.ClientError, OSError, ApiError) as err:
                if isinstance(err, ApiError) and err.code == 404:
                    return  # its CustomResourceDefinition is gone
                self._on_entry(Broke(at=time.monotonic(), where="truth", why=f"the direct watch on {kind.name} broke: {err}"))
                await asyncio.sleep(RETRY_SECONDS)
                start = await self._list(kind)

    async def _watch(self, kind: ResourceType, start: str) -> str:
        """One watch, to its end. Returns the resourceVersion to go on from."""
        lasts = str(DIRECT_WATCH_SECONDS)
        async with self._api.watch(kind.path(), resourceVersion=start, allowWatchBookmarks="true", timeoutSeconds=lasts) as body:
            rest = b""
            async for chunk in body.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    event = msgspec.json.decode(line)
                    if event["type"] == "ERROR":
                        raise ApiError.of(event["object"])
                    start = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._take(kind, event["type"], event["object"])
                await self._tell_waiters()
        return start

    async def _tell_waiters(self) -> None:
        async with self._news:
            self._news.notify_all()

    def _take(self, kind: ResourceType, what: str, item: JSON) -> None:
        obj, key = self._readable(kind, item), _key(kind, item)
        before, since = self._managed.get(key, frozenset()), _managed(item)
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
        if kind.name == _CRDS and what != "DELETED" and has_condition(obj, "Established"):
            self._spawn(self._discover_new(f"{obj['spec']['names']['plural']}.{obj['spec']['group']}"))


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


def _key(kind: ResourceType, item: JSON) -> Key:
    meta = item["metadata"]
    return kind.name, meta.get("namespace", ""), meta["name"]


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
