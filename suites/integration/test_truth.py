"""Truth against a real kube-apiserver: every commit is seen, and nothing secret is written down.

One control plane and one truth serve the whole file; every test has a namespace of its own.
"""

import asyncio
import base64
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from staleproof.core.history.entry import Broke, Committed, Entry
from staleproof.core.history.history import Header, encode_line
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest
from staleproof.core.plan.stored import plain
from staleproof.drive.cluster.api import JSON, Api, ApiError, ResourceType
from staleproof.drive.cluster.control_plane import RUNNER, ControlPlane
from staleproof.drive.cluster.truth import Truth, watching
from staleproof.drive.trial.recorder import Recorder
from staleproof.errors import SetupError

from .proxy_client import LIMIT_SECONDS, limited, until
from .stage import CONFIG_MAPS, Stage, revision_of, served

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


def commits(stage: Stage, resource: str = "", name: str = "") -> list[Committed]:
    """Those in its namespace; of this resource, of this name, if said."""
    mine = (entry for entry in stage.of(Committed) if entry.namespace == stage.namespace)
    return [entry for entry in mine if resource in ("", entry.resource) and name in ("", entry.name)]


async def caught_up(truth: Truth, stage: Stage, *resources: str) -> None:
    """With these; with ConfigMaps, if none is named."""
    await truth.caught_up({(each, stage.namespace) for each in resources or (CONFIG_MAPS,)}, limit_seconds=LIMIT_SECONDS)


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


@pytest.fixture(scope="module")
def recorded() -> list[Entry]:
    """Everything that truth has recorded."""
    return []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def truth(api: Api, recorded: list[Entry]) -> AsyncIterator[Truth]:
    async with watching(api, recorded.append) as found:
        yield found
    assert [entry for entry in recorded if isinstance(entry, Broke)] == []


@pytest_asyncio.fixture(loop_scope="module")
async def stage(api: Api, truth: Truth, recorded: list[Entry]) -> Stage:
    return await Stage(api, recorded).begin()


@pytest_asyncio.fixture(loop_scope="module")
async def late(plane: ControlPlane, api: Api) -> AsyncIterator[tuple[Stage, Truth, Late]]:
    """A stage with a truth of its own, and that truth's API server, which the test can keep waiting."""
    runner = plane.access(RUNNER)
    connector = aiohttp.TCPConnector(ssl=runner.tls(), limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=runner.headers) as session:
        slow, recorded = Late(session, plane.server), list[Entry]()
        async with watching(slow, recorded.append) as found:
            yield await Stage(api, recorded).begin(), found, slow
            slow.frames.set()


# --- what is watched -----------------------------------------------------------------------------------------------------------


async def test_every_listable_resource_is_watched_once(stage: Stage, truth: Truth) -> None:
    wanted = {kind.name for kind in await stage.api.discover() if {"list", "watch"} <= kind.verbs}
    assert wanted - set(truth.resources) == {"events.events.k8s.io"}
    assert {"pods", "secrets", "leases.coordination.k8s.io", CRDS} <= set(truth.resources)
    assert len(set(truth.resources)) == len(truth.resources)


async def test_who_made_each_change_is_reported(stage: Stage) -> None:
    """Nothing tells of a deletion, of a second change by the same within a second, or of an object that was made empty."""
    kind = await stage.kind("configmaps")
    await stage.create("a", data={"a": "b"})
    patch, as_other = {"data": {"k": "v"}}, {"content_type": "application/merge-patch+json", "fieldManager": "other"}
    await stage.api.call("PATCH", kind.path(stage.namespace, "a"), patch, **as_other)
    await stage.delete("a")
    await until(lambda: len(commits(stage, CONFIG_MAPS, "a")) == 3)
    assert [entry.managers for entry in commits(stage, CONFIG_MAPS, "a")] == [("staleproof",), ("other",), ()]


async def test_existing_objects_are_known_without_a_commit(stage: Stage) -> None:
    await stage.create("before")
    recorded: list[Entry] = []
    async with watching(stage.api, recorded.append) as truth:
        assert ("configmaps", stage.namespace, "before") in truth.objects
        await stage.create("after")
        await truth.caught_up({("configmaps", stage.namespace)}, limit_seconds=LIMIT_SECONDS)
        found = [entry.name for entry in recorded if isinstance(entry, Committed) and entry.namespace == stage.namespace]
        assert found == ["after"]


async def test_a_later_definition_is_watched_and_its_objects_are_recorded(stage: Stage, truth: Truth) -> None:
    resource = "gadgets.truth.example.com"
    assert resource not in truth.resources
    await stage.api.apply(await stage.kind(CRDS), "", crd("gadgets"))
    await until(lambda: resource in truth.resources)
    await followed(stage, truth, resource)
    made = await stage.create("g", resource, spec={"size": 1})
    changed = await stage.change("g", resource, spec={"size": 2})
    await stage.delete("g", resource)
    await until(lambda: len(commits(stage, resource, "g")) == 3)
    added, modified, deleted = commits(stage, resource, "g")
    assert [entry.type for entry in (added, modified, deleted)] == ["ADDED", "MODIFIED", "DELETED"]
    assert [str(entry.revision) for entry in (added, modified)] == [revision_of(answer) for answer in (made, changed)]
    assert [entry.object["spec"]["size"] for entry in (added, modified, deleted)] == [1, 2, 2]
    assert {entry.uid for entry in (added, modified, deleted)} == {made["metadata"]["uid"]}


async def test_objects_made_before_the_new_watch_begins_are_live_and_commits(stage: Stage, truth: Truth) -> None:
    """Discovery lags behind a definition that is established: no object that is made in the meantime may be missed."""
    resource = "gizmos.truth.example.com"
    await stage.api.apply(await stage.kind(CRDS), "", crd("gizmos"))
    path = f"/apis/truth.example.com/v1/namespaces/{stage.namespace}/gizmos"
    body = {"apiVersion": "truth.example.com/v1", "kind": "Gizmo", "metadata": {"name": "early"}}
    await served(stage.api, path)
    await stage.api.call("POST", path, body)
    await until(lambda: resource in truth.resources)
    await until(lambda: (resource, stage.namespace, "early") in truth.objects)
    await caught_up(truth, stage, resource)
    assert [key[2] for key in truth.live(stage.namespace) if key[0] == resource] == ["early"]
    assert [entry.type for entry in commits(stage, resource, "early")] == ["ADDED"]


async def test_a_definition_whose_spec_changes_leaves_no_gap_if_no_object_changes_with_it(stage: Stage, truth: Truth) -> None:
    """An operator puts its own CA into it when it starts; the API server then serves its objects from a new storage, which takes no
    watch for a moment, and none from before it was made."""
    resource = "levers.truth.example.com"
    made = crd("levers")
    await stage.api.apply(await stage.kind(CRDS), "", made)
    await until(lambda: resource in truth.resources)
    await followed(stage, truth, resource)
    made["spec"]["versions"][0]["additionalPrinterColumns"] = [{"name": "size", "type": "string", "jsonPath": ".spec.size"}]
    await stage.api.apply(await stage.kind(CRDS), "", made)
    path = (await stage.kind(resource)).path(stage.namespace)
    await watched(stage.api, path)
    await asyncio.sleep(1.0)  # truth asks every tenth of that; that there was no gap, the end of all tests shows
    await caught_up(truth, stage, resource)
    assert [entry.name for entry in commits(stage, resource)] == ["first"]


async def test_every_kind_is_watched_once_in_the_version_that_is_preferred_of_those_that_it_has(stage: Stage, truth: Truth) -> None:
    """The group prefers v1, which one of the kinds does not have; the other has both, and may be written in either."""
    old, both = "contraptions.truth.example.com", "devices.truth.example.com"
    for made in (crd("contraptions", "v1beta1"), crd("devices", "v1", "v1beta1")):
        await stage.api.apply(await stage.kind(CRDS), "", made)
    await until(lambda: {old, both} <= set(truth.resources))
    for resource in (old, both):
        await followed(stage, truth, resource)
    await served(stage.api, f"/apis/truth.example.com/v1beta1/namespaces/{stage.namespace}/devices")
    await stage.create("c", old)
    kind = await discovered(stage, "truth.example.com/v1beta1", "Device")
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "d"}}
    await stage.api.apply(kind, stage.namespace, body)
    await caught_up(truth, stage, old, both)
    assert [entry.object["apiVersion"] for entry in commits(stage, old, "c")] == ["truth.example.com/v1beta1"]
    assert [entry.object["apiVersion"] for entry in commits(stage, both, "d")] == ["truth.example.com/v1"]
    assert await stage.api.served("truth.example.com", "Device") == ["truth.example.com/v1", "truth.example.com/v1beta1"]
    assert await stage.api.served("truth.example.com", "Contraption") == ["truth.example.com/v1beta1"]


async def watched(api: Api, path: str) -> None:
    """Wait until the API server takes a watch."""
    async with limited():
        while True:
            try:
                async with api.watch(path, timeoutSeconds="1"):
                    return
            except ApiError:
                await asyncio.sleep(0.1)


async def followed(stage: Stage, truth: Truth, resource: str) -> None:
    """Wait until truth follows a new type."""
    await served(stage.api, (await stage.kind(resource)).path(stage.namespace))
    await stage.create("first", resource)
    await until(lambda: (resource, stage.namespace, "first") in truth.objects)


async def discovered(stage: Stage, api_version: str, kind: str) -> ResourceType:
    """Wait until discovery tells of a type, which may be after it is served."""
    async with limited():
        while (found := await stage.api.type_of(api_version, kind)) is None:
            await asyncio.sleep(0.005)
        return found


# --- what is written down ------------------------------------------------------------------------------------------------------


async def test_the_data_of_a_secret_is_digested_and_never_raw(stage: Stage, truth: Truth, tmp_path: Path) -> None:
    raw = base64.b64encode(SECRET.encode()).decode()
    applied = msgspec.json.encode({"data": {"password": raw}}).decode()
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": applied, "kept": "yes"}
    await stage.create("s", "secrets", metadata={"annotations": annotations}, stringData={"password": SECRET, "same": SECRET})
    await stage.change("s", "secrets", stringData={"password": "another"})
    await stage.create("empty", "secrets")
    await caught_up(truth, stage, "secrets")
    first, second = commits(stage, "secrets", "s")
    assert first.object["data"].keys() == {"password", "same"}
    assert first.object["data"]["password"] == first.object["data"]["same"]
    assert first.object["data"]["password"].startswith("sha256:")
    assert second.object["data"]["password"] != first.object["data"]["password"], "a change must be visible"
    assert second.object["data"]["same"] == first.object["data"]["same"]
    assert first.object["metadata"]["annotations"] == {"kept": "yes"}
    assert commits(stage, "secrets", "empty")[0].object["data"] == {}

    header = Header(plan=Plan(scenario="mine", steps=(Rest(seconds=1.0),)), namespace=stage.namespace)
    record = Recorder(tmp_path / "history.jsonl", header, (), began=0.0)
    for entry in commits(stage):
        record.take(entry)
    record.finish()
    written = plain(record.path.read_bytes()).decode()
    live = msgspec.json.encode(list(truth.live(stage.namespace).values())).decode()
    assert len(written.splitlines()) == 1 + len(commits(stage))
    for text in (SECRET, raw):
        assert text not in written
        assert text not in live


async def test_managed_fields_are_left_out_and_everything_else_is_kept(stage: Stage, truth: Truth, recorded: list[Entry]) -> None:
    kind = await stage.kind("configmaps")
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"a": "b"}}, "data": {"k": "v"}}
    answer = await stage.api.apply(kind, stage.namespace, manifest)
    await caught_up(truth, stage)
    assert answer["metadata"].pop("managedFields")
    (entry,) = commits(stage, CONFIG_MAPS, "c")
    assert entry.object == answer
    assert truth.objects["configmaps", stage.namespace, "c"] == answer
    assert [e.name for e in recorded if isinstance(e, Committed) and b"managedFields" in of_metadata(e)] == []
    assert [key for key, obj in truth.objects.items() if "managedFields" in obj["metadata"]] == []


def of_metadata(entry: Committed) -> bytes:
    return encode_line(msgspec.structs.replace(entry, object={"metadata": entry.object["metadata"]}))


async def test_listed_objects_have_their_kind(stage: Stage, truth: Truth) -> None:
    for (resource, _, _), obj in truth.objects.items():
        assert obj["apiVersion"], resource
        assert obj["kind"], resource


# --- deletions -----------------------------------------------------------------------------------------------------------------


async def test_a_deletion_carries_its_own_revision(stage: Stage, truth: Truth) -> None:
    made = await stage.create("c", data={"k": "v"})
    between = await stage.create("d")
    await stage.delete("c")
    await until(lambda: [entry.type for entry in commits(stage, CONFIG_MAPS, "c")] == ["ADDED", "DELETED"])
    added, deleted = commits(stage, CONFIG_MAPS, "c")
    after = await stage.create("e")
    assert str(added.revision) == revision_of(made)
    assert int(revision_of(between)) < deleted.revision < int(revision_of(after))
    assert deleted.object["metadata"]["resourceVersion"] == str(deleted.revision)
    assert (deleted.uid, deleted.object["data"]) == (added.uid, {"k": "v"})
    assert ("configmaps", stage.namespace, "c") not in truth.objects


async def test_a_new_incarnation_is_another_object(stage: Stage, truth: Truth) -> None:
    for _ in range(2):
        await stage.create("c")
        await stage.delete("c")
    await stage.create("c")
    await caught_up(truth, stage)
    entries = commits(stage, CONFIG_MAPS, "c")
    assert [entry.type for entry in entries] == ["ADDED", "DELETED", "ADDED", "DELETED", "ADDED"]
    assert len({entry.uid for entry in entries}) == 3
    assert [entry.revision for entry in entries] == sorted({entry.revision for entry in entries})
    assert truth.objects["configmaps", stage.namespace, "c"]["metadata"]["uid"] == entries[-1].uid


# --- caught up -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 50])
async def test_caught_up_means_that_every_commit_has_been_seen(count: int, stage: Stage, truth: Truth) -> None:
    made = [await stage.create(f"c-{number}") for number in range(count)]
    await caught_up(truth, stage)
    seen = {entry.name: str(entry.revision) for entry in commits(stage, CONFIG_MAPS)}
    assert seen == {each["metadata"]["name"]: revision_of(each) for each in made}


async def test_caught_up_after_deletions_and_changes(stage: Stage, truth: Truth) -> None:
    for number in range(20):
        await stage.create(f"c-{number}")
    for number in range(20):
        if number % 2:
            await stage.delete(f"c-{number}")
        else:
            await stage.change(f"c-{number}", data={"k": "v"})
    await caught_up(truth, stage)
    live = {key[2]: obj for key, obj in truth.live(stage.namespace).items() if key[0] == "configmaps"}
    assert set(live) == {f"c-{number}" for number in range(0, 20, 2)}
    assert {obj["data"]["k"] for obj in live.values()} == {"v"}
    types = [entry.type for entry in commits(stage, CONFIG_MAPS)]
    assert (types.count("ADDED"), types.count("MODIFIED"), types.count("DELETED")) == (20, 10, 10)


async def test_caught_up_when_everything_is_gone(stage: Stage, truth: Truth) -> None:
    await stage.create("c")
    await caught_up(truth, stage)
    await stage.delete("c")
    await caught_up(truth, stage)
    assert [entry.type for entry in commits(stage)] == ["ADDED", "DELETED"]
    assert truth.live(stage.namespace) == {}


@pytest.mark.parametrize("what", ["create", "merge", "delete"])
async def test_caught_up_waits_for_a_watch_that_is_late(what: str, late: tuple[Stage, Truth, Late]) -> None:
    stage, truth, slow = late
    await stage.create("c")
    await caught_up(truth, stage)
    slow.made.clear()
    slow.frames.clear()
    if what == "create":
        await stage.create("d")
    elif what == "merge":
        await stage.change("c", data={"k": "v"})
    else:
        await stage.delete("c")
    async with limited(), asyncio.TaskGroup() as group:
        waiting = group.create_task(caught_up(truth, stage))
        await slow.made.wait()
        for _ in range(100):  # enough time for a wrong decision
            await asyncio.sleep(0)
        assert not waiting.done()
        assert [entry.type for entry in commits(stage)] == ["ADDED"]
        slow.frames.set()
    last = commits(stage)[-1]
    assert (last.type, last.name) == {"create": ("ADDED", "d"), "merge": ("MODIFIED", "c"), "delete": ("DELETED", "c")}[what]


async def test_caught_up_does_not_wait_for_what_changed_after_the_list(late: tuple[Stage, Truth, Late]) -> None:
    """The list and the watch will never be equal again, and need not be: the watch is ahead."""
    stage, truth, slow = late
    for name in ("deleted", "changed", "same"):
        await stage.create(name)
    await caught_up(truth, stage)
    slow.made.clear()
    slow.lists.clear()
    async with limited(), asyncio.TaskGroup() as group:
        group.create_task(caught_up(truth, stage))
        await slow.made.wait()
        await stage.delete("deleted")
        await stage.change("changed", data={"k": "v"})
        await stage.create("new")
        await until(lambda: len(commits(stage)) == 6)
        slow.lists.set()
    assert {key[2] for key in truth.live(stage.namespace) if key[0] == "configmaps"} == {"changed", "same", "new"}


async def test_a_watch_that_never_catches_up_is_reported(late: tuple[Stage, Truth, Late]) -> None:
    stage, truth, slow = late
    slow.frames.clear()
    await stage.create("c")
    with pytest.raises(SetupError, match="the direct watch on configmaps did not catch up with a list within 0"):
        await truth.caught_up({("configmaps", stage.namespace)}, limit_seconds=0.1)


async def test_caught_up_while_others_go_on_writing(stage: Stage, truth: Truth) -> None:
    """Changes after the list was made, deletions too, must not keep the list and the watch from ever agreeing."""
    enough = asyncio.Event()

    async def busy() -> None:
        for number in itertools.count():
            if enough.is_set():
                return
            await stage.create(f"c-{number}")
            if number % 2:
                await stage.delete(f"c-{number}")

    async with limited(), asyncio.TaskGroup() as group:
        group.create_task(busy())
        for _ in range(20):
            await caught_up(truth, stage)
        enough.set()
    await caught_up(truth, stage)
    listed = {obj["metadata"]["name"] for obj in await stage.listed()}
    assert {key[2] for key in truth.live(stage.namespace) if key[0] == "configmaps"} == listed


async def test_caught_up_on_what_is_not_watched_waits_for_nothing(stage: Stage, truth: Truth) -> None:
    await caught_up(truth, stage, "nosuch.example.com", "tokenreviews.authentication.k8s.io")
