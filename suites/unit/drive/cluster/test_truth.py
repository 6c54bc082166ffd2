"""What truth makes of resources that come and go while it watches, and of those without revisions."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import msgspec
import pytest

from staleproof.core.history.entry import Broke, Committed, Entry
from staleproof.drive.cluster.api import JSON, Api, ApiError, ResourceType
from staleproof.drive.cluster.truth import watching
from staleproof.errors import SetupError

VERBS = frozenset({"list", "watch", "create", "delete"})


def kind(name: str, api_version: str, *, namespaced: bool = True) -> ResourceType:
    return ResourceType(name, api_version, name, name.partition(".")[0], namespaced=namespaced, verbs=VERBS)


CRDS = kind("customresourcedefinitions.apiextensions.k8s.io", "apiextensions.k8s.io/v1", namespaced=False)
THINGS, NEWER_THINGS = kind("things.example.com", "example.com/v1"), kind("things.example.com", "example.com/v2")
GONE = ApiError(404, "NotFound", "the server could not find the requested resource")


def crd(uid: str, revision: int, *, established: bool = True) -> JSON:
    """The definition of Things."""
    conditions = [{"type": "Established", "status": "True"}] if established else []
    metadata = {"name": THINGS.name, "uid": uid, "resourceVersion": str(revision)}
    return {"metadata": metadata, "status": {"conditions": conditions}}


def thing(name: str, revision: int) -> JSON:
    return {"metadata": {"namespace": "trial", "name": name, "uid": f"uid of {name}", "resourceVersion": str(revision)}}


class Body:
    """That of a watch."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[JSON | Exception | None] = asyncio.Queue()

    async def iter_any(self) -> AsyncIterator[bytes]:
        while (event := await self.events.get()) is not None:
            if isinstance(event, Exception):
                raise event
            yield msgspec.json.encode(event) + b"\n"


class Cluster(Api):
    """An API server that serves definitions and, in the versions that are said, Things. `lists` has what there is of each."""

    def __init__(self) -> None:
        super().__init__(cast("aiohttp.ClientSession", None), "https://none")
        self.things: list[ResourceType] = []
        self.lists: dict[str, JSON] = {}
        self.bodies: dict[str, Body] = {}
        self.begun: list[str] = []  # from which revision each watch was

    async def discover(self) -> list[ResourceType]:
        return [CRDS, *self.things]

    async def call(self, method: str, path: str, body: object = None, **_: Any) -> JSON:  # noqa: ANN401  # the query
        assert (method, body) == ("GET", None)
        return self.lists.get(self._plural(path), {"metadata": {"resourceVersion": "1"}, "items": []})

    @asynccontextmanager
    async def watch(self, path: str, **query: str) -> AsyncIterator[aiohttp.StreamReader]:
        self.begun.append(query["resourceVersion"])
        body = self.bodies[self._plural(path)] = Body()
        yield cast("aiohttp.StreamReader", body)

    def _plural(self, path: str) -> str:
        """The last part of a path that is served."""
        plural = path.rpartition("/")[2]
        if plural == "things" and not any(path.startswith(f"/apis/{each.api_version}/") for each in self.things):
            raise GONE
        return plural

    async def event(self, plural: str, type_: str, obj: JSON) -> None:
        self.bodies[plural].events.put_nowait({"type": type_, "object": obj})
        await settled()

    async def broken(self, plural: str, err: Exception) -> None:
        """The watch breaks, and another is begun."""
        body = self.bodies[plural]
        body.events.put_nowait(err)
        while self.bodies[plural] is body:
            await asyncio.sleep(0.01)

    async def end(self, plural: str) -> None:
        """The watch ends."""
        self.bodies.pop(plural).events.put_nowait(None)
        await settled()

    async def defined(self, *, revision: int, kinds: tuple[ResourceType, ...] = (THINGS,)) -> None:
        """A definition of Things is made and established."""
        self.things = list(kinds)
        await self.event(CRDS.plural, "ADDED", crd(f"uid at {revision}", revision, established=False))
        await self.event(CRDS.plural, "MODIFIED", crd(f"uid at {revision}", revision + 1))

    async def undefined(self, *, revision: int) -> None:
        """It is deleted, and watches of Things end."""
        self.things = []
        await self.event(CRDS.plural, "DELETED", crd("uid", revision))
        await self.end("things")


async def settled() -> None:
    for _ in range(30):
        await asyncio.sleep(0)


def told(entries: list[Entry]) -> list[str]:
    """The commits to Things."""
    return [f"{each.type} {each.name}" for each in entries if isinstance(each, Committed) and each.resource == THINGS.name]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


async def test_objects_of_a_definition_that_was_made_again_are_recorded(cluster: Cluster) -> None:
    found: list[Entry] = []
    async with watching(cluster, found.append) as truth:
        await settled()
        await cluster.defined(revision=2)
        await cluster.event("things", "ADDED", thing("one", 4))
        await cluster.undefined(revision=5)
        assert (THINGS.name in truth.resources, told(found)) == (False, ["ADDED one", "DELETED one"])
        await cluster.defined(revision=6)
        await cluster.event("things", "ADDED", thing("two", 8))
    assert told(found) == ["ADDED one", "DELETED one", "ADDED two"]
    assert not [each for each in found if isinstance(each, Broke)]


async def test_a_definition_that_is_there_again_before_the_watch_of_the_first_ends(cluster: Cluster) -> None:
    found: list[Entry] = []
    async with watching(cluster, found.append) as truth:
        await settled()
        await cluster.defined(revision=2)
        await cluster.event(CRDS.plural, "DELETED", crd("uid", 4))
        await cluster.event(CRDS.plural, "ADDED", crd("another", 5))
        cluster.things = []  # its name is in discovery, and the API server has yet to serve it
        body = cluster.bodies["things"]
        body.events.put_nowait(None)
        await settled()
        cluster.things = [THINGS]
        await truth.watches(THINGS.name, limit_seconds=5.0)
        while cluster.bodies["things"] is body:
            await asyncio.sleep(0.01)
        await cluster.event("things", "ADDED", thing("x", 6))
    assert told(found) == ["ADDED x"]


async def test_a_definition_that_serves_another_version_keeps_its_objects(cluster: Cluster) -> None:
    found: list[Entry] = []
    async with watching(cluster, found.append) as truth:
        await settled()
        await cluster.defined(revision=2)
        await cluster.event("things", "ADDED", thing("x", 4))
        cluster.things = [NEWER_THINGS]
        cluster.lists["things"] = {"metadata": {"resourceVersion": "5"}, "items": [thing("x", 4), thing("y", 5)]}
        await cluster.end("things")
        assert THINGS.name in truth.resources
    assert told(found) == ["ADDED x", "ADDED y"]


async def test_a_watch_whose_connection_breaks_goes_on_from_what_it_has_shown(cluster: Cluster) -> None:
    found: list[Entry] = []
    async with watching(cluster, found.append):
        await settled()
        await cluster.defined(revision=2)
        await cluster.event("things", "ADDED", thing("x", 4))
        await cluster.broken("things", aiohttp.ClientPayloadError("cut"))
        await cluster.event("things", "ADDED", thing("y", 5))
    assert told(found) == ["ADDED x", "ADDED y"]
    assert cluster.begun[-1] == "4"
    assert not [each for each in found if isinstance(each, Broke)]


@pytest.mark.parametrize("now", [("x",), ("x", "y")])
async def test_what_a_watch_that_is_too_old_may_have_missed_is_a_gap_unless_all_is_as_it_was(
    cluster: Cluster, now: tuple[str, ...]
) -> None:
    found: list[Entry] = []
    async with watching(cluster, found.append):
        await settled()
        await cluster.defined(revision=2)
        await cluster.event("things", "ADDED", thing("x", 4))
        items = [thing(name, number) for number, name in enumerate(now, 4)]
        cluster.lists["things"] = {"metadata": {"resourceVersion": "9"}, "items": items}
        await cluster.broken("things", ApiError(410, "Expired", "too old resource version: 4 (9)"))
    assert cluster.begun[-1] == "9"
    assert told(found) == [f"ADDED {name}" for name in now]
    assert len([each for each in found if isinstance(each, Broke)]) == len(now) - 1


async def test_an_object_made_before_the_first_list_of_a_new_definition_is_a_commit(cluster: Cluster) -> None:
    found: list[Entry] = []
    async with watching(cluster, found.append):
        await settled()
        cluster.lists["things"] = {"metadata": {"resourceVersion": "4"}, "items": [thing("x", 4)]}
        await cluster.defined(revision=2)
    assert told(found) == ["ADDED x"]


@pytest.mark.parametrize("in_discovery", [True, False])
async def test_an_object_of_an_earlier_definition_is_no_commit(cluster: Cluster, *, in_discovery: bool) -> None:
    """Discovery may not know of it yet when truth begins."""
    found: list[Entry] = []
    cluster.things = [THINGS] if in_discovery else []
    cluster.lists[CRDS.plural] = {"metadata": {"resourceVersion": "4"}, "items": [crd("uid", 2)]}
    cluster.lists["things"] = {"metadata": {"resourceVersion": "4"}, "items": [thing("x", 3)]}
    async with watching(cluster, found.append) as truth:
        await settled()
        cluster.things = [THINGS]
        await cluster.event(CRDS.plural, "MODIFIED", crd("uid", 5))
        assert (THINGS.name, "trial", "x") in truth.objects
    assert told(found) == []


async def test_truth_has_caught_up_with_what_is_not_served_once_it_shows_nothing_of_it(cluster: Cluster) -> None:
    async with watching(cluster, lambda _: None) as truth:
        await settled()
        await cluster.defined(revision=2)
        await cluster.event("things", "ADDED", thing("x", 4))
        cluster.things = []
        with pytest.raises(SetupError, match=r"the direct watch on things\.example\.com did not catch up"):
            await truth.caught_up({(THINGS.name, "trial")}, limit_seconds=0.05)
        await cluster.event("things", "DELETED", thing("x", 5))
        await truth.caught_up({(THINGS.name, "trial")}, limit_seconds=5.0)


WITHOUT: dict[str, Callable[[], JSON]] = {
    "the list": lambda: {"metadata": {}, "items": None},
    "an object": lambda: {"metadata": {"resourceVersion": "4"}, "items": [{"metadata": {"name": "x"}}]},
}


@pytest.mark.parametrize("what", WITHOUT)
async def test_what_has_no_revisions_is_left_out(cluster: Cluster, what: str) -> None:
    found: list[Entry] = []
    cluster.things, cluster.lists["things"] = [THINGS], WITHOUT[what]()
    async with watching(cluster, found.append) as truth:
        await settled()
        assert truth.resources == [CRDS.name]
        await truth.discover()
        assert truth.resources == [CRDS.name]
    assert "things" not in cluster.bodies
    assert found == []


async def test_an_event_without_a_revision_shows_that_its_resource_has_none(cluster: Cluster) -> None:
    found: list[Entry] = []
    cluster.things = [THINGS]
    async with watching(cluster, found.append) as truth:
        await settled()
        await cluster.event("things", "ADDED", {"metadata": {"namespace": "trial", "name": "x"}})
        assert (truth.resources, truth.objects) == ([CRDS.name], {})
    assert found == []
