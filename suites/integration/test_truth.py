"""Truth against a real kube-apiserver: everything that is committed is seen, and nothing secret is written down.

One control plane and one truth serve the whole file, in one event loop; every test has a namespace of its own.
"""

import asyncio
import base64
import itertools
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import aiohttp
import msgspec
import pytest

from staleproof.core.entry import Broke, Committed, Entry
from staleproof.core.history import Header, encode_line
from staleproof.core.plan import Plan, Rest
from staleproof.drive.cluster.api import JSON, Api, ApiError, ResourceType, connect
from staleproof.drive.cluster.control_plane import RUNNER, ControlPlane, ControlPlaneOptions, Silent, control_plane
from staleproof.drive.cluster.truth import Truth, watching
from staleproof.drive.trial.recorder import Recorder
from staleproof.errors import SetupError

LIMIT_SECONDS = 60.0
CRDS = "customresourcedefinitions.apiextensions.k8s.io"
SECRET = "correct horse battery staple"


def crd(plural: str) -> JSON:
    kind = plural.removesuffix("s")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.truth.example.com"},
        "spec": {
            "group": "truth.example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind, "kind": kind.capitalize()},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


class Stage:
    """What a test needs, in a namespace of its own. Entries are those since it began."""

    _numbers = itertools.count(1)

    def __init__(self, plane: ControlPlane, api: Api, truth: Truth, recorded: list[Entry]) -> None:
        self.plane, self.api, self.truth = plane, api, truth
        self.namespace = f"truth-{next(self._numbers)}"
        self._recorded, self._from = recorded, len(recorded)

    async def begin(self) -> None:
        await self.api.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})

    @property
    def commits(self) -> list[Committed]:
        found = [entry for entry in self._recorded[self._from :] if isinstance(entry, Committed)]
        return [entry for entry in found if entry.namespace == self.namespace]

    def of(self, resource: str, name: str) -> list[Committed]:
        return [entry for entry in self.commits if (entry.resource, entry.name) == (resource, name)]

    async def kind(self, resource: str) -> ResourceType:
        found = await self.api.type_named(resource)
        assert found is not None
        return found

    async def create(self, resource: str, name: str, **fields: Any) -> JSON:  # noqa: ANN401  # JSON
        """The object as the API server answers."""
        kind = await self.kind(resource)
        body = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name, **fields.pop("metadata", {})},
            **fields,
        }
        return await self.api.call("POST", kind.path(self.namespace), body)

    async def merge(self, resource: str, name: str, patch: object) -> JSON:
        return await self.api.merge(await self.kind(resource), self.namespace, name, patch)

    async def delete(self, resource: str, name: str) -> None:
        await self.api.delete(await self.kind(resource), self.namespace, name, now=True)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_SECONDS):
            while not condition():
                await asyncio.sleep(0.005)

    async def caught_up(self, *resources: str) -> None:
        await self.truth.caught_up(self.namespace, set(resources), limit_seconds=LIMIT_SECONDS)


def trusting(plane: ControlPlane) -> ssl.SSLContext:
    tls = ssl.create_default_context(cafile=str(plane.ca_file))
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return tls


def bearer(plane: ControlPlane) -> dict[str, str]:
    return {"Authorization": f"Bearer {plane.tokens[RUNNER]}"}


class LateStream:
    """The body of a watch, whose bytes wait for a word."""

    def __init__(self, body: aiohttp.StreamReader, word: asyncio.Event) -> None:
        self._body, self._word = body, word

    async def iter_any(self) -> AsyncIterator[bytes]:
        async for chunk in self._body.iter_any():
            await self._word.wait()
            yield chunk


class Late(Api):
    """The same API server, seen late: frames wait for `frames`, lists of a namespace, once `made`, for `lists`."""

    def __init__(self, session: aiohttp.ClientSession, server: str) -> None:
        super().__init__(session, server)
        self.frames, self.lists, self.made = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.frames.set()
        self.lists.set()

    async def call(
        self, method: str, path: str, body: object = None, *, content_type: str = "application/json", **query: str
    ) -> JSON:
        answer = await super().call(method, path, body, content_type=content_type, **query)
        if "/namespaces/" in path:
            self.made.set()
            await self.lists.wait()
        return answer

    @asynccontextmanager
    async def watch(self, path: str, **query: str) -> AsyncIterator[aiohttp.StreamReader]:
        async with super().watch(path, **query) as body:
            yield cast(aiohttp.StreamReader, LateStream(body, self.frames))


class Theatre:
    """The one event loop, in which the control plane and truth live from the first test to the last."""

    def __init__(self, folder: Path) -> None:
        self._runner = asyncio.Runner()
        self._folder = folder
        self._leave = asyncio.Event()
        self.recorded: list[Entry] = []

    def open(self) -> None:
        self._runner.run(self._open())

    async def _open(self) -> None:
        ready = asyncio.Event()
        self._home = asyncio.get_running_loop().create_task(self._live(ready))
        waiting = asyncio.get_running_loop().create_task(ready.wait())
        await asyncio.wait({self._home, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._home.done():
            await self._home

    async def _live(self, ready: asyncio.Event) -> None:
        async with (
            control_plane(ControlPlaneOptions(), self._folder / "control-plane", Silent()) as plane,
            connect(plane.server, trusting(plane), bearer(plane)) as api,
            watching(api, self.recorded.append) as truth,
        ):
            self._plane, self._api, self.truth = plane, api, truth
            ready.set()
            await self._leave.wait()

    def play_late(self, body: Callable[[Stage, "Late"], Awaitable[None]]) -> None:
        """With a truth of its own, whose watches and lists the test can keep waiting."""

        async def inside(stage: Stage) -> None:
            connector, headers = aiohttp.TCPConnector(ssl=trusting(self._plane), limit=0), bearer(self._plane)
            async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
                late, recorded = Late(session, self._plane.server), list[Entry]()
                async with watching(late, recorded.append) as truth:
                    stage = Stage(self._plane, self._api, truth, recorded)
                    await stage.begin()
                    await body(stage, late)
                    late.frames.set()

        self.play(inside)

    def play(self, body: Callable[[Stage], Awaitable[None]]) -> None:
        async def inside() -> None:
            async with asyncio.timeout(2 * LIMIT_SECONDS):
                stage = Stage(self._plane, self._api, self.truth, self.recorded)
                await stage.begin()
                await body(stage)

        self._runner.run(inside())

    def close(self) -> None:
        async def leave() -> None:
            self._leave.set()
            await self._home

        self._runner.run(leave())
        self._runner.close()


@pytest.fixture(scope="module")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    made = Theatre(tmp_path_factory.mktemp("theatre"))
    made.open()
    yield made
    made.close()
    assert [entry for entry in made.recorded if isinstance(entry, Broke)] == []


# --- what is watched -----------------------------------------------------------------------------------------------------------


def test_every_listable_resource_is_watched_once(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        wanted = {kind.name for kind in await stage.api.discover() if {"list", "watch"} <= kind.verbs}
        assert wanted - set(stage.truth.resources) == {"events.events.k8s.io"}
        assert {"pods", "secrets", "leases.coordination.k8s.io", CRDS} <= set(stage.truth.resources)
        assert len(set(stage.truth.resources)) == len(stage.truth.resources)

    theatre.play(body)


def test_what_was_there_before_is_known_and_no_commit(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.create("configmaps", "before")
        recorded: list[Entry] = []
        async with watching(stage.api, recorded.append) as truth:
            assert ("configmaps", stage.namespace, "before") in truth.objects
            await stage.create("configmaps", "after")
            await truth.caught_up(stage.namespace, {"configmaps"}, limit_seconds=LIMIT_SECONDS)
            commits = [entry.name for entry in recorded if isinstance(entry, Committed) and entry.namespace == stage.namespace]
            assert commits == ["after"]

    theatre.play(body)


def test_a_definition_that_comes_later_is_watched_and_its_objects_are_recorded(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        resource = "gadgets.truth.example.com"
        assert resource not in stage.truth.resources
        await stage.api.apply(await stage.kind(CRDS), "", crd("gadgets"))
        await stage.until(lambda: resource in stage.truth.resources)
        made = await stage.create(resource, "g", spec={"size": 1})
        changed = await stage.merge(resource, "g", {"spec": {"size": 2}})
        await stage.delete(resource, "g")
        await stage.until(lambda: len(stage.of(resource, "g")) == 3)
        added, modified, deleted = stage.of(resource, "g")
        assert [entry.type for entry in (added, modified, deleted)] == ["ADDED", "MODIFIED", "DELETED"]
        assert [str(entry.revision) for entry in (added, modified)] == [
            answer["metadata"]["resourceVersion"] for answer in (made, changed)
        ]
        assert [entry.object["spec"]["size"] for entry in (added, modified, deleted)] == [1, 2, 2]
        assert {entry.uid for entry in (added, modified, deleted)} == {made["metadata"]["uid"]}

    theatre.play(body)


def test_objects_made_before_the_new_watch_begins_are_live(theatre: Theatre) -> None:
    """Discovery lags behind a definition that is established: whatever was made meanwhile must not be missed."""

    async def body(stage: Stage) -> None:
        resource = "gizmos.truth.example.com"
        await stage.api.apply(await stage.kind(CRDS), "", crd("gizmos"))
        path = f"/apis/truth.example.com/v1/namespaces/{stage.namespace}/gizmos"
        body = {"apiVersion": "truth.example.com/v1", "kind": "Gizmo", "metadata": {"name": "early"}}
        await served(stage, path)
        await stage.api.call("POST", path, body)
        await stage.until(lambda: resource in stage.truth.resources)
        await stage.until(lambda: (resource, stage.namespace, "early") in stage.truth.objects)
        await stage.caught_up(resource)
        assert [key[2] for key in stage.truth.live(stage.namespace) if key[0] == resource] == ["early"]

    theatre.play(body)


async def served(stage: Stage, path: str) -> None:
    """Until the API server has made room for a new type: 404 and then 429 before that."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while True:
            try:
                await stage.api.call("GET", path)
                return
            except ApiError as err:
                if err.code not in (404, 429):
                    raise
                await asyncio.sleep(0.005)


# --- what is written down ------------------------------------------------------------------------------------------------------


def test_the_data_of_a_secret_is_digested_and_never_raw(theatre: Theatre, tmp_path: Path) -> None:
    raw = base64.b64encode(SECRET.encode()).decode()

    async def body(stage: Stage) -> None:
        applied = msgspec.json.encode({"data": {"password": raw}}).decode()
        annotations = {"kubectl.kubernetes.io/last-applied-configuration": applied, "kept": "yes"}
        await stage.create("secrets", "s", metadata={"annotations": annotations}, stringData={"password": SECRET, "same": SECRET})
        await stage.merge("secrets", "s", {"stringData": {"password": "another"}})
        await stage.create("secrets", "empty")
        await stage.caught_up("secrets")
        first, second = stage.of("secrets", "s")
        assert first.object["data"].keys() == {"password", "same"}
        assert first.object["data"]["password"] == first.object["data"]["same"]
        assert first.object["data"]["password"].startswith("sha256:")
        assert second.object["data"]["password"] != first.object["data"]["password"], "a change must be visible"
        assert second.object["data"]["same"] == first.object["data"]["same"]
        assert first.object["metadata"]["annotations"] == {"kept": "yes"}
        assert stage.of("secrets", "empty")[0].object["data"] == {}

        header = Header(plan=Plan(scenario="mine", steps=(Rest(seconds=1.0),)), namespace=stage.namespace)
        record = Recorder(tmp_path / "history.jsonl", header, (), began=0.0)
        for entry in stage.commits:
            record.take(entry)
        record.finish()
        written = record.path.read_text()
        live = msgspec.json.encode(list(stage.truth.live(stage.namespace).values())).decode()
        assert len(written.splitlines()) == 1 + len(stage.commits)
        for text in (SECRET, raw):
            assert text not in written
            assert text not in live

    theatre.play(body)


def test_managed_fields_are_left_out_and_everything_else_is_kept(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        kind = await stage.kind("configmaps")
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"a": "b"}}, "data": {"k": "v"}}
        answer = await stage.api.apply(kind, stage.namespace, manifest)
        await stage.caught_up("configmaps")
        assert answer["metadata"].pop("managedFields")
        (entry,) = stage.of("configmaps", "c")
        assert entry.object == answer
        assert stage.truth.objects["configmaps", stage.namespace, "c"] == answer
        assert [e.name for e in theatre.recorded if isinstance(e, Committed) and b"managedFields" in of_metadata(e)] == []
        assert [key for key, obj in stage.truth.objects.items() if "managedFields" in obj["metadata"]] == []

    theatre.play(body)


def of_metadata(entry: Committed) -> bytes:
    return encode_line(msgspec.structs.replace(entry, object={"metadata": entry.object["metadata"]}))


def test_an_object_says_what_it_is_though_items_of_a_list_do_not(theatre: Theatre) -> None:
    for (resource, _, _), obj in theatre.truth.objects.items():
        assert obj["apiVersion"], resource
        assert obj["kind"], resource


# --- deletions -----------------------------------------------------------------------------------------------------------------


def test_a_deletion_carries_its_own_revision(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        made = await stage.create("configmaps", "c", data={"k": "v"})
        between = await stage.create("configmaps", "d")
        await stage.delete("configmaps", "c")
        await stage.until(lambda: [entry.type for entry in stage.of("configmaps", "c")] == ["ADDED", "DELETED"])
        added, deleted = stage.of("configmaps", "c")
        after = await stage.create("configmaps", "e")
        assert str(added.revision) == made["metadata"]["resourceVersion"]
        assert int(between["metadata"]["resourceVersion"]) < deleted.revision < int(after["metadata"]["resourceVersion"])
        assert deleted.object["metadata"]["resourceVersion"] == str(deleted.revision)
        assert (deleted.uid, deleted.object["data"]) == (added.uid, {"k": "v"})
        assert ("configmaps", stage.namespace, "c") not in stage.truth.objects

    theatre.play(body)


def test_a_new_incarnation_is_another_object(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        for _ in range(2):
            await stage.create("configmaps", "c")
            await stage.delete("configmaps", "c")
        await stage.create("configmaps", "c")
        await stage.caught_up("configmaps")
        entries = stage.of("configmaps", "c")
        assert [entry.type for entry in entries] == ["ADDED", "DELETED", "ADDED", "DELETED", "ADDED"]
        assert len({entry.uid for entry in entries}) == 3
        assert [entry.revision for entry in entries] == sorted({entry.revision for entry in entries})
        assert stage.truth.objects["configmaps", stage.namespace, "c"]["metadata"]["uid"] == entries[-1].uid

    theatre.play(body)


# --- caught up -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 50])
def test_caught_up_means_that_every_commit_has_been_seen(count: int, theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        made = [await stage.create("configmaps", f"c-{number}") for number in range(count)]
        await stage.caught_up("configmaps")
        seen = {entry.name: str(entry.revision) for entry in stage.commits if entry.resource == "configmaps"}
        assert seen == {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in made}

    theatre.play(body)


def test_caught_up_after_deletions_and_changes(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        for number in range(20):
            await stage.create("configmaps", f"c-{number}")
        for number in range(20):
            if number % 2:
                await stage.delete("configmaps", f"c-{number}")
            else:
                await stage.merge("configmaps", f"c-{number}", {"data": {"k": "v"}})
        await stage.caught_up("configmaps")
        live = {key[2]: obj for key, obj in stage.truth.live(stage.namespace).items() if key[0] == "configmaps"}
        assert set(live) == {f"c-{number}" for number in range(0, 20, 2)}
        assert {obj["data"]["k"] for obj in live.values()} == {"v"}
        types = [entry.type for entry in stage.commits if entry.resource == "configmaps"]
        assert (types.count("ADDED"), types.count("MODIFIED"), types.count("DELETED")) == (20, 10, 10)

    theatre.play(body)


def test_caught_up_when_everything_is_gone(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.create("configmaps", "c")
        await stage.caught_up("configmaps")
        await stage.delete("configmaps", "c")
        await stage.caught_up("configmaps")
        assert [entry.type for entry in stage.commits] == ["ADDED", "DELETED"]
        assert stage.truth.live(stage.namespace) == {}

    theatre.play(body)


@pytest.mark.parametrize("what", ["create", "merge", "delete"])
def test_caught_up_waits_for_a_watch_that_is_late(what: str, theatre: Theatre) -> None:
    async def body(stage: Stage, late: Late) -> None:
        await stage.create("configmaps", "c")
        await stage.caught_up("configmaps")
        late.made.clear()
        late.frames.clear()
        if what == "create":
            await stage.create("configmaps", "d")
        elif what == "merge":
            await stage.merge("configmaps", "c", {"data": {"k": "v"}})
        else:
            await stage.delete("configmaps", "c")
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(stage.caught_up("configmaps"))
            await late.made.wait()
            for _ in range(100):  # time enough to decide, were it to decide wrongly
                await asyncio.sleep(0)
            assert not waiting.done()
            assert [entry.type for entry in stage.commits] == ["ADDED"]
            late.frames.set()
        last = stage.commits[-1]
        assert (last.type, last.name) == {"create": ("ADDED", "d"), "merge": ("MODIFIED", "c"), "delete": ("DELETED", "c")}[what]

    theatre.play_late(body)


def test_caught_up_does_not_wait_for_what_changed_after_the_list(theatre: Theatre) -> None:
    """The list and the watch will never be equal again, and that is fine: the watch is ahead."""

    async def body(stage: Stage, late: Late) -> None:
        for name in ("deleted", "changed", "same"):
            await stage.create("configmaps", name)
        await stage.caught_up("configmaps")
        late.made.clear()
        late.lists.clear()
        async with asyncio.TaskGroup() as group:
            group.create_task(stage.caught_up("configmaps"))
            await late.made.wait()
            await stage.delete("configmaps", "deleted")
            await stage.merge("configmaps", "changed", {"data": {"k": "v"}})
            await stage.create("configmaps", "new")
            await stage.until(lambda: len(stage.commits) == 6)
            late.lists.set()
        assert {key[2] for key in stage.truth.live(stage.namespace) if key[0] == "configmaps"} == {"changed", "same", "new"}

    theatre.play_late(body)


def test_a_watch_that_never_catches_up_is_told(theatre: Theatre) -> None:
    async def body(stage: Stage, late: Late) -> None:
        late.frames.clear()
        await stage.create("configmaps", "c")
        with pytest.raises(SetupError, match="the direct watch on configmaps did not catch up with a list within 0"):
            await stage.truth.caught_up(stage.namespace, {"configmaps"}, limit_seconds=0.1)

    theatre.play_late(body)


def test_caught_up_while_others_go_on_writing(theatre: Theatre) -> None:
    """What changes after the list was made, deletions too, must not keep it from ever agreeing."""

    async def body(stage: Stage) -> None:
        path = f"/api/v1/namespaces/{stage.namespace}/configmaps"
        enough = asyncio.Event()

        async def busy() -> None:
            for number in itertools.count():
                if enough.is_set():
                    return
                await stage.api.call("POST", path, {"metadata": {"name": f"c-{number}"}})
                if number % 2:
                    await stage.api.call("DELETE", f"{path}/c-{number}")

        async with asyncio.TaskGroup() as group:
            group.create_task(busy())
            for _ in range(20):
                await stage.caught_up("configmaps")
            enough.set()
        await stage.caught_up("configmaps")
        listed = {item["metadata"]["name"] for item in (await stage.api.call("GET", path))["items"]}
        assert {key[2] for key in stage.truth.live(stage.namespace) if key[0] == "configmaps"} == listed

    theatre.play(body)


def test_caught_up_on_what_is_not_watched_waits_for_nothing(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.caught_up("nosuch.example.com", "tokenreviews.authentication.k8s.io")

    theatre.play(body)
