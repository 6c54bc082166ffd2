"""Client libraries as they are, and the requests of others: through the proxy they work as they do without it.

What each of them is shown and what is recorded must agree. How they react to faults is tested elsewhere.
"""

import asyncio
import importlib.util
import json
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client as kubernetes_client
from kubernetes import watch as kubernetes_watch

from staleproof.core.history.entry import Answered, Asked, Broke, Delivered, Entry, Listed, Opened
from staleproof.drive.cluster.control_plane import CONTROLLER
from staleproof.drive.process.process import Command, Process

from .conftest import KCM_ARGUMENTS, MANIFESTS
from .proxy_client import JSON, until
from .proxy_stage import ProxyStage, numbered
from .users import api_client

REPLICA_SETS = "replicasets.apps"


def names(entries: list[Entry], kind: type[Delivered] | type[Answered]) -> list[str]:
    return [entry.name for entry in entries if isinstance(entry, kind) and entry.name]


# --- by their requests -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reflector:
    """How a library lists and watches: two queries, and the other fields of its requests."""

    listing: str
    watching: str
    fields: tuple[tuple[str, str], ...] = (("Accept", "application/json"),)


REFLECTORS = {
    "kube-rs": Reflector("limit=2", "watch=true&timeoutSeconds=290&allowWatchBookmarks=true"),
    "kube-rs with any version": Reflector("limit=2&resourceVersion=0", "watch=true&timeoutSeconds=290&allowWatchBookmarks=true"),
    "Java, official": Reflector(
        "resourceVersion=0&watch=false",
        "watch=true&timeoutSeconds=300&allowWatchBookmarks=true",
        (("Accept", "application/json"), ("User_Agent", "Kubernetes Java Client/1.0.0")),
    ),
    "Java, fabric8": Reflector(
        "resourceVersion=0",
        "allowWatchBookmarks=true&timeoutSeconds=600&watch=true",
        (("Accept", "application/json"), ("Accept_Encoding", "gzip"), ("User_Agent", "fabric8-kubernetes-client/7.3.1")),
    ),
    "kopf": Reflector("", "watch=true", (("Accept", "*/*"), ("Accept_Encoding", "gzip, deflate"))),
    "client-go without WatchList": Reflector(
        "limit=500&resourceVersion=0",
        "allowWatchBookmarks=true&timeout=7m30s&timeoutSeconds=450&watch=true",
        (("Accept", "application/vnd.kubernetes.protobuf, */*"), ("Accept_Encoding", "gzip")),
    ),
}


@pytest.mark.parametrize("reflector", REFLECTORS.values(), ids=REFLECTORS)
async def test_a_list_and_a_watch_join_without_a_gap(stage: ProxyStage, reflector: Reflector) -> None:
    await stage.create_each(*numbered("before", 5))
    await stage.revision()  # a consistent read: what is read at resourceVersion 0 is not older than this
    client, more = await stage.connection(), ""
    found: list[JSON] = []
    while True:
        status, page = await client.call("GET", f"{stage.path}?{reflector.listing}{more}", **dict(reflector.fields))
        assert (status, page["kind"]) == (200, "ConfigMapList")
        found += page["items"]
        if "continue" not in page["metadata"]:
            break
        more = f"&continue={page['metadata']['continue']}"
    assert [item["metadata"]["name"] for item in found] == numbered("before", 5)
    await stage.create("between")
    start = page["metadata"]["resourceVersion"]
    watch = await stage.watch_at(f"{stage.path}?{reflector.watching}&resourceVersion={start}", on=client, **dict(reflector.fields))
    direct = await stage.watch(start, direct=True)
    await stage.create("after")
    await stage.delete("between")
    await direct.until(3)
    await until(lambda: len(watch.changes) == 3)
    assert watch.changes == direct.lines
    assert direct.events == [("ADDED", "between"), ("ADDED", "after"), ("DELETED", "between")]
    await stage.all_recorded()
    assert [item.name for entry in stage.of(Listed) for item in entry.items] == [item["metadata"]["name"] for item in found]
    assert [entry.start for entry in stage.of(Opened)] == [start]
    assert stage.of(Broke) == []


# --- the official Python client --------------------------------------------------------------------------------------------------


async def test_the_official_python_client_lists_watches_and_writes(stage: ProxyStage, tmp_path: Path) -> None:
    api = kubernetes_client.CoreV1Api(api_client(kubeconfig(stage, tmp_path)))

    def made(name: str) -> kubernetes_client.V1ConfigMap:
        return kubernetes_client.V1ConfigMap(metadata=kubernetes_client.V1ObjectMeta(name=name))

    def work() -> list[tuple[str, str]]:
        api.create_namespaced_config_map(stage.namespace, made("first"))
        listed: Any = api.list_namespaced_config_map(stage.namespace)
        api.create_namespaced_config_map(stage.namespace, made("second"))
        api.patch_namespaced_config_map("second", stage.namespace, {"data": {"a": "b"}})
        api.delete_namespaced_config_map("second", stage.namespace)
        watch: Any = kubernetes_watch.Watch()  # type: ignore[no-untyped-call]
        stream = watch.stream(
            api.list_namespaced_config_map,
            stage.namespace,
            resource_version=listed.metadata.resource_version,
            timeout_seconds=5,
        )
        return [(event["type"], event["object"].metadata.name) for event in stream]

    assert await asyncio.to_thread(work) == [("ADDED", "second"), ("MODIFIED", "second"), ("DELETED", "second")]
    await stage.all_recorded()
    assert [entry.verb for entry in stage.of(Asked)] == ["create", "list", "create", "patch", "delete"]
    assert names(stage.entries, Delivered) == ["second"] * 3
    assert names(stage.entries, Answered) == ["first", "second", "second", "second"]
    assert stage.of(Broke) == []


# --- kopf ------------------------------------------------------------------------------------------------------------------------

OPERATOR = """
    import kopf

    @kopf.on.create("", "v1", "configmaps", labels={"greet": "yes"})
    def greet(name, patch, **_):
        patch.setdefault("data", {})["greeting"] = f"hello {name}"

    @kopf.on.startup()
    def quiet(settings, **_):
        settings.posting.enabled = False
"""


@pytest.mark.skipif(importlib.util.find_spec("kopf") is None, reason="kopf is not installed")
async def test_kopf_sees_existing_and_new_objects(stage: ProxyStage, tmp_path: Path) -> None:
    script = tmp_path / "operator.py"
    script.write_text(textwrap.dedent(OPERATOR))

    async def make(name: str) -> None:
        await stage.create(name, metadata={"labels": {"greet": "yes"}})

    async def greeted(name: str) -> None:
        watch = await stage.watch("0", direct=True, query=f"&fieldSelector=metadata.name%3D{name}")
        await until(lambda: any(f"hello {name}" in json.dumps(frame) for frame in watch.frames))

    await make("there")
    argv = (sys.executable, "-m", "kopf", "run", "--standalone", f"--namespace={stage.namespace}", str(script))
    async with running(stage, argv, tmp_path):
        await greeted("there")
        await make("comes")
        await greeted("comes")
        await stage.all_recorded()
        outcomes = {entry.outcome for entry in stage.of(Answered)}  # not of what it asked for when it was ended
    await stage.all_recorded()
    assert [item.name for entry in stage.of(Listed) if entry.resource == "configmaps" for item in entry.items][:1] == ["there"]
    assert "comes" in names(stage.entries, Delivered)
    assert outcomes == {"ok"}
    assert stage.of(Broke) == []


# --- client-go -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gate", ["true", "false"], ids=["with WatchList", "with LIST"])
async def test_client_go_makes_its_pods(stage: ProxyStage, programs: Path, tmp_path: Path, gate: str) -> None:
    """kube-controller-manager: protobuf in both directions by default, metadata informers, and typed writes."""
    sample = yaml.safe_load((MANIFESTS / "replicaset-sample.yaml").read_text())
    await stage.create("sample", REPLICA_SETS, spec=sample["spec"])
    argv = (str(programs / "kube-controller-manager"), f"--kubeconfig={kubeconfig(stage, tmp_path)}", *KCM_ARGUMENTS.split())
    async with running(stage, (*argv, f"--feature-gates=WatchListClient={gate}"), tmp_path):
        watch = await stage.watch_at(f"/api/v1/namespaces/{stage.namespace}/pods?watch=1&resourceVersion=0")
        await watch.until(3)
        await stage.change("sample", REPLICA_SETS, spec={"replicas": 1})
        await until(lambda: len([kind for kind, _ in watch.events if kind == "DELETED"]) == 2)
        await until(lambda: len(pod_writes(stage)) == 5)  # an event comes before the answer to the write
    await stage.all_recorded()
    assert pod_writes(stage) == [("create", "ok")] * 3 + [("delete", "ok")] * 2
    opened = [entry for entry in stage.of(Opened) if entry.resource == REPLICA_SETS]
    assert {entry.watch_list for entry in opened} == {gate == "true"}
    assert bool([entry for entry in stage.of(Listed) if entry.resource == REPLICA_SETS]) == (gate == "false")
    assert "UNREADABLE" not in {entry.type for entry in stage.of(Delivered)}
    assert stage.of(Broke) == []


def pod_writes(stage: ProxyStage) -> list[tuple[str, str]]:
    """The verb and the outcome of each that has been answered."""
    writes = {entry.request: entry.verb for entry in stage.of(Asked) if entry.resource == "pods"}
    return [(writes[entry.request], entry.outcome) for entry in stage.of(Answered) if entry.request in writes]


# --- tools -----------------------------------------------------------------------------------------------------------------------


def kubeconfig(stage: ProxyStage, folder: Path) -> Path:
    path = folder / "kubeconfig"
    stage.plane.write_kubeconfig(path, user=CONTROLLER, server=stage.proxy.server, ca_file=stage.proxy.ca_file)
    return path


@asynccontextmanager
async def running(stage: ProxyStage, argv: tuple[str, ...], folder: Path) -> AsyncIterator[None]:
    """A program that finds its kubeconfig in KUBECONFIG."""
    env = {"KUBECONFIG": str(kubeconfig(stage, folder))}
    process = await Process.start(Command(name=Path(argv[0]).name, argv=argv, log=folder / "client.log", env=env))
    try:
        yield
        assert process.running, process.account()
    finally:
        await process.stop()
