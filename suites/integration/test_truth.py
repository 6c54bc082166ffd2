"""Truth against a real kube-apiserver: every commit is seen, and nothing secret is written down.

One control plane and one truth serve the whole file; every test has a namespace of its own.
"""

import asyncio
import base64
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from staleproof.core.entry import Broke, Committed, Entry
from staleproof.core.history import Header, encode_line
from staleproof.core.plan import Plan
from staleproof.core.step import Rest
from staleproof.core.stored import plain
from staleproof.drive.cluster.api import JSON, Api, ApiError, ResourceType
from staleproof.drive.cluster.control_plane import ControlPlane
from staleproof.drive.cluster.truth import Truth, watching
from staleproof.drive.trial.recorder import Recorder
from staleproof.errors import SetupError

from .proxy_client import LIMIT_SECONDS, limited, trusting, until
from .proxy_stage import bearer, named

CRDS = "customresourcedefinitions.apiextensions.k8s.io"
SECRET = "correct horse battery staple"


def crd(plural: str, *versions: str) -> JSON:
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
            "versions": [
                {"name": each, "served": True, "storage": not number, "schema": schema}
                for number, each in enumerate(versions or ("v1",))
            ],
        },
    }


class Stage:
    """What a test needs, in a namespace of its own."""

    _numbers = itertools.count(1)

    def __init__(self, api: Api, truth: Truth, recorded: list[Entry]) -> None:
        self.api, self.truth, self.recorded = api, truth, recorded
        self.namespace = f"truth-{next(self._numbers)}"

    @classmethod
    async def begin(cls, api: Api, truth: Truth, recorded: list[Entry]) -> "Stage":
        made = cls(api, truth, recorded)
        await api.call("POST", "/api/v1/namespaces", named(made.namespace))
        return made

    @property
    def commits(self) -> list[Committed]:
        return [entry for entry in self.recorded if isinstance(entry, Committed) and entry.namespace == self.namespace]

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

    async def caught_up(self, *resources: str) -> None:
        await self.truth.caught_up({(each, self.namespace) for each in resources}, limit_seconds=LIMIT_SECONDS)


class LateStream:
    """The body of a watch whose bytes wait for `word`."""

    def __init__(self, body: aiohttp.StreamReader, word: asyncio.Event) -> None:
        self._body, self._word = body, word

    async def iter_any(self) -> AsyncIterator[bytes]:
        async for chunk in self._body.iter_any():
            await self._word.wait()
            yield chunk


class Late(Api):
    """The same API server, seen late: frames wait for `frames`; lists of a namespace set `made` and wait for `lists`."""

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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def truth(api: Api) -> AsyncIterator[tuple[Truth, list[Entry]]]:
    """The truth and everything that it has recorded."""
    recorded: list[Entry] = []
    async with watching(api, recorded.append) as found:
        yield found, recorded
    assert [entry for entry in recorded if isinstance(entry, Broke)] == []


@pytest_asyncio.fixture(loop_scope="module")
async def stage(api: Api, truth: tuple[Truth, list[Entry]]) -> Stage:
    return await Stage.begin(api, *truth)


@pytest_asyncio.fixture(loop_scope="module")
async def late(plane: ControlPlane, api: Api) -> AsyncIterator[tuple[Stage, Late]]:
    """A stage with a truth of its own, and that truth's API server, which the test can keep waiting."""
    connector = aiohttp.TCPConnector(ssl=trusting(plane.ca_file), limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=bearer(plane)) as session:
        slow, recorded = Late(session, plane.server), list[Entry]()
        async with watching(slow, recorded.append) as found:
            yield await Stage.begin(api, found, recorded), slow
            slow.frames.set()


# --- what is watched -----------------------------------------------------------------------------------------------------------


async def test_every_listable_resource_is_watched_once(stage: Stage) -> None:
    wanted = {kind.name for kind in await stage.api.discover() if {"list", "watch"} <= kind.verbs}
    assert wanted - set(stage.truth.resources) == {"events.events.k8s.io"}
    assert {"pods", "secrets", "leases.coordination.k8s.io", CRDS} <= set(stage.truth.resources)
    assert len(set(stage.truth.resources)) == len(stage.truth.resources)


async def test_who_made_each_change_is_told(stage: Stage) -> None:
    """Nothing tells of a deletion, of a second change by the same within a second, or of an object that was made empty."""
    kind = await stage.kind("configmaps")
    await stage.create("configmaps", "a", data={"a": "b"})
    patch, as_other = {"data": {"k": "v"}}, {"content_type": "application/merge-patch+json", "fieldManager": "other"}
    await stage.api.call("PATCH", kind.path(stage.namespace, "a"), patch, **as_other)
    await stage.delete("configmaps", "a")
    await until(lambda: len(stage.of("configmaps", "a")) == 3)
    assert [entry.managers for entry in stage.of("configmaps", "a")] == [("staleproof",), ("other",), ()]


async def test_existing_objects_are_known_without_a_commit(stage: Stage) -> None:
    await stage.create("configmaps", "before")
    recorded: list[Entry] = []
    async with watching(stage.api, recorded.append) as truth:
        assert ("configmaps", stage.namespace, "before") in truth.objects
        await stage.create("configmaps", "after")
        await truth.caught_up({("configmaps", stage.namespace)}, limit_seconds=LIMIT_SECONDS)
        commits = [entry.name for entry in recorded if isinstance(entry, Committed) and entry.namespace == stage.namespace]
        assert commits == ["after"]


async def test_a_later_definition_is_watched_and_its_objects_are_recorded(stage: Stage) -> None:
    resource = "gadgets.truth.example.com"
    assert resource not in stage.truth.resources
    await stage.api.apply(await stage.kind(CRDS), "", crd("gadgets"))
    await until(lambda: resource in stage.truth.resources)
    await followed(stage, resource)
    made = await stage.create(resource, "g", spec={"size": 1})
    changed = await stage.merge(resource, "g", {"spec": {"size": 2}})
    await stage.delete(resource, "g")
    await until(lambda: len(stage.of(resource, "g")) == 3)
    added, modified, deleted = stage.of(resource, "g")
    assert [entry.type for entry in (added, modified, deleted)] == ["ADDED", "MODIFIED", "DELETED"]
    assert [str(entry.revision) for entry in (added, modified)] == [
        answer["metadata"]["resourceVersion"] for answer in (made, changed)
    ]
    assert [entry.object["spec"]["size"] for entry in (added, modified, deleted)] == [1, 2, 2]
    assert {entry.uid for entry in (added, modified, deleted)} == {made["metadata"]["uid"]}


async def test_objects_made_before_the_new_watch_begins_are_live(stage: Stage) -> None:
    """Discovery lags behind a definition that is established: no object that is made in the meantime may be missed."""
    resource = "gizmos.truth.example.com"
    await stage.api.apply(await stage.kind(CRDS), "", crd("gizmos"))
    path = f"/apis/truth.example.com/v1/namespaces/{stage.namespace}/gizmos"
    body = {"apiVersion": "truth.example.com/v1", "kind": "Gizmo", "metadata": {"name": "early"}}
    await served(stage, path)
    await stage.api.call("POST", path, body)
    await until(lambda: resource in stage.truth.resources)
    await until(lambda: (resource, stage.namespace, "early") in stage.truth.objects)
    await stage.caught_up(resource)
    assert [key[2] for key in stage.truth.live(stage.namespace) if key[0] == resource] == ["early"]


async def test_every_kind_is_watched_once_in_the_version_that_is_preferred_of_those_that_it_has(stage: Stage) -> None:
    """The group prefers v1, which one of the kinds does not have; the other has both, and may be written in either."""
    old, both = "contraptions.truth.example.com", "devices.truth.example.com"
    for made in (crd("contraptions", "v1beta1"), crd("devices", "v1", "v1beta1")):
        await stage.api.apply(await stage.kind(CRDS), "", made)
    await until(lambda: {old, both} <= set(stage.truth.resources))
    for resource in (old, both):
        await followed(stage, resource)
    await served(stage, f"/apis/truth.example.com/v1beta1/namespaces/{stage.namespace}/devices")
    await stage.create(old, "c")
    kind = await discovered(stage, "truth.example.com/v1beta1", "Device")
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "d"}}
    await stage.api.apply(kind, stage.namespace, body)
    await stage.caught_up(old, both)
    assert [entry.object["apiVersion"] for entry in stage.of(old, "c")] == ["truth.example.com/v1beta1"]
    assert [entry.object["apiVersion"] for entry in stage.of(both, "d")] == ["truth.example.com/v1"]
    assert await stage.api.served("truth.example.com", "Device") == ["truth.example.com/v1", "truth.example.com/v1beta1"]
    assert await stage.api.served("truth.example.com", "Contraption") == ["truth.example.com/v1beta1"]


async def served(stage: Stage, path: str) -> None:
    """Wait until the API server serves a new type; before that it answers 404, and then 429."""
    async with limited():
        while True:
            try:
                await stage.api.call("GET", path)
                return
            except ApiError as err:
                if err.code not in (404, 429):
                    raise
                await asyncio.sleep(0.005)


async def followed(stage: Stage, resource: str) -> None:
    """Wait until truth follows a new type: what is there when it first lists it is no commit."""
    await served(stage, (await stage.kind(resource)).path(stage.namespace))
    await stage.create(resource, "first")
    await until(lambda: (resource, stage.namespace, "first") in stage.truth.objects)


async def discovered(stage: Stage, api_version: str, kind: str) -> ResourceType:
    """Wait until discovery tells of a type, which may be after it is served."""
    async with limited():
        while (found := await stage.api.type_of(api_version, kind)) is None:
            await asyncio.sleep(0.005)
        return found


# --- what is written down ------------------------------------------------------------------------------------------------------


async def test_the_data_of_a_secret_is_digested_and_never_raw(stage: Stage, tmp_path: Path) -> None:
    raw = base64.b64encode(SECRET.encode()).decode()
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
    written = plain(record.path.read_bytes()).decode()
    live = msgspec.json.encode(list(stage.truth.live(stage.namespace).values())).decode()
    assert len(written.splitlines()) == 1 + len(stage.commits)
    for text in (SECRET, raw):
        assert text not in written
        assert text not in live


async def test_managed_fields_are_left_out_and_everything_else_is_kept(stage: Stage) -> None:
    kind = await stage.kind("configmaps")
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"a": "b"}}, "data": {"k": "v"}}
    answer = await stage.api.apply(kind, stage.namespace, manifest)
    await stage.caught_up("configmaps")
    assert answer["metadata"].pop("managedFields")
    (entry,) = stage.of("configmaps", "c")
    assert entry.object == answer
    assert stage.truth.objects["configmaps", stage.namespace, "c"] == answer
    assert [e.name for e in stage.recorded if isinstance(e, Committed) and b"managedFields" in of_metadata(e)] == []
    assert [key for key, obj in stage.truth.objects.items() if "managedFields" in obj["metadata"]] == []


def of_metadata(entry: Committed) -> bytes:
    return encode_line(msgspec.structs.replace(entry, object={"metadata": entry.object["metadata"]}))


async def test_listed_objects_have_their_kind(stage: Stage) -> None:
    for (resource, _, _), obj in stage.truth.objects.items():
        assert obj["apiVersion"], resource
        assert obj["kind"], resource


# --- deletions -----------------------------------------------------------------------------------------------------------------


async def test_a_deletion_carries_its_own_revision(stage: Stage) -> None:
    made = await stage.create("configmaps", "c", data={"k": "v"})
    between = await stage.create("configmaps", "d")
    await stage.delete("configmaps", "c")
    await until(lambda: [entry.type for entry in stage.of("configmaps", "c")] == ["ADDED", "DELETED"])
    added, deleted = stage.of("configmaps", "c")
    after = await stage.create("configmaps", "e")
    assert str(added.revision) == made["metadata"]["resourceVersion"]
    assert int(between["metadata"]["resourceVersion"]) < deleted.revision < int(after["metadata"]["resourceVersion"])
    assert deleted.object["metadata"]["resourceVersion"] == str(deleted.revision)
    assert (deleted.uid, deleted.object["data"]) == (added.uid, {"k": "v"})
    assert ("configmaps", stage.namespace, "c") not in stage.truth.objects


async def test_a_new_incarnation_is_another_object(stage: Stage) -> None:
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


# --- caught up -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 50])
async def test_caught_up_means_that_every_commit_has_been_seen(count: int, stage: Stage) -> None:
    made = [await stage.create("configmaps", f"c-{number}") for number in range(count)]
    await stage.caught_up("configmaps")
    seen = {entry.name: str(entry.revision) for entry in stage.commits if entry.resource == "configmaps"}
    assert seen == {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in made}


async def test_caught_up_after_deletions_and_changes(stage: Stage) -> None:
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


async def test_caught_up_when_everything_is_gone(stage: Stage) -> None:
    await stage.create("configmaps", "c")
    await stage.caught_up("configmaps")
    await stage.delete("configmaps", "c")
    await stage.caught_up("configmaps")
    assert [entry.type for entry in stage.commits] == ["ADDED", "DELETED"]
    assert stage.truth.live(stage.namespace) == {}


@pytest.mark.parametrize("what", ["create", "merge", "delete"])
async def test_caught_up_waits_for_a_watch_that_is_late(what: str, late: tuple[Stage, Late]) -> None:
    stage, slow = late
    await stage.create("configmaps", "c")
    await stage.caught_up("configmaps")
    slow.made.clear()
    slow.frames.clear()
    if what == "create":
        await stage.create("configmaps", "d")
    elif what == "merge":
        await stage.merge("configmaps", "c", {"data": {"k": "v"}})
    else:
        await stage.delete("configmaps", "c")
    async with limited(), asyncio.TaskGroup() as group:
        waiting = group.create_task(stage.caught_up("configmaps"))
        await slow.made.wait()
        for _ in range(100):  # enough time for a wrong decision
            await asyncio.sleep(0)
        assert not waiting.done()
        assert [entry.type for entry in stage.commits] == ["ADDED"]
        slow.frames.set()
    last = stage.commits[-1]
    assert (last.type, last.name) == {"create": ("ADDED", "d"), "merge": ("MODIFIED", "c"), "delete": ("DELETED", "c")}[what]


async def test_caught_up_does_not_wait_for_what_changed_after_the_list(late: tuple[Stage, Late]) -> None:
    """The list and the watch will never be equal again, and need not be: the watch is ahead."""
    stage, slow = late
    for name in ("deleted", "changed", "same"):
        await stage.create("configmaps", name)
    await stage.caught_up("configmaps")
    slow.made.clear()
    slow.lists.clear()
    async with limited(), asyncio.TaskGroup() as group:
        group.create_task(stage.caught_up("configmaps"))
        await slow.made.wait()
        await stage.delete("configmaps", "deleted")
        await stage.merge("configmaps", "changed", {"data": {"k": "v"}})
        await stage.create("configmaps", "new")
        await until(lambda: len(stage.commits) == 6)
        slow.lists.set()
    assert {key[2] for key in stage.truth.live(stage.namespace) if key[0] == "configmaps"} == {"changed", "same", "new"}


async def test_a_watch_that_never_catches_up_is_reported(late: tuple[Stage, Late]) -> None:
    stage, slow = late
    slow.frames.clear()
    await stage.create("configmaps", "c")
    with pytest.raises(SetupError, match="the direct watch on configmaps did not catch up with a list within 0"):
        await stage.truth.caught_up({("configmaps", stage.namespace)}, limit_seconds=0.1)


async def test_caught_up_while_others_go_on_writing(stage: Stage) -> None:
    """Changes after the list was made, deletions too, must not keep the list and the watch from ever agreeing."""
    path = f"/api/v1/namespaces/{stage.namespace}/configmaps"
    enough = asyncio.Event()

    async def busy() -> None:
        for number in itertools.count():
            if enough.is_set():
                return
            await stage.api.call("POST", path, {"metadata": {"name": f"c-{number}"}})
            if number % 2:
                await stage.api.call("DELETE", f"{path}/c-{number}")

    async with limited(), asyncio.TaskGroup() as group:
        group.create_task(busy())
        for _ in range(20):
            await stage.caught_up("configmaps")
        enough.set()
    await stage.caught_up("configmaps")
    listed = {item["metadata"]["name"] for item in (await stage.api.call("GET", path))["items"]}
    assert {key[2] for key in stage.truth.live(stage.namespace) if key[0] == "configmaps"} == listed


async def test_caught_up_on_what_is_not_watched_waits_for_nothing(stage: Stage) -> None:
    await stage.caught_up("nosuch.example.com", "tokenreviews.authentication.k8s.io")
